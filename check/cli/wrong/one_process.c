/* one_process.c: wrong on purpose: one agent sets a static variable at time 0, and all read it later. In one process that is the
 * same on any layout. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 6000, "2..", "", "agents"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_STATE(node, (int64_t, seen))

static _Atomic int64_t step;

static void pass(nima *me, int64_t left) {
    token_send(me, nima_at(world_of(me)->node, (nima_index(me) + 1000) % params_of(me)->agents), 10, left);
}
static void node_start(nima *me, node *self) {
    (void)self;
    if (nima_index(me) == 7) step = 1;
    pass(me, 20);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        self->seen += step;
        if (token_in(m)->left > 1) pass(me, token_in(m)->left - 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
}
NIMA_MODEL(.name = "one_process", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
