/* unpack.c: see unpack.h. The first error sticks and ends the input. */
#include "cli/unpack.h"
#include <stdlib.h>

enum { DEPTH_MAX = 32 };

static void spoil(unpack *u) { u->bad = true; u->at = u->end; }

static const uint8_t *take(unpack *u, size_t bytes) {
    if ((size_t)(u->end - u->at) < bytes) { spoil(u); return NULL; }
    u->at += bytes;
    return u->at - bytes;
}

static uint64_t big_endian(unpack *u, size_t bytes) {
    const uint8_t *from = take(u, bytes);
    uint64_t v = 0;
    for (size_t i = 0; from && i < bytes; i++) v = v << 8 | from[i];
    return v;
}

static int tag(const unpack *u) { return u->at < u->end ? *u->at : -1; }

bool unpack_array(unpack *u, uint32_t *count) {
    const int t = tag(u);
    if (t >= 0x90 && t <= 0x9F) { u->at++; *count = (uint32_t)t & 15; return true; }
    if (t != 0xDC && t != 0xDD) return false;
    u->at++;
    *count = (uint32_t)big_endian(u, t == 0xDC ? 2 : 4);
    return !u->bad;
}

bool unpack_map(unpack *u, uint32_t *count) {
    const int t = tag(u);
    if (t >= 0x80 && t <= 0x8F) { u->at++; *count = (uint32_t)t & 15; return true; }
    if (t != 0xDE && t != 0xDF) return false;
    u->at++;
    *count = (uint32_t)big_endian(u, t == 0xDE ? 2 : 4);
    return !u->bad;
}

bool unpack_uint(unpack *u, uint64_t *value) {
    const int t = tag(u);
    if (t >= 0 && t < 0x80) { u->at++; *value = (uint64_t)t; return true; }
    if (t < 0xCC || t > 0xCF) return false;
    u->at++;
    *value = big_endian(u, (size_t)1 << (t - 0xCC));
    return !u->bad;
}

static bool signed_int(unpack *u, int64_t *value) {
    const int t = tag(u);
    if (t >= 0xE0) { u->at++; *value = t - 256; return true; }
    if (t < 0xD0 || t > 0xD3) return false;
    u->at++;
    const unsigned shift = 64 - (8u << (t - 0xD0));
    *value = (int64_t)(big_endian(u, (size_t)1 << (t - 0xD0)) << shift) >> shift;
    return !u->bad;
}

static double real(unpack *u, int t) {
    const uint64_t bits = big_endian(u, t == 0xCA ? 4 : 8);
    const uint32_t half = (uint32_t)bits;
    float f;
    double d;
    memcpy(&f, &half, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return t == 0xCA ? (double)f : d;
}

/* How many bytes of one character stand here; 0: it is none, or a control character of C1, which moves terminals. */
static size_t character(const uint8_t *at, size_t left) {
    static const uint32_t least[] = { 0, 1, 0xA0, 0x800, 0x10000 };
    const size_t n = *at < 0x80 ? 1 : *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : *at >= 0xC0 ? 2 : 0;
    if (!n || n > left || *at > 0xF4) return 0;
    uint32_t code = n == 1 ? *at : *at & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    return code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

char *unpack_clean(const uint8_t *from, size_t bytes) {
    static const char unknown[] = "\xEF\xBF\xBD";
    char *to = malloc(3 * bytes + 1), *at = to;
    for (size_t i = 0; to && i < bytes;) {
        const size_t n = character(from + i, bytes - i);
        memcpy(at, n ? (const char *)from + i : unknown, n ? n : 3);
        at += n ? n : 3;
        i += n ? n : 1;
    }
    if (to) *at = 0;
    return to;
}

static char *hexadecimal(const uint8_t *from, size_t bytes) {
    char *to = malloc(2 * bytes + 1), *at = to;
    if (to) *to = 0;
    for (size_t i = 0; to && i < bytes; i++) at += sprintf(at, "%02x", from[i]);
    return to;
}

/* A text or bytes, in memory of its own; NULL: neither. */
static char *text(unpack *u) {
    const int t = tag(u);
    const bool fixed = t >= 0xA0 && t <= 0xBF, is_bin = t >= 0xC4 && t <= 0xC6;
    if (!fixed && !is_bin && (t < 0xD9 || t > 0xDB)) return NULL;
    u->at++;
    const size_t bytes = fixed ? (size_t)t & 31 : (size_t)big_endian(u, (size_t)1 << (t - (is_bin ? 0xC4 : 0xD9)));
    const uint8_t *from = take(u, bytes);
    char *to = !from ? NULL : is_bin ? hexadecimal(from, bytes) : unpack_clean(from, bytes);
    if (!to) spoil(u);
    return to;
}

/* The size of what JSON has no word for: extensions. 0: it is something else. */
static size_t skipped(unpack *u, int t) {
    if (t >= 0xD4 && t <= 0xD8) return (size_t)2 + ((size_t)1 << (t - 0xD4));
    if (t < 0xC7 || t > 0xC9) return 0;
    u->at++;
    return (size_t)big_endian(u, (size_t)1 << (t - 0xC7)) + 1;
}

static void other(unpack *u, json *j, const char *key) {
    const int t = tag(u);
    const size_t extension = skipped(u, t);
    if (extension) { take(u, extension); json_null(j, key); return; }
    if (!take(u, 1)) return;
    if (t == 0xC2 || t == 0xC3) json_bool(j, key, t == 0xC3);
    else if (t == 0xCA || t == 0xCB) json_number(j, key, real(u, t));
    else { if (t != 0xC0) spoil(u); json_null(j, key); }
}

void unpack_value(unpack *u, json *j, const char *key) {
    uint32_t count;
    uint64_t natural;
    int64_t whole;
    char *words;
    if (j->depth > DEPTH_MAX) spoil(u);
    if (u->bad) return;
    if (unpack_uint(u, &natural)) json_uint(j, key, natural);
    else if (signed_int(u, &whole)) json_int(j, key, whole);
    else if (unpack_array(u, &count)) {
        json_open(j, key, '[');
        for (uint32_t i = 0; i < count && !u->bad; i++) unpack_value(u, j, NULL);
        json_close(j, ']');
    } else if (unpack_map(u, &count)) {
        json_open(j, key, '{');
        for (uint32_t i = 0; i < count && !u->bad; i++) unpack_pair(u, j);
        json_close(j, '}');
    } else if ((words = text(u))) { json_text(j, key, words); free(words); }
    else if (!u->bad) other(u, j, key);
}

void unpack_pair(unpack *u, json *j) {
    uint64_t number;
    char digits[24], *key = NULL;
    if (unpack_uint(u, &number)) snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    else if (!(key = text(u))) { spoil(u); return; }
    unpack_value(u, j, key ? key : digits);
    free(key);
}
