/* sweep.h: a sweep: its scenarios and replicates, and where each run of it lies. */
#ifndef NIMA_SWEEP_H
#define NIMA_SWEEP_H
#include "cli/grid.h"
#include "cli/request.h"
typedef struct {
    request request;
    grid *grids; size_t grid_count;
    size_t scenarios; uint64_t replicates, jobs;
    const char *out;
    int exit;                                /* the worst of all */
    uint64_t failed;
} sweep;
static inline uint64_t sweep_seed(const sweep *s, uint64_t replicate) {
    return s->request.options.seed + replicate;
} /* from 0 */
/* OUT/runs/s1-r1: scenarios and replicates count from 1 in names. */
void sweep_folder(const sweep *, size_t scenario, uint64_t replicate, const char *suffix, char path[PATH_MAX]);
/* sweep_run.c: runs what is not finished. Returns an exit code; EXIT_DIFFERS: some failed. */
int sweep_run(sweep *);
/* sweep_table.c: OUT/runs.csv and OUT/table.csv of the finished runs. Returns an exit code. */
int sweep_tables(const sweep *);
double sweep_student(uint64_t degrees);      /* 97.5 % quantile of Student's t */
#endif
