/* random.c: distributions over Philox streams, the same bits on every host.
 *
 * Exponential and normal use a ziggurat (Marsaglia and Tsang 2000) of 256 layers: 98 % of calls need no
 * function. Where one is needed it is SLEEF's deterministic one, never libm's, which differ by processor; sqrt
 * and floor are exact anywhere. The tables are computed with SLEEF too, once, when the library is loaded.
 *
 * All methods are exact up to rounding. Each function says how many draws it takes. Arguments out of their range
 * give the nearest case that has a meaning (a chance below 0 never happens, a mean below 0 is 0). */
#include "random.h"
#include <math.h>
#include <sleef.h>

#define ln Sleef_cinz_logd1_u10purec
#define ln_1_plus Sleef_cinz_log1pd1_u10purec
#define exponent Sleef_cinz_expd1_u10purec
#define power Sleef_cinz_powd1_u10purec
#define LIKELY(x) __builtin_expect(x, 1)

/* ---- draws: what is called most has its short form in nima.h, for draws at hand -------------------------------------- */
static inline uint64_t look(const nima_rng *r) { return r->block[r->draws & 3]; }
static inline uint64_t look64(const nima_rng *r) { return look(r) << 32 | r->block[(r->draws & 3) + 1]; }

static __attribute__((noinline)) void fill(nima_rng *r, uint64_t block) {
    random_block(r->key, r->stream, block, r->block);
    r->block_end = block * 4 + 4;
}

static inline uint32_t draw(nima_rng *r) {
    const uint64_t n = r->draws++;
    if (!LIKELY(r->block_end - n - 1 < 4)) fill(r, n >> 2);
    return r->block[n & 3];
}

/* Two draws, the first is the high word. */
static inline uint64_t draw64(nima_rng *r) {
    const uint64_t high = draw(r);
    return high << 32 | draw(r);
}

static inline double scaled(uint64_t u) { return (double)(int64_t)(u >> 11); }   /* [0, 2^53) */
static inline double unit(nima_rng *r) { return scaled(draw64(r)) * 0x1p-53; }
static inline double unit_open(nima_rng *r) {                 /* (0, 1), 52 bits; 2 draws */
    return ((double)(int64_t)(draw64(r) >> 12) + 0.5) * 0x1p-52;
}

uint32_t nima_bits32_(nima_rng *r) { return draw(r); }
double nima_uniform_(nima_rng *r) { return unit(r); }

/* Lemire 2019: multiply and keep the high part; the low part tells the few draws that would make it uneven. */
uint64_t nima_below_(nima_rng *r, uint64_t n) {
    if (LIKELY(n <= UINT32_MAX)) {
        uint64_t product = draw(r) * n;
        if (!LIKELY((uint32_t)product >= n)) {
            const uint32_t least = -(uint32_t)n % (uint32_t)n;
            while ((uint32_t)product < least) product = draw(r) * n;
        }
        return product >> 32;
    }
    unsigned __int128 product = (unsigned __int128)draw64(r) * n;
    if ((uint64_t)product < n)
        for (const uint64_t least = -n % n; (uint64_t)product < least;) product = (unsigned __int128)draw64(r) * n;
    return (uint64_t)(product >> 64);
}
/* One draw against the first 32 bits of p; a second against the rest, when those are equal. */
bool nima_chance_(nima_rng *r, double p) {
    const int64_t a = draw(r);               /* also where it decides nothing: what follows is the same for any p */
    if (!(p > 0)) return false;
    if (p >= 1) return true;
    const double x = p * 0x1p32;
    const int64_t whole = (int64_t)x;
    if (LIKELY(a != whole)) return a < whole;
    return draw(r) < (x - (double)whole) * 0x1p32;
}
/* ---- ziggurats ----------------------------------------------------------------------------------------------------
 * 256 layers of equal area cover the density, numbered from the bottom. Layer i > 0 is a rectangle of width x[i];
 * what is left of x[i + 1] lies under the density. Layer 0 is the rectangle up to R and the tail beyond; its x[0] is
 * the width of a rectangle of that area. */
typedef struct { double scale, next; } layer;                 /* x[i] / 2^53, x[i + 1] */
static layer exponential_layers[256], normal_layers[256];
static double exponential_density[257], normal_density[257];  /* at x[i] */

/* R is where 256 areas of V close at density 1; solved with 40 digits. */
#define EXPONENTIAL_R 7.697117470131049714
#define EXPONENTIAL_V 0.003949659822581557220
#define NORMAL_R 3.654152885361008772
#define NORMAL_V 0.004928673233974655347

static double exponential_at(double x) { return exponent(-x); }
static double exponential_where(double density) { return -ln(density); }
static double normal_at(double x) { return exponent(-0.5 * x * x); }
static double normal_where(double density) { return sqrt(-2 * ln(density)); }

static void layers_build(layer layers[256], double density[257], double (*at)(double), double (*where)(double),
                         double r, double v) {
    double x[257] = { v / at(r), r };
    for (int i = 2; i < 256; i++) x[i] = where(v / x[i - 1] + at(x[i - 1]));
    for (int i = 0; i < 256; i++) layers[i] = (layer){ x[i] * 0x1p-53, x[i + 1] };
    for (int i = 0; i < 257; i++) density[i] = at(x[i]);
}

static __attribute__((constructor)) void tables_build(void) {
    layers_build(exponential_layers, exponential_density, exponential_at, exponential_where, EXPONENTIAL_R,
                 EXPONENTIAL_V);
    layers_build(normal_layers, normal_density, normal_at, normal_where, NORMAL_R, NORMAL_V);
}

/* x, in the part of layer i that the density crosses: keep it? 2 draws. */
static bool under(nima_rng *r, const double density[257], uint32_t i, double at_x) {
    return density[i] + unit(r) * (density[i + 1] - density[i]) < at_x;
}

/* The 64 bits of a try: 0-7 the layer, 8 the sign, 11-63 the place. */
static __attribute__((noinline)) double exponential_rest(nima_rng *r, uint64_t u, double x) {
    for (double beyond = 0;;) {
        const uint32_t i = u & 255;
        if (i == 0) beyond += EXPONENTIAL_R;                  /* the tail is the whole again */
        else if (under(r, exponential_density, i, exponential_at(x))) return beyond + x;
        u = draw64(r);
        x = scaled(u) * exponential_layers[u & 255].scale;
        if (x < exponential_layers[u & 255].next) return beyond + x;
    }
}

static inline double standard_exponential(nima_rng *r) {
    const uint64_t u = draw64(r);
    const double x = scaled(u) * exponential_layers[u & 255].scale;
    if (LIKELY(x < exponential_layers[u & 255].next)) return x;
    const uint64_t before = r->draws;
    const double rest = exponential_rest(r, u, x);
    r->draws += (r->draws - before) & 2;     /* four a time: who draws whole blocks goes on drawing whole blocks */
    return rest;
}

static double normal_tail(nima_rng *r) {                      /* Marsaglia 1964 */
    double a, b;
    do {
        a = -ln(unit_open(r)) / NORMAL_R;
        b = -ln(unit_open(r));
    } while (2 * b < a * a);
    return NORMAL_R + a;
}

static inline double with_sign(double x, uint64_t u) {        /* no branch: half of them would be guessed wrong */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= (u & 256) << 55;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static __attribute__((noinline)) double normal_rest(nima_rng *r, uint64_t u, double x) {
    for (;;) {
        const uint32_t i = u & 255;
        if (i == 0) return with_sign(normal_tail(r), u);
        if (under(r, normal_density, i, normal_at(x))) return with_sign(x, u);
        u = draw64(r);
        x = scaled(u) * normal_layers[u & 255].scale;
        if (x < normal_layers[u & 255].next) return with_sign(x, u);
    }
}

static inline double standard_normal(nima_rng *r) {
    const uint64_t u = draw64(r);
    const double x = scaled(u) * normal_layers[u & 255].scale;
    if (LIKELY(x < normal_layers[u & 255].next)) return with_sign(x, u);
    const uint64_t before = r->draws;
    const double rest = normal_rest(r, u, x);
    r->draws += (r->draws - before) & 2;
    return rest;
}

/* Both: 2 draws in 98 % of calls, else 4, 8 .. more. */
static __attribute__((noinline)) double exponential(nima_rng *r, double mean) { return mean * standard_exponential(r); }
double nima_exponential(nima_rng *r, double mean) {
    if (nima_at_hand_(r, 2)) {
        const uint64_t u = look64(r);
        const double x = scaled(u) * exponential_layers[u & 255].scale;
        if (LIKELY(x < exponential_layers[u & 255].next)) {
            r->draws += 2;
            return mean * x;
        }
    }
    return exponential(r, mean);
}
static __attribute__((noinline)) double normal(nima_rng *r, double mean, double sd) {
    return mean + sd * standard_normal(r);
}
double nima_normal(nima_rng *r, double mean, double sd) {
    if (nima_at_hand_(r, 2)) {
        const uint64_t u = look64(r);
        const double x = scaled(u) * normal_layers[u & 255].scale;
        if (LIKELY(x < normal_layers[u & 255].next)) {
            r->draws += 2;
            return mean + sd * with_sign(x, u);
        }
    }
    return normal(r, mean, sd);
}

/* Marsaglia and Tsang 2000: a normal and 2 draws a try, 95 % of which succeed; 2 draws more for a shape below 1. */
double nima_gamma(nima_rng *r, double shape, double scale) {
    if (!(shape > 0)) return 0;
    if (shape < 1) scale *= power(unit_open(r), 1 / shape), shape += 1;
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = standard_normal(r), w = 1 + c * x, v = w * w * w;
        if (w <= 0) continue;
        const double u = unit_open(r);
        if (u < 1 - 0.0331 * x * x * x * x || ln(u) < 0.5 * x * x + d * (1 - v + ln(v))) return d * v * scale;
    }
}

/* ---- whole numbers ----------------------------------------------------------------------------------------------- */
/* ln(k! / (k / e)^k), k whole: Stirling's series from 10 on. */
static double stirling(double k) {
    static const double small[10] = { 0, 1, 1.3068528194400547, 1.4959226032237259, 1.6328763858683831,
                                      1.7403021806115441, 1.828694396641771, 1.9037903176782212, 1.9690705693065628,
                                      2.0268062840554952 };
    if (k < 10) return small[(int)k];
    const double s = 1 / (k * k);
    return 0.5 * ln(6.283185307179586477 * k)
        + (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / k;
}

/* k ln(k / m) + m - k, without loss where k is near m (Loader 2000). */
static double deviance(double k, double m) {
    if (k == 0) return m;
    const double difference = k - m, v = difference / (k + m);
    if (fabs(v) >= 0.1) return k * ln(k / m) + m - k;
    double sum = difference * v, term = 2 * k * v;
    for (int j = 3;; j += 2) {
        const double before = sum;
        term *= v * v;
        sum += term / j;
        if (sum == before) return sum;
    }
}

/* 2 draws below 10 (inversion); else 4 a try, of which 80 % succeed (PTRS, Hoermann 1993). A mean of 2^62 or more
 * gives UINT64_MAX. */
uint64_t nima_poisson(nima_rng *r, double mean) {
    if (!(mean > 0)) return 0;
    if (mean >= 0x1p62) return UINT64_MAX;
    if (mean < 10) {
        for (;;) {                           /* once: beyond 127 lies less than rounding */
            double u = unit(r), p = exponent(-mean);
            for (uint64_t k = 0; k < 128; p *= mean / (double)(int64_t)++k) {
                if (u < p) return k;
                u -= p;
            }
        }
    }
    const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    for (;;) {
        const double u = unit(r) - 0.5, v = unit_open(r), s = 0.5 - fabs(u);
        const double k = floor((2 * a / s + b) * u + mean + 0.43);
        if (s >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return (uint64_t)k;
        if (k < 0 || (s < 0.013 && v > s)) continue;
        if (ln(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (s * s) + b)) <= -stirling(k) - deviance(k, mean))
            return (uint64_t)k;
    }
}

/* ln of the probability of k, without the part in n alone. */
static double binomial_ln(double n, double k, double p, double q) {
    return -stirling(k) - stirling(n - k) - deviance(k, n * p) - deviance(n - k, n * q);
}

/* 2 draws where n min(p, 1-p) < 10 (inversion); else 4 a try, of which 80 % succeed (BTRS, Hoermann 1993). */
uint64_t nima_binomial(nima_rng *r, uint64_t n, double p) {
    if (!(p > 0) || n == 0) return 0;
    if (p >= 1) return n;
    if (p > 0.5) return n - nima_binomial(r, n, 1 - p);
    const double count = (double)n, q = 1 - p, mean = count * p;
    if (mean < 10) {
        const double odds = p / q, none = exponent(count * ln_1_plus(-p));
        for (;;) {                           /* once: beyond 127 lies less than rounding */
            double u = unit(r), f = none;
            for (uint64_t k = 0; k <= n && k < 128; k++) {
                if (u < f) return k;
                u -= f;
                f *= (count - (double)(int64_t)k) * odds / (double)(int64_t)(k + 1);
            }
        }
    }
    const double spread = sqrt(mean * q), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double alpha = (2.83 + 5.1 / b) * spread, mode = floor((count + 1) * p);
    for (;;) {
        const double u = unit(r) - 0.5, v = unit_open(r), s = 0.5 - fabs(u);
        const double k = floor((2 * a / s + b) * u + mean + 0.5);
        if (!(k >= 0 && k <= count)) continue;
        if ((s >= 0.07 && v <= 0.92 - 4.2 / b)
            || ln(v * alpha / (a / (s * s) + b)) <= binomial_ln(count, k, p, q) - binomial_ln(count, mode, p, q))
            return (uint64_t)k < n ? (uint64_t)k : n;
    }
}

/* Whole part of an exponential of mean -1 / ln(1 - p): draws as that. UINT64_MAX from 2^63 on, and for p <= 0. */
uint64_t nima_geometric(nima_rng *r, double p) {
    if (p >= 1) return 0;
    if (!(p > 0)) return UINT64_MAX;
    const double k = standard_exponential(r) / -ln_1_plus(-p);
    return k < 0x1p63 ? (uint64_t)k : UINT64_MAX;
}
