/* Failures: whatever an agent does, the run stops, names it, and this process lives on. Model: agents tick; culprits, chosen
 * by index, do one wrong thing at their time, with a message of type `order` in hand. */
#include "nima.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

NIMA_PARAMS((nima_text, deed, "none", "none|fail|many|segv|fpe|abort|trap|stack|world|text|near|far|publish|born|late|large|type|"
                                      "nobody|shard|negative|over|alarm|awake|at|dead|start|stop", "", "what culprits do"),
            (int64_t, agents, 40, "1..", "", "agents"),
            (int64_t, shards, 8, "1..", "", "shards"),
            (int64_t, culprit, 17, "0..", "", "index"),
            (int64_t, at, 50, "0..", "tick", "when"),
            (int64_t, lookahead, 10, "0..", "tick", "least delay"))
NIMA_WORLD((nima_pop, agent), (uint64_t, untouched))
NIMA_MESSAGE(1, order, (int64_t, turn))
NIMA_BYTES(2, blob)
NIMA_TOPIC(board)
NIMA_STATE(agent, (int64_t, turns), (int64_t, sum))
NIMA_STATE(child, (int64_t, life))
NIMA_BEHAVIOR(agent, start, update, stop)
NIMA_BEHAVIOR(child, update)

static bool deed_is(nima *me, const char *name) { return !strcmp(params_of(me)->deed, name); }

static int __attribute__((noinline)) deeper(volatile int *n) {
    volatile int here[1000];
    here[0] = *n + 1;
    here[999] = 0;
    return here[0] ? deeper(&here[0]) + here[999] : 0;
}

static void agent_deed(nima *me, agent *self) {
    static volatile int zero = 0;
    const nima_id other = nima_at(world_of(me)->agent, (nima_index(me) + 1) % (uint64_t)params_of(me)->agents);
    const nima_time least = params_of(me)->lookahead;
    if (deed_is(me, "fail")) nima_fail(me, "culprit %d says so", (int)nima_index(me));
    if (deed_is(me, "segv")) *(volatile int *)(uintptr_t)(16 + zero) = 1;
    if (deed_is(me, "fpe")) self->sum = 100 / zero;
    if (deed_is(me, "abort")) abort();
    if (deed_is(me, "trap")) __builtin_trap();
    if (deed_is(me, "stack")) { int n = zero; self->sum = deeper(&n); }
    if (deed_is(me, "world")) *(volatile uint64_t *)(uintptr_t)&world_of(me)->untouched = 1;
    if (deed_is(me, "near")) order_send(me, other, least - 1, 0);
    if (deed_is(me, "publish")) order_publish(me, board, 1, least - 1, 0);
    if (deed_is(me, "far")) child_spawn_far(me, least - 1, NULL);
    if (deed_is(me, "born")) child_spawn_in(me, (uint32_t)params_of(me)->shards, least, NULL);
    if (deed_is(me, "large")) blob_send(me, other, least, me, 65537);
    if (deed_is(me, "type")) nima_send(me, other, least, 65536, NULL, 0);
    if (deed_is(me, "nobody")) order_send(me, (nima_id){ 0 }, least, 0);
    if (deed_is(me, "shard")) order_send(me, (nima_id){ other.bits | (uint64_t)0xFFFFF << 44 }, least, 0);
    if (deed_is(me, "negative")) order_alarm(me, -1, 0);
    if (deed_is(me, "over")) order_alarm(me, NIMA_FOREVER - nima_now(me), 0);
    if (deed_is(me, "alarm")) nima_stop(me);
    if (deed_is(me, "awake")) nima_keep_awake(me, false);
    if (deed_is(me, "at")) order_send(me, nima_at(world_of(me)->agent, 1u << 30), least, 0);
    if (deed_is(me, "dead")) order_send(me, (nima_id){ nima_self(me).bits + ((uint64_t)7 << 20) }, least, 0);
}

static void agent_start(nima *me, agent *self) {
    if (deed_is(me, "start") && nima_index(me) == (uint64_t)params_of(me)->culprit) nima_fail(me, "at once");
    order_alarm(me, 10, self->turns);
}
static void agent_update(nima *me, agent *self) {
    const bool culprit = nima_index(me) == (uint64_t)params_of(me)->culprit;
    NIMA_EACH(me, m) {
        const order *o = order_in(m);
        if (nima_now(me) == params_of(me)->at && (culprit || deed_is(me, "many"))) {
            if (deed_is(me, "many")) {       /* many fail in one window, the earliest is the culprit */
                if (!culprit) order_alarm(me, 1 + (nima_time)((nima_index(me) * 7) % 8), -1);
                else nima_fail(me, "the earliest");
            } else agent_deed(me, self);
        }
        if (o->turn == -1) nima_fail(me, "not the earliest");
        self->turns++;
        nima_log(me, NIMA_INFO, "turn %lld", (long long)self->turns);
        order_alarm(me, 10, self->turns);
    }
}
static void agent_stop(nima *me, agent *self) {
    (void)self;
    order_alarm(me, 10, 0);
}
static void child_update(nima *me, child *self) { self->life += nima_now(me); }

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->agent = agent_populate(s, (uint64_t)p->agents, 0);
    nima_shards(s, (uint32_t)p->shards);
    nima_lookahead(s, p->lookahead);
    nima_until(s, 300);
}
NIMA_MODEL(.name = "failure", .help = "agents that tick, and culprits", .unit = "tick", .ticks_per_unit = 1, .setup = setup)

#include "pitfall.h"

static void drop_address(char *text) {       /* that of a crash, which differs */
    char *at = strstr(text, "0x"), *end = at ? at + 2 + strspn(at + 2, "0123456789abcdef") : NULL;
    if (at) memmove(at, end, strlen(end) + 1);
}

/* Runs the deed on one thread and on several, with shards in other orders: code and text must be equal. Returns the text. */
static const char *text_of(nima_err wanted, const char *const *set) {
    static char first[1200];
    for (unsigned threads = 1; threads <= 3; threads++)
        for (uint64_t order = 0; order < 3; order++) {
            char text[1200];
            const nima_options o = { .threads = threads, .set = set, .no_pin = true };
            run_tuning t = RUN_TUNING_DEFAULT;
            t.shard_order = order;
            const nima_err code = failed_run(opened_with(&o, &t), text, sizeof text);
            ck_assert_msg(code == wanted, "%s: %s", nima_error_text(code), text);
            drop_address(text);
            if (threads == 1 && order == 0) memcpy(first, text, sizeof first);
            ck_assert_str_eq(text, first);
        }
    return first;
}

static void names_all(const char *text, const char *why) {
    ck_assert_msg(!strncmp(text, "agent[17] at time 50, step ", 27), "the agent is named once, and first: %s", text);
    ck_assert_names(text, "order");          /* in hand */
    ck_assert_names(text, why);
}

START_TEST(crashes) {
    static const char *const deeds[][2] = { { "deed=segv", "segmentation fault" }, { "deed=fpe", "arithmetic fault" },
                                            { "deed=abort", "abort" }, { "deed=trap", "illegal instruction" },
                                            { "deed=stack", "segmentation fault" }, { "deed=world", "read-only" } };
    if (SANITIZED) return;                   /* their own handlers come first */
    for (int i = 0; i < 6; i++) names_all(text_of(NIMA_E_CRASH, SET(deeds[i][0])), deeds[i][1]);
}
END_TEST

START_TEST(runs_after_crashes) {             /* the process is as before: later runs are whole, and crashes found again */
    if (SANITIZED) return;
    const uint64_t wanted = whole_run(opened(2, NULL)).fingerprint;
    for (int i = 0; i < times(30); i++) {
        char text[1200];
        ck_assert_int_eq(failed_run(opened(2, SET(i % 2 ? "deed=stack" : "deed=abort")), text, sizeof text), NIMA_E_CRASH);
        ck_assert_uint_eq(whole_run(opened(2, NULL)).fingerprint, wanted);
    }
}
END_TEST

static void segv_of_the_program(int number) { _exit(number == SIGSEGV ? 77 : 1); }

START_TEST(other_signals) {                  /* what is not the model's doing is handled as the program had it */
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, segv_of_the_program);
        nima_close(opened(2, NULL));
        raise(SIGSEGV);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 77);
}
END_TEST

START_TEST(own_words) { names_all(text_of(NIMA_E_MODEL, SET("deed=fail")), "culprit 17 says so"); }
END_TEST

START_TEST(in_start) {
    const char *text = text_of(NIMA_E_MODEL, SET("deed=start"));
    ck_assert_names(text, "agent[17]");
    ck_assert_names(text, "time 0");
    ck_assert_names(text, "at once");
}
END_TEST

START_TEST(the_least) {
    static const char *const culprits[] = { "culprit=0", "culprit=17", "culprit=39" };
    static const char *const names[] = { "agent[0]", "agent[17]", "agent[39]" };
    for (int i = 0; i < 3; i++) {
        const char *text = text_of(NIMA_E_MODEL, SET("deed=many", culprits[i]));
        ck_assert_names(text, names[i]);
        ck_assert_names(text, "the earliest");
        ck_assert_names(text, "time 50");
    }
}
END_TEST

START_TEST(least_of_one_time) {              /* all fail in one (time, step): the least agent is named */
    const char *text = text_of(NIMA_E_MODEL, SET("deed=many", "culprit=1000000"));
    ck_assert_names(text, "agent[0]");
    ck_assert_names(text, "time 51");
}
END_TEST

START_TEST(promises) {
    static const char *const deeds[][2] = { { "deed=near", "lookahead" }, { "deed=publish", "lookahead" }, { "deed=far", "lookahead" },
                                            { "deed=born", "shard" }, { "deed=large", "65537" }, { "deed=type", "65536" },
                                            { "deed=nobody", "0000000000000000" }, { "deed=shard", "no agent's id" },
                                            { "deed=negative", "negative" }, { "deed=over", "overflow" }, { "deed=awake", "period" } };
    for (int i = 0; i < 11; i++) names_all(text_of(NIMA_E_MODEL, SET(deeds[i][0])), deeds[i][1]);
    ck_assert_names(text_of(NIMA_E_MODEL, SET("deed=near")), "agent[18]");   /* to whom */
}
END_TEST

START_TEST(alarm_in_stop) {
    const char *text = text_of(NIMA_E_MODEL, SET("deed=alarm"));
    ck_assert_names(text, "agent[17]");
    ck_assert_names(text, "stop");
}
END_TEST

START_TEST(beyond_a_population) {
    if (SANITIZED) return;
    names_all(text_of(NIMA_E_CRASH, SET("deed=at")), "abort");
}
END_TEST

START_TEST(dead_letter_policies) {
    for (int policy = RUN_DEAD_COUNT; policy <= RUN_DEAD_FAIL; policy++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            const nima_options o = { .threads = threads, .set = SET("deed=dead"), .no_pin = true };
            run_tuning t = RUN_TUNING_DEFAULT;
            t.dead_letters = (run_dead_letters)policy;
            nima_run *r = opened_with(&o, &t);
            ck_assert_int_eq(nima_run_to(r, NIMA_FOREVER), policy == RUN_DEAD_FAIL ? NIMA_E_MODEL : NIMA_OK);
            ck_assert_uint_eq(run_dead_letters_of(r, order_type), 1);
            if (policy == RUN_DEAD_FAIL) ck_assert_names(nima_error_detail(r), "agent[17]");
            nima_close(r);
        }
}
END_TEST

/* ---- the log up to the failure ---- */
typedef struct { char text[200000]; size_t length; } pages;
static void keep_line(void *arg, const char *line) {
    pages *p = arg;
    const int n = snprintf(p->text + p->length, sizeof p->text - p->length, "%s\n", line);
    p->length += (size_t)n;
    ck_assert_uint_lt(p->length, sizeof p->text);
}

START_TEST(log_up_to_the_failure) {
    static pages first, other;
    for (unsigned threads = 1; threads <= 3; threads++)
        for (uint64_t order = 0; order < 3; order++) {
            pages *p = threads == 1 && order == 0 ? &first : &other;
            p->length = 0;
            const nima_options o = { .threads = threads, .set = SET("deed=fail"), .no_pin = true };
            run_tuning t = RUN_TUNING_DEFAULT;
            t.shard_order = order;
            t.watcher.log = keep_line;
            t.watcher.arg = p;
            char text[1200];
            ck_assert_int_eq(failed_run(opened_with(&o, &t), text, sizeof text), NIMA_E_MODEL);
            ck_assert_uint_gt(p->length, 1000);
            ck_assert_msg(p->length == first.length && !memcmp(p->text, first.text, first.length), "the log of %u threads is:\n%.*s",
                          threads, (int)p->length, p->text);
        }
    ck_assert_names(first.text, "50 0 agent[16] info: turn 5");
    ck_assert_ptr_null(strstr(first.text, "50 0 agent[17]"));
    ck_assert_ptr_null(strstr(first.text, "50 0 agent[18]"));
}
END_TEST

START_TEST(others_do_not_hang) {             /* two hundred failures, at any time, on more threads than cores */
    for (int i = 0; i < times(200); i++) {
        char at[32], text[1200];
        snprintf(at, sizeof at, "at=%d", 10 * (i % 20 + 1));
        ck_assert_int_eq(failed_run(opened(4, SET("deed=fail", at)), text, sizeof text), NIMA_E_MODEL);
    }
}
END_TEST

PITFALLS(
    { "pitfall 22: one fails, the others do not hang (200 times)", others_do_not_hang },
    { "failure: crashes name behavior, agent, time and message", crashes },
    { "failure: runs after crashes are whole", runs_after_crashes },
    { "failure: the program keeps its own signal handlers", other_signals },
    { "failure: nima_fail names all", own_words },
    { "failure: in start", in_start },
    { "failure: the earliest of many is named, on any threads and shard order", the_least },
    { "failure: the least agent of one time is named", least_of_one_time },
    { "failure: broken promises name all", promises },
    { "failure: an alarm set in stop", alarm_in_stop },
    { "failure: an index beyond its population", beyond_a_population },
    { "failure: dead letters counted, logged or failing", dead_letter_policies },
    { "failure: the log is whole up to there and equal on any threads", log_up_to_the_failure })
