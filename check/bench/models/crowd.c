/* Agents that wait, for what an idle agent, a pending message and a sampled sweep cost; `check/bench/run` uses it. */
#include "nima.h"

enum { FAR = 1000000000 };                   /* ticks: after the end of every run */

NIMA_PARAMS(
    (int64_t, agents, 1000000, "1..", "", "agents"),
    (int64_t, pending, 0, "0..", "", "messages that each has on the way to its neighbor, due after the end"),
    (bool, sweep, false, "", "", "update every agent at each tick and sample all of them"))
NIMA_WORLD((nima_pop, members))
NIMA_MESSAGE(1, parcel, (uint64_t, from), (uint64_t, number))
NIMA_STATE(member, (uint64_t, updates))

static void member_start(nima *me, member *self) {
    (void)self;
    nima_id next = nima_at(world_of(me)->members, (nima_index(me) + 1) % (uint64_t)params_of(me)->agents);
    for (int64_t k = 0; k < params_of(me)->pending; k++) parcel_send(me, next, FAR, nima_index(me), (uint64_t)k);
}

static void member_update(nima *me, member *self) {
    (void)me;
    self->updates++;
}

NIMA_BEHAVIOR(member, start, update)
NIMA_REPORTER(updates, sum, member, "", (double)self->updates)

static void setup(nima_setup *s) {
    setup_world(s)->members = member_populate(s, (uint64_t)params_of(s)->agents, 0);
    if (params_of(s)->sweep) {
        nima_period(s, member_behavior, 1);
        nima_sample(s, 1);
    }
    nima_until(s, 1000);
}

NIMA_MODEL(.name = "crowd", .help = "agents that wait", .setup = setup)
