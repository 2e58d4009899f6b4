/* parameters.c: see parameters.h. A value given by the user and a default, which is the source text of a C constant,
 * are read by the same code once the default is stripped of what only C needs: suffixes, quotes, parentheses.
 *
 * Integers are read exactly: 1e6 and 0x10 are integers, 1.5 is none, and what does not fit is refused, not cut off. */
#include "parameters.h"
#include "decimal.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

typedef struct { const char *from, *end; } span;
typedef struct { bool negative; uint64_t magnitude; } whole;
typedef struct { char *error; size_t room; nima_err code; } report;

static __attribute__((format(printf, 2, 3))) nima_err fail(const report *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(r->error, r->room, format, list);
    va_end(list);
    return r->code;
}

static span span_of(const char *text) { return (span){ text, text + strlen(text) }; }

static span trim(span s) {
    while (s.from < s.end && isspace((unsigned char)*s.from)) s.from++;
    while (s.from < s.end && isspace((unsigned char)s.end[-1])) s.end--;
    return s;
}

static bool is_number(nima_type t) { return t == NIMA_DOUBLE || t == NIMA_FLOAT || t == NIMA_INT || t == NIMA_UINT; }
static bool is_text(nima_type t) { return t == NIMA_TEXT || t == NIMA_FILE; }
static bool is_real(nima_type t) { return t == NIMA_DOUBLE || t == NIMA_FLOAT; }

/* ---- defaults, as in the source ---------------------------------------------------------------------------------- */
/* (5L) -> 5, -3.5f -> -3.5 */
static span without_suffix(span s, nima_type type) {
    s = trim(s);
    while (s.end - s.from > 1 && *s.from == '(' && s.end[-1] == ')') s = trim((span){ s.from + 1, s.end - 1 });
    const char *suffixes = is_real(type) ? "uUlLfF" : "uUlL";
    while (s.end - s.from > 1 && strchr(suffixes, s.end[-1])) s.end--;
    return s;
}

/* Decodes "a\n" "b" into `out`, which has room for as many bytes as `s`; false: it is no such constant. */
static bool unquote(const char *s, char *out) {
    bool any = false;
    for (;; any = true) {
        while (isspace((unsigned char)*s)) s++;
        if (!*s) break;
        if (*s++ != '"') return false;
        for (; *s != '"'; s++) {
            if (!*s) return false;
            if (*s != '\\') { *out++ = *s; continue; }
            static const char escapes[] = "n\nt\tr\r\"\"\\\\''";
            const char *e = escapes;
            s++;
            while (*e && *e != *s) e += 2;
            if (!*e) return false;
            *out++ = e[1];
        }
        s++;
    }
    *out = 0;
    return any;
}

/* ---- ranges: "low..high", either side left out; or "a|b|c" ------------------------------------------------------- */
static bool range_split(const char *range, span *low, span *high) {
    const char *dots = strstr(range, "..");
    if (!dots) return false;
    *low = trim((span){ range, dots });
    *high = trim(span_of(dots + 2));
    return true;
}

static bool read_whole(span s, whole *w) {
    return decimal_read_whole(s.from, s.end, &w->negative, &w->magnitude) == DECIMAL_OK;
}

static bool whole_less(whole a, whole b) {
    const bool minus_a = a.negative && a.magnitude, minus_b = b.negative && b.magnitude;
    if (minus_a != minus_b) return minus_a;
    return minus_a ? a.magnitude > b.magnitude : a.magnitude < b.magnitude;
}

/* An empty one, no limit, is neither less nor more. */
static bool number_less(nima_type type, span a, span b) {
    if (is_real(type)) {
        double x, y;
        return decimal_read(a.from, a.end, &x) && decimal_read(b.from, b.end, &y) && x < y;
    }
    whole x, y;
    return read_whole(a, &x) && read_whole(b, &y) && whole_less(x, y);
}

static bool word_listed(const char *range, span word) {
    for (const char *p = range;; p++) {
        const size_t n = strcspn(p, "|");
        if (n == (size_t)(word.end - word.from) && !memcmp(p, word.from, n)) return true;
        p += n;
        if (!*p) return false;
    }
}

static nima_err range_check(const nima_field *f, span s, const report *r) {
    span low, high;
    if (!f->range || !*f->range) return NIMA_OK;
    const bool inside = is_text(f->type) ? word_listed(f->range, s)
        : range_split(f->range, &low, &high) && !number_less(f->type, s, low) && !number_less(f->type, high, s);
    if (inside) return NIMA_OK;
    return fail(r, "parameter %s=%.*s: %s %s", f->name, (int)(s.end - s.from), s.from,
                is_text(f->type) ? "expected one of" : "out of range", f->range);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */
static nima_err set_whole(const nima_field *f, span s, void *at, const report *r) {
    const uint64_t bit = (uint64_t)1 << (8 * f->bytes - 1);   /* the highest */
    const bool is_signed = f->type == NIMA_INT;
    const int n = (int)(s.end - s.from);
    whole w;
    const decimal_status status = decimal_read_whole(s.from, s.end, &w.negative, &w.magnitude);
    if (status == DECIMAL_NONE || status == DECIMAL_FRACTION)
        return fail(r, "parameter %s=%.*s: expected an integer", f->name, n, s.from);
    const unsigned long long most = is_signed ? bit - 1 : bit - 1 + bit, least = is_signed ? bit : 0;   /* of -x */
    if (status == DECIMAL_BEYOND || w.magnitude > (w.negative ? least : most))
        return w.negative ? fail(r, "parameter %s=%.*s: at least %s%llu", f->name, n, s.from, least ? "-" : "", least)
                          : fail(r, "parameter %s=%.*s: at most %llu", f->name, n, s.from, most);
    const uint64_t value = w.negative ? 0 - w.magnitude : w.magnitude;
    memcpy(at, &value, f->bytes);            /* little-endian */
    return NIMA_OK;
}

static nima_err set_real(const nima_field *f, span s, void *at, const report *r) {
    double x;
    if (!decimal_read(s.from, s.end, &x) || (f->type == NIMA_FLOAT && isinf((float)x)))
        return fail(r, "parameter %s=%.*s: expected a finite number%s", f->name, (int)(s.end - s.from), s.from,
                    f->type == NIMA_FLOAT ? " of float" : "");
    if (f->type == NIMA_FLOAT) memcpy(at, &(float){ (float)x }, sizeof(float));
    else memcpy(at, &x, sizeof x);
    return NIMA_OK;
}

static nima_err set_bool(const nima_field *f, span s, void *at, const report *r) {
    const bool yes = word_listed("true|1|yes|on", s);
    memcpy(at, &yes, sizeof yes);
    if (yes || word_listed("false|0|no|off", s)) return NIMA_OK;
    return fail(r, "parameter %s=%.*s: expected true or false", f->name, (int)(s.end - s.from), s.from);
}

/* s ends with a zero byte and, for texts, stays where it is. */
static nima_err set_value(const nima_field *f, span s, void *values, const report *r) {
    void *at = (char *)values + f->offset;
    nima_err code = NIMA_OK;
    if (is_text(f->type)) memcpy(at, &s.from, sizeof s.from);   /* a nima_file is a struct of this one pointer */
    else if (f->type == NIMA_BOOL) code = set_bool(f, s, at, r);
    else code = is_real(f->type) ? set_real(f, s, at, r) : set_whole(f, s, at, r);
    return code ? code : range_check(f, s, r);
}

/* ---- unknown names ----------------------------------------------------------------------------------------------- */
enum { NAME_BYTES = 64 };
/* Levenshtein's distance of the first NAME_BYTES bytes. */
static size_t distance(span a, span b) {
    size_t row[NAME_BYTES + 1];
    const size_t n = (size_t)(b.end - b.from) < NAME_BYTES ? (size_t)(b.end - b.from) : NAME_BYTES;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; i < NAME_BYTES && a.from + i < a.end; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a.from[i] != b.from[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

static const nima_field *nearest(const nima_struct *d, span name, bool *same) {
    const nima_field *best = NULL;
    size_t least = SIZE_MAX;
    *same = false;
    for (uint32_t i = 0; i < d->field_count; i++) {
        const span known = span_of(d->fields[i].name);
        const size_t n = distance(name, known);
        if (n >= least) continue;
        least = n;
        best = &d->fields[i];
        const size_t bytes = (size_t)(name.end - name.from);
        *same = strlen(known.from) == bytes && !memcmp(known.from, name.from, bytes);
        if (*same) break;
    }
    return best;
}

/* ---- the declaration, and all values ----------------------------------------------------------------------------- */
static nima_err set_default(const nima_field *f, void *values, char *text, const report *r) {
    if (!f->preset) return fail(r, "parameter %s: no default", f->name);
    if (!is_text(f->type)) return set_value(f, without_suffix(span_of(f->preset), f->type), values, r);
    if (!unquote(f->preset, text))
        return fail(r, "parameter %s: default %s: expected a text in quotes", f->name, f->preset);
    return set_value(f, span_of(text), values, r);
}

static bool bound_readable(nima_type type, span s) {
    double x;
    whole w;
    return s.from == s.end || (is_real(type) ? decimal_read(s.from, s.end, &x) : read_whole(s, &w));
}

static nima_err declared_range(const nima_field *f, const report *r) {
    span low, high;
    if (!f->range || !*f->range || f->type == NIMA_TEXT) return NIMA_OK;
    if (!is_number(f->type))
        return fail(r, "parameter %s: range \"%s\": expected none for this type", f->name, f->range);
    if (!range_split(f->range, &low, &high) || !bound_readable(f->type, low) || !bound_readable(f->type, high))
        return fail(r, "parameter %s: range \"%s\": expected low..high, %s", f->name, f->range,
                    is_real(f->type) ? "numbers" : "integers");
    if (number_less(f->type, high, low))
        return fail(r, "parameter %s: range \"%s\" is empty", f->name, f->range);
    return NIMA_OK;
}

/* Bytes that the texts of defaults and of `set` take at most. */
static size_t texts_bytes(const nima_struct *d, const char *const *set) {
    size_t n = 1;
    for (uint32_t i = 0; i < d->field_count; i++)
        if (is_text(d->fields[i].type) && d->fields[i].preset) n += strlen(d->fields[i].preset) + 1;
    for (; set && *set; set++) n += strlen(*set) + 1;
    return n;
}

static nima_err set_all(const nima_struct *d, const char *const *set, void *values, char *text, report *r) {
    for (uint32_t i = 0; i < d->field_count; i++) {
        const nima_err code = set_default(&d->fields[i], values, text, r);
        if (code) return code;
        if (is_text(d->fields[i].type)) text += strlen(text) + 1;
    }
    r->code = NIMA_E_PARAM;
    for (; set && *set; set++) {
        const char *sign = strchr(*set, '=');
        if (!sign) return fail(r, "parameter %s: expected name=value", *set);
        bool same;
        const nima_field *f = nearest(d, (span){ *set, sign }, &same);
        if (!f) return fail(r, "parameter %.*s: this model has none", (int)(sign - *set), *set);
        if (!same) return fail(r, "parameter %.*s: unknown; did you mean %s?", (int)(sign - *set), *set, f->name);
        strcpy(text, sign + 1);
        const nima_err code = set_value(f, is_text(f->type) ? span_of(text) : trim(span_of(text)), values, r);
        if (code) return code;
        text += strlen(text) + 1;
    }
    return NIMA_OK;
}

nima_err parameters_set(const nima_struct *d, const char *const *set, void *values, char **texts, char *error,
                        size_t room) {
    report r = { error, room, NIMA_E_MODEL };
    *texts = malloc(texts_bytes(d, set));
    if (!*texts) return snprintf(error, room, "parameters: no memory"), NIMA_E_MEMORY;
    return set_all(d, set, values, *texts, &r);
}

nima_err parameters_check(const nima_struct *d, char *error, size_t room) {
    const report r = { error, room, NIMA_E_MODEL };
    for (uint32_t i = 0; i < d->field_count; i++) {
        const nima_field *f = &d->fields[i];
        if (!is_number(f->type) && !is_text(f->type) && f->type != NIMA_BOOL)
            return fail(&r, "parameter %s: expected a number, bool, nima_text or nima_file", f->name);
        for (uint32_t j = 0; j < i; j++)
            if (!strcmp(f->name, d->fields[j].name)) return fail(&r, "parameter %s is declared twice", f->name);
        const nima_err code = declared_range(f, &r);
        if (code) return code;
    }
    void *values = calloc(1, d->bytes + 1);
    char *texts = NULL;
    if (!values) return snprintf(error, room, "parameters: no memory"), NIMA_E_MEMORY;
    const nima_err code = parameters_set(d, NULL, values, &texts, error, room);
    free(values);
    free(texts);
    return code;
}

void parameters_text(const nima_field *f, const void *values, char *text, size_t room) {
    const void *at = (const char *)values + f->offset;
    char number[DECIMAL_TEXT];
    const char *out = number;
    if (is_text(f->type)) {
        memcpy(&out, at, sizeof out);
        if (!out) out = "";
    } else if (f->type == NIMA_BOOL) {
        out = *(const bool *)at ? "true" : "false";
    } else if (is_real(f->type)) {
        if (f->type == NIMA_DOUBLE) { double x; memcpy(&x, at, sizeof x); decimal_write(x, number); }
        else { float x; memcpy(&x, at, sizeof x); decimal_write_float(x, number); }
    } else {
        uint64_t value = 0;
        memcpy(&value, at, f->bytes);
        const unsigned unused = 64 - 8 * f->bytes;
        if (f->type == NIMA_INT) snprintf(number, sizeof number, "%lld", (long long)(value << unused) >> unused);
        else snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    }
    snprintf(text, room, "%s", out);
}

void parameters_help(const nima_struct *d, FILE *to) {
    void *values = calloc(1, d->bytes + 1);
    char *texts = NULL, error[400];
    if (values && parameters_set(d, NULL, values, &texts, error, sizeof error) == NIMA_OK) {
        int width = 0;
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t i = 0; i < d->field_count; i++) {
                const nima_field *f = &d->fields[i];
                char value[400], setting[600];
                parameters_text(f, values, value, sizeof value);
                const int n = snprintf(setting, sizeof setting, "%s=%s", f->name, value);
                if (pass == 0) { if (n > width && n < 40) width = n; continue; }
                fprintf(to, "  %-*s", width, setting);
                if (f->range && *f->range) fprintf(to, "  (%s)", f->range);
                if (f->unit && *f->unit) fprintf(to, " %s", f->unit);
                fprintf(to, "  %s\n", f->help ? f->help : "");
            }
    }
    free(values);
    free(texts);
}
