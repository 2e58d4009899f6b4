/* The arithmetic offered to models: within one unit in the last place of long double, and the same bits everywhere. */
#include "hash.h"
#include "nima.h"
#include "statistics.h"
#include <float.h>

typedef double (*function)(double);
typedef long double (*exact_function)(long double);

/* |x - exact| in units in the last place of a double near exact. */
static double units_off(double x, long double exact) {
    const double near = (double)exact;
    const double unit = fmax(nextafter(fabs(near), INFINITY) - fabs(near), DBL_TRUE_MIN);
    return (double)(fabsl((long double)x - exact) / (long double)unit);
}

enum { N = 200000 };
/* Between low and high, evenly or by magnitude. */
static double place(nima_rng *r, double low, double high, bool by_magnitude) {
    const double u = nima_uniform(r);
    return by_magnitude ? low * pow(high / low, u) : low + u * (high - low);
}

static void ck_close(function f, exact_function exact, double low, double high, bool by_magnitude, const char *what) {
    nima_rng r = { .key = 1 };
    for (int i = 0; i < N; i++) {
        const double x = place(&r, low, high, by_magnitude), off = units_off(f(x), exact((long double)x));
        ck_assert_msg(off <= 1, "%s(%a): off by %g units", what, x, off);
    }
}

START_TEST(within_one_unit) {
    ck_close(nima_exp, expl, -700, 700, false, "exp");
    ck_close(nima_exp, expl, 1e-12, 1, true, "exp");
    ck_close(nima_ln, logl, 1e-150, 1e150, true, "ln");
    ck_close(nima_ln, logl, 0.5, 2, false, "ln");
    ck_close(nima_sin, sinl, -100, 100, false, "sin");
    ck_close(nima_sin, sinl, 1e-9, 1e9, true, "sin");
    ck_close(nima_cos, cosl, -100, 100, false, "cos");
    ck_close(nima_cos, cosl, 1e-9, 1e9, true, "cos");
}
END_TEST

START_TEST(powers_within_one_unit) {
    nima_rng r = { .key = 2 };
    for (int i = 0; i < N; i++) {
        const double x = place(&r, 1e-20, 1e20, true), y = place(&r, -15, 15, false);
        const double off = units_off(nima_pow(x, y), powl((long double)x, (long double)y));
        ck_assert_msg(off <= 1, "pow(%a, %a): off by %g units", x, y, off);
    }
}
END_TEST

START_TEST(special_values) {
    ck_assert(nima_exp(0) == 1 && nima_exp(-INFINITY) == 0 && isinf(nima_exp(1000)) && nima_exp(-1000) == 0);
    ck_assert(nima_ln(1) == 0 && isinf(nima_ln(0)) && nima_ln(0) < 0 && isnan(nima_ln(-1)) && isinf(nima_ln(INFINITY)));
    ck_assert(nima_pow(0, 0) == 1 && nima_pow(2, 10) == 1024 && nima_pow(-2, 3) == -8 && isnan(nima_pow(-2, 0.5)));
    ck_assert(nima_pow(0, 2) == 0 && nima_pow(9, 0.5) == 3);
    ck_assert(nima_sin(0) == 0 && nima_cos(0) == 1 && isnan(nima_sin(INFINITY)) && isnan(nima_cos(INFINITY)));
    ck_assert(isnan(nima_exp(NAN)) && isnan(nima_ln(NAN)) && isnan(nima_sin(NAN)));
}
END_TEST

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* One number stands for the bits of half a million results: it has to come out alike on any processor and from any
 * compiler. Where this fails, fingerprints of runs differ from those of other hosts. */
START_TEST(same_bits_everywhere) {
    nima_rng r = { .key = 3, .stream = 4 };
    uint64_t h = 0;
    for (int i = 0; i < 50000; i++) {
        const double x = nima_normal(&r, 0, 20), y = nima_exponential(&r, 10);
        h = hash_mum(h ^ bits_of(nima_exp(x)), bits_of(nima_ln(y)) ^ HASH_K0);
        h = hash_mum(h ^ bits_of(nima_sin(x)), bits_of(nima_cos(y)) ^ HASH_K1);
        h = hash_mum(h ^ bits_of(nima_pow(y, x / 10)), bits_of(nima_gamma(&r, y, 2)) ^ HASH_K2);
        h = hash_mum(h ^ bits_of(x), bits_of(y) ^ HASH_K3);
        const uint64_t k = nima_poisson(&r, y * y), j = nima_binomial(&r, (uint64_t)(y * 100), 0.4);
        h = hash_mum(h ^ k, j ^ HASH_K4);
    }
    ck_assert_msg(h == 0x4f36baf4b4ecde0au, "%016llx", (unsigned long long)h);
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "arithmetic: within one unit in the last place (exp, ln, sin, cos)", within_one_unit },
        { "arithmetic: within one unit in the last place (pow)", powers_within_one_unit },
        { "arithmetic: special values", special_values },
        { "arithmetic: the same bits everywhere", same_bits_everywhere },
    };
    return run_units("arithmetic", tests, sizeof tests / sizeof *tests);
}
