/* number.c: see number.h. A value between 1e-5 and 2^53 that is not integral is m / 2^s with m < 2^53 and s < 72, so
 * that m times a power of ten up to 10^21 fits into 128 bits: all comparisons with the neighbours' halfway points are
 * exact. 15 digits are tried first (any two numbers of 15 digits read as different doubles, so at most one of them
 * fits), then 16, then 17, which always fit; for float 6 to 9. Tiny and huge values are left to decimal.h, which tries.
 */
#include "store/number.h"
#include "decimal.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 wide;
typedef struct {
    uint64_t m;
    int shift;
    bool edge;
    int least, most;
} binary; /* m / 2^shift; edge: m is a power of two */

static const uint64_t tens[] = { 1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u,
    10000000000000000u, 100000000000000000u, 1000000000000000000u };

size_t number_uint(uint64_t v, char *text) {
    char digits[20];
    size_t n = 0;
    do digits[n++] = (char)('0' + v % 10); while (v /= 10);
    for (size_t i = 0; i < n; i++) text[i] = digits[n - 1 - i];
    text[n] = 0;
    return n;
}

size_t number_int(int64_t v, char *text) {
    if (v >= 0) return number_uint((uint64_t)v, text);
    *text = '-';
    return 1 + number_uint(-(uint64_t)v, text + 1);
}

size_t number_hex(uint64_t v, char *text) {
    for (int i = 15; i >= 0; i--, v >>= 4) text[i] = "0123456789abcdef"[v & 15];
    text[16] = 0;
    return 16;
}

static wide ten_to(int p) { return p > 18 ? (wide)tens[18] * tens[p - 18] : tens[p]; }

/* The shortest digits d and their count of decimals p with d / 10^p inside the interval that reads as this value. */
static uint64_t shortest(const binary *b, double value, int *decimals) {
    int p = b->most - 1 - (int)floor(log10(value));
    wide v = 4 * (wide)b->m * ten_to(p);     /* in units of 2^-(shift + 2) */
    const int unit = b->shift + 2;
    if ((uint64_t)(v >> unit) >= tens[b->most]) v = 4 * (wide)b->m * ten_to(--p);     /* log10 is off by an ulp */
    else if ((uint64_t)(v >> unit) < tens[b->most - 1]) v = 4 * (wide)b->m * ten_to(++p);
    const wide above = 2 * ten_to(p), below = b->edge ? ten_to(p) : above;
    *decimals = p;
    uint64_t d = 0;
    for (int n = b->least; n <= b->most; n++) {
        const uint64_t step = tens[b->most - n];
        d = (uint64_t)(v >> unit) / step * step;
        const wide rest = v - ((wide)d << unit), half = (wide)step << (unit - 1);
        if (rest > half || (rest == half && d / step % 2)) d += step;
        const wide at = (wide)d << unit, off = at > v ? at - v : v - at, limit = at > v ? above : below;
        if (off < limit || (off == limit && b->m % 2 == 0)) break;
    }
    return d;
}

/* digits / 10^decimals, without trailing zeros; decimals > 0 */
static size_t write_fixed(uint64_t digits, int decimals, bool minus, char *text) {
    while (digits % 10 == 0 && decimals) { digits /= 10; decimals--; }
    char all[24];
    size_t n = number_uint(digits, all), at = 0;
    if (minus) text[at++] = '-';
    const int whole = (int)n - decimals;
    if (whole <= 0) {
        text[at++] = '0';
        text[at++] = '.';
        for (int i = whole; i < 0; i++) text[at++] = '0';
        memcpy(text + at, all, n);
        at += n;
    } else {
        memcpy(text + at, all, (size_t)whole);
        at += (size_t)whole;
        if (decimals) text[at++] = '.';
        memcpy(text + at, all + whole, (size_t)decimals);
        at += (size_t)decimals;
    }
    text[at] = 0;
    return at;
}

static size_t write_number(double v, bool single, char *text) {
    const double size = fabs(v);
    if (v != v) return (size_t)snprintf(text, NUMBER_ROOM, "NaN");
    if (isinf(v)) return (size_t)snprintf(text, NUMBER_ROOM, v > 0 ? "inf" : "-inf");
    if (size < 1e17 && v == rint(v)) {
        const size_t minus = signbit(v) ? 1 : 0;
        if (minus) *text = '-';
        return minus + number_uint((uint64_t)size, text + minus);
    }
    if (size < 1e-5 || size >= 1e17) {
        if (single) decimal_write_float((float)v, text); else decimal_write(v, text);
        return strlen(text);
    }
    int exponent;
    const uint64_t m = (uint64_t)ldexp(frexp(size, &exponent), single ? 24 : 53);
    const binary b = { .m = m, .shift = (single ? 24 : 53) - exponent, .edge = (m & (m - 1)) == 0,
                       .least = single ? 6 : 15, .most = single ? 9 : 17 };
    int decimals;
    const uint64_t digits = shortest(&b, size, &decimals);
    return write_fixed(digits, decimals, signbit(v), text);
}

size_t number_double(double v, char *text) { return write_number(v, false, text); }
size_t number_float(float v, char *text) { return write_number((double)v, true, text); }
