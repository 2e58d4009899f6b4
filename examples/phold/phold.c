/* PHOLD, the usual load for comparing engines: a fixed number of events, each sends the next one after a random delay.
 * An event draws four numbers, which is one Philox block. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, agents, 100000, "1..", "", "agents"),
    (int64_t, events, 1, "0..", "", "events each agent begins with"),
    (double, remote, 1.0, "0..1", "", "chance that an event goes to any agent, and not to its own"),
    (nima_time, lookahead, 100000, "0..", "tick", "least delay"),
    (nima_time, mean, 1000000, "1..", "tick", "mean delay"))
NIMA_WORLD((nima_pop, agents))
NIMA_SIGNAL(1, event)
NIMA_STATE(agent, (uint64_t, visits))

static void pass_on(nima *me) {
    const params *p = params_of(me);
    nima_rng *random = nima_random(me);
    bool away = nima_chance(random, p->remote);
    uint64_t any = nima_below(random, (uint64_t)p->agents);
    double more = nima_exponential(random, (double)(p->mean - p->lookahead));
    event_send(me, away ? nima_at(world_of(me)->agents, any) : nima_self(me), p->lookahead + (nima_time)more);
}

static void agent_start(nima *me, agent *self) {
    (void)self;
    for (int64_t i = 0; i < params_of(me)->events; i++) pass_on(me);
}

static void agent_update(nima *me, agent *self) {
    for (; nima_next(me); self->visits++) pass_on(me);
}

NIMA_BEHAVIOR(agent, start, update)

static const char *check(const nima_setup *s) {
    const params *p = params_of(s);
    return p->lookahead <= p->mean ? NULL : "lookahead is longer than the mean delay";
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->agents = agent_populate(s, (uint64_t)p->agents, 0);
    nima_lookahead(s, p->lookahead);
    nima_until(s, 20 * p->mean);
}

NIMA_MODEL(.name = "phold", .help = "events that each send one on", .unit = "tick", .ticks_per_unit = 1,
           .setup = setup, .check = check)
