/* What has one right answer: alarms, cellular automata, the Game of Life. */
#include "theory.h"

enum { SECOND = 1000000 };

START_TEST(alarms_end_at_3) {
    theory t = theory_open("alarms", 0, 0, NULL);
    nima_summary s = theory_to(&t, NIMA_FOREVER);
    ck_assert_int_eq(s.virtual_time, 3 * SECOND);
    ck_assert(s.exhausted);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sleeper"), 0, "rung"), 3);
    theory_close(&t);
}
END_TEST

START_TEST(alarms_limited_to_2) {
    theory t = theory_open("alarms", 0, 0, NULL);
    nima_summary s = theory_to(&t, 2 * SECOND);
    ck_assert_int_eq(s.virtual_time, 2 * SECOND);
    ck_assert(!s.exhausted);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sleeper"), 0, "rung"), 2);
    s = theory_to(&t, NIMA_FOREVER);         /* the one that was pending */
    ck_assert_int_eq(s.virtual_time, 3 * SECOND);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sleeper"), 0, "rung"), 3);
    theory_close(&t);
}
END_TEST

START_TEST(alarms_ten_runs_of_2) {
    theory t = theory_open("alarms", 0, 0, SET("late=true"));
    for (nima_time end = 2; end <= 20; end += 2) {
        nima_summary s = theory_to(&t, end * SECOND);
        ck_assert_int_eq(s.virtual_time, end * SECOND);
        ck_assert(!s.exhausted);
        ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sleeper"), 0, "rung"), end == 2 ? 2 : 3);
    }
    nima_summary s = theory_to(&t, 22 * SECOND);
    ck_assert_int_eq(s.virtual_time, 21 * SECOND);
    ck_assert(s.exhausted);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sleeper"), 0, "rung"), 4);
    theory_close(&t);
}
END_TEST

static int alive_in_row(theory *t, nima_time row) {   /* of cells as models/rule.c has them */
    theory_to(t, row + 1);
    int alive = 0;
    for (uint64_t i = 0; i < 257; i++) alive += theory_field(t, theory_behavior(t, "cell"), i, "alive") == 1;
    return alive;
}

START_TEST(rule_90) {
    theory t = theory_open("rule", 0, 0, SET("number=90"));
    for (int row = 0; row < 100; row++) ck_assert_int_eq(alive_in_row(&t, row), 1 << __builtin_popcount((unsigned)row));
    theory_close(&t);
}
END_TEST

START_TEST(rule_30) {
    static const int expected[] = { 1, 3, 3, 6, 4, 9, 5, 12, 7, 12, 11, 14 };
    theory t = theory_open("rule", 0, 0, SET("number=30"));
    for (int row = 0; row < 12; row++) ck_assert_int_eq(alive_in_row(&t, row), expected[row]);
    theory_close(&t);
}
END_TEST

static bool alive(const theory *t, uint64_t size, uint64_t row, uint64_t column) {
    return theory_field(t, theory_behavior(t, "cell"), row % size * size + column % size, "alive") == 1;
}

START_TEST(glider) {                         /* over the edge too */
    enum { SIZE = 16 };
    bool first[SIZE][SIZE];
    theory t = theory_open("life", 0, 0, SET("pattern=glider", "size=16"));
    theory_to(&t, 1);
    int count = 0;
    for (uint64_t i = 0; i < SIZE * SIZE; i++) count += first[i / SIZE][i % SIZE] = alive(&t, SIZE, i / SIZE, i % SIZE);
    ck_assert_int_eq(count, 5);
    for (uint64_t moved = 1; moved <= 20; moved++) {
        theory_to(&t, (nima_time)(4 * moved + 1));
        for (uint64_t i = 0; i < SIZE * SIZE; i++)
            ck_assert_int_eq(alive(&t, SIZE, i / SIZE + moved, i % SIZE + moved), first[i / SIZE][i % SIZE]);
    }
    theory_close(&t);
}
END_TEST

START_TEST(r_pentomino) {
    theory t = theory_run("life", 0, NULL);
    ck_assert_double_eq(theory_result(&t, "alive"), 116);
    theory_close(&t);
}
END_TEST

START_TEST(diehard) {
    theory t = theory_open("life", 0, 0, SET("pattern=diehard", "size=200"));
    theory_to(&t, 130);                      /* generation 129 */
    int count = 0;
    for (uint64_t i = 0; i < 200 * 200; i++) count += alive(&t, 200, i / 200, i % 200);
    ck_assert_int_gt(count, 0);
    theory_to(&t, NIMA_FOREVER);
    theory_finish(&t);
    ck_assert_double_eq(theory_result(&t, "alive"), 0);
    ck_assert_double_eq(theory_result(&t, "generation"), 130);
    theory_close(&t);
}
END_TEST

THEORY(
    { "theory: alarms at 1, 1.5 and 3 end a run at 3", alarms_end_at_3 },
    { "theory: a run limited to 2 ends there with one alarm pending", alarms_limited_to_2 },
    { "theory: ten runs of 2 end at 2, 4 ... 20, the next at its alarm", alarms_ten_runs_of_2 },
    { "theory: Rule 90", rule_90 },
    { "theory: Rule 30", rule_30 },
    { "theory: a glider moves by (1,1) in 4 generations", glider },
    { "theory: R-pentomino has 116 cells at generation 1103", r_pentomino },
    { "theory: diehard is empty at generation 130", diehard })
