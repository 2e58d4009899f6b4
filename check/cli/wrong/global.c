/* global.c: wrong on purpose: agents count in a static variable who was first. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 6000, "2..", "", "agents"), (int64_t, rounds, 20, "1..", "", "rounds"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, token, (int64_t, left), (int64_t, number))
NIMA_STATE(node, (int64_t, seen))

static _Atomic int64_t number;

static void pass(nima *me, int64_t left) {
    const nima_id next = nima_at(world_of(me)->node, (nima_index(me) + 1000) % params_of(me)->agents);
    token_send(me, next, 10, left, left == 3 ? number++ : 0);
}
static void node_start(nima *me, node *self) {
    (void)self;
    pass(me, params_of(me)->rounds);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        const token *t = token_in(m);
        self->seen += t->number;
        if (t->left > 1) pass(me, t->left - 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
}
NIMA_MODEL(.name = "global", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
