/* shard.h: agents, shards, and the context in which a worker runs them.
 *
 * A shard owns its agents, their mail ahead, their memory and its share of everything collected. Whoever holds a shard's ticket
 * in a window (runtime/worker/window.c) owns all of it; nothing in here is locked. What an agent does to other shards goes to
 * the context's out-lists, which those shards read one window later. Order within a shard is by value alone: (time, step),
 * slot, then (sender, sequence). */
#ifndef NIMA_SHARD_H
#define NIMA_SHARD_H
#include "hash.h"
#include "queue.h"
#include "random_ahead.h"
#include <setjmp.h>

enum { SLOT_BITS = 20, GENERATION_BITS = 24, SHARDS_MAX = 1 << 20, SLOTS_MAX = 1 << SLOT_BITS,
       GENERATION_MAX = (1 << GENERATION_BITS) - 1 };
#define NOBODY ((nima_id){ 0 })
static inline uint32_t id_shard(nima_id id) { return (uint32_t)(id.bits >> (SLOT_BITS + GENERATION_BITS)); }
static inline uint32_t id_generation(nima_id id) { return (uint32_t)(id.bits >> SLOT_BITS) & GENERATION_MAX; }
static inline uint32_t id_slot(nima_id id) { return (uint32_t)id.bits & (SLOTS_MAX - 1); }
static inline nima_id id_make(uint32_t shard, uint32_t generation, uint32_t slot) {
    return (nima_id){ (uint64_t)shard << (SLOT_BITS + GENERATION_BITS) | (uint64_t)generation << SLOT_BITS | slot };
}
#define ID_LOW(id) ((id).bits & (((uint64_t)1 << (SLOT_BITS + GENERATION_BITS)) - 1))   /* nima_mail.receiver */

/* RECORD_BIRTH: payload is a shard_birth and the state. RECORD_PUBLICATION: a shard_topic follows the payload. */
typedef struct { uint64_t stream; uint32_t behavior, bytes; } shard_birth;
typedef struct { uint64_t key; uint32_t family, zero; } shard_topic;
static inline shard_topic *record_topic(const nima_mail *m) {
    return (shard_topic *)(void *)((char *)(uintptr_t)m + record_bytes((uint32_t)m->bytes));
}

/* ---- agents ---- */
enum { AGENT_ALIVE = 1, AGENT_EXPECTED = 2, AGENT_NEWBORN = 4, AGENT_LEVELS = 8 };   /* EXPECTED: slot taken, not yet started */
typedef struct {                             /* 40 bytes; small states follow in the same cache line */
    uint64_t chain;                          /* fingerprint of this agent's history */
    uint64_t stream, draws;
    uint64_t sent;                           /* [sequence 48 | behavior 16] */
    uint32_t generation, flags;
    char state[];                            /* or a pointer to it, if it is larger than engine.inline_bytes */
} agent;
typedef struct { uint64_t births, group; nima_id parent; struct block *blocks; } agent_rest;   /* touched by few */

/* ---- what a run is made of: constant after setup ---- */
typedef struct nima_layout {                 /* one population */
    nima_layout_ in_line;                    /* what nima_at needs; places NULL: shards are found by group */
    const nima_behavior *behavior;
    uint64_t count, per_group, number;       /* per_group 0: no groups; number: in order of declaration */
    uint32_t shards;
    uint64_t groups_max;                     /* G */
    uint64_t *first;                         /* first[s]: index of the first member in shard s; first[shards] == count */
    uint32_t *slot;                          /* slot[s]: of that member */
} nima_layout;

typedef struct context context;
typedef struct engine {
    uint64_t seed;
    nima_time lookahead, warmup;
    uint32_t shards, step_bound;
    const nima_behavior *const *behaviors; uint32_t behavior_count;
    const nima_time *periods;                /* one a behavior; 0: none */
    const nima_layout *populations; uint32_t population_count;
    const nima_reporter *const *reporters; uint32_t reporter_count, row_values;
    const uint32_t *columns;                 /* of a reporter's first value in a row */
    uint32_t tally_count, level_count;
    nima_time sample;                        /* period of reporters; 0: none */
    uint32_t stride, inline_bytes;           /* of agents */
    bool fingerprint, local_steps;           /* local_steps: mail without delay never leaves a shard (lookahead, or one shard) */
    bool shared;                             /* other dispatchers hold replicas of the grow-only sets */
    bool watched;                            /* dirty or deliver is in use */
    int dirty, log_level;
    uint32_t dead_letters;                   /* run_dead_letters */
    double ticks_per_unit;
    const char *const *message_names;        /* by number; NULL: undeclared */
    memory memory;
    const nima_model *model;
    struct nima_run *run;
    void (*name)(const struct nima_run *, nima_id, char *text, size_t room);   /* runtime's: an agent's, for messages */
    const double *(*reported)(const struct engine *, nima_time at_most);   /* runtime's: the last row not after it, or NULL */
    void (*deliver)(context *, const nima_behavior *, bool starts);      /* tracing, or NULL */
} engine;

/* ---- collected per shard ---- */
typedef struct { uint64_t count; double mean, m2; } tally;
typedef struct { double now, integral; nima_time since; } level;
typedef struct { uint64_t count; double sum, least, most; } reporter_sum;   /* histograms: bins beside */

/* A map from 64-bit keys to 64-bit values, open addressing; key 0 is free. */
typedef struct { uint64_t (*slots)[2]; size_t room, count; } map;
uint64_t *map_find(const map *, uint64_t key);                /* NULL: absent */
uint64_t *map_put(map *, memory *, uint64_t key);             /* value is 0 if it was absent */
bool map_remove(map *, uint64_t key);
void map_free(map *, memory *);

typedef struct { uint64_t key; uint32_t family, count; size_t room, next_free; nima_id *subscribers; bool used; } topic;
typedef struct {                             /* free: topics given back, chained from first_free (+ 1; 0: none) */
    topic *topics; size_t count, room, first_free, free;
    map index, members;                      /* members: places in subscribers */
} topics;

typedef struct { uint64_t *bits; size_t room; uint64_t awake; nima_time due; } sweep;   /* who takes part in a period */

typedef struct {                             /* memory of agents: size classes of powers of two */
    struct block *free[48];
    struct large *large;                     /* blocks too large for a page */
    char *at, *end;
    void *pages;
} arena;

typedef struct { uint32_t slot, population; uint64_t offset; } span;   /* members of a population here: index = slot + offset */

typedef struct shard {
    /* written by its holder in a window; read by others between windows */
    char *agents, *born;                     /* slot i at i * stride behind agents if i < initial, else behind born: address
                                              * space for SLOTS_MAX of them; the initial ones of all shards lie together */
    agent_rest *rest;
    uint32_t number, slots, initial;         /* slots ever used */
    nima_time now; uint32_t step;            /* of what was executed last */
    span *spans; uint32_t span_count;        /* of the populations that have members here, by slot */
    queue queue;
    chunk_list next, cur;                    /* mail of the next step, of this one */
    uint32_t *free; size_t free_room; uint32_t free_count;    /* slots, last freed last */
    uint64_t chains;                         /* of agents that stopped */
    uint64_t alive, events, births, deaths, spread;
    nima_time last_event;                    /* -1: none */
    nima_time due;                           /* no period is due before */
    nima_time net; uint32_t net_step;        /* (time, step) of the earliest event */
    sweep *sweeps;                           /* one a behavior; NULL: no periods */
    topics topics;
    map cancelled, levels_of;                /* alarms (hashed agent and sequence); last level values */
    tally *tallies; level *levels; double *row; reporter_sum *sums;
    arena arena;
    bool starting;                           /* the initial agents have still to start, at (0, 0) */
    bool changed;                            /* since the last sample */
} shard;

/* ---- a worker's context; `nima *me` points to its first member ---- */
typedef struct { nima_time time; uint32_t step, line, level; nima_id agent; char *text; } log_line;
typedef struct { nima_err code; nima_time time; uint32_t step; nima_id agent; char text[600]; } failure;
typedef struct { nima_id to; nima_mail *mail; nima_time time; uint32_t step; } sent_record;   /* time, step: of sending */
typedef struct { uint64_t set, bit; nima_time seen; bool fresh; } set_bit;   /* what other dispatchers must be told; fresh: not set before */

struct context {
    nima me;                                 /* what the model sees */
    uint32_t step;
    agent *agent;
    const nima_mail *const *mail_first, *const *mail_left;    /* of me.own.mail; where it stood when the agent stopped */
    shard *shard;
    const engine *engine;
    chunk_list *zero;                        /* out-lists of this window, one a shard, for the next step; me.own.later: for later */
    bool sent_zero;
    nima_time limit;                         /* nothing due at or after it runs now */
    nima_time earliest; uint32_t earliest_step;   /* (time, step) that the shards run hold */
    bool all_ok;                             /* sends without delay need no second look */
    bool stopping, in_stop, in_callback;
    uint32_t lane; bool draws;               /* of `ahead`, for the agent at hand; the last agents drew: it pays to compute ahead */
    const agent *ahead_agent[RANDOM_LANES + 1];
    uint64_t ahead_block[RANDOM_LANES]; uint32_t ahead[RANDOM_LANES][4];
    nima_time halt_at; char halt_why[120];
    chunk_pool pool;
    /* scratch of the step executor */
    struct link_ends { uint32_t first, last; } *heads; size_t heads_room;   /* one a slot */
    uint64_t *marks, *summary; size_t marks_room, summary_room;   /* a bit a slot with mail; a bit a word of marks */
    struct link { const nima_mail *mail; uint32_t next; } *links; size_t links_room; uint32_t link_count;
    const nima_mail **mailbox; size_t mailbox_room;
    nima_mail **special; size_t special_room; uint32_t special_count;
    uint64_t *dead, *unread;                 /* by type; made at the first */
    uint64_t messages;
    log_line *lines; size_t line_count, line_room;
    sent_record *sent; size_t sent_count, sent_room; bool record_sent;
    set_bit *bits; size_t bit_count, bit_room;
    failure failure; bool failed;
    sigjmp_buf escape;
    uint32_t number;
    void *signal_stack;                      /* runtime's */
};

#define CONTEXT(me) ((context *)(void *)(me))

static inline agent *shard_agent(const shard *h, const engine *e, uint32_t slot) {
    return (agent *)(void *)((slot < h->initial ? h->agents : h->born) + (size_t)slot * e->stride);
}
static inline void *agent_state(const engine *e, agent *a, const nima_behavior *b) {
    return b->state_bytes <= e->inline_bytes ? a->state : *(void **)(void *)a->state;
}
static inline const nima_behavior *agent_behavior(const engine *e, const agent *a) { return e->behaviors[a->sent & 0xFFFF]; }
/* Behind the message in hand; nima_stop takes the rest away. */
static inline const nima_mail *const *context_mail(const context *c) { return c->stopping ? c->mail_left : c->me.own.mail; }
static inline nima_id shard_id(const shard *h, const agent *a, uint32_t slot) { return id_make(h->number, a->generation, slot); }

/* shard.c */
void shard_init(shard *, const engine *, uint32_t number, chunk_pool *);
void shard_fini(shard *, const engine *);
void shard_first_agents(shard *, context *);                  /* members of all populations, before their start */
nima_id shard_birth_here(context *, const nima_behavior *, const void *state, uint64_t stream, nima_id parent, uint64_t group);
void shard_agent_ends(context *, agent *, uint32_t slot);     /* after stop */
uint64_t shard_group(const shard *, const engine *, uint32_t slot);

/* Where in a population an initial agent stands; NULL: a newborn. */
static inline const span *shard_span(const shard *h, const agent *a, uint32_t slot) {
    if (a->flags & AGENT_NEWBORN) return NULL;
    const span *s = h->spans + h->span_count - 1;
    while (slot < s->slot) s--;
    return s;
}
uint64_t agent_end_chain(const engine *, agent *, nima_time, uint64_t draws);
uint64_t shard_chains(const shard *, const engine *, nima_time);   /* of all agents, as if the run ended at this time */
bool shard_steps(const shard *, const engine *);              /* likewise, in its next step */
bool shard_pending(const shard *, const engine *);            /* anything that could still happen, net of cancelled and orphaned alarms */

/* execute.c */
/* Arrivals of the window before, which ended with (t, step); empties the lists. zero: mail for the next step, or NULL. */
void shard_file(shard *, context *, nima_time t, uint32_t step, chunk_list *zero, chunk_list *later);
void shard_run(shard *, context *, nima_time until);          /* all before `until`; mail without delay stays in the shard */
void shard_run_step(shard *, context *, nima_time, uint32_t step);   /* one (time, step), which is the shard's earliest */
void shard_refresh_net(shard *);
void sweep_wake(context *, sweep *, nima_time period, uint32_t slot);
void context_forget_step(context *);

/* collect.c: row: one value a column */
void shard_sample(shard *, const engine *);                   /* reporters, into sums (and row for bins) */
double level_integral(const level *, const engine *, nima_time);   /* up to a time, from the end of warm-up */
void levels_of_end(context *, uint32_t slot);

/* topics.c */
void topics_change(context *, uint32_t family, uint64_t key, bool subscribe);
void topics_drop_dead(context *, topic *);
topic *topics_find(const topics *, uint32_t family, uint64_t key);
void topics_free(topics *, memory *);

/* arena.c */
void *arena_take(context *, size_t bytes);                    /* a block of the shard, not the agent's: large states */
void arena_give(shard *, void *);
void *arena_resize(context *, agent_rest *, void *block, size_t bytes);
void arena_give_all(shard *, agent_rest *);
void arena_each(const agent_rest *, void (*each)(void *block, size_t bytes, void *arg), void *arg);
void arena_free(arena *, memory *);

/* fail.c */
void fail(context *, nima_err, const char *format, ...) __attribute__((format(printf, 3, 4), noreturn));
#endif
