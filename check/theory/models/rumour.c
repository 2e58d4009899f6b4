/* Maki-Thompson rumour: who spreads it tells someone now and then, and stops when told that it is known. One group. */
#include "nima.h"

enum mind { IGNORANT, SPREADER, STIFLER };

NIMA_PARAMS((int64_t, people, 10000, "2..", "", "people"))
NIMA_WORLD((nima_pop, people))
NIMA_SIGNAL(1, call)
NIMA_SIGNAL(2, tell)
NIMA_SIGNAL(3, known)
NIMA_STATE(person, (enum mind, mind), (nima_alarm, next))

static void spread(nima *me, person *self) {
    self->mind = SPREADER;
    self->next = call_alarm(me, nima_ticks(me, nima_exponential(nima_random(me), 1)));
}

static void person_start(nima *me, person *self) {
    if (nima_index(me) == 0) spread(me, self);
}

static void person_update(nima *me, person *self) {
    nima_pop people = world_of(me)->people;
    NIMA_EACH(me, m) {
        if (call_in(m)) {
            uint64_t other = nima_below(nima_random(me), people.count - 1);
            tell_send(me, nima_at(people, other + (other >= nima_index(me))), 0);
            spread(me, self);
        } else if (known_in(m)) {
            self->mind = STIFLER;
            nima_cancel(me, self->next);
        } else if (self->mind == IGNORANT) spread(me, self);
        else known_send(me, m->sender, 0);
    }
}

NIMA_BEHAVIOR(person, start, update)

static void setup(nima_setup *s) {
    uint64_t people = (uint64_t)params_of(s)->people;
    setup_world(s)->people = person_populate(s, people, people);
    nima_lookahead(s, nima_setup_ticks(s, 1000));
}

static void count(nima_id id, const void *state, void *ignorant) {
    (void)id;
    *(double *)ignorant += ((const person *)state)->mind == IGNORANT;
}
static void finish(nima_view *v) {
    double ignorant = 0;
    nima_view_each(v, person_behavior, count, &ignorant);
    nima_result(v, "never_heard", ignorant / (double)params_of(v)->people);
}

NIMA_MODEL(.name = "rumour", .help = "a rumour that dies out", .setup = setup, .finish = finish)
