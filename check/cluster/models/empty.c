/* empty.c: windows with nothing in them but one update of one agent: what is left of a window's time is the clock's. */
#include "nima.h"
NIMA_PARAMS((int64_t, windows, 20000, "1..", "", "windows to run"), (int64_t, shards, 8, "1..64", "", "shards"))
NIMA_STATE(hand, (int64_t, seen))
static void hand_update(nima *me, hand *self) {
    (void)me;
    self->seen++;
}
NIMA_BEHAVIOR(hand, update)
static void setup(nima_setup *s) {
    const params *p = params_of(s);
    hand_populate(s, 1, 0);
    nima_shards(s, (uint32_t)p->shards);
    nima_lookahead(s, 1);
    nima_period(s, hand_behavior, 1);
    nima_until(s, p->windows);
}
NIMA_MODEL(.name = "empty", .help = "Empty windows", .unit = "tick", .ticks_per_unit = 1, .setup = setup)
