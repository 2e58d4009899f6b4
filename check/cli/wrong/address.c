/* address.c: wrong on purpose: whom an agent calls depends on where its memory lies. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 100, "2..", "", "agents"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_STATE(node, (int64_t, seen))
static const char key;

static void pass(nima *me, int64_t left) {
    const uint64_t bucket = left == 30 ? (uint64_t)(uintptr_t)&key >> 12 : 1;
    token_send(me, nima_at(world_of(me)->node, (nima_index(me) + bucket) % params_of(me)->agents), 10, left);
}
static void node_start(nima *me, node *self) {
    (void)self;
    if (nima_index(me) == 7) pass(me, 50);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        self->seen++;
        if (token_in(m)->left > 1) pass(me, token_in(m)->left - 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
}
NIMA_MODEL(.name = "address", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
