/* Simple random walk on the plane, a step at each tick. */
#include "nima.h"

NIMA_PARAMS((int64_t, walkers, 20000, "1..", "", "walkers"))
NIMA_STATE(walker, (int64_t, x), (int64_t, y))

static void walker_update(nima *me, walker *self) {
    uint64_t direction = nima_below(nima_random(me), 4);
    int64_t by = direction % 2 == 0 ? 1 : -1;
    if (direction < 2) self->x += by;
    else self->y += by;
}

NIMA_BEHAVIOR(walker, update)
NIMA_REPORTER(square, mean, walker, "", (double)(self->x * self->x + self->y * self->y))

static void setup(nima_setup *s) {
    walker_populate(s, (uint64_t)params_of(s)->walkers, 0);
    nima_period(s, walker_behavior, 1);
    nima_sample(s, 1);
    nima_lookahead(s, 1);
    nima_until(s, 100);
}

static void finish(nima_view *v) { nima_result(v, "square", nima_last(v, square)); }

NIMA_MODEL(.name = "walk", .help = "simple random walk", .unit = "step", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
