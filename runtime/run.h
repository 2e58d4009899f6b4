/* run.h: a run as the tools see it: what nima.h offers to an embedding program, and what only our own tools need.
 *
 * One thread drives a run (nima_run_to, nima_run_step); run_request and run_progress_read may be called from any other. */
#ifndef NIMA_RUN_H
#define NIMA_RUN_H
#include "nima.h"
#pragma GCC visibility push(default)

typedef enum { RUN_DEAD_COUNT, RUN_DEAD_LOG, RUN_DEAD_FAIL } run_dead_letters;

/* One update (or start) as it is about to happen; valid during the call. */
typedef struct {
    nima_id agent; const nima_behavior *behavior; nima_time time; uint32_t step; bool starts;
    const nima_mail *const *mail; uint64_t mail_count;
    uint64_t chain;                          /* fingerprint chain after folding this mail */
    const void *state; nima_rng stream;      /* before the callback */
} run_delivery;

/* Who watches: all calls but `wants` are made by the driving thread, between windows, and copy what they are given. NULL: none. */
typedef struct {
    void *arg;
    void (*log)(void *arg, const char *line);                /* in final order */
    void (*row)(void *arg, nima_time, const double *row);    /* of reporters, see run_reporter */
    bool (*wants)(void *arg);                                /* whether anybody would see what the model shows */
    void (*picture)(void *arg, const char *name, uint32_t width, uint32_t height, const uint8_t *shades);
    void (*values)(void *arg, const char *name, const double *values, uint32_t count);
} run_watcher;
enum { RUN_PICTURE_SIDE = 1024, RUN_SHOWN_VALUES = 4096, RUN_SHOWN_NAME = 64 };

typedef struct {                             /* RUN_TUNING_DEFAULT, then change */
    uint64_t shard_order;                    /* 0: by number; else the key of a permutation in which shards are taken */
    int dirty;                               /* -1, or a byte that fresh memory is filled with, where its content is undefined */
    nima_time warmup;                        /* tallies and levels begin here */
    double speed;                            /* units of virtual time per wall second; 0: unlimited */
    run_dead_letters dead_letters;
    uint64_t memory_limit;                   /* bytes; 0: 90 % of RAM or of the control group */
    int log_level;                           /* lines above it are not kept; default NIMA_INFO */
    void (*on_delivery)(void *arg, const run_delivery *);   /* calls are serialized; order is the shards' own; NULL: none */
    void *on_delivery_arg;
    run_watcher watcher;
    unsigned dispatchers;                    /* processes on this machine that share the run; 0, 1: this one alone */
    const struct cluster_config *cluster;    /* hosts that share the run (cluster/config.h); NULL: this machine */
    int errors_fd;                           /* the user's standard error, where 2 is something else; 0: 2 */
    /* Set by nima-node, for those that follow: this one's number, where their sockets are, which run it is, */
    unsigned dispatcher; const char *dispatcher_folder; uint8_t run_id[16];
    unsigned here, here_before;              /* how many dispatchers are on this machine, and come before this one; 0: all of them */
} run_tuning;
#define RUN_TUNING_DEFAULT ((run_tuning){ .dirty = -1, .log_level = NIMA_INFO })

nima_err run_open(nima_run **, const nima_model *, const nima_options *, const run_tuning *) NIMA_MUST_CHECK;

/* From any thread, or a signal handler. */
typedef enum { RUN_GO, RUN_PAUSE, RUN_STOP } run_wish;       /* RUN_STOP: end cleanly at the next window, NIMA_E_HALTED */
void run_request(nima_run *, run_wish);
bool run_request_if(nima_run *, run_wish now, run_wish then);  /* only if `now` is what was wished last: a stop stays one */

/* lag_s: behind the wall clock, of a run with a speed. */
typedef struct { nima_time time, until; uint64_t events, windows, inline_windows; double wall_s, lag_s; bool running, paused; } run_progress;
void run_progress_read(const nima_run *, run_progress *);

/* Loads, since the run began: rates are differences. From any thread. Of another process they are some 0.1 s old. */
typedef struct { uint64_t events; double busy_s, cpu_s; int32_t core, region; } run_worker_load;   /* -1: not bound, not known */
typedef struct { char node[64]; uint64_t memory; double cpu_s, net_s; uint32_t workers; } run_dispatcher_load;   /* net_s: delay of the last report */
unsigned run_dispatchers(const nima_run *);
void run_load_read(const nima_run *, unsigned dispatcher, run_dispatcher_load *, run_worker_load *, uint32_t room);

/* What the run was given and what it found. */
const nima_model *run_model(const nima_run *);
double run_ticks_per_unit(const nima_run *);
const char *run_unit(const nima_run *);
unsigned run_threads(const nima_run *);                      /* workers of this process */
nima_time run_default_until(const nima_run *);               /* NIMA_FOREVER: the model names none */
nima_time run_lookahead(const nima_run *);
bool run_reproducible(const nima_run *, unsigned workers);   /* 0: as many as it has; false: several share a set that is not timed */
size_t run_param_text(const nima_run *, size_t i, const char **name, char *text, size_t room);   /* fields left from i; 0: none */
/* Reporter i: its values stand in a row from `column` on. False: there is none. */
typedef struct { const char *name, *unit; uint32_t column, count; double low, high; } run_reporter_info;
bool run_reporter(const nima_run *, uint32_t i, run_reporter_info *);
typedef enum { RUN_RESULT_VALUE, RUN_RESULT_HASH, RUN_RESULT_MEASURED } run_result_kind;
size_t run_result_count(const nima_run *);
const char *run_result(const nima_run *, size_t i, run_result_kind *, double *value, uint64_t *hash);
typedef struct { uint64_t births, deaths, windows, inline_windows, messages; } run_counters;
void run_counters_read(const nima_run *, run_counters *);
uint64_t run_dead_letters_of(const nima_run *, uint32_t type);   /* by message number; likewise unread mail: */
uint64_t run_unread_of(const nima_run *, uint32_t type);

/* Names: person[17] for a member of a population, person#HEX for a newborn. Parse returns {0} and a text in `error`. */
void run_agent_name(const nima_run *, nima_id, char *text, size_t room);
nima_id run_agent_parse(const nima_run *, const char *text, char *error, size_t room);
void run_each(const nima_run *, void (*each)(nima_id, const nima_behavior *, const void *state, void *arg), void *arg);
#pragma GCC visibility pop
#endif
