/* fresh_memory.c: wrong on purpose: a local variable is read before it is written. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 100, "2..", "", "agents"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_STATE(node, (int64_t, seen))

static int64_t never_set(int64_t left) {
    volatile int64_t table[8];
    if (left < 0) table[3] = left;
    return table[3];
}
static void pass(nima *me, int64_t left) {
    token_send(me, nima_at(world_of(me)->node, (nima_index(me) + 1) % params_of(me)->agents), 10, left);
}
static void node_start(nima *me, node *self) {
    (void)self;
    if (nima_index(me) == 7) pass(me, 50);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        const int64_t left = token_in(m)->left;
        if (left == 30) self->seen = never_set(left) & 0xFFFF;
        if (left > 1) pass(me, left - 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
}
NIMA_MODEL(.name = "fresh_memory", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
