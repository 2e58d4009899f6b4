/* cluster.h: a run on several dispatchers: processes that each own a range of shards and run the same windows.
 *
 * Dispatcher 0 leads: it is the process of whoever opened the run; it grants windows (clock/authority.h), takes
 * samples, keeps files and results. The others follow (cluster_follow). Between any two there is one link; events cross
 * it as batches of columns, each window's behind it. All calls are made by the thread that drives the run, between
 * windows. A lost link, a wrong message or a silent dispatcher is a failure of the run (NIMA_E_LINK) that names who. */
#ifndef NIMA_CLUSTER_H
#define NIMA_CLUSTER_H
#include "run.h"
#include <stdio.h>

#pragma GCC visibility push(default)
typedef struct cluster cluster;

/* Leader: starts the followers. Follower: finds the leader in tuning.dispatcher_folder. Returns once all have set up;
 * sets r->net. */
nima_err cluster_open(nima_run *, const nima_options *, char *error, size_t room);
void cluster_close(nima_run *);              /* leader: ends all followers */
void cluster_begin_window(nima_run *); /* leader: grants [r->net, r->until); returns when what is awaited has come */
void cluster_end_window(nima_run *);         /* sends and reports; leader: sets net, halt_at and failures of all */
void cluster_sample(nima_run *, nima_time *last_event,
                    bool *pending);                /* leader: brings the sums of all shards up to date; as status */
void cluster_row(nima_run *, const double *row);   /* leader: tells the others what was sampled */
void cluster_collect(nima_run *); /* leader: copies all agents and counters here; they then read like its own */
void cluster_merge(nima_run *); /* leader, after it has collected: makes all replicas of all sets equal */
/* Leader: time of the last event, -1 if none, and whether anything is pending: in, of this dispatcher; out, of all. */
void cluster_status(nima_run *, nima_time *last_event, bool *pending);
/* Leader: a message from outside; the receiver's dispatcher takes it before the next window. */
void cluster_post(nima_run *, nima_id to, nima_time at, uint32_t type, uint64_t number, const void *payload,
                  uint32_t bytes);
void cluster_step(nima_run *, bool *any, bool *more);        /* leader: of the last single step, of all dispatchers */
nima_err cluster_follow(nima_run *);         /* follower: until the leader ends the run */
/* Asks each host of a configuration what it has; a table of it, and what is wrong where. How many are wrong;
 * UINT32_MAX: the file is. */
uint32_t cluster_check(const char *path, FILE *to, char *error, size_t room);
uint64_t cluster_events(const nima_run *);                   /* leader: of all dispatchers, until the last window */
uint32_t cluster_count(const nima_run *);                    /* dispatchers */
/* Leader, from any thread: what dispatcher number reported last. */
void cluster_load(const nima_run *, unsigned dispatcher, run_dispatcher_load *, run_worker_load *, uint32_t room);
void cluster_summary(const nima_run *, char *text, size_t room);   /* where the time went */
#pragma GCC visibility pop
#endif
