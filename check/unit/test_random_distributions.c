/* What the distributions give, against theory: every value of the discrete ones by chi-square, the continuous ones by
 * their moments, by chi-square in fine bins, and in the tails that few draws reach. */
#include "nima.h"
#include "statistics.h"
#include <math.h>

enum { MANY = 1000000 };
static nima_rng stream(uint64_t n) { return (nima_rng){ .key = 20240229, .stream = n }; }

static double exponential_below(double x, double mean) { return -expm1(-x / mean); }
static double normal_below(double x, double unused) { (void)unused; return 0.5 * erfc(-x * M_SQRT1_2); }
static double gamma_below_unit(double x, double shape) { return gamma_below(shape, x); }

/* ---- continuous ---- */
typedef double (*draw_one)(nima_rng *, double parameter);
static double draw_exponential(nima_rng *r, double mean) { return nima_exponential(r, mean); }
static double draw_normal(nima_rng *r, double unused) { (void)unused; return nima_normal(r, 0, 1); }
static double draw_gamma(nima_rng *r, double shape) { return nima_gamma(r, shape, 1); }
static double draw_uniform(nima_rng *r, double unused) { (void)unused; return nima_uniform(r); }
static double uniform_below(double x, double unused) { (void)unused; return x; }

/* Equal bins between low and high, and what lies beyond on both sides. */
static void ck_bins(uint64_t number, draw_one draw, double (*below)(double, double), double parameter, double low,
                    double high, int n, const char *what) {
    enum { BINS = 2000 };
    double seen[BINS + 2] = { 0 };
    ck_assert_int_le(n, BINS);
    nima_rng r = stream(number);
    for (int i = 0; i < 4 * MANY; i++) {
        const double x = draw(&r, parameter);
        seen[x < low ? 0 : x >= high ? n + 1 : 1 + (int)((x - low) / (high - low) * n)]++;
    }
    chi_square c = { 0 };
    double before = 0;
    for (int i = 0; i < n + 2; i++) {
        const double edge = low + (high - low) * i / n, p = i == n + 1 ? 1 : below(edge, parameter);
        chi_square_add(&c, seen[i], (p - before) * 4 * MANY);
        before = p;
    }
    ck_chi_square(&c, what);
}

static void ck_sorted(uint64_t number, draw_one draw, double (*below)(double, double), double parameter,
                      const char *what) {
    enum { N = 200000 };
    double *x = malloc(N * sizeof *x);
    nima_rng r = stream(number);
    for (int i = 0; i < N; i++) x[i] = draw(&r, parameter);
    ck_distribution(x, N, below, parameter, what);
    free(x);
}

START_TEST(uniform) {
    ck_bins(1, draw_uniform, uniform_below, 0, 0, 1, 2000, "uniform");
    ck_sorted(2, draw_uniform, uniform_below, 0, "uniform");
}
END_TEST

START_TEST(exponential) {
    ck_bins(3, draw_exponential, exponential_below, 1, 0, 10, 2000, "exponential");
    ck_bins(4, draw_exponential, exponential_below, 1, 7.5, 12, 300, "tail of the exponential");
    ck_bins(5, draw_exponential, exponential_below, 1, 0, 0.01, 1000, "exponential near 0");
    ck_sorted(6, draw_exponential, exponential_below, 250, "exponential of mean 250");
    nima_rng r = stream(7);
    double sum = 0, squares = 0;
    for (int i = 0; i < MANY; i++) {
        const double x = nima_exponential(&r, 3);
        ck_assert(x >= 0);
        sum += x;
        squares += x * x;
    }
    ck_mean(sum, MANY, 3, 3, "mean");
    ck_mean(squares, MANY, 18, 9 * sqrt(20), "mean of squares");
}
END_TEST

START_TEST(normal) {
    ck_bins(8, draw_normal, normal_below, 0, -5, 5, 2000, "normal");
    ck_bins(9, draw_normal, normal_below, 0, -5, -3.5, 300, "left tail of the normal");
    ck_bins(10, draw_normal, normal_below, 0, 3.5, 5, 300, "right tail of the normal");
    ck_bins(11, draw_normal, normal_below, 0, -0.01, 0.01, 500, "normal near 0");
    ck_sorted(12, draw_normal, normal_below, 0, "normal");
    nima_rng r = stream(13);
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < MANY; i++) {
        const double x = (nima_normal(&r, 10, 4) - 10) / 4;
        sum += x;
        squares += x * x;
        fourths += x * x * x * x;
    }
    ck_mean(sum, MANY, 0, 1, "mean");
    ck_mean(squares, MANY, 1, sqrt(2), "variance");
    ck_mean(fourths, MANY, 3, sqrt(96), "fourth moment");
}
END_TEST

START_TEST(gamma_variates) {
    const double shapes[] = { 0.05, 0.5, 0.99, 1, 1.5, 4, 60, 1e4 };
    for (int i = 0; i < 8; i++) {
        const double shape = shapes[i], sd = sqrt(shape);
        ck_sorted((uint64_t)(20 + i), draw_gamma, gamma_below_unit, shape, "gamma");
        ck_bins((uint64_t)(30 + i), draw_gamma, gamma_below_unit, shape, fmax(0, shape - 4 * sd), shape + 5 * sd, 300,
                "gamma");
        nima_rng r = stream((uint64_t)(40 + i));
        double sum = 0;
        for (int k = 0; k < MANY / 4; k++) sum += nima_gamma(&r, shape, 7);
        ck_mean(sum, MANY / 4, 7 * shape, 7 * sd, "mean of gamma");
    }
}
END_TEST

/* ---- whole numbers ---- */
typedef uint64_t (*draw_count)(nima_rng *, double a, double b);
typedef double (*log_chance)(double k, double a, double b);

static uint64_t draw_poisson(nima_rng *r, double mean, double unused) { (void)unused; return nima_poisson(r, mean); }
static double poisson_ln(double k, double mean, double unused) {
    (void)unused;
    return k * log(mean) - mean - lgamma(k + 1);
}
static uint64_t draw_binomial(nima_rng *r, double n, double p) { return nima_binomial(r, (uint64_t)n, p); }
static double binomial_ln(double k, double n, double p) {
    if (k > n) return -INFINITY;
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}
static uint64_t draw_geometric(nima_rng *r, double p, double unused) { (void)unused; return nima_geometric(r, p); }
static double geometric_ln(double k, double p, double unused) { (void)unused; return k * log1p(-p) + log(p); }

/* Every value within `spread` standard deviations by itself, joined where few are expected. */
static void ck_counts(uint64_t number, draw_count draw, log_chance ln, double a, double b, double mean, double variance,
                      double spread, const char *what) {
    const double sd = sqrt(variance), low = floor(fmax(0, mean - spread * sd)), high = ceil(mean + spread * sd + 20);
    const int n = (int)(high - low) + 1;
    double *seen = calloc((size_t)n + 2, sizeof *seen), sum = 0;
    char name[100];
    snprintf(name, sizeof name, "%s %g %g", what, a, b);
    nima_rng r = stream(number);
    for (int i = 0; i < MANY; i++) {
        const double k = (double)draw(&r, a, b);
        sum += k;
        seen[k < low ? 0 : k > high ? n + 1 : 1 + (int)(k - low)]++;
    }
    ck_mean(sum, MANY, mean, sd, name);
    chi_square c = { 0 };
    for (int i = 1; i <= n; i++) chi_square_add(&c, seen[i], MANY * exp(ln(low + i - 1, a, b)));
    ck_chi_square(&c, name);
    ck_assert_msg(seen[0] + seen[n + 1] < 20, "%s: %g far away", name, seen[0] + seen[n + 1]);
    free(seen);
}

START_TEST(poisson) {
    const double means[] = { 0.01, 0.7, 3, 9.99, 10, 12.5, 40, 1000, 250000 };
    for (int i = 0; i < 9; i++)
        ck_counts((uint64_t)(50 + i), draw_poisson, poisson_ln, means[i], 0, means[i], means[i], 6, "poisson");
}
END_TEST

START_TEST(binomial) {
    const struct { double n, p; } cases[] = { { 1, 0.3 }, { 20, 0.2 }, { 19, 0.5 }, { 20, 0.5 }, { 30, 0.97 },
                                              { 40, 0.25 }, { 1000, 0.4 }, { 1000, 0.985 }, { 1e6, 1e-6 },
                                              { 1e6, 3e-5 }, { 1e9, 1e-4 } };
    for (int i = 0; i < 11; i++) {
        const double n = cases[i].n, p = cases[i].p;
        ck_counts((uint64_t)(70 + i), draw_binomial, binomial_ln, n, p, n * p, n * p * (1 - p), 6, "binomial");
    }
}
END_TEST

START_TEST(geometric) {
    const double chances[] = { 0.9, 0.5, 0.1, 0.003 };
    for (int i = 0; i < 4; i++) {
        const double p = chances[i];
        ck_counts((uint64_t)(90 + i), draw_geometric, geometric_ln, p, 0, (1 - p) / p, (1 - p) / p / p, 20,
                  "geometric");
    }
}
END_TEST

/* Too many values to count: near the normal distribution, to which these are close enough. */
START_TEST(large_counts) {
    enum { N = 200000 };
    double *x = malloc(N * sizeof *x);
    nima_rng r = stream(100);
    for (int i = 0; i < N; i++) x[i] = ((double)nima_poisson(&r, 1e14) - 1e14) / 1e7;
    ck_distribution(x, N, normal_below, 0, "poisson of mean 1e14");
    const double sd = 0x1p24 * sqrt(0.75);
    for (int i = 0; i < N; i++) x[i] = ((double)nima_binomial(&r, (uint64_t)1 << 50, 0.25) - 0x1p48) / sd;
    ck_distribution(x, N, normal_below, 0, "binomial of 2^50");
    free(x);
}
END_TEST

START_TEST(chances) {
    nima_rng r = stream(101);
    const double p[] = { 1e-3, 0.1, 1.0 / 3, 0.5, 0.999 };
    for (int i = 0; i < 5; i++) {
        double hits = 0;
        for (int k = 0; k < MANY; k++) hits += nima_chance(&r, p[i]);
        ck_mean(hits, MANY, p[i], sqrt(p[i] * (1 - p[i])), "chance");
    }
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "random: uniform against theory", uniform },
        { "random: exponential against theory (whole, tail, origin)", exponential },
        { "random: normal against theory (whole, tails, origin)", normal },
        { "random: gamma against theory (shapes 0.05 to 1e4)", gamma_variates },
        { "random: Poisson against theory (means 0.01 to 250000)", poisson },
        { "random: binomial against theory", binomial },
        { "random: geometric against theory", geometric },
        { "random: Poisson and binomial against theory (huge means)", large_counts },
        { "random: chance against theory", chances },
    };
    return run_units("random_distributions", tests, sizeof tests / sizeof *tests);
}
