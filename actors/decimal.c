/* decimal.c: reading and writing numbers without the program's locale. Those of up to 19 digits, which is nearly all,
 * are read without the C library: an integer up to 2^53, times or over a power of ten up to 10^22, is rounded once
 * (Clinger 1990). */
#include "decimal.h"
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 400, EXPONENT_MAX = 100000 };

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t plain;
static void locale_open(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static inline bool digit(const char *p, const char *end) { return p < end && *p >= '0' && *p <= '9'; }

/* The parts of a decimal number; the value is the digits of [first, last), without the point, times 10^exponent. */
typedef struct { bool negative; const char *first, *last; long exponent; } parts;

static bool split(const char *p, const char *end, parts *d) {
    d->negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    d->first = p;
    d->exponent = 0;
    bool any = false;
    for (; digit(p, end); p++) any = true;
    if (p < end && *p == '.')
        for (p++; digit(p, end); p++, d->exponent--) any = true;
    d->last = p;
    if (!any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const bool minus = ++p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) p++;
        if (!digit(p, end)) return false;
        long e = 0;
        for (; digit(p, end); p++) if (e < EXPONENT_MAX) e = 10 * e + (*p - '0');
        d->exponent += minus ? -e : e;
    }
    return p == end;
}

bool decimal_read(const char *text, const char *end, double *value) {
    static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    parts d;
    if (end - text > TEXT_MAX || !split(text, end, &d)) return false;
    if (d.last - d.first <= 19 && d.exponent >= -22 && d.exponent <= 22) {
        uint64_t m = 0;
        for (const char *p = d.first; p < d.last; p++) if (*p != '.') m = 10 * m + (uint64_t)(*p - '0');
        if (m <= (uint64_t)1 << 53) {
            const double x = (double)(int64_t)m, y = d.exponent < 0 ? x / tens[-d.exponent] : x * tens[d.exponent];
            *value = d.negative ? -y : y;
            return true;
        }
    }
    char copy[TEXT_MAX + 1];
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = 0;
    pthread_once(&locale_once, locale_open);
    *value = strtod_l(copy, NULL, plain);
    return isfinite(*value);
}

static decimal_status hexadecimal(const char *p, const char *end, uint64_t *magnitude) {
    uint64_t m = 0;
    if (p == end) return DECIMAL_NONE;
    decimal_status status = DECIMAL_OK;
    for (; p < end; p++) {
        const int c = *p | 32, h = digit(p, end) ? *p - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (h < 0) return DECIMAL_NONE;
        if (m >> 60) status = DECIMAL_BEYOND;
        m = m << 4 | (uint64_t)h;
    }
    *magnitude = m;
    return status;
}

decimal_status decimal_read_whole(const char *text, const char *end, bool *negative, uint64_t *magnitude) {
    const char *p = text;
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x') {
        *negative = *text == '-';
        return hexadecimal(p + 2, end, magnitude);
    }
    parts d;
    if (!split(text, end, &d)) return DECIMAL_NONE;
    *negative = d.negative;
    *magnitude = 0;
    const char *point = memchr(d.first, '.', (size_t)(d.last - d.first));
    while (d.last > d.first && (d.last[-1] == '0' || d.last[-1] == '.'))   /* zeros at the end into the exponent */
        if (*--d.last == '0') d.exponent++;
    uint64_t m = 0;
    bool beyond = false;
    for (p = d.first; p < d.last; p++)
        if (p != point) {
            const uint64_t next = (uint64_t)(*p - '0');
            if (__builtin_mul_overflow(m, 10u, &m) || __builtin_add_overflow(m, next, &m)) beyond = true;
        }
    if (m == 0 && !beyond) return DECIMAL_OK;
    if (d.exponent < 0) return DECIMAL_FRACTION;
    for (; d.exponent > 0 && !beyond; d.exponent--) beyond = __builtin_mul_overflow(m, 10u, &m);
    *magnitude = m;
    return beyond ? DECIMAL_BEYOND : DECIMAL_OK;
}

static void write_shortest(double x, int digits, int most, bool is_float, char text[DECIMAL_TEXT]) {
    pthread_once(&locale_once, locale_open);
    const locale_t before = uselocale(plain);
    for (;; digits++) {
        snprintf(text, DECIMAL_TEXT, "%.*g", digits, x);
        if (digits == most || (is_float ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)) break;
    }
    uselocale(before);
}
void decimal_write(double x, char text[DECIMAL_TEXT]) { write_shortest(x, 15, 17, false, text); }
void decimal_write_float(float x, char text[DECIMAL_TEXT]) { write_shortest((double)x, 6, 9, true, text); }
