/* Everyone begins with one coin and gives coins away, each to someone at random: soon many have nothing.
 * Synchronous: at each time all who have a coin give one. Asynchronous: one at a time, each by its own clock. */
#include "nima.h"

enum { MOST = 1000 };                        /* coins told apart in the end */

NIMA_PARAMS(
    (int64_t, people, 10000, "1..1000000", "", "people"),
    (nima_text, order, "synchronous", "synchronous|asynchronous", "", "all at once, or one random giver at a time"))
NIMA_WORLD((nima_pop, people))
NIMA_SIGNAL(1, coin)
NIMA_SIGNAL(2, turn)

static void give(nima *me, nima_time delay) {
    nima_pop people = world_of(me)->people;
    coin_send(me, nima_at(people, nima_below(nima_random(me), people.count)), delay);
}

/* All at once. A coin on its way is still with its giver. */
NIMA_STATE(giver, (int64_t, coins), (bool, gave))
static void giver_start(nima *me, giver *self) {
    (void)me;
    self->coins = 1;
}
static void giver_update(nima *me, giver *self) {
    self->coins -= self->gave;
    while (nima_next(me)) self->coins++;
    self->gave = self->coins > 0;
    if (self->gave) give(me, 1);
}
NIMA_BEHAVIOR(giver, start, update)

/* One at a time. All are one group, so that a coin may arrive at once. */
NIMA_STATE(trader, (int64_t, coins))
static void wait_for_turn(nima *me) { turn_alarm(me, (nima_time)nima_exponential(nima_random(me), 1e6)); }
static void trader_start(nima *me, trader *self) {
    self->coins = 1;
    wait_for_turn(me);
}
static void trader_update(nima *me, trader *self) {
    NIMA_EACH(me, m) {
        if (coin_in(m)) {
            self->coins++;
            continue;
        }
        if (self->coins > 0) {
            self->coins--;
            give(me, 0);
        }
        wait_for_turn(me);
    }
}
NIMA_BEHAVIOR(trader, start, update)

static void setup(nima_setup *s) {
    uint64_t people = (uint64_t)params_of(s)->people;
    if (strcmp(params_of(s)->order, "synchronous") == 0) {
        setup_world(s)->people = giver_populate(s, people, 0);
        nima_period(s, giver_behavior, 1);
        nima_lookahead(s, 1);
        nima_until(s, 100);
    } else {
        setup_world(s)->people = trader_populate(s, people, people);
        nima_until(s, 100 * 1000000);
        nima_lookahead(s, 100 * 1000000);    /* there is no second group */
    }
}

static void count_coins(nima_id id, const void *state, void *people) {
    (void)id;
    int64_t coins = *(const int64_t *)state;                     /* of a giver and of a trader */
    if (coins > MOST) coins = MOST;
    ((double *)people)[coins]++;
}
static void finish(nima_view *v) {
    double people[MOST + 1] = { 0 }, gini = 0, share = 0;
    nima_view_each(v, giver_behavior, count_coins, people);
    nima_view_each(v, trader_behavior, count_coins, people);
    for (int coins = 0; coins < MOST; coins++) {
        share += people[coins] / (double)params_of(v)->people;   /* of those with so many or less */
        gini += share * (1 - share);
    }
    nima_result(v, "nothing", people[0] / (double)params_of(v)->people);
    nima_result(v, "gini", gini);
}

NIMA_MODEL(.name = "wealth", .help = "coins given away at random", .unit = "turn", .ticks_per_unit = 1,
           .setup = setup, .finish = finish)
