/* talker.c: prints wherever it can: in setup, callbacks and finish, while exiting, to standard output and error; logs too. */
#include "nima.h"
#include <stdlib.h>
NIMA_PARAMS((nima_text, word, "hello", "", "", "what is said"), (int64_t, lines, 3, "0..", "", "lines from each agent"))
NIMA_WORLD((nima_pop, talker))
NIMA_SIGNAL(1, again)
NIMA_STATE(talker, (int64_t, said), (double, share), (nima_id, other), (float, half))
static void talker_start(nima *me, talker *self) {
    self->share = 0.1;
    self->half = 0.5f;
    self->other = nima_at(world_of(me)->talker, 1 - nima_index(me));
    again_alarm(me, 1);
}
static void talker_update(nima *me, talker *self) {
    NIMA_EACH(me, m) (void)m;
    printf("%s %lld\n", params_of(me)->word, (long long)self->said);
    fprintf(stderr, "aside %lld\n", (long long)self->said);
    nima_log(me, NIMA_WARNING, "said %lld", (long long)self->said);
    if (++self->said < params_of(me)->lines) again_alarm(me, 1);
}
NIMA_BEHAVIOR(talker, start, update)
NIMA_REPORTER(said, sum, talker, "", self->said)
static void late(void) { printf("said while exiting\n"); }
static void setup(nima_setup *s) {
    printf("said in setup\n");
    atexit(late);
    setup_world(s)->talker = talker_populate(s, 2, 0);
    nima_sample(s, 1);
}
static void finish(nima_view *v) {
    printf("said in finish, without an end of line");
    nima_result(v, "said", nima_last(v, said));
    nima_result(v, "third", 1.0 / 3);
    nima_result(v, "large", 1e15);
    nima_result(v, "undefined", __builtin_nan(""));
    nima_result_hash(v, "hash", 0xAB);
    nima_result_measured(v, "measured", 2);
}
NIMA_MODEL(.name = "talker", .help = "Prints", .unit = "min", .ticks_per_unit = 60, .setup = setup, .finish = finish)
