/* Mass creation: an agent creates others in its own shard and sends each a message; on it they stop. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, agents, 1000000, "0..1000000", "", "agents to create"),
    (int64_t, batch, 1000000, "1..1000000", "", "how many at once; the slots of one batch serve the next"))
NIMA_MESSAGE(1, greeting, (uint64_t, number))
NIMA_SIGNAL(2, more)

NIMA_STATE(child, (uint64_t, number))
static void child_update(nima *me, child *self) {
    NIMA_EACH(me, m) self->number = greeting_in(m)->number;
    nima_stop(me);
}
NIMA_BEHAVIOR(child, update)

NIMA_STATE(maker, (uint64_t, made))
static void make_batch(nima *me, maker *self) {
    uint64_t left = (uint64_t)params_of(me)->agents - self->made, batch = (uint64_t)params_of(me)->batch;
    if (batch > left) batch = left;
    for (uint64_t i = 0; i < batch; i++) greeting_send(me, child_spawn(me, 0, NULL), 0, self->made++);
    if (batch < left) more_alarm(me, 1);
}
static void maker_start(nima *me, maker *self) { make_batch(me, self); }
static void maker_update(nima *me, maker *self) {
    while (nima_next(me)) make_batch(me, self);
}
NIMA_BEHAVIOR(maker, start, update)

static void setup(nima_setup *s) { maker_populate(s, 1, 0); }

static void add_made(nima_id id, const void *state, void *sum) {
    (void)id;
    *(double *)sum += (double)((const maker *)state)->made;
}
static void finish(nima_view *v) {
    double created = 0;
    nima_view_each(v, maker_behavior, add_made, &created);
    nima_result(v, "created", created);
}

NIMA_MODEL(.name = "create", .help = "agents created in bulk", .unit = "tick", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
