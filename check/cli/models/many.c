/* many.c: a right model of several shards: agents call each other at random; for verify, traces and sweeps. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 6000, "2..", "", "agents"), (double, mean, 20, "1..", "tick", "mean delay beyond the lookahead"),
            (int64_t, calls, 3, "1..", "", "calls of each agent"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, ring, (int32_t, number), (double, weight))
NIMA_STATE(node, (int64_t, heard), (double, total))
NIMA_TALLY(weights, "")

static void ring_somebody(nima *me, int32_t number) {
    nima_rng *r = nima_random(me);
    const nima_id to = nima_at(world_of(me)->node, nima_below(r, params_of(me)->agents));
    ring_send(me, to, 10 + (nima_time)nima_exponential(r, params_of(me)->mean), number, nima_uniform(r));
}
static void node_start(nima *me, node *self) {
    (void)self;
    ring_somebody(me, 1);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        const ring *r = ring_in(m);
        self->heard++;
        self->total += r->weight;
        nima_tally(me, weights, r->weight);
        if (r->number < params_of(me)->calls) ring_somebody(me, r->number + 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
NIMA_REPORTER(heard, sum, node, "", self->heard)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
    nima_sample(s, 10);
}
static void finish(nima_view *v) {
    nima_result(v, "mean_weight", nima_tally_mean(v, weights));
    nima_result(v, "end", (double)nima_view_now(v));
}
NIMA_MODEL(.name = "many", .help = "Agents call each other", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .finish = finish)
