/* progress.h: how far a run is, for people: one line drawn anew on a terminal, a line now and then elsewhere. */
#ifndef NIMA_PROGRESS_H
#define NIMA_PROGRESS_H
#include "run.h"
#pragma GCC visibility push(default)
typedef struct {
    FILE *to;
    bool terminal, drawn;
    const nima_run *run;
    double last_wall, next_line;
    uint64_t last_events;
} progress;

void progress_init(progress *, FILE *to, bool terminal, const nima_run *);
void progress_draw(progress *);              /* call a few times a second */
void progress_clear(progress *);             /* before anything else is written to the terminal */
/* "3.1 M", "12 k", "830" */
void progress_rate(double, char *text, size_t room);
#pragma GCC visibility pop
#endif
