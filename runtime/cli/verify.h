/* verify.h: one layout of a run, and the process that runs it. */
#ifndef NIMA_VERIFY_H
#define NIMA_VERIFY_H
#include "cli/history.h"
#include "cli/request.h"

typedef struct {
    unsigned threads; uint64_t order;        /* workers; in which shards are taken */
    int dirty; /* -1, or the byte that fresh memory and the unused stack are filled with */
    bool fixed, again;                       /* addresses as in every process; a label: the same layout once more */
    unsigned dispatchers;                    /* processes that share the run, each with its own workers; 0: one */
} layout;

/* Runs it in a process of its own; what only one process can record is not with dispatchers. An exit code, EXIT_GOOD also when the model failed (history.head.error says so). */
int layout_run(const request *, const layout *, bool record, nima_time from, history *);
void layout_text(const layout *, char *text, size_t room);

/* blame.c: where two histories differ, and why, in words on standard output. */
typedef enum { BLAME_CLOCK, BLAME_MEMORY, BLAME_ADDRESS, BLAME_SHARED, BLAME_PROCESS, BLAME_UNKNOWN } blame;
void blame_place(const nima_model *, const history_difference *);
void blame_cause(blame);
#endif
