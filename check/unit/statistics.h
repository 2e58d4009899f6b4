/* statistics.h: how far observations are from theory. Seeds are fixed, so a test that passes once passes always; the
 * bounds are such that one fair stream in a million would fail. */
#ifndef CHECK_STATISTICS_H
#define CHECK_STATISTICS_H
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { WORST = 5 };                                           /* standard deviations */

/* Regularized lower incomplete gamma function P(a, x): series below the mean, continued fraction above. */
static inline double gamma_below(double a, double x) {
    if (x <= 0) return 0;
    const double front = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > sum * 1e-16; n++) sum += term *= x / n;
        return sum * front;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;        /* Lentz */
    for (int i = 1; i < 10000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return 1 - front * h;
}

/* Chi-square: cells are added one by one, and joined until at least 20 are expected in each. */
typedef struct { double sum, seen, due; int cells; } chi_square;
static inline void chi_square_add(chi_square *c, double seen, double due) {
    c->seen += seen;
    c->due += due;
    if (c->due < 20) return;
    c->sum += (c->seen - c->due) * (c->seen - c->due) / c->due;
    c->cells++;
    c->seen = c->due = 0;
}
/* As a standard normal (Wilson and Hilferty). */
static inline double chi_square_deviation(const chi_square *c) {
    const double k = c->cells - 1, v = 2 / (9 * k);
    return (cbrt(c->sum / k) - (1 - v)) / sqrt(v);
}
static inline void ck_chi_square(const chi_square *c, const char *what) {
    ck_assert_msg(c->cells > 1, "%s: too few cells", what);
    ck_assert_msg(fabs(chi_square_deviation(c)) < WORST, "%s: chi-square %g in %d cells, %.1f deviations", what, c->sum,
                  c->cells, chi_square_deviation(c));
}

/* A mean of n observations whose theoretical mean and standard deviation are given. */
static inline void ck_mean(double sum, double n, double mean, double sd, const char *what) {
    const double deviation = (sum / n - mean) / (sd / sqrt(n));
    ck_assert_msg(fabs(deviation) < WORST, "%s: %.9g, expected %.9g, %.1f deviations", what, sum / n, mean, deviation);
}

static inline int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* Kolmogorov and Smirnov; sorts x. */
static inline void ck_distribution(double *x, size_t n, double (*below)(double x, double parameter), double parameter,
                                   const char *what) {
    double worst = 0;
    qsort(x, n, sizeof *x, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        const double p = below(x[i], parameter);
        worst = fmax(worst, fmax(p - (double)i / (double)n, (double)(i + 1) / (double)n - p));
    }
    ck_assert_msg(worst * sqrt((double)n) < 2.6, "%s: off its distribution by %g, %.2f / sqrt(n)", what, worst,
                  worst * sqrt((double)n));
}

/* The tests of one file, and how they ended. */
typedef struct { const char *name; const TTest *test; } named_test;
static inline int run_units(const char *suite_name, const named_test *tests, size_t count) {
    Suite *suite = suite_create(suite_name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(tests[i].name);
        tcase_set_timeout(tcase, 200);
        tcase_add_test(tcase, tests[i].test);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
#endif
