/* state.h: a run, as the files of runtime/ share it. Everything here is written by the driving thread between phases, unless it
 * says otherwise; workers write their own context and the shards whose tickets they hold. */
#ifndef NIMA_STATE_H
#define NIMA_STATE_H
#include "gset.h"
#include "input.h"
#include "run.h"
#include "shard.h"
#include "store/store.h"
#include "worker/team.h"
#include <signal.h>

typedef struct { nima_setup head; nima_run *run; } setup_handle;
typedef struct { nima_view head; nima_run *run; nima_time now; bool finishing, showing; } view_handle;
/* Written by the worker alone, relaxed; read by whoever watches. */
typedef struct { _Alignas(64) _Atomic uint64_t ran; } worker_count;
typedef struct { char *name; run_result_kind kind; double value; uint64_t hash; } result;
typedef struct world_piece { struct world_piece *next; size_t bytes; _Alignas(64) char data[]; } world_piece;

struct nima_run {
    engine engine;
    run_tuning tuning;
    const nima_model *model;
    /* what the model declares */
    const nima_struct *params_struct, *world_struct;
    const nima_message **messages; uint32_t message_count;
    nima_behavior **behaviors; nima_reporter **reporters; nima_tally_stat **tallies; nima_level_stat **levels; nima_topic **topics;
    uint32_t topic_count;
    nima_layout *populations; nima_time *periods; uint32_t *columns;
    uint32_t shards_wanted; nima_time default_until;
    const char **message_names;
    /* values */
    void *params; char *texts; void *world;
    world_piece *pieces;                     /* write-protected after setup */
    input_file *inputs; uint32_t input_count;
    nima_gset **gsets; uint32_t gset_count;
    /* parts */
    team *team; unsigned threads;
    worker_count *counts;                    /* of each worker: events */
    context *contexts; shard *shards;        /* shards: all of the run; this process owns [own_from, own_to) */
    uint32_t own_from, own_to;
    chunk_depot depot;
    char *agents, *born; size_t agents_bytes, born_bytes; agent_rest *rest; size_t rest_bytes;
    uint32_t *order;                         /* in which this process's shards are taken, from own_from on; NULL: by number */
    chunk_list *lists;                       /* [parity][worker][zero, later][shard] */
    /* where the run stands */
    unsigned parity;
    nima_time from; uint32_t from_step;      /* where the last window began: arrivals of zero delay belong behind it */
    nima_time net; uint32_t net_step;        /* (time, step) of the earliest event */
    nima_time until, span;                   /* of the window at hand; ticks a window may take, for the clock's sake */
    nima_time halt_at; char halt_why[120];
    nima_time now, last_event, asked, reached, frontier;   /* asked for and reached by the furthest leg; frontier: least time of a post */
    bool exhausted;                          /* nothing is pending */
    uint64_t posted, windows, inline_windows; double window_us;
    bool step_mode, stepped, finished, parallel, guarded;
    double wall_s; uint64_t wall_from; nima_time pace_from; double pace_wall;
    /* samples */
    nima_time next_sample; double *rows; uint64_t row_ring, row_count; uint64_t rows_chain;
    result *results; uint32_t result_count; size_t result_room;
    store *store;
    struct cluster *cluster;                 /* other dispatchers; NULL: none */
    uint64_t *others_dead, *others_unread;   /* counts by type of the other dispatchers, once collected */
    uint64_t broadcasts;                     /* bits newly set here, times the others told; once merged, of all */
    failure failure; bool failed;
    pthread_mutex_t deliver_lock;
    double show_next; uint64_t shown_at_window;              /* what the model shows: not before; after which window it last did */
    /* from other threads and signal handlers; relaxed, but for `wish`, on which a paused run sleeps */
    _Atomic uint32_t wish;
    _Atomic int64_t shown_time, shown_until; _Atomic uint64_t shown_events, shown_windows, shown_inline; _Atomic bool shown_running;
    _Atomic double shown_wall, shown_lag;
};

/* setup.c */
nima_err setup_declare(nima_run *, char *error, size_t room);       /* collects and checks the model's parts */
nima_err setup_run(nima_run *, const nima_options *, char *error, size_t room);
void *world_allocate(void *run, size_t bytes);
/* layout.c */
nima_err layout_build(nima_run *, char *error, size_t room);
/* worker/window.c */
nima_err window_advance(nima_run *, nima_time until);
nima_err window_step(nima_run *);
/* A window that another process grants: everything before `until`, or one (time, step). */
void window_follow(nima_run *, nima_time from, uint32_t from_step, nima_time until, bool one_step);
chunk_list *window_list(const nima_run *, unsigned parity, unsigned worker, bool later);
bool window_pending(nima_run *);             /* of this process's shards; likewise: */
nima_time window_last_event(const nima_run *);
bool window_more_steps(const nima_run *);                     /* whether the time of the last single step has another */
void window_publish(nima_run *);                             /* for run_progress_read */
/* worker/failure.c */
void failure_guard(bool on);                                 /* signal handlers, once a process */
/* Between these the thread runs with this context, and takes crash signals on its own stack. */
enum { FAILURE_STACK_BYTES = 1 << 16 };
typedef struct { context *context; stack_t stack; } failure_before;
void failure_enter(context *, failure_before *);
void failure_leave(const failure_before *);
context *failure_current(void);
bool failure_earlier(const failure *, const failure *);
nima_err failure_set(nima_run *, nima_err, const char *format, ...) __attribute__((format(printf, 3, 4)));
void failure_collect(nima_run *);                            /* the least of all contexts' failures */
/* embed.c */
void embed_post(nima_run *, nima_id to, nima_time at, uint32_t type, uint64_t number, const void *payload, uint32_t bytes);   /* in its own shards */
/* load.c */
void load_own(const nima_run *, run_dispatcher_load *, run_worker_load *, uint32_t room);
/* show.c: what the model shows to those who watch. now: at once, if it ran since; else now and then */
void show_model(nima_run *, bool now);
/* sample.c */
void sample_shards(nima_run *);
bool sample_gather(nima_run *, nima_time tick);
void sample_row(nima_run *, nima_time tick);
void sample_logs(nima_run *);
nima_err sample_finish(nima_run *);
tally sample_tally(const nima_run *, uint32_t index);
/* error text of calls that have no run */
extern _Thread_local char run_open_error[1200];
#endif
