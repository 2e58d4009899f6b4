/* Models whose events can be counted exactly: pingpong, create, heavy. */
#include "theory.h"

START_TEST(pingpong_5000) {
    theory t = theory_open("pingpong", 1, 0, SET("messages=10000"));
    nima_summary s = theory_to(&t, NIMA_FOREVER);
    const nima_behavior *player = theory_behavior(&t, "player");
    ck_assert_double_eq(theory_field(&t, player, 0, "heard"), 5000);
    ck_assert_double_eq(theory_field(&t, player, 1, "heard"), 5000);
    ck_assert_uint_eq(s.events, 2 + 10000);
    ck_assert(s.exhausted);
    theory_close(&t);
}
END_TEST

START_TEST(mail_loads) {
    const struct { const char *variant; unsigned agents; } loads[] = {
        { "variant=pingpong", 2 }, { "variant=ring", 503 }, { "variant=tokens", 503 }, { "variant=counting", 2 },
        { "variant=all", 120 }, { "variant=many", 101 } };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        theory t = theory_open("pingpong", 1, 0, SET(loads[i].variant, "messages=123457"));
        nima_summary s = theory_to(&t, NIMA_FOREVER);
        theory_finish(&t);
        ck_assert_msg(theory_result(&t, "messages") == 123457, "%s", loads[i].variant);
        ck_assert_msg(s.events == 123457 + loads[i].agents && s.agents == loads[i].agents, "%s", loads[i].variant);
        theory_close(&t);
    }
}
END_TEST

START_TEST(counter_gets_1000) {              /* of 1,001 messages, one wakes the sender again */
    theory t = theory_open("pingpong", 1, 0, SET("variant=counting", "messages=100100"));
    theory_to(&t, NIMA_FOREVER);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "counter"), 0, "heard"), 100000);
    ck_assert_double_eq(theory_field(&t, theory_behavior(&t, "sender"), 0, "heard"), 100);
    theory_close(&t);
}
END_TEST

START_TEST(all_to_all_evenly) {              /* a token goes to any of 120: chi-square of what each heard */
    theory t = theory_open("pingpong", 5, 0, SET("variant=all", "messages=600000"));
    theory_to(&t, NIMA_FOREVER);
    double chi_square = 0;
    for (uint64_t i = 0; i < 120; i++) {
        double more = theory_field(&t, theory_behavior(&t, "player"), i, "heard") - 5000;
        chi_square += more * more / 5000;
    }
    theory_compare(&t, "chi-square", chi_square, 119, sqrt(2 * 119.0));
    theory_close(&t);
}
END_TEST

START_TEST(created_and_gone) {
    for (int batch = 0; batch < 2; batch++) {
        theory t = theory_open("create", 1, 0, SET("agents=50000", batch ? "batch=700" : "batch=50000"));
        nima_summary s = theory_to(&t, NIMA_FOREVER);
        theory_finish(&t);
        ck_assert_double_eq(theory_result(&t, "created"), 50000);
        ck_assert_uint_eq(s.agents, 1);
        ck_assert_uint_eq(s.dead_letters, 0);
        ck_assert_uint_eq(s.events, 1 + 2 * 50000 + (batch ? 71 : 0));   /* starts, greetings, alarms */
        ck_assert_int_eq(s.virtual_time, batch ? 71 : 0);
        theory_close(&t);
    }
}
END_TEST

START_TEST(heavy_work) {
    theory t = theory_open("heavy", 1, 0, SET("rounds=10"));
    nima_summary s = theory_to(&t, NIMA_FOREVER);
    ck_assert_uint_eq(s.shards, 64);
    ck_assert_uint_eq(s.events, 64 + 64 * 100);
    theory_close(&t);
}
END_TEST

THEORY(
    { "theory: ping-pong to 5000 updates both agents 5000 times", pingpong_5000 },
    { "theory: each mail load delivers as many messages as asked for", mail_loads },
    { "theory: the counter is sent 1000 messages an update", counter_gets_1000 },
    { "theory: tokens from all to all go to each alike", all_to_all_evenly },
    { "theory: all that is created gets its message and is gone", created_and_gone },
    { "theory: heavy agents are a shard each", heavy_work })
