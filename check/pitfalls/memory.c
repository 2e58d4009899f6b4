/* Memory that runs out is an error that says so, wherever it happens, and never a success or a kill.
 * Model: hoarders take one thing without end: mail, alarms, agents, agents' memory, subscriptions, lines of the log. */
#include "nima.h"

NIMA_PARAMS((nima_text, what, "mail", "mail|alarms|agents|blocks|topics|log|cancelled|levels|shared|gset|large", "", "what is taken"),
            (int64_t, agents, 10, "1..", "", "hoarders"),
            (int64_t, shards, 4, "1..", "", "shards"),
            (int64_t, a_turn, 1000, "1..", "", "things each takes a turn"),
            (int64_t, turns, 100000, "0..", "", "turns"))
NIMA_WORLD((nima_pop, hoarder))
NIMA_BYTES(1, thing)
NIMA_SIGNAL(2, turn)
NIMA_TOPIC(board)
NIMA_LEVEL(level, "")
NIMA_STATE(hoarder, (int64_t, turns), (int64_t, taken), (char *, last))
NIMA_STATE(hoarded, (nima_time, since), (uint64_t, room), (nima_id, self))
NIMA_BEHAVIOR(hoarder, start, update)
NIMA_BEHAVIOR(hoarded, start)

static bool what_is(const void *p, const char *name) { return !strcmp(((const params *)p)->what, name); }

static void take(nima *me, hoarder *self) {
    const params *p = params_of(me);
    static const char bytes[4000];
    const nima_id other = nima_at(world_of(me)->hoarder, (nima_index(me) + 1) % (uint64_t)p->agents);
    const int64_t n = self->taken++;
    if (what_is(p, "mail")) thing_send(me, other, 1000000000 + n % 1000, bytes, 64);
    if (what_is(p, "large")) thing_send(me, other, 1000000000 + n % 1000, bytes, 4000);
    if (what_is(p, "alarms")) thing_alarm(me, 1000000000 + n * 1000, bytes, 8);
    if (what_is(p, "cancelled")) nima_cancel(me, thing_alarm(me, 1000000000, bytes, 0));
    if (what_is(p, "agents")) hoarded_spawn(me, 0, NULL);
    if (what_is(p, "blocks")) { self->last = NULL; NIMA_RESIZE(me, self->last, 100 + n % 3000); memset(self->last, 1, 100); }
    if (what_is(p, "topics")) nima_subscribe(me, board, (uint64_t)n);
    if (what_is(p, "log")) nima_log(me, NIMA_INFO, "%s line %lld of a log that is long", "a long", (long long)n);
    if (what_is(p, "levels")) hoarded_spawn(me, 0, NULL);
}
static void hoarder_start(nima *me, hoarder *self) { (void)self; turn_alarm(me, 1); }
static void hoarder_update(nima *me, hoarder *self) {
    NIMA_EACH(me, m) if (turn_in(m) && ++self->turns <= params_of(me)->turns) {
        for (int64_t i = 0; i < params_of(me)->a_turn; i++) take(me, self);
        turn_alarm(me, what_is(params_of(me), "log") ? 0 : 1);
    }
}
static void hoarded_start(nima *me, hoarded *self) {
    self->since = nima_now(me);
    if (what_is(params_of(me), "levels")) nima_level(me, level, 1);
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->hoarder = hoarder_populate(s, (uint64_t)p->agents, 0);
    nima_shards(s, what_is(p, "log") ? 1 : (uint32_t)p->shards);     /* one window, where its lines pile up */
    if (what_is(p, "shared")) nima_shared(s, (size_t)1 << 34);
    if (what_is(p, "gset")) nima_gset_new(s, (uint64_t)1 << 34);
    nima_lookahead(s, what_is(p, "log") ? 0 : 1);
    nima_step_bound(s, 1000000000);
    nima_until(s, 100000000);
}
NIMA_MODEL(.name = "memory", .help = "hoarders", .unit = "tick", .ticks_per_unit = 1, .setup = setup)

#include "pitfall.h"
#include <malloc.h>

enum { LIMIT_MIB = 80 };

static nima_run *limited(unsigned threads, const char *const *set, uint64_t mib) {
    const nima_options o = { .threads = threads, .set = set, .no_pin = true };
    run_tuning t = RUN_TUNING_DEFAULT;
    t.memory_limit = mib << 20;
    return opened_with(&o, &t);
}

START_TEST(running_out) {                    /* an error, in time: what is counted is what is used, nearly; all is given back */
    static const char *const what[] = { "what=mail", "what=large", "what=alarms", "what=cancelled", "what=agents", "what=blocks",
                                        "what=topics", "what=log", "what=levels" };
    mallopt(M_MMAP_THRESHOLD, 1 << 20);      /* what is freed goes back at once */
    const long at_first = resident_kib();
    for (int i = 0; i < 9; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            malloc_trim(0);
            const long before = resident_kib();
            nima_run *r = limited(threads, SET(what[i]), LIMIT_MIB);
            const nima_err code = nima_run_to(r, NIMA_FOREVER);
            const long used = resident_kib() - before;
            ck_assert_msg(code == NIMA_E_MEMORY, "%s: %s: %s", what[i], nima_error_text(code), nima_error_detail(r));
            ck_assert_names(nima_error_detail(r), "memory");
            const long most = strcmp(what[i], "what=log") ? LIMIT_MIB * 1280 : LIMIT_MIB * 2048;   /* lines are copied to be sorted */
            if (!SANITIZED)
                ck_assert_msg(used < most + 8192, "%s: %ld KiB used under a limit of %d MiB", what[i], used,
                              LIMIT_MIB);
            nima_close(r);
        }
    malloc_trim(0);
    ck_assert_flat(at_first, resident_kib(), LIMIT_MIB * 1024);
}
END_TEST

START_TEST(at_the_opening) {
    static const char *const sets[][2] = { { "agents=1500000", "shards=64" }, { "what=shared", NULL }, { "what=gset", NULL } };
    for (int i = 0; i < 3; i++) {
        nima_run *r;
        const nima_options o = { .threads = 2, .set = SET(sets[i][0], sets[i][1]), .no_pin = true };
        run_tuning t = RUN_TUNING_DEFAULT;
        t.memory_limit = (uint64_t)LIMIT_MIB << 20;
        const nima_err code = run_open(&r, &nima_model_, &o, &t);
        ck_assert_msg(code == NIMA_E_MEMORY, "%s: %s: %s", sets[i][0], nima_error_text(code), nima_error_detail(NULL));
        ck_assert_ptr_null(r);
        ck_assert_names(nima_error_detail(NULL), "memory");
    }
}
END_TEST

START_TEST(nothing_left_is_success) {        /* the other end of the same code: enough memory, and no error */
    static const char *const what[] = { "what=mail", "what=alarms", "what=agents", "what=blocks" };
    for (int i = 0; i < 4; i++) {
        nima_run *r = limited(2, SET(what[i], "turns=5"), 4 * LIMIT_MIB);
        advance(r, NIMA_FOREVER);
        const hoarder *h = nima_state(r, nima_member(r, hoarder_behavior, 9), hoarder_behavior);
        ck_assert_int_eq(h->taken, 5000);
        nima_close(r);
    }
}
END_TEST

START_TEST(full_shard) {                     /* 2^20 agents in one shard, and one more */
    char text[1200];
    ck_assert_int_eq(failed_run(opened(1, SET("what=agents", "agents=1", "shards=1", "a_turn=100000", "turns=11")), text, sizeof text),
                     NIMA_E_MODEL);
    ck_assert_names(text, "shard 0 is full");
    ck_assert_names(text, "hoarder[0]");
}
END_TEST

PITFALLS(
    { "pitfall 29: out of memory is no success and comes in time, whatever took it", running_out },
    { "pitfall 29: out of memory at the opening", at_the_opening },
    { "pitfall 29: nothing left is success", nothing_left_is_success },
    { "pitfall 29: a full shard is named", full_shard })
