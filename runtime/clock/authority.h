/* authority.h: the clock of many dispatchers, as a state machine without threads, sockets or a clock of its own.
 *
 * An authority has children: dispatchers, or authorities below it, each of which stands for a range of dispatchers. A
 * window is opened; each child is granted it, and reports once it has run it: the earliest moment it holds or has sent
 * (its NET), and how many batches it sent to whom. When all have reported, the root plans the next window from the least
 * NET, and an authority below reduces the reports to one for its parent. A grant says how many batches of the window
 * before a dispatcher must have received before it starts (arrivals.h counts them): so nothing in flight is overtaken.
 * Batches carry their window's number, because a peer that started earlier may already be sending in the new one.
 * check/model/clock.pml is this protocol, searched.
 *
 * In a window at rest nothing is run: what is on its way arrives, and all report. At its end nothing is in flight, as a
 * checkpoint, a pause and the end of a run need it.
 *
 * Life: new, then again and again: take from every child; root: plan, below: reduce and await a grant; open; grant_to
 * every child. Calls for one authority are made by one thread. Wall time is handed in, in microseconds of any steady
 * clock. */
#ifndef NIMA_AUTHORITY_H
#define NIMA_AUTHORITY_H
#include "nima.h"

typedef struct { nima_time time; uint32_t step; } moment;
#define MOMENT_NEVER ((moment){ NIMA_FOREVER, 0 })
static inline bool moment_before(moment a, moment b) { return a.time < b.time || (a.time == b.time && a.step < b.step); }
static inline moment moment_least(moment a, moment b) { return moment_before(b, a) ? b : a; }

typedef struct { uint32_t dispatcher, batches; } batch_count;

typedef struct {                             /* of one window; for an authority: of all dispatchers below it */
    uint64_t window;                         /* 0: what stands after set-up */
    moment net;                              /* earliest held, or sent in this window */
    nima_time halt_at, last_event;           /* NIMA_FOREVER: no halt; -1: no event yet */
    bool pending;                            /* something could still happen: held, not cancelled, or sent in this window */
    uint64_t events, busy_us, exchange_us;   /* in this window: run; time spent running, and exchanging batches */
    const batch_count *sent; uint32_t sent_count;   /* in this window, to others than those below; ascending */
} authority_report;

typedef enum { AUTHORITY_RUN, AUTHORITY_REST } authority_order;
typedef struct {
    uint64_t window;
    authority_order order;
    moment from, until;                      /* the least NET; run everything before `until`, at rest already done */
    const batch_count *awaited; uint32_t awaited_count;   /* of the window before, by the child's range; ascending */
} authority_grant;

typedef struct { const char *name; uint32_t first, count; } authority_child;   /* "dispatcher 2 on b"; its range */
typedef struct authority authority;

/* The children's ranges follow each other; `dispatchers` is how many the whole run has. Names are kept, not copied. */
authority *authority_new(const authority_child *, uint32_t children, uint32_t dispatchers, uint64_t now_us);
void authority_free(authority *);

/* A child's report. NIMA_E_LINK: one that cannot be true; `error` names the child and why, and the run has to end. */
nima_err authority_take(authority *, uint32_t child, const authority_report *, uint64_t now_us, char *error,
                        size_t room) NIMA_MUST_CHECK;
bool authority_complete(const authority *);  /* all have reported; what follows is then legal */
/* All reports as one; `sent` is valid until the next call. */
void authority_reduce(authority *, authority_report *);

typedef struct {
    nima_time until;                         /* of this leg; a halt that comes before it counts */
    nima_time lookahead;                     /* 0: a window is one (time, step) */
    nima_time sample;                        /* next sample not yet taken, whose tick ends a window; NIMA_FOREVER: none */
    nima_time span;                          /* ticks a window may take; at least 1 */
} authority_limits;
/* Root: the next window. False if nothing is left before the limit; it is then one at rest. No awaited batches yet. */
bool authority_plan(const authority *, const authority_limits *, authority_grant *);
void authority_plan_rest(const authority *, authority_grant *);

/* The window begins: the planned one, or the one that the parent granted. */
nima_err authority_open(authority *, const authority_grant *, uint64_t now_us, char *error, size_t room)
    NIMA_MUST_CHECK;
void authority_grant_to(authority *, uint32_t child, authority_grant *);   /* `awaited` is valid until the next call */

/* Root, between windows: something was posted from outside for `at`, where nothing was held; the next window may begin there. */
void authority_post(authority *, moment at);

/* Names the children that owe a report for longer than the deadline, and since when; how many there are. */
uint32_t authority_watch(const authority *, uint64_t now_us, uint64_t deadline_us, char *text, size_t room);
/* How much a window held, where the time went, and whether more dispatchers can pay; for the run's summary. */
void authority_summary(const authority *, nima_time lookahead, char *text, size_t room);
#endif
