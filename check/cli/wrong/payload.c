/* payload.c: wrong on purpose: a struct with a hole is sent as it lies on the stack. */
#include "nima.h"
NIMA_PARAMS((uint64_t, agents, 100, "2..", "", "agents"))
NIMA_WORLD((nima_pop, node))
typedef struct { int8_t kind; int64_t left; } parcel;
NIMA_MESSAGE(1, delivery, (int8_t, kind), (int64_t, left))
NIMA_STATE(node, (int64_t, seen))

static void pass(nima *me, int64_t left) {
    parcel p;
    p.kind = 1;
    p.left = left;
    const nima_id next = nima_at(world_of(me)->node, (nima_index(me) + 1) % params_of(me)->agents);
    nima_send(me, next, 10, delivery_type, &p, sizeof p);
}
static void node_start(nima *me, node *self) {
    (void)self;
    if (nima_index(me) == 7) pass(me, 50);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        const delivery *d = delivery_in(m);
        self->seen++;
        if (d->left > 1) pass(me, d->left - 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, params_of(s)->agents, 0);
    nima_lookahead(s, 10);
}
NIMA_MODEL(.name = "payload", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
