/* time_text.c: see time_text.h. */
#include "cli/time_text.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const struct { const char *names; double seconds;
} units[] = {{"ns nanosecond nanoseconds ", 1e-9},
             {"us microsecond microseconds ", 1e-6},
             {"ms millisecond milliseconds ", 1e-3},
             {"s sec second seconds ", 1},
             {"min minute minutes ", 60},
             {"h hour hours ", 3600},
             {"d day days ", 86400},
             {"w week weeks ", 604800}};

static double seconds_of(const char *unit) {   /* 0: not a known unit of time */
    char word[32];
    if ((size_t)snprintf(word, sizeof word, "%s ", unit) >= sizeof word || !*unit || strchr(unit, ' ')) return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const char *at = strstr(units[i].names, word);
        if (at && (at == units[i].names || at[-1] == ' ')) return units[i].seconds;
    }
    return 0;
}

double time_ticks_per_unit(const nima_model *m) { return m->ticks_per_unit > 0 ? m->ticks_per_unit : 1e6; }
const char *time_unit(const nima_model *m) { return m->unit ? m->unit : "s"; }

/* Ticks in one `unit`; 0: it is none for this model. */
static double ticks_in(const char *unit, const nima_model *m) {
    if (!*unit || !strcmp(unit, time_unit(m))) return time_ticks_per_unit(m);
    if (!strcmp(unit, "tick") || !strcmp(unit, "ticks")) return 1;
    const double mine = seconds_of(time_unit(m)), theirs = seconds_of(unit);
    return mine > 0 && theirs > 0 ? theirs / mine * time_ticks_per_unit(m) : 0;
}

bool time_parse(const char *text, const nima_model *m, nima_time *time, char *error, size_t room) {
    char *end, *digits_end;
    errno = 0;
    const long long whole = strtoll(text, &digits_end, 10);
    const bool fits = !errno;
    const double number = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || !isfinite(number) || memchr(text, 'x', (size_t)(end - text))) {
        snprintf(error, room, "%s: not a time; a time is 3000 (ticks), 3.5 or 3.5%s", text, time_unit(m));
        return false;
    }
    const bool only_digits = digits_end == end,
               is_whole = number == rint(number) && !memchr(text, '.', (size_t)(end - text));
    while (*end == ' ') end++;
    const double one = is_whole && !*end ? 1 : ticks_in(end, m);
    if (one <= 0) {
        snprintf(error, room, "%s: unknown unit %s; the model's unit is %s", text, end, time_unit(m));
        return false;
    }
    if (only_digits && one == 1 && fits) { *time = whole; return true; }
    const double ticks = rint(number * one);
    if (!(ticks < 0x1p63)) { snprintf(error, room, "%s: beyond the end of time, 2^63 ticks", text); return false; }
    *time = (nima_time)ticks;
    return true;
}

void time_write(nima_time t, const nima_model *m, char *text, size_t room) {
    snprintf(text, room, "%.8g %s", (double)t / time_ticks_per_unit(m), time_unit(m));
}
