/* Moran process, and with fitness 1 the voter model: in each of many towns, now and then one replaces another by its
 * like, mutants more often by their fitness. A town is a group. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, towns, 2000, "1..", "", "towns"),
    (int64_t, people, 10, "1..", "", "people in a town"),
    (int64_t, mutants, 1, "0..", "", "mutants in a town at first"),
    (double, fitness, 1, "0..", "", "of a mutant"))
NIMA_WORLD((nima_pop, people))
NIMA_SIGNAL(1, turn)
NIMA_MESSAGE(2, replace, (bool, mutant))
NIMA_STATE(person, (bool, mutant), (nima_alarm, next))

static void wait_for_turn(nima *me, person *self) {
    double mean = self->mutant ? 1 / params_of(me)->fitness : 1;
    self->next = turn_alarm(me, nima_ticks(me, nima_exponential(nima_random(me), mean)));
}

static void person_start(nima *me, person *self) {
    self->mutant = nima_index(me) % (uint64_t)params_of(me)->people < (uint64_t)params_of(me)->mutants;
    wait_for_turn(me, self);
}

static void person_update(nima *me, person *self) {
    uint64_t people = (uint64_t)params_of(me)->people, town = nima_index(me) / people;
    NIMA_EACH(me, m) {
        if (turn_in(m)) {
            uint64_t other = town * people + nima_below(nima_random(me), people);
            replace_send(me, nima_at(world_of(me)->people, other), 0, self->mutant);
        } else if (self->mutant != replace_in(m)->mutant) {
            self->mutant = replace_in(m)->mutant;
            nima_cancel(me, self->next);
        } else continue;
        wait_for_turn(me, self);
    }
}

NIMA_BEHAVIOR(person, start, update)

static void setup(nima_setup *s) {
    uint64_t people = (uint64_t)params_of(s)->people;
    setup_world(s)->people = person_populate(s, people * (uint64_t)params_of(s)->towns, people);
    nima_lookahead(s, nima_setup_ticks(s, 1000));
    nima_until(s, nima_setup_ticks(s, 160));
}

static void finish(nima_view *v) {
    int64_t fixed = 0, mixed = 0, people = params_of(v)->people;
    for (int64_t town = 0; town < params_of(v)->towns; town++) {
        int64_t mutants = 0;
        for (int64_t i = 0; i < people; i++)
            mutants += person_at(v, nima_at(world_of(v)->people, (uint64_t)(town * people + i)))->mutant;
        fixed += mutants == people;
        mixed += mutants > 0 && mutants < people;
    }
    nima_result(v, "fixed", (double)fixed / (double)params_of(v)->towns);
    nima_result(v, "mixed", (double)mixed);
}

NIMA_MODEL(.name = "moran", .help = "who takes over", .setup = setup, .finish = finish)
