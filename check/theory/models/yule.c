/* Yule process: everyone alive splits at rate 1. */
#include "nima.h"

NIMA_PARAMS((int64_t, ancestors, 1000, "1..", "", "at time 0"))
NIMA_SIGNAL(1, split)
NIMA_STATELESS(cell)

static void cell_start(nima *me, cell *self) {
    (void)self;
    split_alarm(me, nima_ticks(me, nima_exponential(nima_random(me), 1)));
}

static void cell_update(nima *me, cell *self);
NIMA_BEHAVIOR(cell, start, update)
static void cell_update(nima *me, cell *self) {
    for (; nima_next(me); cell_start(me, self)) cell_spawn(me, 0, NULL);
}

NIMA_REPORTER(cells, count, cell, "", 1)

static void setup(nima_setup *s) {
    cell_populate(s, (uint64_t)params_of(s)->ancestors, 0);
    nima_lookahead(s, nima_setup_ticks(s, 1));                   /* nobody writes to another */
    nima_sample(s, nima_setup_ticks(s, 1));
    nima_until(s, nima_setup_ticks(s, 2) + 1);
}

static void finish(nima_view *v) { nima_result(v, "cells", nima_last(v, cells)); }

NIMA_MODEL(.name = "yule", .help = "cells that split", .setup = setup, .finish = finish)
