/* Customers come at random, wait in line for one of the servers and, if they are impatient, go away.
 * All are one group: they may talk without delay, and need no window for each event. */
#include "nima.h"

NIMA_PARAMS(
    (double, arrivals, 0.5, "0.000001..", "1/s", "customers that come in a second"),
    (double, service, 1, "0..", "s", "mean time of service"),
    (int64_t, servers, 1, "1..", "", "servers"),
    (double, patience, 0, "0..", "s", "mean time a customer waits before it goes away; 0: for ever"))
NIMA_WORLD((nima_pop, door), (nima_pop, desk))
NIMA_SIGNAL(1, next)
NIMA_SIGNAL(2, arrive)
NIMA_SIGNAL(3, begin)
NIMA_SIGNAL(4, served)
NIMA_SIGNAL(5, give_up)
NIMA_SIGNAL(6, free_again)
NIMA_TALLY(wait, "s")
NIMA_TALLY(waited, "")
NIMA_TALLY(lost, "")
NIMA_LEVEL(line, "")

static nima_time random_ticks(nima *me, double mean) {
    return nima_ticks(me, nima_exponential(nima_random(me), mean));
}

NIMA_STATE(customer, (nima_time, arrived), (bool, gone), (nima_alarm, patience))
static void customer_start(nima *me, customer *self) {
    self->arrived = nima_now(me);
    arrive_send(me, nima_at(world_of(me)->desk, 0), 0);
    nima_level(me, line, 1);
    if (params_of(me)->patience > 0) self->patience = give_up_alarm(me, random_ticks(me, params_of(me)->patience));
}
static void customer_update(nima *me, customer *self) {
    NIMA_EACH(me, m) {
        if (give_up_in(m)) {
            self->gone = true;
            nima_level(me, line, 0);
            nima_tally(me, lost, 1);
        } else if (begin_in(m) && !self->gone) {
            double time = nima_units(me, nima_now(me) - self->arrived);
            nima_tally(me, wait, time);
            nima_tally(me, waited, time > 0);
            nima_level(me, line, 0);
            nima_cancel(me, self->patience);
            served_alarm(me, random_ticks(me, params_of(me)->service));
        } else {                             /* served, or called when it was gone */
            free_again_send(me, nima_at(world_of(me)->desk, 0), 0);
            nima_stop(me);
        }
    }
}
NIMA_BEHAVIOR(customer, start, update)

NIMA_STATELESS(door)
static void door_start(nima *me, door *self) {
    (void)self;
    next_alarm(me, random_ticks(me, 1 / params_of(me)->arrivals));
}
static void door_update(nima *me, door *self) {
    while (nima_next(me)) customer_spawn(me, 0, NULL);
    door_start(me, self);
}
NIMA_BEHAVIOR(door, start, update)

NIMA_STATE(desk, (int64_t, free), (int64_t, first), (int64_t, end), (int64_t, room), (nima_id *, line))
static void desk_start(nima *me, desk *self) { self->free = params_of(me)->servers; }
static void put_in_line(nima *me, desk *self, nima_id customer) {
    if (self->end == self->room) {           /* no room behind the last: use what those called have left */
        self->end -= self->first;
        if (self->end > 0) memmove(self->line, self->line + self->first, (size_t)self->end * sizeof *self->line);
        self->first = 0;
        if (2 * self->end >= self->room) NIMA_RESIZE(me, self->line, self->room = 2 * self->room + 16);
    }
    self->line[self->end++] = customer;
}
static void desk_update(nima *me, desk *self) {
    NIMA_EACH(me, m) {
        if (arrive_in(m)) put_in_line(me, self, m->sender);
        else self->free++;
    }
    for (; self->free > 0 && self->first < self->end; self->free--) begin_send(me, self->line[self->first++], 0);
}
NIMA_BEHAVIOR(desk, start, update)

static void setup(nima_setup *s) {
    setup_world(s)->door = door_populate(s, 1, 1);
    setup_world(s)->desk = desk_populate(s, 1, 1);
    nima_until(s, nima_setup_ticks(s, 1000000));
    nima_lookahead(s, nima_setup_ticks(s, 1000000));             /* there is no second group */
}

static void finish(nima_view *v) {
    nima_result(v, "mean_wait", nima_tally_mean(v, wait));
    nima_result(v, "p_wait", nima_tally_mean(v, waited));
    nima_result(v, "mean_line", nima_level_mean(v, line));
    nima_result(v, "served", (double)nima_tally_count(v, wait));
    nima_result(v, "lost", (double)nima_tally_count(v, lost));
}

NIMA_MODEL(.name = "mm1", .help = "queue with one or more servers (M/M/c)", .unit = "s", .ticks_per_unit = 1e6,
           .setup = setup, .finish = finish)
