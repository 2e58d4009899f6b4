/* team.h: the workers of a run: pinned threads that take items of a phase by a ticket.
 *
 * Worker 0 is the thread that drives the run. A phase is one function called for each item, by whichever worker drew its number;
 * team_phase returns when all items are done: it is the barrier. Between phases workers spin for some microseconds, then sleep
 * on a futex; a team that is not used burns nothing. */
#ifndef NIMA_TEAM_H
#define NIMA_TEAM_H
#include "nima.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct team team;
typedef void team_fn(void *arg, unsigned worker, uint32_t item);

/* pin: bind each to a core, in hwloc order from number `first` on. all: threads of the run on this machine, in all processes; more than
 * cores are neither pinned nor left spinning. On failure NULL and why in `error`. */
team *team_new(unsigned threads, unsigned first, unsigned all, bool pin, void (*enter)(void *arg, unsigned worker), void *arg, char *error, size_t room);
void team_free(team *);
unsigned team_threads(const team *);
unsigned team_cores(void);                   /* that this thread may use */
/* Of worker 0, by itself: back to where it was before the team bound it (bound: false), and to its core again. Threads and processes that it
 * starts inherit where it is. */
void team_bind(team *, bool bound);
void team_phase(team *, team_fn *, void *arg, uint32_t items);    /* on all workers */
void team_alone(team *, team_fn *, void *arg, uint32_t items);    /* on worker 0, which calls it */
/* Of a worker, from any thread: time spent on items, its thread's CPU time; core and NUMA region, -1: not bound, not known. */
void team_load(const team *, unsigned worker, double *busy_s, double *cpu_s);
void team_place(const team *, unsigned worker, int32_t *core, int32_t *region);
/* Ticks of a steady fine clock, and how many make a microsecond. */
uint64_t team_clock(void);
double team_clock_per_us(void);
#endif
