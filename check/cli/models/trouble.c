/* trouble.c: fails in the way it is told to, at tick 40, in agent 5; or never ends. */
#include "nima.h"
#include <stdlib.h>
NIMA_PARAMS((nima_text, how, "none", "none|fail|segv|fpe|abort|stack|lookahead|late|world|forever|memory", "", "what goes wrong"))
NIMA_WORLD((nima_pop, node), (int64_t, table))
NIMA_MESSAGE(1, poke, (int64_t, depth))
NIMA_STATE(node, (int64_t, seen))

static volatile int zero;
static int64_t deeper(int64_t n) {
    volatile char block[1000];
    block[n % 1000] = 1;
    return zero ? 0 : deeper(n + 1) + block[(n + 1) % 1000];
}
static void go_wrong(nima *me, const char *how) {
    if (!strcmp(how, "fail")) nima_fail(me, "told to fail: %d", 7);
    if (!strcmp(how, "segv")) *(volatile int *)(uintptr_t)zero = 1;
    if (!strcmp(how, "fpe")) zero = (int)nima_now(me) / zero;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "stack")) zero = (int)deeper(0);
    if (!strcmp(how, "lookahead")) poke_send(me, nima_at(world_of(me)->node, 6), 1, 0);
    if (!strcmp(how, "late")) poke_send(me, nima_at(world_of(me)->node, 6), -1, 0);
    if (!strcmp(how, "world")) ((world *)(uintptr_t)world_of(me))->table = 1;
}
static void node_start(nima *me, node *self) {
    (void)self;
    poke_alarm(me, 10, 0);
}
static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        self->seen++;
        if (nima_index(me) == 5 && nima_now(me) == 40) go_wrong(me, params_of(me)->how);
        if (!strcmp(params_of(me)->how, "memory")) { void *block = NULL; for (;;) block = nima_resize(me, block, (size_t)self->seen++ << 24); }
        if (self->seen < 10 || !strcmp(params_of(me)->how, "forever")) poke_alarm(me, 10, poke_in(m)->depth + 1);
    }
}
NIMA_BEHAVIOR(node, start, update)
NIMA_REPORTER(seen, sum, node, "", self->seen)
static void setup(nima_setup *s) {
    setup_world(s)->node = node_populate(s, 10, 0);
    nima_lookahead(s, 10);
    nima_sample(s, 10);
}
static void finish(nima_view *v) { nima_result(v, "seen", nima_last(v, seen)); }
NIMA_MODEL(.name = "trouble", .help = "Fails as told", .unit = "s", .ticks_per_unit = 10, .setup = setup, .finish = finish)
