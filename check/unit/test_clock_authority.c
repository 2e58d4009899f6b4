/* The clock's authority by hand: what it plans, what it refuses, whom it names. test_clock_simulation.c runs whole clocks. */
#include "clock/arrivals.h"
#include <check.h>
#include <stdlib.h>

static const authority_child three[] = { { "dispatcher 0 on a", 0, 1 }, { "dispatcher 1 on a", 1, 1 },
                                         { "dispatcher 2 on b", 2, 1 } };
static const authority_limits free_run = { NIMA_FOREVER, 10, NIMA_FOREVER, NIMA_FOREVER };
static char error[300], text[300];

static authority_report quiet(uint64_t window, nima_time net) {
    return (authority_report){ .window = window, .net = { net, 0 }, .halt_at = NIMA_FOREVER, .last_event = -1,
                               .pending = net != NIMA_FOREVER };
}

static nima_err take(authority *a, uint32_t child, authority_report r) {
    return authority_take(a, child, &r, 0, error, sizeof error);
}

/* All three report these NETs of the open window. */
static void all_report(authority *a, uint64_t window, nima_time n0, nima_time n1, nima_time n2) {
    ck_assert_int_eq(take(a, 0, quiet(window, n0)), NIMA_OK);
    ck_assert_int_eq(take(a, 1, quiet(window, n1)), NIMA_OK);
    ck_assert(!authority_complete(a));
    ck_assert_int_eq(take(a, 2, quiet(window, n2)), NIMA_OK);
    ck_assert(authority_complete(a));
}

static authority_grant plan(authority *a, authority_limits limits) {
    authority_grant g;
    authority_plan(a, &limits, &g);
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_OK);
    return g;
}

static void ck_moment(moment m, nima_time time, uint32_t step) {
    ck_assert_int_eq(m.time, time);
    ck_assert_uint_eq(m.step, step);
}

START_TEST(window_from_the_least_net) {
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, 40, 17, NIMA_FOREVER);
    authority_grant g = plan(a, free_run);
    ck_assert_uint_eq(g.window, 1);
    ck_assert_int_eq(g.order, AUTHORITY_RUN);
    ck_moment(g.from, 17, 0);
    ck_moment(g.until, 27, 0);
    authority_free(a);
}
END_TEST

START_TEST(window_is_cut) {                  /* by span, by the limit, after the tick of a sample, by a halt */
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, 17, 18, 19);
    ck_moment(plan(a, (authority_limits){ NIMA_FOREVER, 10, NIMA_FOREVER, 3 }).until, 20, 0);
    all_report(a, 1, 20, 30, 40);
    ck_moment(plan(a, (authority_limits){ 25, 10, NIMA_FOREVER, 100 }).until, 25, 0);
    all_report(a, 2, 26, 30, 40);
    ck_moment(plan(a, (authority_limits){ 99, 10, 26, 100 }).until, 27, 0);
    all_report(a, 3, 28, 30, 40);
    ck_moment(plan(a, (authority_limits){ 99, 10, 26, 100 }).until, 38, 0);   /* a sample before the NET cuts nothing */
    authority_report halted = quiet(4, 41);
    halted.halt_at = 45;
    ck_assert_int_eq(take(a, 0, halted), NIMA_OK);
    ck_assert_int_eq(take(a, 1, quiet(4, 42)), NIMA_OK);
    ck_assert_int_eq(take(a, 2, quiet(4, 43)), NIMA_OK);
    ck_moment(plan(a, free_run).until, 45, 0);
    all_report(a, 5, 45, 46, 47);            /* a halt is remembered */
    ck_assert_int_eq(plan(a, free_run).order, AUTHORITY_REST);
    authority_free(a);
}
END_TEST

START_TEST(window_near_the_end_of_time) {
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, NIMA_FOREVER - 3, NIMA_FOREVER, NIMA_FOREVER);
    ck_moment(plan(a, free_run).until, NIMA_FOREVER, 0);
    authority_free(a);
}
END_TEST

START_TEST(window_of_one_step) {             /* lookahead zero */
    authority *a = authority_new(three, 3, 3, 0);
    authority_report r = quiet(0, 5);
    r.net.step = 3;
    ck_assert_int_eq(take(a, 0, r), NIMA_OK);
    r.net.step = 2;
    ck_assert_int_eq(take(a, 1, r), NIMA_OK);
    ck_assert_int_eq(take(a, 2, quiet(0, 6)), NIMA_OK);
    authority_grant g = plan(a, (authority_limits){ NIMA_FOREVER, 0, NIMA_FOREVER, 1 });
    ck_moment(g.from, 5, 2);
    ck_moment(g.until, 5, 3);
    authority_free(a);
}
END_TEST

START_TEST(rest_at_the_end) {                /* and on to a later one */
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, 17, 18, 100);
    plan(a, free_run);
    all_report(a, 1, 60, 70, 100);
    authority_grant g = plan(a, (authority_limits){ 60, 10, NIMA_FOREVER, 100 });
    ck_assert_int_eq(g.order, AUTHORITY_REST);
    ck_moment(g.from, 60, 0);
    ck_moment(g.until, 27, 0);
    all_report(a, 2, 60, 70, 30);            /* a message posted from outside may be earlier than the old NET */
    g = plan(a, (authority_limits){ 61, 10, NIMA_FOREVER, 100 });
    ck_assert_int_eq(g.order, AUTHORITY_RUN);
    ck_moment(g.from, 30, 0);
    authority_report sum;
    all_report(a, 3, NIMA_FOREVER, NIMA_FOREVER, NIMA_FOREVER);
    authority_reduce(a, &sum);
    ck_assert(!sum.pending);
    ck_assert_int_eq(plan(a, free_run).order, AUTHORITY_REST);
    authority_free(a);
}
END_TEST

START_TEST(counts_of_batches) {
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, 17, 18, 19);
    plan(a, free_run);
    authority_report r = quiet(1, 30);
    r.sent = (batch_count[]){ { 1, 2 }, { 2, 5 } };
    r.sent_count = 2;
    ck_assert_int_eq(take(a, 0, r), NIMA_OK);
    r.sent = (batch_count[]){ { 2, 7 } };
    r.sent_count = 1;
    ck_assert_int_eq(take(a, 1, r), NIMA_OK);
    ck_assert_int_eq(take(a, 2, quiet(1, 31)), NIMA_OK);
    plan(a, free_run);
    authority_grant g;
    authority_grant_to(a, 0, &g);
    ck_assert_uint_eq(g.awaited_count, 0);
    authority_grant_to(a, 1, &g);
    ck_assert_uint_eq(g.awaited_count, 1);
    ck_assert_uint_eq(g.awaited[0].dispatcher, 1);
    ck_assert_uint_eq(g.awaited[0].batches, 2);
    authority_grant_to(a, 2, &g);
    ck_assert_uint_eq(g.awaited[0].batches, 12);
    all_report(a, 2, 40, 41, 42);            /* the next window's counts start from nothing */
    plan(a, free_run);
    authority_grant_to(a, 2, &g);
    ck_assert_uint_eq(g.awaited_count, 0);
    authority_free(a);
}
END_TEST

START_TEST(tree_reduces) {                   /* the middle one of three authorities keeps what stays inside */
    static const authority_child two[] = { { "dispatcher 2", 2, 1 }, { "dispatcher 3", 3, 1 } };
    authority *a = authority_new(two, 2, 6, 0);
    authority_report r = quiet(0, 17), sum;
    r.sent = (batch_count[]){ { 0, 1 }, { 3, 4 }, { 5, 6 } };
    r.sent_count = 3;
    r.events = 10;
    ck_assert_int_eq(take(a, 0, r), NIMA_OK);
    r = quiet(0, 16);
    r.sent = (batch_count[]){ { 0, 2 }, { 2, 8 } };
    r.sent_count = 2;
    r.events = 5;
    r.last_event = 3;
    ck_assert_int_eq(take(a, 1, r), NIMA_OK);
    authority_reduce(a, &sum);
    ck_moment(sum.net, 16, 0);
    ck_assert_uint_eq(sum.events, 15);
    ck_assert_int_eq(sum.last_event, 3);
    ck_assert_uint_eq(sum.sent_count, 2);
    ck_assert_uint_eq(sum.sent[0].dispatcher, 0);
    ck_assert_uint_eq(sum.sent[0].batches, 3);
    ck_assert_uint_eq(sum.sent[1].dispatcher, 5);
    ck_assert_uint_eq(sum.sent[1].batches, 6);
    authority_grant g = { .window = 1, .order = AUTHORITY_RUN, .from = { 9, 0 }, .until = { 19, 0 } };
    g.awaited = (batch_count[]){ { 3, 10 } };
    g.awaited_count = 1;
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_OK);
    authority_grant_to(a, 0, &g);
    ck_assert_uint_eq(g.awaited[0].batches, 8);
    authority_grant_to(a, 1, &g);
    ck_assert_uint_eq(g.awaited[0].batches, 14);
    authority_free(a);
}
END_TEST

START_TEST(reports_that_cannot_be_true) {
    authority *a = authority_new(three, 3, 3, 0);
    all_report(a, 0, 17, 18, 19);
    plan(a, free_run);                       /* [17, 27) */
    ck_assert_int_eq(take(a, 1, quiet(0, 30)), NIMA_E_LINK);
    ck_assert_str_eq(error, "dispatcher 1 on a: reports window 0 while 1 is granted");
    ck_assert_int_eq(take(a, 2, quiet(1, 26)), NIMA_E_LINK);
    ck_assert_str_eq(error, "dispatcher 2 on b: reports an event at 26 (step 0) in window 1, which ends at 27 (step 0)");
    static const batch_count wrong[][2] = { { { 0, 1 }, { 0, 1 } }, { { 2, 1 }, { 0, 1 } }, { { 1, 1 }, { 2, 1 } },
                                            { { 0, 1 }, { 3, 1 } } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {   /* twice, not ascending, to itself, to nobody */
        authority_report r = quiet(1, 30);
        r.sent = wrong[i];
        r.sent_count = 2;
        ck_assert_int_eq(take(a, 1, r), NIMA_E_LINK);
        ck_assert_ptr_nonnull(strstr(error, "dispatcher 1 on a: reports batches sent to dispatcher "));
    }
    ck_assert_int_eq(take(a, 1, quiet(1, 27)), NIMA_OK);   /* an event on the window's edge is of the next */
    ck_assert_int_eq(take(a, 1, quiet(1, 30)), NIMA_E_LINK);
    ck_assert_str_eq(error, "dispatcher 1 on a: reports window 1 twice");
    authority_report many = quiet(1, 30);
    many.sent = (batch_count[]){ { 1, UINT32_MAX } };
    many.sent_count = 1;
    ck_assert_int_eq(take(a, 0, many), NIMA_OK);
    ck_assert_int_eq(take(a, 2, many), NIMA_E_LINK);
    authority_free(a);
}
END_TEST

START_TEST(grants_that_cannot_be_true) {     /* an authority below does not believe everything */
    authority *a = authority_new(three, 3, 6, 0);
    all_report(a, 0, 17, 18, 19);
    const authority_grant good = { .window = 1, .order = AUTHORITY_RUN, .from = { 17, 0 }, .until = { 27, 0 } };
    authority_grant g = good;
    g.window = 2;
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_E_LINK);
    g = good;
    g.from.time = 18;                        /* one of its own has an event before */
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_E_LINK);
    g = good;
    g.until.time = 17;
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_E_LINK);
    g = good;
    g.awaited = (batch_count[]){ { 3, 1 } };
    g.awaited_count = 1;
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_E_LINK);
    ck_assert_str_eq(error, "authority: grants to dispatcher 3");
    g = good;
    ck_assert_int_eq(authority_open(a, &g, 0, error, sizeof error), NIMA_OK);
    authority_free(a);
}
END_TEST

START_TEST(watchdog_names) {
    authority *a = authority_new(three, 3, 3, 1000000);
    ck_assert_uint_eq(authority_watch(a, 2000000, 5000000, text, sizeof text), 0);
    ck_assert_uint_eq(authority_watch(a, 6000000, 5000000, text, sizeof text), 3);
    ck_assert_str_eq(text, "dispatcher 0 on a, dispatcher 1 on a, dispatcher 2 on b have not reported set-up for 5.0 s");
    all_report(a, 0, 17, 18, 19);
    ck_assert_uint_eq(authority_watch(a, 60000000, 5000000, text, sizeof text), 0);   /* it is the authority's turn */
    authority_grant g;
    authority_plan(a, &free_run, &g);
    ck_assert_int_eq(authority_open(a, &g, 70000000, error, sizeof error), NIMA_OK);
    ck_assert_int_eq(take(a, 0, quiet(1, 30)), NIMA_OK);
    ck_assert_int_eq(take(a, 2, quiet(1, 30)), NIMA_OK);
    ck_assert_uint_eq(authority_watch(a, 72000000, 5000000, text, sizeof text), 0);
    ck_assert_uint_eq(authority_watch(a, 77300000, 5000000, text, sizeof text), 1);
    ck_assert_str_eq(text, "dispatcher 1 on a has not reported window 1 for 7.3 s");
    authority_free(a);
}
END_TEST

START_TEST(summary_says_where_the_time_went) {
    authority *a = authority_new(three, 3, 3, 0);
    authority_summary(a, 10, text, sizeof text);
    ck_assert_str_eq(text, "no window was run");
    all_report(a, 0, 17, 18, 19);
    plan(a, free_run);
    for (uint32_t i = 0; i < 3; i++) {
        authority_report r = quiet(1, 30);
        r.events = 100;
        r.busy_us = 250;
        r.exchange_us = 500;
        ck_assert_int_eq(authority_take(a, i, &r, 1000, error, sizeof error), NIMA_OK);
    }
    authority_summary(a, 10, text, sizeof text);
    ck_assert_str_eq(text, "1 windows of 300.0 events and 1000 us on average; 25 % of the time computing, 50 % exchanging "
                     "events, 25 % for the clock; a window holds too little work for 3 dispatchers: fewer of them, or a "
                     "lookahead above 10 ticks, would pay");
    authority_free(a);
}
END_TEST

START_TEST(arrivals_by_window) {
    arrivals a = { 0 };
    bool started;
    authority_grant g = { .window = 1, .order = AUTHORITY_RUN, .awaited = (batch_count[]){ { 4, 2 } }, .awaited_count = 1 };
    ck_assert_int_eq(arrivals_note(&a, 0), NIMA_OK);
    ck_assert_int_eq(arrivals_note(&a, 1), NIMA_OK);        /* from a peer that has started window 1 already */
    ck_assert_int_eq(arrivals_start(&a, &g, &started), NIMA_OK);
    ck_assert(!started);                                    /* that one does not count for window 0 */
    ck_assert_int_eq(arrivals_note(&a, 2), NIMA_E_LINK);
    ck_assert_int_eq(arrivals_note(&a, 0), NIMA_OK);
    ck_assert_int_eq(arrivals_start(&a, &g, &started), NIMA_OK);
    ck_assert(started);
    ck_assert_int_eq(arrivals_note(&a, 0), NIMA_E_LINK);
    g.window = 3;
    ck_assert_int_eq(arrivals_start(&a, &g, &started), NIMA_E_LINK);
    g.window = 2;
    g.awaited_count = 0;                                    /* one more has arrived than was sent */
    ck_assert_int_eq(arrivals_start(&a, &g, &started), NIMA_E_LINK);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("clock");
    const struct { const char *name; const TTest *test; } tests[] = {
        { "clock: window from the least NET", window_from_the_least_net },
        { "clock: window is cut by span, limit, sample and halt", window_is_cut },
        { "clock: window near the end of time", window_near_the_end_of_time },
        { "clock: window of one step (lookahead zero)", window_of_one_step },
        { "clock: rest at the end of a leg", rest_at_the_end },
        { "clock: batches of the last window are awaited", counts_of_batches },
        { "clock: an authority below reduces", tree_reduces },
        { "clock: reports that cannot be true are refused", reports_that_cannot_be_true },
        { "clock: grants that cannot be true are refused", grants_that_cannot_be_true },
        { "clock: the watchdog names who is late", watchdog_names },
        { "clock: the summary says where the time went", summary_says_where_the_time_went },
        { "clock: arrivals count by window", arrivals_by_window },
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        TCase *tcase = tcase_create(tests[i].name);
        tcase_add_test(tcase, tests[i].test);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
