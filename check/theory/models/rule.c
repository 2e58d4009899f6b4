/* Elementary cellular automata from one cell: one alive tells itself and its neighbors; one not told is dead. */
#include "nima.h"

NIMA_PARAMS(
    (uint32_t, number, 90, "0..254", "", "Wolfram's number of the rule; even: nothing comes from nothing"),
    (int64_t, cells, 257, "1..", "", "cells of the row"))
NIMA_WORLD((nima_pop, cells))
NIMA_MESSAGE(1, alive_at, (int64_t, from))   /* -1: my left neighbor is alive */
NIMA_STATE(cell, (bool, alive))

static void tell(nima *me) {
    nima_pop cells = world_of(me)->cells;
    for (int64_t to = -1; to <= 1; to++)
        alive_at_send(me, nima_at(cells, (nima_index(me) + cells.count + (uint64_t)to) % cells.count), 1, -to);
}

static void cell_start(nima *me, cell *self) {
    self->alive = nima_index(me) == world_of(me)->cells.count / 2;
    if (self->alive) tell(me);
}

static void cell_update(nima *me, cell *self) {
    uint32_t pattern = 0;
    NIMA_EACH(me, m) pattern |= 4u >> (alive_at_in(m)->from + 1);
    self->alive = params_of(me)->number >> pattern & 1;
    if (self->alive) tell(me);
}

NIMA_BEHAVIOR(cell, start, update)

static void setup(nima_setup *s) {
    setup_world(s)->cells = cell_populate(s, (uint64_t)params_of(s)->cells, 0);
    nima_lookahead(s, 1);
    nima_until(s, params_of(s)->cells / 2);
}

NIMA_MODEL(.name = "rule", .help = "elementary cellular automata", .unit = "row", .ticks_per_unit = 1, .setup = setup)
