/* bench.h: what the benchmarks of transport/ share: the clock, and best and spread of a few rounds taken in turn. */
#ifndef BENCH_TRANSPORT_H
#define BENCH_TRANSPORT_H
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS = 7 };

static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Best, median and worst of the rounds of one side; higher_is_better picks the end. */
static inline double bench_report(const char *name, const char *unit, double rounds[BENCH_ROUNDS],
                                  int higher_is_better) {
    qsort(rounds, BENCH_ROUNDS, sizeof *rounds, bench_compare);
    const double best = rounds[higher_is_better ? BENCH_ROUNDS - 1 : 0],
                 worst = rounds[higher_is_better ? 0 : BENCH_ROUNDS - 1];
    printf("%-44s best %9.2f  median %9.2f  worst %9.2f %s\n", name, best, rounds[BENCH_ROUNDS / 2], worst, unit);
    return best;
}

#endif
