/* Gambler's ruin: plus or minus one at each tick, until nothing or the goal is left; then the agent stops. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, gamblers, 20000, "1..", "", "gamblers"),
    (int64_t, begin, 3, "1..", "", "coins at first"),
    (int64_t, goal, 10, "2..", "", "coins to stop with"))
NIMA_TALLY(won, "")
NIMA_TALLY(duration, "ticks")
NIMA_STATE(gambler, (int64_t, coins))

static void gambler_start(nima *me, gambler *self) { self->coins = params_of(me)->begin; }

static void gambler_update(nima *me, gambler *self) {
    self->coins += nima_chance(nima_random(me), 0.5) ? 1 : -1;
    if (self->coins > 0 && self->coins < params_of(me)->goal) return;
    nima_tally(me, won, self->coins > 0);
    nima_tally(me, duration, (double)(nima_now(me) + 1));
    nima_stop(me);
}

NIMA_BEHAVIOR(gambler, start, update)

static void setup(nima_setup *s) {
    gambler_populate(s, (uint64_t)params_of(s)->gamblers, 0);
    nima_period(s, gambler_behavior, 1);
    nima_lookahead(s, 1);
    nima_until(s, 10000);                    /* all have ended long before */
}

static void finish(nima_view *v) {
    nima_result(v, "won", nima_tally_mean(v, won));
    nima_result(v, "duration", nima_tally_mean(v, duration));
    nima_result(v, "duration_sd", nima_tally_sd(v, duration));
    nima_result(v, "ended", (double)nima_tally_count(v, won));
}

NIMA_MODEL(.name = "gambler", .help = "gambler's ruin", .unit = "game", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
