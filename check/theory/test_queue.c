/* Queues: M/M/1, M/M/3, impatient customers, production lines. */
#include "theory.h"

enum { SECOND = 1000000 };                   /* ticks of mm1 */

static theory queue(nima_time seconds, const char *const *set) {
    theory t = theory_open("mm1", 3, 0, set);
    theory_to(&t, seconds * SECOND);
    theory_finish(&t);
    return t;
}

START_TEST(mm1) {                            /* rho = 0.5, 1e6 customers: the wait's sd is 0.0055 */
    theory t = queue(2000000, NULL);
    theory_compare(&t, "served", theory_result(&t, "served"), 1e6, 1e3);
    theory_compare(&t, "mean wait", theory_result(&t, "mean_wait"), 1, 0.0055);
    theory_compare(&t, "P(wait)", theory_result(&t, "p_wait"), 0.5, 0.001);
    theory_compare(&t, "mean line", theory_result(&t, "mean_line"), 0.5, 0.0032);
    ck_assert_double_eq(theory_result(&t, "lost"), 0);
    theory_close(&t);
}
END_TEST

START_TEST(mm3) {                            /* offered load 2: P(wait) = 4/9, wait = P/(3 - 2) */
    theory t = queue(200000, SET("arrivals=2", "servers=3"));
    theory_compare(&t, "P(wait)", theory_result(&t, "p_wait"), 4.0 / 9, 0.0025);
    theory_compare(&t, "mean wait", theory_result(&t, "mean_wait"), 4.0 / 9, 0.006);
    theory_compare(&t, "mean line", theory_result(&t, "mean_line"), 8.0 / 9, 0.013);
    theory_close(&t);
}
END_TEST

/* Overloaded, but customers leave: a birth-death process with deaths at rate c + (waiting) / patience. */
START_TEST(impatience) {
    theory t = queue(100000, SET("arrivals=3", "servers=2", "patience=2"));
    double p = 1, all = 0, line = 0;
    for (int n = 0; n < 200; n++) {
        all += p;
        if (n > 2) line += (n - 2) * p;
        p *= 3 / (n + 1 <= 2 ? n + 1 : 2 + 0.5 * (n + 1 - 2));
    }
    line /= all;
    theory_compare(&t, "mean line", theory_result(&t, "mean_line"), line, 0.015);
    theory_compare(&t, "lost", theory_result(&t, "lost") / 300000, line / 2 / 3, 0.0024);
    theory_compare(&t, "served and lost", theory_result(&t, "lost") + theory_result(&t, "served"), 300000, 550);
    theory_close(&t);
}
END_TEST

/* Without failures and warm-up each part takes 10 machines' 10 s and 11 belts' 5 s: 155 s. */
START_TEST(exact_line) {
    theory t = theory_run("conveyor", 1, SET("failure=0", "warmup=0", "lines=3"));
    double made = 0, on_the_line = 0;
    for (int fed = 12; fed < 28800; fed += 12) {
        double stays = fmin(155, 28800 - fed);
        on_the_line += stays / 28800;
        made += fed + 155 < 28800;
    }
    ck_assert_double_eq(theory_result(&t, "made"), 3 * made);
    ck_assert_double_eq(theory_result(&t, "standbys"), 0);
    ck_assert_double_eq(theory_result(&t, "down"), 0);
    ck_assert_double_eq_tol(theory_result(&t, "on_the_line"), 3 * on_the_line, 1e-9);
    theory_close(&t);
}
END_TEST

/* 90 s between parts: every machine goes to standby 60 s after each part and takes 2 s more for the next one. */
START_TEST(standby) {
    theory t = theory_run("conveyor", 1, SET("failure=0", "lines=2", "machines=3", "arrival=90000"));
    double made = 0, standbys = 0;
    for (int fed = 90; fed < 28800; fed += 90) {
        made += fed + 4 * 5 + 3 * 12 < 28800;
        for (int machine = 0; machine < 3; machine++) standbys += fed + 5 + 17 * machine + 12 + 60 < 28800;
    }
    ck_assert_double_eq(theory_result(&t, "made"), 2 * made);
    ck_assert_double_eq(theory_result(&t, "standbys"), 2 * standbys);
    theory_close(&t);
}
END_TEST

/* Down: repair / (failure + repair), less what the good beginning saves; 200 machines for 28,800 s. */
START_TEST(breakdowns) {
    theory t = theory_run("conveyor", 9, NULL);
    double share = 100.0 / 2100, memory = 1 / (1 / 2000.0 + 1 / 100.0) / 28800;   /* of the time */
    theory_compare(&t, "down", theory_result(&t, "down"), share * (1 - memory),
                   sqrt(2 * share * (1 - share) * memory / 200));
    theory_compare(&t, "busy", theory_result(&t, "busy"), 10.0 / 12, 0.004);
    theory_close(&t);
}
END_TEST

/* One machine, rarely a part: 5 s on each of two belts, 10 s of work, half a repair of 20 s while it waits, and during
 * the work one failure in 20 s on average, each of which makes it longer by a repair. 1,000 lines, 28 parts each. */
START_TEST(repairs_take_time) {
    theory t = theory_run("conveyor", 2, SET("lines=1000", "machines=1", "arrival=1000000", "failure=20000",
                                             "repair=20000", "warmup=0"));
    ck_assert_double_eq(theory_result(&t, "made"), 28000);
    theory_compare(&t, "time of a part", theory_result(&t, "on_the_line") * 28800 / 28000, 5 + 10 + 5 + 10 + 10,
                   30 / sqrt(28000));
    theory_close(&t);
}
END_TEST

THEORY(
    { "theory: M/M/1 queue", mm1 },
    { "theory: M/M/3 queue", mm3 },
    { "theory: queue with impatient customers", impatience },
    { "theory: a production line without failures (exact)", exact_line },
    { "theory: machines on standby (exact)", standby },
    { "theory: machines that fail", breakdowns },
    { "theory: repairs take time", repairs_take_time })
