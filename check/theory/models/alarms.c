/* One agent that sets alarms at 1, 1.5 and 3, and on demand one more at 21. */
#include "nima.h"

NIMA_PARAMS((bool, late, false, "", "", "one more alarm, at 21"))
NIMA_SIGNAL(1, ring)
NIMA_STATE(sleeper, (int64_t, rung), (nima_time, last))

static void sleeper_start(nima *me, sleeper *self) {
    (void)self;
    ring_alarm(me, nima_ticks(me, 3));
    ring_alarm(me, nima_ticks(me, 1));
    ring_alarm(me, nima_ticks(me, 1.5));
    if (params_of(me)->late) ring_alarm(me, nima_ticks(me, 21));
}

static void sleeper_update(nima *me, sleeper *self) {
    for (; nima_next(me); self->rung++) self->last = nima_now(me);
}

NIMA_BEHAVIOR(sleeper, start, update)

static void setup(nima_setup *s) { sleeper_populate(s, 1, 0); }

NIMA_MODEL(.name = "alarms", .help = "three alarms", .setup = setup)
