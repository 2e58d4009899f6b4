/* folder.h: the run folder: its name, and run.json, which says what the run was and how it ended. */
#ifndef NIMA_FOLDER_H
#define NIMA_FOLDER_H
#include "cli/request.h"
#include <time.h>

/* Claims runs/<model>-<time>-s<seed>/, with a number behind it if that exists; `out` NULL. Else checks that `out` is
 * new or empty. EXIT_GOOD, or said why. `made`: the folder was made here. */
int folder_claim(const char *out, const char *model, uint64_t seed, char path[PATH_MAX], bool *made);

typedef struct {
    const request *request; nima_run *run;
    const char *folder, *command;            /* folder NULL: none */
    time_t started;
    nima_time until;
    nima_err error; int exit;                /* of the run; exit -1: still running */
    const char *message;                     /* of a failure, else "" */
    nima_summary summary; run_counters counters;
} run_record;
/* Writes folder/run.json; false: said why. */
bool folder_record(const run_record *);
/* The line of --json. */
void folder_line(const run_record *, FILE *);
const char *folder_status(const run_record *);   /* "running", "ok", "interrupted", "failed" */
void folder_remove(const char *path);        /* of a run that did not begin, or not end: plain files only */
bool folder_hash_file(const char *path, uint64_t *hash);   /* of its content */
#endif
