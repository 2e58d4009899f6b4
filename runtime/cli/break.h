/* break.h: `run --break AGENT@TIME[:STEP]`: the run inside gdb, stopped before that agent's update. The tool starts
 * itself again under gdb; inside, the first update (or start) of the agent at or after that moment calls break_here,
 * where gdb waits, and gdb goes on from there to the callback itself. */
#ifndef NIMA_BREAK_H
#define NIMA_BREAK_H
#include "cli/request.h"
bool break_inside(void);                     /* are we in that gdb? */
int break_in_debugger(char **argv);          /* does not return, unless gdb cannot be started */
int break_begin(const char *at, request *);  /* reads AGENT@TIME, sets the request's on_delivery */
int break_ready(nima_run *);                 /* finds the agent */
#endif
