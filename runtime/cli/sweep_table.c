/* sweep_table.c: the tables of a sweep, from the run.json of each finished run. */
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/sweep.h"
#include "store/number.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

typedef struct { char *name; double *values; } column;   /* values[scenario * replicates + replicate]; NaN: none */
typedef struct { const sweep *s; column *columns; size_t count; size_t at; bool no_memory; } gather;

static void take(void *arg, const char *object, const char *key, const char *text, bool is_string) {
    gather *g = arg;
    if (strcmp(object, "results") || is_string) return;      /* a hash is no number */
    size_t c = 0;
    while (c < g->count && strcmp(g->columns[c].name, key)) c++;
    if (c == g->count) {
        const size_t cells = g->s->scenarios * g->s->replicates;
        column *grown = realloc(g->columns, (g->count + 1) * sizeof *grown);
        if (grown) g->columns = grown;
        column new = { strdup(key), malloc(cells * sizeof(double)) };
        if (!grown || !new.name || !new.values) {
            free(new.name);
            free(new.values);
            g->no_memory = true;
            return;
        }
        for (size_t i = 0; i < cells; i++) new.values[i] = NAN;
        g->columns[g->count++] = new;
    }
    if (strcmp(text, "null")) g->columns[c].values[g->at] = strtod(text, NULL);
}

/* ---- statistics ---- */
/* Probability that |t| is below x; Abramowitz and Stegun 26.7.3 and 26.7.4. */
static double student_within(double x, uint64_t degrees) {
    const double angle = atan(x / sqrt((double)degrees)), c2 = cos(angle) * cos(angle);
    const bool odd = degrees % 2;
    double term = odd ? cos(angle) : 1, sum = degrees > 1 ? term : 0;
    for (uint64_t i = odd ? 3 : 2; i + 1 < degrees; i += 2) {
        term *= (double)(i - 1) / (double)i * c2;
        sum += term;
    }
    return odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double sweep_student(uint64_t degrees) {
    double low = 1.9, high = 12.8;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (student_within(middle, degrees) < 0.95) low = middle; else high = middle;
    }
    return low;
}

typedef struct { uint64_t n; double mean, sd, half; } statistics;

/* Of a - b, pair by pair; b NULL: of a. */
static statistics of(const double *a, const double *b, uint64_t count) {
    statistics s = { 0, NAN, NAN, NAN };
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double x = b ? a[i] - b[i] : a[i];
        if (!isnan(x)) {
            sum += x;
            s.n++;
        }
    }
    if (!s.n) return s;
    s.mean = sum / (double)s.n;
    for (uint64_t i = 0; i < count; i++) {
        const double x = b ? a[i] - b[i] : a[i];
        if (!isnan(x)) squares += (x - s.mean) * (x - s.mean);
    }
    if (s.n < 2) return s;
    s.sd = sqrt(squares / (double)(s.n - 1));
    s.half = sweep_student(s.n - 1) * s.sd / sqrt((double)s.n);
    return s;
}

/* ---- writing ---- */
static void text_cell(FILE *to, const char *text) {
    if (!text[strcspn(text, ",\"\n")]) { fprintf(to, "%s", text); return; }
    fputc('"', to);
    for (; *text; text++) { if (*text == '"') fputc('"', to); fputc(*text, to); }
    fputc('"', to);
}
static void number_cell(FILE *to, double v) {   /* empty: not a number */
    char text[NUMBER_ROOM] = "";
    if (!isnan(v)) number_double(v, text);
    fprintf(to, ",%s", text);
}
static void statistics_cells(FILE *to, const statistics *s) {
    fprintf(to, ",%llu", (unsigned long long)s->n);
    number_cell(to, s->mean);
    number_cell(to, s->sd);
    number_cell(to, s->half);
}
#define OWN_COLUMNS "scenario,replicate,seed,result,value,n,mean,sd,half95,diff_n,diff_mean,diff_sd,diff_half95,"
static bool is_own_column(const char *name) {
    const size_t n = strlen(name);
    for (const char *at = OWN_COLUMNS; *at; at += strcspn(at, ",") + 1)
        if (strcspn(at, ",") == n && !strncmp(at, name, n)) return true;
    return false;
}
static void parameter_names(const sweep *s, FILE *to) {
    for (size_t g = 0; g < s->grid_count; g++) {
        fputs(is_own_column(s->grids[g].name) ? ",param_" : ",", to);
        text_cell(to, s->grids[g].name);
    }
}
static void parameter_cells(const sweep *s, size_t scenario, FILE *to) {
    for (size_t g = 0; g < s->grid_count; g++) {
        fputc(',', to);
        text_cell(to, grid_value(s->grids, s->grid_count, g, scenario));
    }
}

static void write_table(const gather *g, FILE *to) {
    const sweep *s = g->s;
    const size_t n = s->replicates;
    fputs("scenario", to);
    parameter_names(s, to);
    fputs(",result,n,mean,sd,half95,diff_n,diff_mean,diff_sd,diff_half95\n", to);
    for (size_t i = 0; i < s->scenarios; i++)
        for (size_t c = 0; c < g->count; c++) {
            const double *first = g->columns[c].values, *mine = first + i * n;
            const statistics own = of(mine, NULL, n), paired = of(mine, first, n);
            fprintf(to, "%zu", i + 1);
            parameter_cells(s, i, to);
            fputc(',', to);
            text_cell(to, g->columns[c].name);
            statistics_cells(to, &own);
            if (i) statistics_cells(to, &paired);
            else fputs(",,,,", to);
            fputc('\n', to);
        }
}

static void write_runs(const gather *g, FILE *to) {
    const sweep *s = g->s;
    fputs("scenario", to);
    parameter_names(s, to);
    fputs(",replicate,seed,result,value\n", to);
    for (size_t i = 0; i < s->scenarios; i++)
        for (uint64_t r = 0; r < s->replicates; r++)
            for (size_t c = 0; c < g->count; c++) {
                const double v = g->columns[c].values[i * s->replicates + r];
                fprintf(to, "%zu", i + 1);
                parameter_cells(s, i, to);
                fprintf(to, ",%llu,%llu,", (unsigned long long)r + 1, (unsigned long long)sweep_seed(s, r));
                text_cell(to, g->columns[c].name);
                number_cell(to, v);
                fputc('\n', to);
            }
}

static int write_file(const gather *g, const char *name, void (*write)(const gather *, FILE *)) {
    char path[PATH_MAX], part[PATH_MAX + 8];
    snprintf(path, sizeof path, "%.3000s/%s", g->s->out, name);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "we");
    if (f) write(g, f);
    const bool good = f && !ferror(f);
    if (f && !fclose(f) && good && !rename(part, path)) return EXIT_GOOD;
    cli_say("%s: %s", path, strerror(errno));
    return EXIT_SYSTEM;
}

int sweep_tables(const sweep *s) {
    gather g = { .s = s };
    for (size_t i = 0; i < s->scenarios; i++)
        for (uint64_t r = 0; r < s->replicates; r++) {
            char folder[PATH_MAX], path[PATH_MAX + 16];
            sweep_folder(s, i, r, "", folder);
            snprintf(path, sizeof path, "%s/run.json", folder);
            g.at = i * s->replicates + r;
            json_read_file(path, take, &g);  /* absent: the run failed */
        }
    int code = g.no_memory ? EXIT_MEMORY : write_file(&g, "runs.csv", write_runs);
    if (!code) code = write_file(&g, "table.csv", write_table);
    if (!code && !s->request.quiet) printf("%.3000s/table.csv\n%.3000s/runs.csv\n", s->out, s->out);
    for (size_t c = 0; c < g.count; c++) { free(g.columns[c].name); free(g.columns[c].values); }
    free(g.columns);
    return code;
}
