/* Epidemics, wealth, traffic, rumours, who takes over, ruin, elections, walks, births. */
#include "theory.h"

static double solve_final_share(double r0) { /* z = 1 - exp(-r0 z) */
    double z = 1;
    for (int i = 0; i < 200; i++) z = 1 - exp(-r0 * z);
    return z;
}

START_TEST(markov_sir) {                     /* R0 = 2, one case in 10,000: half the outbreaks are major */
    enum { RUNS = 40 };
    double major = 0, counts = 0;
    theory t;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        t = theory_run("sir", seed, SET("contact=mixing", "people=10000", "cases=1", "transmission=0.02"));
        double count = theory_result(&t, "attack_rate") * 10000;
        if (count > 2000) {
            theory_compare(&t, "final count", count, solve_final_share(2) * 10000, 91);
            counts += count;
            major++;
        } else ck_assert_msg(count < 500, "seed %llu: %g", (unsigned long long)seed, count);
        theory_close(&t);
    }
    theory_compare(&t, "mean final count", counts / major, solve_final_share(2) * 10000, 91 / sqrt(major));
    theory_compare(&t, "major outbreaks", major / RUNS, 0.5, sqrt(0.25 / RUNS));
}
END_TEST

/* Random graph of mean degree 10: a case infects a contact before it recovers with chance T, and z = 1 - exp(-10 T z).
 * The sd is that of the general epidemic with a geometric number of infectious days. */
START_TEST(network_sir) {
    const double n = 50000, t_chance = 1 - 0.1 / (1 - 0.9 * 0.97), r0 = 10 * t_chance, z = solve_final_share(r0);
    theory t = theory_run("sir", 4, SET("people=50000", "cases=50", "threshold=1"));
    double sd = sqrt(n * z * (1 - z) * (1 + r0 * r0 * (1 - z))) / (1 - r0 * (1 - z));
    theory_compare(&t, "attack rate", theory_result(&t, "attack_rate"), z, sd / n);
    theory_close(&t);
}
END_TEST

START_TEST(closing_contacts) {               /* the office's orders arrive and help */
    theory open = theory_run("sir", 4, SET("people=20000", "threshold=1"));
    theory closed = theory_run("sir", 4, SET("people=20000", "threshold=0.01", "closure=0.7"));
    ck_assert_double_lt(theory_result(&closed, "attack_rate"), 0.8 * theory_result(&open, "attack_rate"));
    theory_close(&open);
    theory_close(&closed);
}
END_TEST

START_TEST(wealth_synchronous) {
    theory t = theory_run("wealth", 1, SET("people=40000"));
    theory_compare(&t, "share with nothing", theory_result(&t, "nothing"), sqrt(2) - 1, 0.0025);
    theory_close(&t);
}
END_TEST

START_TEST(wealth_asynchronous) {
    theory t = theory_run("wealth", 1, SET("order=asynchronous"));
    theory_compare(&t, "share with nothing", theory_result(&t, "nothing"), 0.5, 0.005);
    theory_compare(&t, "Gini", theory_result(&t, "gini"), 2.0 / 3, 0.005);
    theory_close(&t);
}
END_TEST

/* To half a percent, which is four sd of 200,000 s (of bare programs too). */
static void current(uint64_t seed, double sites, double particles, const char *const *set) {
    theory t = theory_open("tasep", seed, 0, set);
    theory_to(&t, (nima_time)(200000 * 1e6));
    theory_finish(&t);
    double expected = particles * (sites - particles) / (sites * (sites - 1));
    theory_compare(&t, "current", theory_result(&t, "current"), expected, 0.005 * expected / 4);
    theory_close(&t);
}

START_TEST(tasep) {
    current(1, 50, 25, SET("sites=50", "particles=25"));
    current(2, 20, 5, SET("sites=20", "particles=5"));
}
END_TEST

START_TEST(rumour) {
    theory t = theory_run("rumour", 7, NULL);
    theory_compare(&t, "never heard", theory_result(&t, "never_heard"), 0.2032, 0.005);
    theory_close(&t);
}
END_TEST

START_TEST(voter) {                          /* fitness 1, 20 voters of whom 6 are for it */
    theory t = theory_run("moran", 1, SET("people=20", "mutants=6"));
    ck_assert_double_eq(theory_result(&t, "mixed"), 0);
    theory_compare(&t, "exit probability", theory_result(&t, "fixed"), 0.3, sqrt(0.3 * 0.7 / 2000));
    theory_close(&t);
}
END_TEST

START_TEST(moran) {
    theory t = theory_run("moran", 2, SET("people=10", "fitness=1.5"));
    double fixation = (1 - 1 / 1.5) / (1 - pow(1.5, -10));
    ck_assert_double_eq(theory_result(&t, "mixed"), 0);
    theory_compare(&t, "fixation", theory_result(&t, "fixed"), fixation, sqrt(fixation * (1 - fixation) / 2000));
    theory_close(&t);
}
END_TEST

START_TEST(gambler) {
    theory t = theory_run("gambler", 1, NULL);
    ck_assert_double_eq(theory_result(&t, "ended"), 20000);
    theory_compare(&t, "won", theory_result(&t, "won"), 0.3, sqrt(0.3 * 0.7 / 20000));
    theory_compare(&t, "duration", theory_result(&t, "duration"), 3 * 7,
                   theory_result(&t, "duration_sd") / sqrt(20000));
    theory_close(&t);
}
END_TEST

START_TEST(election) {                       /* n H_n */
    theory t = theory_run("election", 1, NULL);
    double expected = 0;
    for (int i = 1; i <= 20; i++) expected += 20.0 / i;
    ck_assert_double_eq(theory_result(&t, "elected"), 1000);
    theory_compare(&t, "messages", theory_result(&t, "messages"), expected,
                   sqrt(theory_result(&t, "messages_variance") / 1000));
    theory_close(&t);
}
END_TEST

START_TEST(random_walk) {                    /* sampled at the end of tick 99: 100 steps */
    theory t = theory_run("walk", 1, NULL);
    theory_compare(&t, "mean squared displacement", theory_result(&t, "square"), 100, 100 / sqrt(20000));
    theory_close(&t);
}
END_TEST

START_TEST(yule) {
    theory t = theory_run("yule", 1, NULL);
    theory_compare(&t, "cells", theory_result(&t, "cells"), 1000 * exp(2), sqrt(1000 * exp(2) * (exp(2) - 1)));
    theory_close(&t);
}
END_TEST

THEORY(
    { "theory: Markov SIR in a mixing crowd", markov_sir },
    { "theory: SIR on a random graph", network_sir },
    { "theory: closing contacts slows an epidemic", closing_contacts },
    { "theory: wealth given away all at once", wealth_synchronous },
    { "theory: wealth given away one at a time", wealth_asynchronous },
    { "theory: TASEP current", tasep },
    { "theory: rumour", rumour },
    { "theory: voter model", voter },
    { "theory: Moran process", moran },
    { "theory: gambler's ruin", gambler },
    { "theory: election on a ring", election },
    { "theory: simple random walk", random_walk },
    { "theory: Yule births", yule })
