/* Threads: they sleep and wake, start and end, and never show in a result. Model: tokens hop between agents at random. */
#include "nima.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

NIMA_PARAMS((int64_t, agents, 100, "0..", "", "agents"),
            (int64_t, shards, 0, "0..", "", "shards, 0: as computed"),
            (int64_t, tokens, 10, "0..", "", "tokens under way"),
            (int64_t, hops, 100, "0..", "", "of each token"),
            (int64_t, lookahead, 10, "0..", "tick", "least delay"),
            (int64_t, spread, 20, "1..", "tick", "most delay beyond it"))
NIMA_WORLD((nima_pop, place))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_STATE(place, (uint64_t, visits), (uint64_t, sum))

static void pass(nima *me, int64_t left) {
    const params *p = params_of(me);
    const uint64_t to = nima_below(nima_random(me), (uint64_t)p->agents);
    const nima_time delay = p->lookahead + (nima_time)nima_below(nima_random(me), (uint64_t)p->spread);
    token_send(me, nima_at(world_of(me)->place, to), delay, left);
}
static void place_start(nima *me, place *self) {
    (void)self;
    if (nima_index(me) < (uint64_t)params_of(me)->tokens) pass(me, params_of(me)->hops);
}
static void place_update(nima *me, place *self) {
    NIMA_EACH(me, m) {
        const token *t = token_in(m);
        self->visits++;
        self->sum = self->sum * 31 + (uint64_t)m->time + m->sender.bits;
        if (t->left > 1) pass(me, t->left - 1);
    }
}
NIMA_BEHAVIOR(place, start, update)
NIMA_REPORTER(visits, sum, place, "", (double)self->visits)

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->place = place_populate(s, (uint64_t)p->agents, 0);
    nima_lookahead(s, p->lookahead);
    if (p->shards) nima_shards(s, (uint32_t)p->shards);
    nima_sample(s, 10);
}
NIMA_MODEL(.name = "workers", .help = "tokens hop at random", .unit = "tick", .ticks_per_unit = 1000, .setup = setup)

#include "pitfall.h"

/* Counts the readings of the system's clock by this process: libnima finds this one first. */
static _Atomic long clock_reads;
int clock_gettime(clockid_t id, struct timespec *t) {
    atomic_fetch_add(&clock_reads, 1);
    return (int)syscall(SYS_clock_gettime, id, t);
}

START_TEST(shutdown_of_sleepers) {
    for (int i = 0; i < times(500); i++) {
        nima_run *r = opened(2 + (unsigned)i % 3, SET("shards=8"));
        if (i % 4 == 1) usleep(200);         /* past the spinning: they sleep */
        if (i % 4 == 2) advance(r, 5);
        if (i % 4 == 3) { advance(r, NIMA_FOREVER); usleep(200); }
        nima_close(r);
    }
}
END_TEST

START_TEST(shutdown_of_pinned) {
    for (int i = 0; i < times(15); i++) {
        const nima_options o = { .threads = 2, .set = SET("shards=8") };
        const run_tuning t = RUN_TUNING_DEFAULT;
        nima_run *r = opened_with(&o, &t);
        if (i % 2) advance(r, NIMA_FOREVER);
        nima_close(r);
    }
}
END_TEST

START_TEST(runs_leave_nothing) {
    for (int i = 0; i < 20; i++) whole_run(opened(4, SET("shards=8")));
    const long mapped = mapped_kib(), resident = resident_kib();
    for (int i = 0; i < times(200); i++) whole_run(opened(4, SET("shards=8")));
    ck_assert_flat(mapped, mapped_kib(), 16384);
    ck_assert_flat(resident, resident_kib(), 2048);
}
END_TEST

START_TEST(small_runs_end) {
    static const char *const agents[] = { "agents=1", "agents=2", "agents=3" };
    static const char *const lookahead[] = { "lookahead=0", "lookahead=1", "lookahead=7" };
    static const char *const shards[] = { "shards=1", "shards=2", "shards=3" };
    for (int a = 0; a < 3; a++)
        for (int l = 0; l < 3; l++)
            for (int s = 0; s < 3; s++) {
                const char *const *set = SET(agents[a], lookahead[l], shards[s], "tokens=2", "hops=20", "spread=3");
                const nima_summary one = whole_run(opened(1, set));
                for (int i = 0; i < times(12); i++) {
                    const nima_summary two = whole_run(opened(2, set));
                    ck_assert_uint_eq(two.fingerprint, one.fingerprint);
                    ck_assert_uint_eq(two.events, one.events);
                }
            }
}
END_TEST

START_TEST(other_thread_counts) {
    static const char *const lookahead[] = { "lookahead=0", "lookahead=1", "lookahead=10", "lookahead=1000" };
    for (int l = 0; l < 4; l++) {
        const char *const *set = SET(lookahead[l], "agents=300", "shards=13", "tokens=200", "hops=60");
        const nima_summary one = whole_run(opened(1, set));
        ck_assert_uint_eq(one.events, 300 + 200 * 60);
        for (unsigned threads = 2; threads <= 7; threads++)
            for (uint64_t order = 0; order < 2; order++) {
                const nima_options o = { .threads = threads, .set = set, .no_pin = true };
                run_tuning t = RUN_TUNING_DEFAULT;
                t.shard_order = order * threads;
                t.dirty = order ? 0xA5 : -1;
                ck_assert_uint_eq(whole_run(opened_with(&o, &t)).fingerprint, one.fingerprint);
            }
    }
}
END_TEST

START_TEST(other_seed) {
    const run_tuning t = RUN_TUNING_DEFAULT;
    uint64_t prints[8];
    for (uint64_t seed = 0; seed < 8; seed++) {
        const nima_options o = { .threads = 1, .seed = seed == 7 ? UINT64_MAX : seed << 31 };
        prints[seed] = whole_run(opened_with(&o, &t)).fingerprint;
        for (uint64_t s = 0; s < seed; s++) ck_assert_uint_ne(prints[s], prints[seed]);
    }
}
END_TEST

START_TEST(few_agents) {
    static const char *const agents[] = { "agents=0", "agents=1", "agents=2", "agents=5" };
    static const uint64_t alive[] = { 0, 1, 2, 5 };
    static const char *const shards[] = { "shards=1", "shards=4", "shards=50" };
    static const char *const lookahead[] = { "lookahead=0", "lookahead=10" };
    for (int a = 0; a < 4; a++)
        for (int s = 0; s < 3; s++)
            for (int l = 0; l < 2; l++) {
                const char *const *set = SET(agents[a], shards[s], lookahead[l], a ? "tokens=2" : "tokens=0");
                const nima_summary one = whole_run(opened(1, set));
                ck_assert_uint_eq(one.agents, alive[a]);
                if (!a) ck_assert_uint_eq(one.events, 0);
                if (!a) ck_assert_int_eq(one.virtual_time, 0);
                for (unsigned threads = 2; threads <= 7; threads += 5)
                    ck_assert_uint_eq(whole_run(opened(threads, set)).fingerprint, one.fingerprint);
            }
}
END_TEST

START_TEST(no_agents_in_legs) {
    nima_run *r = opened(2, SET("agents=0", "tokens=0"));
    for (nima_time t = 0; t < 100; t += 10) advance(r, t);
    ck_assert_int_eq(nima_run_step(r), NIMA_OK);
    ck_assert_int_eq(look(r).virtual_time, 0);
    ck_assert(look(r).exhausted);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    nima_close(r);
}
END_TEST

/* ---- asleep ---- */
static void *drive(void *run) {
    const nima_err code = nima_run_to(run, NIMA_FOREVER);
    return (void *)(intptr_t)code;
}

/* CPU that a run which is paused takes in half a second. */
static void check_pause(nima_run *r) {
    run_progress p, q;
    usleep(100000);
    run_progress_read(r, &p);
    const double from = cpu_s();
    usleep(500000);
    const double burnt = cpu_s() - from;
    run_progress_read(r, &q);
    ck_assert_uint_eq(p.events, q.events);
    ck_assert_msg(burnt < 0.01, "%.0f ms of CPU in 500 ms of pause", burnt * 1e3);
}

START_TEST(paused_burns_nothing) {
    const char *const *set = SET("agents=1000", "shards=8", "tokens=1000", "hops=1000");
    const uint64_t wanted = whole_run(opened(2, set)).fingerprint;
    nima_run *r = opened(2, set);
    pthread_t driver;
    run_request(r, RUN_PAUSE);
    ck_assert_int_eq(pthread_create(&driver, NULL, drive, r), 0);
    check_pause(r);                          /* before the first window */
    run_request(r, RUN_GO);
    usleep(3000);
    run_request(r, RUN_PAUSE);
    check_pause(r);                          /* somewhere in between */
    run_request(r, RUN_GO);
    void *code;
    pthread_join(driver, &code);
    ck_assert_ptr_eq(code, NULL);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_uint_eq(look(r).fingerprint, wanted);
    nima_close(r);
}
END_TEST

START_TEST(paced_burns_nothing) {
    const char *const *set = SET("agents=10", "shards=2", "tokens=1", "hops=10", "lookahead=50", "spread=1");
    const nima_options o = { .threads = 2, .set = set, .no_pin = true };
    run_tuning t = RUN_TUNING_DEFAULT;
    const uint64_t wanted = whole_run(opened(1, set)).fingerprint;
    t.speed = 1;                             /* 10 hops of 50 ms */
    nima_run *r = opened_with(&o, &t);
    const double wall = wall_s(), cpu = cpu_s();
    const nima_summary s = whole_run(r);
    ck_assert_uint_eq(s.fingerprint, wanted);
    ck_assert_msg(wall_s() - wall > 0.4 && wall_s() - wall < 30, "it took %.3f s", wall_s() - wall);
    ck_assert_msg(cpu_s() - cpu < 0.1, "%.0f ms of CPU", (cpu_s() - cpu) * 1e3);
}
END_TEST

START_TEST(idle_between_legs) {
    nima_run *r = opened(4, SET("shards=8"));
    advance(r, 50);
    usleep(20000);
    const double from = cpu_s();
    usleep(500000);
    ck_assert_msg(cpu_s() - from < 0.01, "%.0f ms of CPU in 500 ms", (cpu_s() - from) * 1e3);
    nima_close(r);
}
END_TEST

static _Atomic bool watching;
static void *watch(void *run) {
    while (atomic_load(&watching)) {
        run_progress p;
        run_progress_read(run, &p);
        run_request(run, RUN_PAUSE);
        usleep(50);
        run_request(run, RUN_GO);
        usleep(50);
    }
    return NULL;
}

START_TEST(another_thread_asks) {
    const char *const *set = SET("agents=1000", "shards=8", "tokens=1000", "hops=100");
    const uint64_t wanted = whole_run(opened(2, set)).fingerprint;
    nima_run *r = opened(2, set);
    pthread_t watcher;
    atomic_store(&watching, true);
    ck_assert_int_eq(pthread_create(&watcher, NULL, watch, r), 0);
    advance(r, NIMA_FOREVER);
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_uint_eq(look(r).fingerprint, wanted);
    nima_close(r);
}
END_TEST

START_TEST(stopped_and_continued) {
    const char *const *set = SET("agents=1000", "shards=8", "tokens=1000", "hops=400");
    const uint64_t wanted = whole_run(opened(2, set)).fingerprint;
    nima_run *r = opened(2, set);
    run_request(r, RUN_STOP);
    ck_assert_int_eq(nima_run_to(r, NIMA_FOREVER), NIMA_E_HALTED);
    for (int i = 0; i < 6; i++) {
        pthread_t driver;
        void *code;
        run_request(r, RUN_GO);
        ck_assert_int_eq(pthread_create(&driver, NULL, drive, r), 0);
        usleep(2000);
        run_request(r, RUN_STOP);
        pthread_join(driver, &code);
        ck_assert(code == NULL || (intptr_t)code == NIMA_E_HALTED);
    }
    run_request(r, RUN_GO);
    advance(r, NIMA_FOREVER);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_uint_eq(look(r).fingerprint, wanted);
    nima_close(r);
}
END_TEST

START_TEST(clock_per_window) {
    nima_run *r = opened(1, SET("agents=1000", "shards=4", "tokens=1000", "hops=200", "lookahead=1000"));
    advance(r, 1);
    const long before = atomic_load(&clock_reads);
    advance(r, NIMA_FOREVER);
    const long reads = atomic_load(&clock_reads) - before;
    run_counters n;
    run_counters_read(r, &n);
    ck_assert_uint_ge(look(r).events, 200000);
    ck_assert_msg(n.windows < 20000, "%llu windows", (unsigned long long)n.windows);
    ck_assert_msg(reads <= (long)n.windows * 2 + 100, "%ld readings of the clock in %llu windows", reads,
                  (unsigned long long)n.windows);
    nima_close(r);
}
END_TEST

PITFALLS(
    { "pitfall 1: shutdown with sleeping workers (500 times)", shutdown_of_sleepers },
    { "pitfall 1: shutdown with pinned workers", shutdown_of_pinned },
    { "pitfall 6: a run leaves no memory behind (200 runs)", runs_leave_nothing },
    { "pitfall 9: a paused run burns no CPU", paused_burns_nothing },
    { "pitfall 9: a run that waits for the wall clock burns no CPU", paced_burns_nothing },
    { "pitfall 9: a run between two legs burns no CPU", idle_between_legs },
    { "pitfall 12: another thread pauses and watches", another_thread_asks },
    { "pitfall 12: another thread stops a run that goes on later", stopped_and_continued },
    { "pitfall 14: same seed on other thread counts and shard orders", other_thread_counts },
    { "pitfall 15: other seeds, other histories", other_seed },
    { "pitfall 28: tiny runs end on two threads (over 300 times)", small_runs_end },
    { "pitfall 33: fewer agents than threads, empty shards, no agents", few_agents },
    { "pitfall 33: no agents, in many legs", no_agents_in_legs },
    { "pitfall 35: the clock is read once a window at most", clock_per_window })
