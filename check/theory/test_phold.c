/* PHOLD: how many events there are, and that they are spread evenly. */
#include "theory.h"

/* Visits per agent and event begun with, and their chi-square over all agents, per degree of freedom. */
static void phold(const char *remote, double *visits, double *chi_square, theory *t) {
    enum { AGENTS = 20000, EVENTS = 2 };
    *t = theory_run("phold", 11, SET("agents=20000", "events=2", remote));
    const nima_behavior *agent = theory_behavior(t, "agent");
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < AGENTS; i++) {
        double n = theory_field(t, agent, i, "visits");
        sum += n;
        squares += n * n;
    }
    *visits = sum / AGENTS / EVENTS;
    *chi_square = (squares - sum * sum / AGENTS) / (sum / AGENTS) / (AGENTS - 1);
    theory_close(t);
}

/* Renewals by time T of delays 0.1 + exponential(0.9): T - 0.095, variance 0.81 T. */
START_TEST(event_rate) {
    double visits, chi_square;
    theory t;
    phold("remote=1", &visits, &chi_square, &t);
    theory_compare(&t, "visits", visits, 20 - 0.095, sqrt(0.81 * 20 / 40000));
}
END_TEST

START_TEST(uniform_visits) {
    double visits, chi_square;
    theory t;
    phold("remote=1", &visits, &chi_square, &t);
    theory_compare(&t, "chi-square", chi_square, 1, sqrt(2.0 / 20000));
}
END_TEST

/* Nothing remote: each agent has renewals of its own, with 0.81 of the variance of a Poisson number. */
START_TEST(local_events) {
    double visits, chi_square;
    theory t;
    phold("remote=0", &visits, &chi_square, &t);
    theory_compare(&t, "visits", visits, 20 - 0.095, sqrt(0.81 * 20 / 40000));
    theory_compare(&t, "chi-square", chi_square, 0.81, 2 * sqrt(2.0 / 20000));
}
END_TEST

THEORY(
    { "theory: PHOLD's event rate", event_rate },
    { "theory: PHOLD visits all agents alike", uniform_visits },
    { "theory: PHOLD with nothing remote", local_events })
