/* Few agents with much work: each is a shard of its own, so that every worker always finds one to run. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, agents, 64, "1..1048576", "", "agents"),
    (int64_t, rounds, 60000, "0..", "", "of work each tick; the default takes about 100 microseconds"))
NIMA_STATE(worker, (uint64_t, number))

static void worker_start(nima *me, worker *self) { self->number = nima_index(me) + 1; }

static void worker_update(nima *me, worker *self) {
    uint64_t x = self->number;
    for (int64_t left = params_of(me)->rounds; left > 0; left--) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    self->number = x;
}

NIMA_BEHAVIOR(worker, start, update)

static void setup(nima_setup *s) {
    nima_shards(s, (uint32_t)params_of(s)->agents);
    worker_populate(s, (uint64_t)params_of(s)->agents, 0);
    nima_period(s, worker_behavior, 1);
    nima_lookahead(s, 1);
    nima_until(s, 100);
}

NIMA_MODEL(.name = "heavy", .help = "few agents with much work", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
