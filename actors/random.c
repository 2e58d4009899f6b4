/* random.c: distributions over Philox streams, the same bits on every host.
 *
 * Exponential and normal use a ziggurat (Marsaglia and Tsang 2000) of 256 layers: 98 % of draws need no function. Where one is
 * needed it is SLEEF's deterministic one; the tables are computed with those once, at load. Everything is compiled without contraction. */
#include "random.h"
#include <math.h>
#include <sleef.h>

double nima_exp(double x) { return Sleef_cinz_expd1_u10purec(x); }
double nima_ln(double x) { return Sleef_cinz_logd1_u10purec(x); }
double nima_pow(double x, double y) { return Sleef_cinz_powd1_u10purec(x, y); }
double nima_sin(double x) { return Sleef_cinz_sind1_u10purec(x); }
double nima_cos(double x) { return Sleef_cinz_cosd1_u10purec(x); }

/* ---- draws ---- */
static void __attribute__((noinline)) fill(nima_rng *r, uint64_t block) {
    random_block(r->key, r->stream, block, r->block);
    r->cached = block + 1;
}

static inline uint32_t draw(nima_rng *r) {
    const uint64_t n = r->draws++;
    if (__builtin_expect(r->cached != (n >> 2) + 1, 0)) fill(r, n >> 2);
    return r->block[n & 3];
}

static inline uint64_t draw64(nima_rng *r) {  /* the first draw is the high word */
    const uint64_t high = draw(r);
    return high << 32 | draw(r);
}

static inline double unit(nima_rng *r) { return (double)(draw64(r) >> 11) * 0x1p-53; }
static inline double unit_open(nima_rng *r) { return ((double)(draw64(r) >> 12) + 0.5) * 0x1p-52; }   /* (0, 1) */

uint32_t nima_bits32(nima_rng *r) { return draw(r); }
double nima_uniform(nima_rng *r) { return unit(r); }

uint64_t nima_below(nima_rng *r, uint64_t n) {   /* Lemire 2019 */
    if (__builtin_expect(n <= UINT32_MAX, 1)) {
        uint64_t product = draw(r) * n;
        if (__builtin_expect((uint32_t)product < n, 0)) {
            const uint32_t least = (uint32_t)-n % (uint32_t)n;
            while ((uint32_t)product < least) product = draw(r) * n;
        }
        return product >> 32;
    }
    unsigned __int128 product = (unsigned __int128)draw64(r) * n;
    if ((uint64_t)product < n)
        for (const uint64_t least = -n % n; (uint64_t)product < least;) product = (unsigned __int128)draw64(r) * n;
    return (uint64_t)(product >> 64);
}

bool nima_chance(nima_rng *r, double p) {
    if (!(p > 0)) return false;
    if (p >= 1) return true;
    const double x = p * 0x1p32, whole = floor(x);
    const uint32_t a = draw(r), k = (uint32_t)whole;
    if (__builtin_expect(a != k, 1)) return a < k;
    return (double)draw(r) < (x - whole) * 0x1p32;
}

/* ---- ziggurats: layer i lies under x[i], down to x[i + 1]; f = density at x ---- */
#define EXPONENTIAL_R 7.69711747013104972
#define EXPONENTIAL_V 0.0039496598225815571993
#define NORMAL_R 3.6541528853610088
#define NORMAL_V 0.00492867323399
static double exponential_x[257], exponential_f[257], normal_x[257], normal_f[257];

__attribute__((constructor)) static void build_tables(void) {
    exponential_x[0] = EXPONENTIAL_V / nima_exp(-EXPONENTIAL_R);
    exponential_x[1] = EXPONENTIAL_R;
    normal_x[0] = NORMAL_V / nima_exp(-0.5 * NORMAL_R * NORMAL_R);
    normal_x[1] = NORMAL_R;
    for (int i = 2; i < 256; i++) {
        exponential_x[i] = -nima_ln(EXPONENTIAL_V / exponential_x[i - 1] + nima_exp(-exponential_x[i - 1]));
        normal_x[i] = sqrt(-2 * nima_ln(NORMAL_V / normal_x[i - 1] + nima_exp(-0.5 * normal_x[i - 1] * normal_x[i - 1])));
    }
    exponential_x[256] = normal_x[256] = 0;
    for (int i = 0; i < 257; i++) {
        exponential_f[i] = nima_exp(-exponential_x[i]);
        normal_f[i] = nima_exp(-0.5 * normal_x[i] * normal_x[i]);
    }
}

static double standard_exponential(nima_rng *r) {
    for (double beyond = 0;;) {
        const uint64_t u = draw64(r);
        const uint32_t i = (uint32_t)u & 255;
        const double x = (double)(u >> 11) * 0x1p-53 * exponential_x[i];
        if (__builtin_expect(x < exponential_x[i + 1], 1)) return beyond + x;
        if (i == 0) { beyond += EXPONENTIAL_R; continue; }    /* the tail is the whole again */
        if (exponential_f[i] + unit(r) * (exponential_f[i + 1] - exponential_f[i]) < nima_exp(-x)) return beyond + x;
    }
}

static double standard_normal(nima_rng *r) {
    for (;;) {
        const uint64_t u = draw64(r);
        const uint32_t i = (uint32_t)u & 255;
        const double sign = u & 256 ? -1 : 1, x = (double)(u >> 11) * 0x1p-53 * normal_x[i];
        if (__builtin_expect(x < normal_x[i + 1], 1)) return sign * x;
        if (i == 0) {                        /* Marsaglia 1964 */
            double a, b;
            do {
                a = -nima_ln(unit_open(r)) / NORMAL_R;
                b = -nima_ln(unit_open(r));
            } while (2 * b < a * a);
            return sign * (NORMAL_R + a);
        }
        if (normal_f[i] + unit(r) * (normal_f[i + 1] - normal_f[i]) < nima_exp(-0.5 * x * x)) return sign * x;
    }
}

double nima_exponential(nima_rng *r, double mean) { return mean * standard_exponential(r); }
double nima_normal(nima_rng *r, double mean, double sd) { return mean + sd * standard_normal(r); }

double nima_gamma(nima_rng *r, double shape, double scale) {   /* Marsaglia and Tsang 2000 */
    if (!(shape > 0)) return 0;
    double boost = 1;
    if (shape < 1) {
        boost = nima_pow(unit_open(r), 1 / shape);
        shape += 1;
    }
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x, v;
        do {
            x = standard_normal(r);
            v = 1 + c * x;
        } while (v <= 0);
        v = v * v * v;
        const double u = unit_open(r);
        if (u < 1 - 0.0331 * x * x * x * x || nima_ln(u) < 0.5 * x * x + d * (1 - v + nima_ln(v))) return d * v * scale * boost;
    }
}

static double ln_factorial(double k) {        /* Stirling with four terms from 10 on */
    static const double small[10] = { 0, 0, 0.69314718055994531, 1.7917594692280550, 3.1780538303479458, 4.7874917427820458,
                                      6.5792512120101012, 8.5251613610654147, 10.604602902745251, 12.801827480081469 };
    if (k < 10) return small[(int)k];
    const double n = k + 1, s = 1 / (n * n);
    return (n - 0.5) * nima_ln(n) - n + 0.91893853320467274 + (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s / 1680))) / n;
}

uint64_t nima_poisson(nima_rng *r, double mean) {
    if (!(mean > 0)) return 0;
    if (mean < 10) {                         /* by multiplication */
        const double least = nima_exp(-mean);
        uint64_t k = 0;
        for (double p = unit_open(r); p > least; p *= unit_open(r)) k++;
        return k;
    }
    const double ln_mean = nima_ln(mean), b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;   /* PTRS, Hoermann 1993 */
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = unit(r) - 0.5, v = unit_open(r), s = 0.5 - fabs(u), k = floor((2 * a / s + b) * u + mean + 0.43);
        if (s >= 0.07 && v <= v_r) return (uint64_t)k;
        if (k < 0 || (s < 0.013 && v > s)) continue;
        if (nima_ln(v) + nima_ln(inverse_alpha) - nima_ln(a / (s * s) + b) <= k * ln_mean - mean - ln_factorial(k)) return (uint64_t)k;
    }
}

uint64_t nima_geometric(nima_rng *r, double p) {
    if (p >= 1) return 0;
    if (!(p > 0)) return UINT64_MAX;
    const double k = floor(nima_ln(unit_open(r)) / Sleef_cinz_log1pd1_u10purec(-p));
    return k < 0x1p63 ? (uint64_t)k : UINT64_MAX;
}

uint64_t nima_binomial(nima_rng *r, uint64_t n, double p) {
    if (!(p > 0) || n == 0) return 0;
    if (p >= 1) return n;
    if (p > 0.5) return n - nima_binomial(r, n, 1 - p);
    const double count = (double)n;
    if (count * p < 10) {                    /* skips over failures */
        uint64_t k = 0;
        for (uint64_t at = nima_geometric(r, p); at < n; k++) {
            const uint64_t skip = nima_geometric(r, p);
            if (skip >= n - at - 1) return k + 1;
            at += skip + 1;
        }
        return k;
    }
    const double q = 1 - p, spq = sqrt(count * p * q), b = 1.15 + 2.53 * spq, a = -0.0873 + 0.0248 * b + 0.01 * p;   /* BTRS, Hoermann 1993 */
    const double c = count * p + 0.5, v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spq, ln_odds = nima_ln(p / q);
    const double mode = floor((count + 1) * p), h = ln_factorial(mode) + ln_factorial(count - mode);
    for (;;) {
        const double u = unit(r) - 0.5, us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        double v = unit_open(r);
        if (us >= 0.07 && v <= v_r) return (uint64_t)k;
        if (k < 0 || k > count) continue;
        v = nima_ln(v * alpha / (a / (us * us) + b));
        if (v <= h - ln_factorial(k) - ln_factorial(count - k) + (k - mode) * ln_odds) return (uint64_t)k;
    }
}
