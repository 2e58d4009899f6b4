/* What a run of the random walk leaves: results, statistics and a picture in the terminal, plots as SVG in the run folder: plots.h,
 * and the grid, where each pixel has the color of the time at which it was blackened. */
#ifndef REPORT_H
#define REPORT_H
#include <stdlib.h>
#include "nima.h"
#include "plots.h"
#include "walk.h"

typedef struct {
    plot_walk *walks;
    uint64_t walkers, total, ends[5];
    const path *paths[2 * PATH_WALKERS];     /* of the first walkers, then of the last */
} report;
typedef struct { uint32_t size, blacks; nima_time *black_from, *times; } report_grid;   /* by pixel; sorted */

static inline void *report_memory(size_t count, size_t bytes) {
    void *memory = calloc(count + 1, bytes);
    if (!memory) abort();
    return memory;
}

static inline report report_new(size_t walkers) {
    report r = { (plot_walk *)report_memory(walkers, sizeof(plot_walk)), 0, 0, { 0 }, { NULL } };
    return r;
}

static inline void report_add(report *r, uint32_t steps, uint32_t ending) {
    r->walks[r->walkers].steps = steps;
    r->walks[r->walkers++].ending = ending;
    r->total += steps;
    r->ends[ending]++;
}

static inline int report_compare_steps(const void *a, const void *b) {
    uint32_t x = ((const plot_walk *)a)->steps, y = ((const plot_walk *)b)->steps;
    return (x > y) - (x < y);
}
static inline int report_compare_times(const void *a, const void *b) {
    nima_time x = *(const nima_time *)a, y = *(const nima_time *)b;
    return (x > y) - (x < y);
}

static inline double report_quantile(const report *r, double share) {   /* between order statistics, of sorted steps */
    double place = share * (double)(r->walkers - 1);
    size_t i = (size_t)place;
    double low = r->walks[i].steps, next = i + 1 < r->walkers ? r->walks[i + 1].steps : low;
    return low + (place - (double)i) * (next - low);
}

static inline report_grid report_read(const nima_view *v, const nima_gset *black, uint32_t size) {
    size_t pixels = (size_t)size * size;
    report_grid g = { size, 0, (nima_time *)report_memory(pixels, sizeof(nima_time)), NULL };
    g.times = (nima_time *)report_memory(pixels, sizeof(nima_time));
    for (size_t i = 0; i < pixels; i++)
        if ((g.black_from[i] = nima_view_gset_time(v, black, i)) != NIMA_FOREVER) g.times[g.blacks++] = g.black_from[i];
    qsort(g.times, g.blacks, sizeof *g.times, report_compare_times);
    return g;
}

/* Each character is two squares of the grid, one above the other; a square is full if any of its pixels is black. */
static inline void report_terminal(const report_grid *g) {
    static const char *const blocks[4] = { " ", "\u2580", "\u2584", "\u2588" };
    uint32_t across = g->size < 80 ? g->size : 80, down = (across + 1) / 2;
    unsigned char *full = (unsigned char *)report_memory((size_t)across * (2 * down), 1);
    for (uint32_t row = 0; row < g->size; row++)
        for (uint32_t column = 0; column < g->size; column++)
            if (g->black_from[(size_t)row * g->size + column] != NIMA_FOREVER)
                full[(size_t)row * across / g->size * across + (size_t)column * across / g->size] = 1;
    for (uint32_t row = 0; row < 2 * down; row += 2, putchar('\n'))
        for (const unsigned char *at = full + row * across; at < full + (row + 1) * across; at++)
            fputs(blocks[at[0] + 2 * at[across]], stdout);
    free(full);
}

/* Pixels of like time are one path; early ones are dark, late ones light. */
static inline void report_svg(const report_grid *g, FILE *file) {
    enum { SHADES = 48 };
    static const int dark[3] = { 40, 20, 90 }, middle[3] = { 210, 60, 80 }, light[3] = { 250, 200, 60 };
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"800\" height=\"800\" "
            "shape-rendering=\"crispEdges\">\n<title>%u black pixels, colored by the time at which they came</title>\n"
            "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", g->size, g->size, g->blacks, g->size, g->size);
    for (uint32_t shade = 0, from = 0; shade < SHADES && from < g->blacks; shade++) {
        const int *low = shade < SHADES / 2 ? dark : middle, *high = shade < SHADES / 2 ? middle : light;
        int part = (int)(shade % (SHADES / 2)), of = SHADES / 2, rgb[3];
        for (int c = 0; c < 3; c++) rgb[c] = low[c] + (high[c] - low[c]) * part / of;
        uint32_t to = (uint32_t)((uint64_t)g->blacks * (shade + 1) / SHADES);
        while (to > from && to < g->blacks && g->times[to] == g->times[to - 1]) to++;
        if (to <= from) continue;
        fprintf(file, "<path fill=\"#%02x%02x%02x\" d=\"", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
        for (size_t i = 0; i < (size_t)g->size * g->size; i++)
            if (g->black_from[i] >= g->times[from] && g->black_from[i] <= g->times[to - 1])
                fprintf(file, "M%zu %zuh1v1h-1z", i % g->size, i / g->size);
        fputs("\"/>\n", file);
        from = to;
    }
    fputs("</svg>\n", file);
}

/* Black pixels that no black pixel is beside, the seed apart: each was blackened beside one that its walker saw, so in the
 * grid of all processes together there is none, however late they heard of each other. */
static inline uint64_t report_isolated(const report_grid *g, uint32_t neighborhood, bool wraps) {
    uint64_t isolated = 0;
    int64_t size = g->size, middle = (size - 1) / 2;
    for (int64_t row = 0; row < size; row++)
        for (int64_t column = 0; column < size; column++) {
            bool alone = g->black_from[row * size + column] != NIMA_FOREVER && (row != middle || column != middle);
            for (uint32_t d = 0; d < neighborhood && alone; d++) {
                int64_t to_row = row + walk_down[d], to_column = column + walk_right[d];
                if (!wraps && (to_row < 0 || to_row >= size || to_column < 0 || to_column >= size)) continue;
                alone = g->black_from[(to_row + size) % size * size + (to_column + size) % size] == NIMA_FOREVER;
            }
            isolated += alone;
        }
    return isolated;
}

static inline void report_finish(report *r, nima_view *v, const nima_gset *black, uint32_t size, uint32_t neighborhood,
                                 bool wraps) {
    report_grid g = report_read(v, black, size);
    uint64_t completed = r->walkers - r->ends[WALKING];
    qsort(r->walks, r->walkers, sizeof *r->walks, report_compare_steps);
    FILE *file = nima_view_file(v, "grid.svg");
    if (file) report_svg(&g, file);
    if ((file = nima_view_file(v, "paths.svg"))) plot_paths(file, r->paths, size, g.black_from);
    if ((file = nima_view_file(v, "steps.svg"))) plot_steps(file, r->walks, r->walkers);
    if ((file = nima_view_file(v, "survival.svg"))) plot_survival(file, r->walks, r->walkers);
    report_terminal(&g);
    printf("black    %u of %llu pixels, %.2f %%\n", g.blacks, (unsigned long long)size * size,
           100.0 * g.blacks / ((double)size * size));
    printf("walkers  %llu, completed %llu: %llu beside a black pixel, %llu on one, %llu at the boundary, "
           "%llu out of steps\n", (unsigned long long)r->walkers, (unsigned long long)completed,
           (unsigned long long)r->ends[NEIGHBOR], (unsigned long long)r->ends[TOUCHED],
           (unsigned long long)r->ends[BOUNDARY], (unsigned long long)r->ends[MAX]);
    printf("steps    %llu in all, mean %.1f; least %u, quartiles %.1f %.1f %.1f, 5 to 95 %% %.1f to %.1f, most %u\n",
           (unsigned long long)r->total, (double)r->total / (double)r->walkers, r->walks[0].steps, report_quantile(r, 0.25),
           report_quantile(r, 0.5), report_quantile(r, 0.75), report_quantile(r, 0.05), report_quantile(r, 0.95),
           r->walks[r->walkers - 1].steps);
    nima_result(v, "steps_total", (double)r->total);
    nima_result(v, "black", g.blacks);
    nima_result(v, "boundary", (double)r->ends[BOUNDARY]);
    nima_result(v, "neighbor", (double)r->ends[NEIGHBOR]);
    nima_result(v, "touched", (double)r->ends[TOUCHED]);
    nima_result(v, "max", (double)r->ends[MAX]);
    nima_result(v, "isolated", (double)report_isolated(&g, neighborhood, wraps));
    nima_result_measured(v, "broadcasts", (double)nima_view_broadcasts(v));
    nima_result_hash(v, "grid_hash", nima_view_gset_hash(v, black));
    free(g.black_from);
    free(g.times);
    free(r->walks);
}

#endif
