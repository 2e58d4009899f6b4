/* reference.h: the plain executor that the engine is compared with.
 *
 * It is written from the semantics alone (docs/guide.md, "Order" and what follows) and shares nothing with the engine
 * but the public header, the generator of random numbers, the reading of parameters and input files, and the hash.
 * One thread, one sorted queue of everything that is still to happen, no windows, no shards' queues: slow and plain.
 * A shard is here only what the semantics say of it: slots for births, and an order. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "hash.h"
#include "nima.h"
#include <setjmp.h>

typedef enum { ENTRY_BIRTH, ENTRY_PUBLICATION, ENTRY_START, ENTRY_DUE, ENTRY_MAIL, ENTRY_ALARM } ref_kind;

/* Something to happen at (time, step). Births from elsewhere come first, then publications, then agents by slot. */
typedef struct {
    nima_time time;
    uint32_t step;
    ref_kind kind;
    nima_id receiver;                        /* agent; birth: only the shard's bits are set */
    nima_id sender;                          /* sender; birth: parent; start, due: {0} */
    uint64_t sequence;                       /* sender's number; birth: number of the birth */
    bool cancelled;                          /* alarm */
    nima_mail *mail;                         /* publication, mail, alarm: as the receiver sees it, with payload */
    const nima_topic *topic;                 /* publication */
    uint64_t key;
    const nima_behavior *behavior;           /* birth */
    uint64_t stream;
    void *state;
} ref_entry;

typedef struct { ref_entry **heap; size_t count, room; } ref_queue;

typedef struct { const nima_topic *topic; uint64_t key; } ref_subscription;
typedef struct ref_block { struct ref_block *next; size_t bytes; } ref_block;   /* the agent's memory follows */

typedef struct {
    nima_id id, parent;
    const nima_behavior *behavior;
    uint64_t index, group;
    bool alive, awake, due_queued, stopping; /* not alive: awaits its birth */
    uint64_t sends, births, chain;
    nima_rng random;
    void *state;
    double *levels;                          /* last value of each level */
    ref_entry **alarms; size_t alarm_count, alarm_room;       /* pending, not cancelled */
    ref_subscription *topics; size_t topic_count, topic_room;
    ref_block *blocks;
} ref_agent;

typedef struct { ref_agent *agent; uint32_t generation; } ref_slot;   /* generation: the last one given */
typedef struct { uint64_t count; double mean, m2; } ref_tally;
typedef struct { double now, integral; nima_time since; } ref_level;

typedef struct {
    ref_slot *slots; size_t slot_count, slot_room;
    uint32_t *free; size_t free_count, free_room;             /* a stack: the slot freed last is on top */
    uint64_t spread;                         /* births spread so far */
    ref_tally *tallies; ref_level *levels;   /* one for each statistic */
} ref_shard;

struct nima_layout {                         /* one population */
    nima_layout_ in_line;                    /* empty: nima_at calls */
    nima_run *run;
    const nima_behavior *behavior;
    uint64_t number, count, per_group;
    uint64_t *first;                         /* shards + 1: index of the first member in each shard */
    uint32_t *base;                          /* shards: slot of that member */
};

struct nima_gset {
    uint64_t bits;
    nima_time *seen;                         /* from when each bit is seen; NIMA_FOREVER: not set */
    struct nima_gset *next;
    nima_run *run;
};

typedef struct ref_shared { struct ref_shared *next; uint64_t align; } ref_shared;   /* the memory follows */
typedef struct { nima_time tick; double *values; } ref_row;
typedef struct { char *name; double value; } ref_result;
typedef struct { nima_mail *mail; nima_id to; nima_time now; uint32_t step; } ref_sent;   /* when it was sent */

/* The parts of a model, in their agreed order. */
typedef struct {
    const nima_struct *params, *world;
    nima_behavior **behaviors; nima_topic **topics; nima_reporter **reporters; nima_tally_stat **tallies;
    nima_level_stat **levels;
    size_t behavior_count, topic_count, reporter_count, tally_count, level_count;
} ref_parts;

struct nima_run {
    const nima_model *model;
    ref_parts parts;
    void *params, *world;
    char *texts;                             /* of the parameters */
    uint64_t seed;
    bool fingerprint, record_sent;
    /* declared by setup */
    nima_time lookahead, sample, until;      /* sample 0: none; until NIMA_FOREVER: none */
    nima_time *periods;                      /* by behavior; 0: none */
    uint32_t step_bound, shard_count;
    struct nima_layout **populations; size_t population_count, population_room;
    nima_gset *gsets;
    ref_shared *shared;
    /* state */
    ref_shard *shards;
    ref_queue queue;
    nima_time frontier;                      /* everything before it is done */
    nima_time last;                          /* of the last event */
    nima_time halt;                          /* end set by a halt; NIMA_FOREVER: none */
    nima_time virtual_time;
    nima_time next_row;
    bool happened, halted, finished;         /* anything at all; its end reached; results named */
    uint64_t groups, events, dead_letters, unread, alive, posts, stopped_chains, row_chain;
    ref_row *rows; size_t row_count, row_room, row_values;
    ref_result *results; size_t result_count, result_room;
    ref_sent *sent; size_t sent_count, sent_room;
    ref_entry **taken; size_t taken_count, taken_room;        /* of the slot in execution */
    const nima_mail **mail; size_t mail_room;                 /* of the agent in execution */
    nima_err failed;
    char error[1024];
    jmp_buf escape;
};

/* What is behind the handles of nima.h; the handle is the first member. */
typedef enum { PHASE_START, PHASE_UPDATE, PHASE_STOP } ref_phase;
typedef struct {
    nima me;
    nima_run *run;
    ref_agent *agent;
    ref_phase phase;
    uint32_t step;
    const nima_mail *const *left;            /* where the mail stood when the agent stopped */
} ref_callback;
typedef struct { nima_setup setup; nima_run *run; } ref_setup;
typedef struct { nima_view view; nima_run *run; nima_time now; bool finishing; } ref_view;

/* memory.c */
void *ref_zeroed(size_t bytes);              /* never NULL */
void *ref_copy(const void *, size_t bytes);
void *ref_grow(void *, size_t *room, size_t count, size_t bytes);   /* room for `count` items at least */

/* parts.c */
void ref_parts_init(ref_parts *, const nima_model *);
void ref_parts_fini(ref_parts *);

/* queue.c */
void ref_queue_push(nima_run *, ref_entry *);                /* takes the entry over */
void ref_queue_start(nima_run *, const ref_agent *, nima_time, uint32_t step);
ref_entry *ref_queue_head(nima_run *);       /* the next that really happens; NULL: nothing is pending */
ref_entry *ref_queue_pop(nima_run *);
void ref_entry_free(ref_entry *);
static inline uint32_t ref_shard_of(nima_id id) { return (uint32_t)(id.bits >> 44); }
static inline uint32_t ref_slot_of(nima_id id) { return (uint32_t)(id.bits & 0xFFFFF); }
static inline uint32_t ref_generation_of(nima_id id) { return (uint32_t)(id.bits >> 20 & 0xFFFFFF); }

/* layout.c */
void ref_layout(nima_run *);                 /* shards, members, their births at (0, 0) */

/* agents.c */
ref_agent *ref_find(nima_run *, nima_id);    /* alive or awaiting birth, else NULL */
ref_agent *ref_agent_new(nima_run *, uint32_t shard, const nima_behavior *, uint64_t stream, const void *state);
void ref_agent_end(nima_run *, ref_agent *, nima_time now);  /* frees its slot */
void ref_agent_free(ref_agent *);
void ref_schedule_due(nima_run *, ref_agent *, nima_time now);
void ref_level_set(nima_run *, ref_agent *, uint32_t level, double x, nima_time now);

/* execute.c */
void ref_execute(nima_run *);                /* everything at the head's (time, step) */

/* rows.c */
void ref_rows_until(nima_run *, nima_time until);            /* takes the rows before `until` or a nearer halt */
void ref_halt_at(nima_run *, nima_time);
static inline nima_time ref_min_delay(const nima_run *run) { return run->lookahead > 1 ? run->lookahead : 1; }
static inline nima_time ref_end(const nima_run *run, nima_time until) { return until < run->halt ? until : run->halt; }
double ref_level_mean(const nima_run *, uint32_t level, nima_time end);

/* fingerprint.c */
uint64_t ref_chain_begin(const ref_agent *, nima_time, uint32_t step);
uint64_t ref_chain_mail(uint64_t chain, const nima_mail *, uint32_t step);
uint64_t ref_chain_end(const ref_agent *, nima_time);
uint64_t ref_fingerprint(const nima_run *);
uint64_t ref_bits(double);

/* errors.c: do not return */
void ref_fail(nima_run *, nima_err, const char *format, ...) __attribute__((format(printf, 3, 4), noreturn));
void ref_fail_in(const ref_callback *, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
/* Arrival at `delay` from the callback's now, or an error that names agent, time and `what`. */
void ref_arrival(const ref_callback *, nima_time delay, const char *what, uint32_t type, nima_time *time,
                 uint32_t *step);
void ref_check_message(const ref_callback *, uint32_t type, uint32_t bytes);
nima_mail *ref_mail_new(nima_time, nima_id sender, uint64_t sequence, uint32_t type, const void *payload,
                        uint32_t bytes);
static inline ref_callback *ref_of(const nima *me) { return (ref_callback *)(uintptr_t)me; }
#endif
