/* Time: windows, their edges, the end, legs and steps never show in a history. Model: relays send on with delays that are
 * multiples of a unit, which may be the lookahead; a ticker is updated by its period; rows are caught as they are taken. */
#include "nima.h"

NIMA_PARAMS((int64_t, agents, 60, "0..", "", "relays"),
            (int64_t, shards, 6, "1..", "", "shards"),
            (int64_t, hops, 50, "0..", "", "of each token"),
            (int64_t, lookahead, 10, "0..", "tick", "least delay, as declared"),
            (int64_t, unit, 10, "0..", "tick", "delays are 1, 2 or 3 of these"),
            (int64_t, pulses, 0, "0..", "", "updates of each ticker"),
            (int64_t, tickers, 0, "0..", "", "tickers"),
            (int64_t, sample, 7, "1..", "tick", "period of rows"),
            (int64_t, halt_at, 0, "0..", "tick", "relay 0 halts at the first mail from then on"),
            (int64_t, done_at, 0, "0..", "tick", "first row at which the model is done"),
            (int64_t, until, 0, "0..", "tick", "the model's own end; 0: none"),
            (int64_t, alarm, 0, "0..", "tick", "of each relay at its start"),
            (int64_t, cancel, 0, "0..1", "", "relays cancel it at their first mail"),
            (int64_t, endless, 0, "0..1", "", "relays send to each other without delay"),
            (int64_t, bound, 0, "0..", "", "of steps; 0: the default"))
NIMA_WORLD((nima_pop, relay))
NIMA_MESSAGE(1, token, (int64_t, left))
NIMA_SIGNAL(2, bell)
NIMA_LEVEL(held, "")
NIMA_STATE(relay, (uint64_t, seen), (nima_time, last), (uint64_t, sum), (uint64_t, rung), (nima_alarm, bell))
NIMA_STATE(ticker, (int64_t, pulses), (nima_time, last))

static void pass(nima *me, int64_t left) {
    const params *p = params_of(me);
    const uint64_t to = nima_below(nima_random(me), (uint64_t)p->agents);
    const nima_time delay = p->endless ? 0 : p->unit * (nima_time)(1 + nima_below(nima_random(me), 3));
    token_send(me, nima_at(world_of(me)->relay, to), delay, left);
}
static void relay_start(nima *me, relay *self) {
    const params *p = params_of(me);
    if (p->hops) pass(me, p->hops);
    if (p->alarm) self->bell = bell_alarm(me, p->alarm);
}
static void relay_update(nima *me, relay *self) {
    const params *p = params_of(me);
    NIMA_EACH(me, m) {
        const token *t = token_in(m);
        if (!t) { self->rung++; continue; }
        if (nima_now(me) % (p->unit ? p->unit : 1) || nima_now(me) != m->time || nima_now(me) < self->last)
            nima_fail(me, "mail of time %lld at %lld", (long long)m->time, (long long)nima_now(me));
        self->seen++;
        self->sum = self->sum * 31 + (uint64_t)m->time;
        nima_level(me, held, (double)self->seen);
        if (t->left > 1) pass(me, t->left - 1);
    }
    if (p->cancel && !nima_cancel(me, self->bell)) nima_log(me, NIMA_DEBUG, "too late");
    if (p->halt_at && nima_index(me) == 0 && nima_now(me) >= p->halt_at) nima_halt(me, "halt_at");
    self->last = nima_now(me);
}
static void ticker_update(nima *me, ticker *self) {
    self->last = nima_now(me);
    if (++self->pulses == params_of(me)->pulses) nima_keep_awake(me, false);
}
NIMA_BEHAVIOR(relay, start, update)
NIMA_BEHAVIOR(ticker, update)
NIMA_REPORTER(seen, sum, relay, "", (double)self->seen)
NIMA_REPORTER(pulses, sum, ticker, "", (double)self->pulses)

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->relay = relay_populate(s, (uint64_t)p->agents, 0);
    ticker_populate(s, (uint64_t)p->tickers, 0);
    if (p->pulses) nima_period(s, ticker_behavior, 10);
    nima_lookahead(s, p->lookahead);
    nima_shards(s, (uint32_t)p->shards);
    nima_sample(s, p->sample);
    if (p->until) nima_until(s, p->until);
    if (p->bound) nima_step_bound(s, (uint32_t)p->bound);
}

enum { ROWS_MAX = 100000 };
static struct { nima_time tick; double seen; } rows[ROWS_MAX];
static int row_count;
static bool done(nima_view *v) {             /* only looks on, unless done_at says otherwise */
    if (row_count < ROWS_MAX) {
        rows[row_count].tick = nima_view_now(v);
        rows[row_count].seen = nima_last(v, seen);
        row_count++;
    }
    const int64_t at = ((const params *)v->params)->done_at;
    return at && nima_view_now(v) >= at;
}
static void finish(nima_view *v) { nima_result(v, "held", nima_level_mean(v, held)); }
NIMA_MODEL(.name = "time", .help = "relays and tickers", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .done = done,
           .finish = finish)

#include "pitfall.h"

static nima_run *fresh(unsigned threads, const char *const *set) {
    row_count = 0;
    return opened(threads, set);
}

/* Row numbers are 0, 1, 2 ... times the period, up to and with `last`. */
static void rows_reach(nima_time period, nima_time last) {
    ck_assert_msg(row_count == (int)(last / period) + 1, "%d rows up to %lld, expected up to %lld", row_count,
                  row_count ? (long long)rows[row_count - 1].tick : -1, (long long)last);
    for (int i = 0; i < row_count; i++) ck_assert_int_eq(rows[i].tick, i * period);
}

/* ---- windows ---- */
START_TEST(delay_is_lookahead) {
    static const char *const unit[] = { "unit=1", "unit=3", "unit=1000", "unit=4000000007" };
    static const char *const lookahead[] = { "lookahead=1", "lookahead=3", "lookahead=1000", "lookahead=4000000007" };
    for (int i = 0; i < 4; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            nima_run *r = fresh(threads, SET(unit[i], lookahead[i], "sample=1000000000"));
            ck_assert_uint_eq(whole_run(r).events, 60 + 60 * 50);
        }
}
END_TEST

START_TEST(window_edges) {                   /* everything happens at multiples of 12: on edges, or never */
    static const char *const lookahead[] = { "lookahead=0", "lookahead=1", "lookahead=2", "lookahead=3", "lookahead=4",
                                             "lookahead=6", "lookahead=12", "lookahead=5", "lookahead=11", "lookahead=7" };
    uint64_t one = 0;
    for (int i = 0; i < 10; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            const nima_summary s = whole_run(fresh(threads, SET(lookahead[i], "unit=12")));
            ck_assert_uint_eq(s.events, 60 + 60 * 50);           /* each once */
            if (!one) one = s.fingerprint;
            ck_assert_uint_eq(s.fingerprint, one);
        }
}
END_TEST

START_TEST(no_lookahead) {
    for (unsigned threads = 1; threads <= 2; threads++) {
        const nima_summary s = whole_run(fresh(threads, SET("lookahead=0", "endless=1", "hops=100")));
        ck_assert_uint_eq(s.events, 60 + 60 * 100);
        ck_assert_int_eq(s.virtual_time, 0);
    }
}
END_TEST

START_TEST(endless_chain) {
    for (unsigned threads = 1; threads <= 2; threads++)
        for (int one = 0; one < 2; one++) {
            char text[1200];
            const char *const *set = SET("lookahead=0", "endless=1", "hops=1000000000", "agents=4", "bound=500",
                                         one ? "shards=1" : "shards=2");
            ck_assert_int_eq(failed_run(fresh(threads, set), text, sizeof text), NIMA_E_MODEL);
            ck_assert_names(text, "relay[");             /* who, */
            ck_assert_names(text, "time 0");             /* when, */
            ck_assert_names(text, "step 499");           /* in the last step that exists, */
            ck_assert_names(text, "token");              /* what, */
            ck_assert_names(text, "500");                /* and the bound */
        }
}
END_TEST

START_TEST(bound_is_reached) {               /* a chain of exactly `bound` steps, 0 to bound - 1, is legal */
    const nima_summary s = whole_run(fresh(1, SET("lookahead=0", "endless=1", "hops=499", "agents=4", "shards=2", "bound=500")));
    ck_assert_uint_eq(s.events, 4 + 4 * 499);
}
END_TEST

/* ---- the end ---- */
START_TEST(nothing_after_the_end) {
    nima_run *r = fresh(2, SET("unit=10", "lookahead=10"));
    advance(r, 100);                         /* all happens at multiples of 10: 0 to 90 */
    nima_summary s = look(r);
    ck_assert_int_eq(s.virtual_time, 100);
    ck_assert(!s.exhausted);
    uint64_t seen = 0;
    for (uint64_t i = 0; i < 60; i++) {
        const relay *one = nima_state(r, nima_member(r, relay_behavior, i), relay_behavior);
        ck_assert_int_lt(one->last, 100);
        seen += one->seen;
    }
    ck_assert_uint_eq(s.events, 60 + seen);
    const nima_summary early = s;
    advance(r, 100);                         /* again: nothing happens */
    s = look(r);
    ck_assert_uint_eq(s.fingerprint, early.fingerprint);
    ck_assert_uint_eq(s.events, early.events);
    advance(r, 101);                         /* what is due at 100, and nothing else */
    s = look(r);
    ck_assert_uint_gt(s.events, early.events);
    ck_assert_int_eq(s.virtual_time, 101);
    nima_close(r);
}
END_TEST

START_TEST(draws_beyond_the_end) {           /* two models that differ only in what falls past the end */
    const nima_summary a = whole_run(fresh(1, SET("until=500", "hops=1000", "lookahead=10")));
    const nima_summary b = whole_run(fresh(2, SET("until=500", "hops=1000", "lookahead=1")));
    ck_assert_uint_eq(a.fingerprint, b.fingerprint);
    ck_assert_int_eq(a.virtual_time, 500);
}
END_TEST

START_TEST(not_back_in_time) {
    nima_run *r = fresh(1, NULL);
    advance(r, 100);
    const nima_summary before = look(r);
    advance(r, 50);
    const nima_summary after = look(r);
    ck_assert_int_eq(after.virtual_time, 100);
    ck_assert_uint_eq(after.fingerprint, before.fingerprint);
    nima_close(r);
}
END_TEST

START_TEST(rows_to_the_end) {
    static const char *const until[] = { "until=69", "until=70", "until=71", "until=1" };
    static const nima_time last[] = { 63, 63, 70, 0 };
    for (int i = 0; i < 4; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            whole_run(fresh(threads, SET(until[i])));
            rows_reach(7, last[i]);
        }
}
END_TEST

START_TEST(rows_until_nothing_is_left) {
    nima_run *r = fresh(1, SET("agents=1", "shards=1", "hops=3", "unit=14", "lookahead=14"));
    advance(r, NIMA_FOREVER);
    const nima_time last = look(r).virtual_time;
    ck_assert_int_eq(last % 14, 0);
    rows_reach(7, last);
    ck_assert_double_eq(rows[row_count - 1].seen, 3);
    nima_close(r);
}
END_TEST

START_TEST(rows_not_for_cancelled_alarms) {
    nima_run *r = fresh(1, SET("agents=1", "shards=1", "hops=1", "unit=14", "alarm=1000", "cancel=1"));
    advance(r, NIMA_FOREVER);
    const nima_summary s = look(r);
    ck_assert_int_le(s.virtual_time, 42);
    ck_assert(s.exhausted);
    rows_reach(7, s.virtual_time);
    nima_close(r);
}
END_TEST

START_TEST(rows_not_for_sleepers) {
    nima_run *r = fresh(1, SET("agents=0", "tickers=3", "shards=1", "pulses=4"));     /* 0, 10, 20, 30; then they sleep */
    advance(r, NIMA_FOREVER);
    const nima_summary s = look(r);
    ck_assert_int_eq(s.virtual_time, 30);
    ck_assert_uint_eq(s.events, 3 + 3 * 4);
    rows_reach(7, 28);
    ck_assert(s.exhausted);
    nima_close(r);
}
END_TEST

START_TEST(exhausted_before_a_cancelled_alarm) {
    nima_run *r = fresh(1, SET("agents=1", "shards=1", "hops=1", "unit=14", "alarm=1000", "cancel=1"));
    advance(r, 100);
    const nima_summary s = look(r);
    ck_assert_int_le(s.virtual_time, 42);    /* nothing was pending at 100 */
    ck_assert(s.exhausted);
    rows_reach(7, s.virtual_time);
    nima_close(r);
}
END_TEST

/* ---- legs and steps ---- */
static const char *const leg_sets[][8] = {
    { "until=300", "tickers=9", "pulses=12", "alarm=35", NULL },
    { "until=300", "tickers=9", "pulses=12", "alarm=35", "cancel=1", NULL },
    { "until=300", "lookahead=0", "unit=3", NULL },
    { "shards=1", "hops=10", "alarm=500", NULL },
    { "halt_at=60", NULL },
    { "done_at=80", NULL },
};
enum { LEG_SETS = sizeof leg_sets / sizeof *leg_sets };

START_TEST(two_legs) {
    for (int i = 0; i < LEG_SETS; i++) {
        const nima_summary one = whole_run(fresh(1, leg_sets[i]));
        const int one_rows = row_count;
        for (nima_time cut = 0; cut < 130; cut += i ? 7 : 1)
            for (unsigned threads = 1; threads <= 2; threads++) {
                nima_run *r = fresh(threads, leg_sets[i]);
                advance(r, cut);
                const nima_summary two = whole_run(r);
                ck_assert_msg(two.fingerprint == one.fingerprint, "set %d cut at %lld", i, (long long)cut);
                ck_assert_int_eq(two.virtual_time, one.virtual_time);
                ck_assert_uint_eq(two.events, one.events);
                ck_assert_int_eq(row_count, one_rows);
            }
    }
}
END_TEST

START_TEST(many_legs) {
    for (int i = 0; i < LEG_SETS; i++) {
        const nima_summary one = whole_run(fresh(1, leg_sets[i]));
        nima_run *r = fresh(2, leg_sets[i]);
        for (nima_time t = 0; t < 200; t++) advance(r, t);
        ck_assert_uint_eq(whole_run(r).fingerprint, one.fingerprint);
    }
}
END_TEST

START_TEST(steps_equal_run) {
    for (int i = 0; i < LEG_SETS; i++) {
        const nima_summary one = whole_run(fresh(1, leg_sets[i]));
        nima_run *r = fresh(2, leg_sets[i]);
        for (int s = 0; s < 60; s++) ck_assert_int_eq(nima_run_step(r), NIMA_OK);
        ck_assert_msg(whole_run(r).fingerprint == one.fingerprint, "set %d: by steps and a run", i);
        r = fresh(1, leg_sets[i]);
        for (int s = 0; s < 20000; s++) ck_assert_int_eq(nima_run_step(r), NIMA_OK);
        const nima_summary all = whole_run(r);
        ck_assert_msg(all.fingerprint == one.fingerprint, "set %d: by steps alone", i);
        ck_assert_uint_eq(all.events, one.events);
        ck_assert_int_eq(all.virtual_time, one.virtual_time);
    }
}
END_TEST

/* ---- halts ---- */
START_TEST(halt_ends_one_lookahead_later) {
    static const char *const lookahead[] = { "lookahead=10", "lookahead=3", "lookahead=0" };
    static const nima_time more[] = { 10, 3, 1 };
    for (int i = 0; i < 3; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            nima_run *r = fresh(threads, SET("agents=40", "shards=5", "hops=1000", lookahead[i], "halt_at=60"));
            advance(r, NIMA_FOREVER);
            const nima_summary s = look(r);
            const relay *zero = nima_state(r, nima_member(r, relay_behavior, 0), relay_behavior);
            ck_assert(s.halted);
            nima_time called = s.virtual_time - more[i];
            ck_assert_int_ge(called, 60);
            ck_assert_int_ge(zero->last, called);
            ck_assert_int_eq(called % 10, 0);
            for (uint64_t a = 0; a < 40; a++) {
                const relay *one = nima_state(r, nima_member(r, relay_behavior, a), relay_behavior);
                ck_assert_int_lt(one->last, s.virtual_time);
            }
            advance(r, NIMA_FOREVER);        /* a halt is final */
            advance(r, 100000);
            ck_assert_uint_eq(look(r).fingerprint, s.fingerprint);
            ck_assert_int_eq(look(r).virtual_time, s.virtual_time);
            nima_close(r);
        }
}
END_TEST

START_TEST(done_ends_as_a_halt) {
    whole_run(fresh(2, SET("hops=1000", "done_at=80")));         /* at the row of 84: the end is 94 */
    rows_reach(7, 91);
    const nima_summary s = whole_run(fresh(1, SET("hops=1000", "done_at=80")));
    ck_assert(s.halted);
    ck_assert_int_eq(s.virtual_time, 94);
}
END_TEST

PITFALLS(
    { "pitfall 20: rows up to the end, none missing and none too many", rows_to_the_end },
    { "pitfall 20: rows up to the last event when nothing is left", rows_until_nothing_is_left },
    { "pitfall 20: no rows up to a cancelled alarm", rows_not_for_cancelled_alarms },
    { "pitfall 20: no rows after all fell asleep", rows_not_for_sleepers },
    { "pitfall 21: two legs equal one, cut anywhere", two_legs },
    { "pitfall 21: two hundred legs equal one", many_legs },
    { "pitfall 21: single steps equal one run", steps_equal_run },
    { "pitfall 24: a delay equal to the lookahead", delay_is_lookahead },
    { "pitfall 25: lookahead 0 steps on", no_lookahead },
    { "pitfall 26: events on the edge of a window run once, whatever the lookahead", window_edges },
    { "pitfall 27: nothing of the end or later is in the results", nothing_after_the_end },
    { "pitfall 27: an end does not depend on windows", draws_beyond_the_end },
    { "pitfall 27: a run to the past does nothing", not_back_in_time },
    { "pitfall 27: a halt ends one lookahead later and is final", halt_ends_one_lookahead_later },
    { "pitfall 27: done ends a run as a halt at its row", done_ends_as_a_halt },
    { "pitfall 29: nothing left before the end, behind a cancelled alarm", exhausted_before_a_cancelled_alarm },
    { "pitfall 34: an endless chain without delay names its sender", endless_chain },
    { "pitfall 34: a chain up to the bound is legal", bound_is_reached })
