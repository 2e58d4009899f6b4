/* console.h: what a run writes while it runs. A thread stands between the process's standard output and error and the
 * real ones: what the model prints is passed on and copied into the log, and the progress line makes way for it. When
 * console_stop returns, everything printed before has been written, and nothing printed later reaches standard output:
 * so the last line of --json is the last line. */
#ifndef NIMA_CONSOLE_H
#define NIMA_CONSOLE_H
#include "run.h"
typedef struct console console;

console *console_start(void);                /* NULL: no pipe or no thread, said why */
int console_errors(const console *);         /* the user's standard error */
void console_log(console *, const char *path); /* copy what is printed, also what was so far, to the end of this file */
void console_run(console *, const nima_run *);   /* show progress of this run; NULL: no more */
void console_stop(console *, FILE **out);    /* `out` is the real standard output */
#endif
