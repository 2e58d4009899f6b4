/* Plots of a run, as SVG: ways of walkers, steps by how a walk ended, and how many still walk. */
#ifndef PLOTS_H
#define PLOTS_H
#include <math.h>
#include "nima.h"
#include "path.h"
#include "walk.h"

typedef struct { uint32_t steps, ending; } plot_walk;
typedef struct { FILE *file; double x_most, y_most; } plot;
enum { PLOT_WIDTH = 800, PLOT_HEIGHT = 480, PLOT_LEFT = 80, PLOT_RIGHT = 780, PLOT_TOP = 48, PLOT_BOTTOM = 424, PLOT_BINS = 40 };

static const char *const ending_names[5] = { "still walking", "off the grid", "beside a black pixel", "on a black pixel",
                                             "out of steps" };
static const char *const ending_colors[5] = { "#8c8c8c", "#3b6fb6", "#2f9e6e", "#d1495b", "#e6a532" };

static inline double plot_x(const plot *p, double x) { return PLOT_LEFT + x / p->x_most * (PLOT_RIGHT - PLOT_LEFT); }
static inline double plot_y(const plot *p, double y) { return PLOT_BOTTOM - y / p->y_most * (PLOT_BOTTOM - PLOT_TOP); }

static inline double plot_tick(double most) {                /* 1, 2 or 5 times a power of ten: four to ten in all */
    double power = pow(10, floor(log10(most / 4)));
    return most / 4 >= 5 * power ? 5 * power : most / 4 >= 2 * power ? 2 * power : power;
}

static inline plot plot_begin(FILE *file, const char *title, const char *x_name, const char *y_name, double x_most,
                              double y_most) {
    plot p = { file, x_most, y_most };
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"26\" font-size=\"16\">%s</text>\n", PLOT_WIDTH, PLOT_HEIGHT, PLOT_WIDTH, PLOT_HEIGHT,
            PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT, title);
    for (double tick = plot_tick(x_most), x = 0; x <= x_most * 1.0001; x += tick)
        fprintf(file, "<path stroke=\"#e4e4e4\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                plot_x(&p, x), PLOT_TOP, PLOT_BOTTOM, plot_x(&p, x), PLOT_BOTTOM + 18, x);
    for (double tick = plot_tick(y_most), y = 0; y <= y_most * 1.0001; y += tick)
        fprintf(file, "<path stroke=\"#e4e4e4\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                PLOT_LEFT, plot_y(&p, y), PLOT_RIGHT, PLOT_LEFT - 8, plot_y(&p, y) + 4, y);
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
            "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            (PLOT_LEFT + PLOT_RIGHT) / 2, PLOT_BOTTOM + 42, x_name, (PLOT_TOP + PLOT_BOTTOM) / 2, y_name);
    return p;
}

static inline void plot_end(const plot *p) {
    fprintf(p->file, "<path fill=\"none\" stroke=\"#333\" d=\"M%d %dV%dH%d\"/>\n</svg>\n", PLOT_LEFT, PLOT_TOP, PLOT_BOTTOM,
            PLOT_RIGHT);
}

/* Bars of like width, each a pile of the ways to end. walks: sorted by steps. */
static inline void plot_steps(FILE *file, const plot_walk *walks, uint64_t count) {
    uint64_t bins[PLOT_BINS][5] = { { 0 } }, highest = 1, ends[5] = { 0 };
    uint32_t most = count && walks[count - 1].steps ? walks[count - 1].steps : 1;
    double width = ((double)most + 1) / PLOT_BINS;
    for (uint64_t i = 0; i < count; i++) {
        bins[(size_t)(walks[i].steps / width)][walks[i].ending]++;
        ends[walks[i].ending]++;
    }
    for (int b = 0; b < PLOT_BINS; b++) {
        uint64_t all = 0;
        for (int e = 0; e < 5; e++) all += bins[b][e];
        if (all > highest) highest = all;
    }
    plot p = plot_begin(file, "Steps of a walk, by how it ended", "steps", "walkers", width * PLOT_BINS, (double)highest);
    for (int b = 0; b < PLOT_BINS; b++)
        for (uint64_t e = 0, below = 0; e < 5; below += bins[b][e++])
            if (bins[b][e]) {
                double left = plot_x(&p, b * width), top = plot_y(&p, (double)(below + bins[b][e]));
                fprintf(file, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\"/>\n", left + 0.5, top,
                        plot_x(&p, (b + 1) * width) - left - 1, plot_y(&p, (double)below) - top, ending_colors[e]);
            }
    for (int e = 0, line = 0; e < 5; e++)
        if (ends[e]) {
            int y = PLOT_TOP + 16 + 20 * line++;
            fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                    "<text x=\"%d\" y=\"%d\">%s: %llu</text>\n", PLOT_RIGHT - 220, y - 11, ending_colors[e],
                    PLOT_RIGHT - 202, y, ending_names[e], (unsigned long long)ends[e]);
        }
    plot_end(&p);
}

/* The share of walkers whose walk is longer than so many steps. */
static inline void plot_survival(FILE *file, const plot_walk *walks, uint64_t count) {
    enum { COLUMNS = 1400 };                 /* two to a pixel are enough */
    uint32_t most = count && walks[count - 1].steps ? walks[count - 1].steps : 1;
    plot p = plot_begin(file, "Walkers that take more than so many steps", "steps", "share of walkers", most, 1);
    fprintf(file, "<path fill=\"none\" stroke=\"#3b6fb6\" stroke-width=\"2\" d=\"M%d %d", PLOT_LEFT, PLOT_TOP);
    double last = -1;
    for (uint64_t i = 0; i < count;) {
        double x = floor((double)walks[i].steps * COLUMNS / most);
        while (i < count && floor((double)walks[i].steps * COLUMNS / most) <= x) i++;
        double at = plot_x(&p, (double)walks[i - 1].steps), left = (double)(count - i) / (double)count;
        if (x > last) fprintf(file, "H%.1fV%.1f", at, plot_y(&p, left));
        last = x;
    }
    fputs("\"/>\n", file);
    plot_end(&p);
}

/* On a torus a line stops at an edge. */
static inline void plot_path(FILE *file, const path *p, const char *color, double radius) {
    fprintf(file, "<g stroke=\"%s\" fill=\"%s\"><path fill=\"none\" d=\"", color, color);
    for (uint32_t i = 0; i < p->count; i++) {
        int32_t row = (int32_t)(p->at[i] >> 16), column = (int32_t)(p->at[i] & 0xFFFF);
        int32_t down = i ? row - (int32_t)(p->at[i - 1] >> 16) : 9, right = i ? column - (int32_t)(p->at[i - 1] & 0xFFFF) : 9;
        bool leaps = down < -1 || down > 1 || right < -1 || right > 1;
        if (leaps) fprintf(file, "M%d.5 %d.5", column, row);
        else fprintf(file, "l%d %d", right, down);
    }
    fputs("\"/>", file);
    if (p->count) fprintf(file, "<circle cx=\"%u.5\" cy=\"%u.5\" r=\"%.2f\"/>", p->at[0] & 0xFFFF, p->at[0] >> 16, radius);
    fputs("</g>\n", file);
}

/* Ways over the faint picture of the grid; a dot where each begins. */
static inline void plot_paths(FILE *file, const path *const *paths, uint32_t size, const nima_time *black_from) {
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"800\" height=\"800\">\n"
            "<title>The first %d walkers in blue, the last in red, from the dot on: at most %d steps of each</title>\n"
            "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n<path fill=\"#c8c8c8\" d=\"", size, size, PATH_WALKERS,
            PATH_PLACES - 1, size, size);
    for (uint64_t i = 0; i < (uint64_t)size * size; i++)
        if (black_from[i] != NIMA_FOREVER) fprintf(file, "M%u %uh1v1h-1z", (unsigned)(i % size), (unsigned)(i / size));
    fprintf(file, "\"/>\n<g stroke-width=\"%.2f\" stroke-linejoin=\"round\" stroke-opacity=\"0.7\">\n", 0.25 + size / 1600.0);
    for (uint32_t i = 0; i < 2 * PATH_WALKERS; i++) {
        bool first = i < PATH_WALKERS;
        char color[32];
        snprintf(color, sizeof color, "hsl(%u,70%%,%u%%)", first ? 195 + i * 3 : 340 + i - PATH_WALKERS, 35 + i % 4 * 8);
        if (paths[i]) plot_path(file, paths[i], color, 0.2 + size / 240.0);
    }
    fputs("</g>\n</svg>\n", file);
}

#endif
