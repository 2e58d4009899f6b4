/* echo.c: the model of the install test, as a user outside this repository would write it: agents in a ring pass a count
 * on until it is used up. */
#include <nima.h>

NIMA_PARAMS((int64_t, agents, 10, "2..", "", "agents in the ring"), (int64_t, hops, 100, "1..", "", "hops of the count"))
NIMA_WORLD((nima_pop, stop))
NIMA_MESSAGE(1, count, (int64_t, left))
NIMA_STATE(stop, (int64_t, visits))

static void pass(nima *me, int64_t left) {
    const uint64_t next = (nima_index(me) + 1) % (uint64_t)params_of(me)->agents;
    count_send(me, nima_at(world_of(me)->stop, next), 1, left);
}
static void stop_start(nima *me, stop *self) {
    (void)self;
    if (nima_index(me) == 0) pass(me, params_of(me)->hops);
}
static void stop_update(nima *me, stop *self) {
    NIMA_EACH(me, m) {
        const count *c = count_in(m);
        self->visits++;
        if (c && c->left > 1) pass(me, c->left - 1);
    }
}
NIMA_BEHAVIOR(stop, start, update)

static void setup(nima_setup *s) {
    setup_world(s)->stop = stop_populate(s, (uint64_t)params_of(s)->agents, 0);
    nima_lookahead(s, 1);
}
static void add(nima_id id, const void *state, void *sum) {
    (void)id;
    *(double *)sum += (double)((const stop *)state)->visits;
}
static void finish(nima_view *v) {
    double visits = 0;
    nima_view_each(v, stop_behavior, add, &visits);
    nima_result(v, "visits", visits);
}
NIMA_MODEL(.name = "echo", .help = "A count passed around a ring", .unit = "tick", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
