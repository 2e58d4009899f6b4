/* wall_clock.c: wrong on purpose: one agent's delay comes from the clock on the wall. */
#include "nima.h"
#include <time.h>
NIMA_PARAMS((uint64_t, agents, 100, "2..", "", "agents"))
NIMA_WORLD((nima_pop, node))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_STATE(node, (int64_t, seen))

static void pass(nima *me, int64_t left) {
    struct timespec t = { 0, 0 };
    if (left == 20) clock_gettime(CLOCK_REALTIME, &t);
    const nima_id next = nima_at(world_of(me)->node, (nima_index(me) + 1) % params_of(me)->agents);
    token_send(me, next, 10 + t.tv_nsec / 1000 % 1000, left);
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
NIMA_MODEL(.name = "wall_clock", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
