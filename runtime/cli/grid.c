/* grid.c: see grid.h. Values stay texts, as they would be typed: 0.1:0.5:0.1 has 0.3 and not 0.30000000000000004. */
#include "cli/grid.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 100000, SCENARIOS_MAX = 1000000 };

static bool add(grid *g, const char *value, size_t bytes) {
    char **grown = realloc(g->values, (g->count + 1) * sizeof *grown);
    if (!grown) return false;
    g->values = grown;
    return (g->values[g->count++] = strndup(value, bytes)) != NULL;
}

static int decimals_of(const char *text, size_t bytes) {
    const char *point = memchr(text, '.', bytes);
    return point ? (int)(text + bytes - point) - 1 : 0;
}

static bool is_range(const char *text, double v[3], int *decimals) {
    *decimals = 0;
    for (int i = 0; i < 3; i++) {
        const size_t n = strcspn(text, ":");
        char *end;
        if (strspn(text, "+-.0123456789") != n || n == 0) return false;
        v[i] = strtod(text, &end);
        if (end != text + n || (i < 2) != (*end == ':')) return false;
        if (decimals_of(text, n) > *decimals) *decimals = decimals_of(text, n);
        text = end + (i < 2);
    }
    return true;
}

bool grid_parse(const char *text, grid *g, char *error, size_t room) {
    const char *equals = strchr(text, '=');
    double v[3];
    int decimals;
    *g = (grid){ 0 };
    if (!equals || equals == text || !equals[1]) {
        snprintf(error, room, "%s: expected NAME=A,B,C or NAME=FIRST:LAST:STEP", text);
        return false;
    }
    g->name = strndup(text, (size_t)(equals - text));
    bool good = g->name != NULL;
    if (is_range(equals + 1, v, &decimals)) {
        const double count = floor((v[1] - v[0]) / v[2] + 1e-9) + 1;
        if (!(count >= 1 && count <= VALUES_MAX)) {
            snprintf(error, room, "%s: no range of 1 to %d values", text, VALUES_MAX);
            return false;
        }
        for (double i = 0; i < count && good; i++) {
            char value[400];
            good = add(g, value, (size_t)snprintf(value, sizeof value, "%.*f", decimals, v[0] + i * v[2]));
        }
    } else {
        for (const char *at = equals + 1; good; at++) {
            const size_t n = strcspn(at, ",");
            good = add(g, at, n);
            at += n;
            if (!*at) break;
        }
    }
    if (!good) snprintf(error, room, "no memory");
    return good;
}

void grid_free(grid *g) {
    for (size_t i = 0; i < g->count; i++) free(g->values[i]);
    free(g->values);
    free(g->name);
}

size_t grid_scenarios(const grid *g, size_t count) {
    size_t n = 1;
    for (size_t i = 0; i < count; i++) if ((n *= g[i].count) > SCENARIOS_MAX) return 0;
    return n;
}

const char *grid_value(const grid *g, size_t count, size_t which, size_t scenario) {
    for (size_t i = count; i-- > which + 1;) scenario /= g[i].count;
    return g[which].values[scenario % g[which].count];
}
