/* nima.h: everything a model needs, and the library that embeds a run.
 *
 * A model is a set of behaviors (callbacks start, update, stop over a state), the messages they exchange, parameters,
 * and one NIMA_MODEL description. Calls made from callbacks return no error codes: a broken promise stops the run and
 * names agent, time and message. Calls of the embedding library return nima_err.
 *
 * Virtual time is an integer count of ticks. Semantics: docs/guide.md. Needs only the C standard headers; compiles as
 * C17 and as C++20 with GCC or Clang. */
#ifndef NIMA_H
#define NIMA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define NIMA_ABI 2
#define NIMA_PAYLOAD_MAX 65536u             /* bytes of one message's payload, at most */
#define NIMA_FOREVER INT64_MAX              /* no end */

/* ---- values ---------------------------------------------------------------------------------------------------- */
typedef int64_t nima_time;                                   /* virtual time or delay, ticks */
typedef struct { uint64_t bits; } nima_id;                   /* an agent; {0} is nobody; a struct: not swappable */
typedef struct { nima_time time; uint64_t sequence; uint32_t step, check; } nima_alarm;   /* {0}: none */
typedef struct { uint64_t end, base; } nima_place_;          /* the engine's: members of a shard: id = base + index */
typedef struct { const nima_place_ *places; uint64_t reciprocal; } nima_layout_;
typedef struct { uint64_t count; const nima_layout_ *layout; } nima_pop;                  /* a population */
typedef struct { uint64_t nodes; const uint64_t *first; const uint32_t *to; } nima_graph; /* compressed rows */
typedef struct { uint64_t key, stream, draws, block_end; uint32_t block[4]; } nima_rng;   /* plain value */
typedef const char *nima_text;                               /* a parameter that is text */
typedef struct { const char *path; } nima_file;              /* a parameter that names an input file */
typedef struct nima_gset nima_gset;                          /* grow-only set of bits over a grid */
typedef enum { NIMA_GSET_TIMED, NIMA_GSET_EVENTUAL, NIMA_GSET_STATIC } nima_gset_mode;

/* One message as its receiver sees it; `payload` follows it in memory. Valid until the callback returns. */
typedef struct nima_mail {
    nima_time time;                          /* of arrival */
    nima_id sender;                          /* {0}: posted by the embedding program */
    uint64_t type : 16, sequence : 48;       /* number of the message; the sender's own count of sends */
    uint64_t receiver : 44, bytes : 17, kind : 3;   /* [generation | slot]; payload bytes; engine's own */
} nima_mail;

static inline bool nima_same(nima_id a, nima_id b) { return a.bits == b.bits; }
static inline bool nima_is_nobody(nima_id a) { return a.bits == 0; }
static inline const void *nima_payload(const nima_mail *m) { return m + 1; }

/* ---- handles: what a callback is given --------------------------------------------------------------------------- */
typedef struct { char *at, *end; struct chunk *head, *tail; } nima_records_;   /* the engine's: where the next record goes */
typedef struct {                             /* the engine's: what the calls below that are inline need */
    const nima_mail *const *mail, *const *mail_end;
    uint64_t *sent;                          /* [sequence 48 | behavior 16] of the agent */
    nima_records_ *near, *later;             /* mail of the own shard's next step; of later times, one a shard */
    uint64_t near_shard, shard, far_shards;  /* where a send needs no second look: without delay; (not to) the own shard */
    nima_time lookahead, last_delay, earliest_sent;
    nima_rng random;
    bool drawing;                            /* `random` is loaded */
} nima_engine_;
typedef struct nima { const void *params, *world; nima_time now; nima_id self; nima_engine_ own; } nima;   /* an agent in its callback */
typedef struct nima_setup { const void *params; void *world; } nima_setup;   /* the model before time 0 */
typedef struct nima_view { const void *params, *world; } nima_view;          /* the whole model, between ticks */

/* ---- descriptions: filled in by the macros at the end of this file ------------------------------------------------ */
typedef enum { NIMA_DOUBLE, NIMA_FLOAT, NIMA_INT, NIMA_UINT, NIMA_BOOL, NIMA_ID, NIMA_TEXT, NIMA_FILE, NIMA_POINTER,
               NIMA_OPAQUE } nima_type;
typedef enum { NIMA_COUNT, NIMA_SUM, NIMA_MEAN, NIMA_MIN, NIMA_MAX, NIMA_HISTOGRAM } nima_reduce;
typedef enum { NIMA_PART_NONE, NIMA_PART_PARAMS, NIMA_PART_WORLD, NIMA_PART_MESSAGE, NIMA_PART_BEHAVIOR,
               NIMA_PART_REPORTER, NIMA_PART_TALLY, NIMA_PART_LEVEL, NIMA_PART_TOPIC } nima_part_kind;
typedef struct { nima_part_kind kind; int line; const char *name; } nima_part;   /* first member of every description */
typedef struct { const char *name; nima_type type; uint32_t offset, bytes;
                 const char *preset, *range, *unit, *help; } nima_field;       /* the last four for parameters only */
typedef struct { nima_part part; size_t bytes; uint32_t field_count; const nima_field *fields; } nima_struct;
typedef struct { nima_part part; uint32_t type, bytes, field_count; const nima_field *fields; } nima_message;
typedef void nima_callback(nima *, void *state);
typedef struct { nima_part part; size_t state_bytes; uint32_t field_count; const nima_field *fields;
                 nima_callback *start, *update, *stop; uint32_t index; } nima_behavior;
typedef struct { nima_part part; const char *unit; const nima_behavior *of; nima_reduce reduce;
                 double (*value)(const void *state); double low, high; uint32_t bins, index; } nima_reporter;
typedef struct { nima_part part; const char *unit; uint32_t index; } nima_tally_stat;
typedef struct { nima_part part; const char *unit; uint32_t index; } nima_level_stat;
typedef struct { nima_part part; uint32_t index; } nima_topic;

typedef struct nima_model {
    const char *name, *help;                 /* one word; one sentence */
    const char *unit; double ticks_per_unit; /* of virtual time; default: "s", 1,000,000 ticks */
    void (*setup)(nima_setup *);             /* declares populations and builds the world; alike in every process */
    const char *(*check)(const nima_setup *);/* optional: across parameters, before setup; NULL or what is wrong */
    bool (*done)(nima_view *);               /* optional: on each sample; true ends the run, as a halt at its tick */
    void (*finish)(nima_view *);             /* optional: names results */
    void (*show)(nima_view *);               /* optional: for those who watch; now and then, between ticks; changes nothing */
    uint32_t abi; nima_part *const *parts, *const *parts_end;   /* filled in by NIMA_MODEL */
} nima_model;

/* ---- setup: deterministic; runs alike in every process; the world is write-protected afterwards ------------------- */
/* `count` agents of a behavior; agents of one group (`per_group` of them; 0: each by itself) share a shard and may
 * send to each other with any delay. Agents start at (0, 0), in parallel. */
nima_pop nima_populate(nima_setup *, const nima_behavior *, uint64_t count, uint64_t per_group);
void nima_lookahead(nima_setup *, nima_time);                /* promise: no mail to another group arrives sooner */
void nima_period(nima_setup *, const nima_behavior *, nima_time period);   /* update at every multiple, step 0 */
void nima_sample(nima_setup *, nima_time period);            /* of all reporters */
void nima_until(nima_setup *, nima_time);                    /* the end, if the user names none */
void nima_shards(nima_setup *, uint32_t);                    /* default: a function of the populations, docs/guide.md */
void nima_step_bound(nima_setup *, uint32_t);                /* steps per tick at most; default 1,000,000 */
nima_time nima_setup_ticks(const nima_setup *, double units);/* nearest tick */
uint64_t nima_setup_seed(const nima_setup *);
void *nima_shared(nima_setup *, size_t bytes);               /* zeroed memory for tables; read-only after setup */
void nima_parallel(nima_setup *, uint64_t n, void (*each)(uint64_t i, void *arg), void *arg);   /* on all workers */
void nima_setup_fail(nima_setup *, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
nima_rng nima_setup_stream(const nima_setup *, const char *name);          /* as nima_stream */
const void *nima_input(nima_setup *, const char *param, size_t *bytes);   /* a file parameter, mapped and hashed */
const double *nima_column(nima_setup *, const char *param, const char *column, uint64_t *rows);   /* of a CSV file */
nima_graph nima_graph_read(nima_setup *, const char *param, uint64_t nodes);   /* edge list "from,to" per line */
nima_graph nima_graph_random(nima_setup *, uint64_t nodes, double mean_degree, uint64_t key);   /* undirected */
/* A set of `bits` bits that only grows: what is added at t is seen by everyone from t + max(lookahead, 1). */
nima_gset *nima_gset_new(nima_setup *, uint64_t bits);
void nima_gset_seed(nima_setup *, nima_gset *, uint64_t bit);/* set from the beginning */
/* Otherwise than timed, a bit is seen at once by those of the same dispatcher, by the others soon (eventual) or only in
 * `finish` (static): with more than one worker the run is not reproducible. */
void nima_gset_share(nima_setup *, nima_gset *, nima_gset_mode);

/* ---- agent: who and when ------------------------------------------------------------------------------------------ */
static inline nima_id nima_self(const nima *me) { return me->self; }
static inline nima_time nima_now(const nima *me) { return me->now; }
uint32_t nima_step(const nima *);
uint64_t nima_index(const nima *);                           /* in its population; of a newborn: UINT64_MAX */
nima_id nima_parent(const nima *);                           /* {0} for an initial agent */
static inline nima_id nima_at(nima_pop, uint64_t index);     /* a member's id: arithmetic; index < count */
nima_time nima_ticks(const nima *, double units);            /* nearest tick */
double nima_units(const nima *, nima_time);                  /* ticks to units */

/* ---- mail ---------------------------------------------------------------------------------------------------------- */
static inline const nima_mail *nima_next(nima *);            /* next message of this step's mail; NULL at the end */
static inline uint64_t nima_mail_left(const nima *);         /* messages nima_next has still to give */
void nima_shuffle_mail(nima *);                              /* from the agent's stream, where sender order is unfair */
/* Payload is copied. delay >= 0; to another group >= lookahead. Padding bytes should be zero: generated senders do. */
static inline void nima_send(nima *, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes);
nima_alarm nima_set_alarm(nima *, nima_time delay, uint32_t type, const void *payload, uint32_t bytes);
bool nima_cancel(nima *, nima_alarm);                        /* false: too late */
nima_alarm nima_move(nima *, nima_alarm, nima_time delay);   /* set anew, delay from now; {0}: too late */
void nima_publish(nima *, const nima_topic *, uint64_t key, nima_time delay, uint32_t type, const void *payload,
                  uint32_t bytes);                           /* delay >= lookahead */
void nima_subscribe(nima *, const nima_topic *, uint64_t key);   /* from a later (time, step) on */
void nima_unsubscribe(nima *, const nima_topic *, uint64_t key);

/* ---- life and memory ------------------------------------------------------------------------------------------------ */
nima_id nima_spawn(nima *, const nima_behavior *, nima_time delay, const void *state);   /* own shard; NULL: zeros */
void nima_spawn_far(nima *, const nima_behavior *, nima_time delay, const void *state);  /* spread over the shards */
void nima_spawn_in(nima *, uint32_t shard, const nima_behavior *, nima_time delay, const void *state);
void nima_stop(nima *);                                      /* after this callback; mail gives nothing more */
void nima_keep_awake(nima *, bool);                          /* take part in the period, from the next due time on */
void *nima_resize(nima *, void *block, size_t bytes);        /* agent's own memory, new bytes zero; 0 frees; dies with it */
void nima_halt(nima *, const char *why);                     /* ends the run as if until = now + max(lookahead, 1) */
void nima_fail(nima *, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
enum { NIMA_ERROR, NIMA_WARNING, NIMA_INFO, NIMA_DEBUG };
void nima_log(nima *, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- numbers: same bits on every host; a stream is Philox4x32-10, a draw is 32 bits ---------------------------------- */
static inline nima_rng *nima_random(nima *);                 /* the agent's own stream; valid in this callback */
nima_rng nima_stream(const nima *, const char *name);        /* run-wide, by name: common random numbers */
static inline uint32_t nima_bits32(nima_rng *);              /* 1 draw */
static inline double nima_uniform(nima_rng *);               /* [0, 1), 53 bits; 2 draws */
static inline uint64_t nima_below(nima_rng *, uint64_t n);   /* 0 .. n-1, n > 0; 1 draw if n < 2^32, else 2; more if rejected */
static inline bool nima_chance(nima_rng *, double p);        /* 1 draw, for any p (a second in 2^-32 of cases) */
double nima_exponential(nima_rng *, double mean);            /* ziggurat: 2 draws in 98 % of cases, else 4, 8 .. more */
double nima_normal(nima_rng *, double mean, double sd);      /* ziggurat: 2 draws in 98 % of cases, else 4, 8 .. more */
double nima_gamma(nima_rng *, double shape, double scale);
uint64_t nima_poisson(nima_rng *, double mean);
uint64_t nima_binomial(nima_rng *, uint64_t n, double p);
uint64_t nima_geometric(nima_rng *, double p);               /* failures before the first success */
double nima_exp(double), nima_ln(double), nima_pow(double, double), nima_sin(double), nima_cos(double);

/* ---- shared and collected --------------------------------------------------------------------------------------------- */
bool nima_gset_has(const nima *, const nima_gset *, uint64_t bit);   /* as of now */
void nima_gset_add(nima *, nima_gset *, uint64_t bit);               /* seen from now + max(lookahead, 1) */
void nima_tally(nima *, const nima_tally_stat *, double x);  /* one observation */
void nima_level(nima *, const nima_level_stat *, double x);  /* this agent's share of a time-weighted level, from now */
double nima_reported(const nima *, const nima_reporter *);   /* last sample at least max(lookahead, 1) old; else 0 */

/* ---- the whole model, in `done` and `finish` ---------------------------------------------------------------------------- */
nima_time nima_view_now(const nima_view *);                  /* done: the sample's tick; finish: the end */
double nima_view_units(const nima_view *, nima_time);
double nima_last(const nima_view *, const nima_reporter *);  /* last sample */
uint64_t nima_tally_count(const nima_view *, const nima_tally_stat *);
double nima_tally_mean(const nima_view *, const nima_tally_stat *);
double nima_tally_sd(const nima_view *, const nima_tally_stat *);
double nima_level_mean(const nima_view *, const nima_level_stat *);   /* over time since --warmup */
/* finish only: all live agents of a behavior, shard by shard, in slot order */
void nima_view_each(const nima_view *, const nima_behavior *, void (*each)(nima_id, const void *state, void *arg), void *arg);
const void *nima_view_state(const nima_view *, nima_id, const nima_behavior *);   /* NULL: not alive, other behavior */
bool nima_view_gset(const nima_view *, const nima_gset *, uint64_t bit);
nima_time nima_view_gset_time(const nima_view *, const nima_gset *, uint64_t bit);   /* seen from; NIMA_FOREVER: never */
/* finish only: bits newly set, times the dispatchers told of it, so measured; a hash of the bits and since when each is seen */
uint64_t nima_view_broadcasts(const nima_view *);
uint64_t nima_view_gset_hash(const nima_view *, const nima_gset *);
void nima_result(nima_view *, const char *name, double);     /* part of the fingerprint */
void nima_result_hash(nima_view *, const char *name, uint64_t);      /* printed as 16 hexadecimal digits */
void nima_result_measured(nima_view *, const char *name, double);    /* a measurement: not in the fingerprint */
FILE *nima_view_file(nima_view *, const char *name);         /* new file in the run folder; NULL without one; closed for you */
/* show only. A picture: row by row a byte for each pixel, 0 the background, 1 to 255 from dark to light; at most 1024 a side. */
void nima_show_picture(nima_view *, const char *name, uint32_t width, uint32_t height, const uint8_t *shades);
void nima_show_values(nima_view *, const char *name, const double *values, uint32_t count);   /* at most 4096 */

/* ---- embedding: open a run, step it, look at it, test one behavior --------------------------------------------------------- */
#define NIMA_ERRORS(X) \
    X(NIMA_OK, 0, "success") \
    X(NIMA_E_USAGE, -1, "bad argument") \
    X(NIMA_E_PARAM, -2, "bad parameter") \
    X(NIMA_E_INPUT, -3, "bad input file") \
    X(NIMA_E_MODEL, -4, "the model failed or broke a promise") \
    X(NIMA_E_CRASH, -5, "the model crashed") \
    X(NIMA_E_MEMORY, -6, "out of memory") \
    X(NIMA_E_SYSTEM, -7, "a call to the system failed") \
    X(NIMA_E_LOAD, -8, "the model could not be loaded") \
    X(NIMA_E_HALTED, -9, "interrupted by the user") \
    X(NIMA_E_LINK, -10, "a link or another process was lost")
#define NIMA_ERROR_ENUM_(name, value, text) name = value,
typedef enum { NIMA_ERRORS(NIMA_ERROR_ENUM_) } nima_err;
#undef NIMA_ERROR_ENUM_
#define NIMA_MUST_CHECK __attribute__((warn_unused_result))
typedef struct nima_run nima_run;
typedef struct {                             /* zero: the default */
    uint64_t seed;                           /* default 0 */
    unsigned threads;                        /* workers; 0: one per core */
    const char *const *set;                  /* "name=value", NULL-terminated; NULL: all defaults */
    const char *out;                         /* run folder, empty or new, for CSVs and log; NULL: nothing is written */
    bool no_fingerprint;                     /* saves a few ns per event */
    bool record_sent;                        /* keep what the last run_to or run_step sent, for nima_sent */
    bool no_pin;                             /* leave threads unpinned */
} nima_options;
typedef struct {
    uint64_t agents, events, dead_letters, unread, results;   /* agents: alive now */
    nima_time virtual_time; uint64_t fingerprint; double wall_s; unsigned threads, shards; bool halted, exhausted;
} nima_summary;                              /* exhausted: nothing is pending */
const char *nima_error_text(nima_err);
const char *nima_error_detail(const nima_run *);             /* of the last failure; NULL run: of the last nima_open/nima_load */
nima_err nima_load(const char *path, const nima_model **) NIMA_MUST_CHECK;   /* a model's shared object; never unloaded */
nima_err nima_open(nima_run **, const nima_model *, const nima_options *) NIMA_MUST_CHECK;
nima_err nima_run_to(nima_run *, nima_time until) NIMA_MUST_CHECK;   /* everything before `until`; NIMA_FOREVER: all there is */
nima_err nima_run_step(nima_run *) NIMA_MUST_CHECK;          /* the next (time, step), one only */
nima_err nima_post(nima_run *, nima_id to, nima_time at, uint32_t type, const void *payload, uint32_t bytes) NIMA_MUST_CHECK;
size_t nima_sent_count(const nima_run *);
const nima_mail *nima_sent(const nima_run *, size_t i, nima_id *to);
const void *nima_state(const nima_run *, nima_id, const nima_behavior *);   /* NULL: not alive, other behavior */
nima_id nima_member(const nima_run *, const nima_behavior *, uint64_t index);   /* of the behavior's first population */
double nima_value(const nima_run *, const char *result);     /* NaN: no such result; results exist after nima_finish */
nima_err nima_finish(nima_run *) NIMA_MUST_CHECK;            /* calls the model's finish, once */
nima_err nima_look(nima_run *, nima_summary *) NIMA_MUST_CHECK;
void nima_close(nima_run *);

/* ---- macros a model is written with -------------------------------------------------------------------------------------------
 * NIMA_PARAMS((type, name, default, "range", "unit", "help"), ...)   type params, params_of(me | setup | view)
 * NIMA_WORLD((type, name), ...)                                      type world, world_of(...), setup_world(setup)
 * NIMA_MESSAGE(number, job, (type, field), ...)   type job, job_type, job_send(me, to, delay, fields...),
 *                          job_alarm(me, delay, fields...), job_publish(me, topic, key, delay, fields...), job_in(mail)
 * NIMA_SIGNAL(number, tick)                       the same, without payload
 * NIMA_BYTES(number, blob)                        the same, with (const void *, uint32_t bytes) for fields
 * NIMA_STATE(person, (type, field), ...)          type person; NIMA_STATELESS(person): without fields
 * NIMA_BEHAVIOR(person, start, update, stop)      those of person_start(nima *, person *) ... that exist, in this order;
 *                          stands before or after them; gives person_behavior, person_populate, person_spawn, person_spawn_far, person_spawn_in,
 *                          person_at(view, id)
 * NIMA_REPORTER(name, sum, person, "unit", expression in self)       count sum mean min max
 * NIMA_BINS(name, person, "unit", low, high, bins, expression)       histogram
 * NIMA_TALLY(name, "unit")  NIMA_LEVEL(name, "unit")  NIMA_TOPIC(name)
 * NIMA_EACH(me, m) { ... }                        loops over this step's mail
 * NIMA_RESIZE(me, pointer, count)                 an agent's own array
 * NIMA_MODEL(.name = "x", .help = "...", .setup = setup, ...)        once
 * A range is "low..high" with either side left out, or "a|b|c" for text, or "". */
#ifdef __cplusplus
#define NIMA_CAST_(T, x) static_cast<T>(x)
extern "C++" {
template <class T> constexpr nima_type nima_type_of() {
    if constexpr (__is_same(T, double)) return NIMA_DOUBLE;
    else if constexpr (__is_same(T, float)) return NIMA_FLOAT;
    else if constexpr (__is_same(T, bool)) return NIMA_BOOL;
    else if constexpr (__is_same(T, nima_id)) return NIMA_ID;
    else if constexpr (__is_same(T, nima_text)) return NIMA_TEXT;
    else if constexpr (__is_same(T, nima_file)) return NIMA_FILE;
    else if constexpr (__is_same(T, unsigned char) || __is_same(T, unsigned short) || __is_same(T, unsigned)
                       || __is_same(T, unsigned long) || __is_same(T, unsigned long long)) return NIMA_UINT;
    else if constexpr (__is_same(T, char) || __is_same(T, signed char) || __is_same(T, short) || __is_same(T, int)
                       || __is_same(T, long) || __is_same(T, long long) || __is_enum(T)) return NIMA_INT;
    else return NIMA_OPAQUE;
}
template <class T> constexpr nima_type nima_type_of(T **) { return NIMA_POINTER; }
static inline const void *nima_params_(const nima *h) { return h->params; }
static inline const void *nima_params_(const nima_setup *h) { return h->params; }
static inline const void *nima_params_(const nima_view *h) { return h->params; }
static inline const void *nima_world_(const nima *h) { return h->world; }
static inline const void *nima_world_(const nima_view *h) { return h->world; }
static inline const void *nima_world_(const nima_setup *h) { return h->world; }
}
#define NIMA_TYPE_OF_(T) (nima_is_pointer_((T *)nullptr) && nima_type_of<T>() == NIMA_OPAQUE ? NIMA_POINTER : nima_type_of<T>())
extern "C++" {
template <class T> constexpr bool nima_is_pointer_(T **) { return true; }
constexpr bool nima_is_pointer_(...) { return false; }
}
#define NIMA_HANDLE_FN_(type, name, from) \
    template <class H> NIMA_U_ const type *name(const H *handle) { return static_cast<const type *>(from(handle)); }
#define NIMA_ASSERT_ static_assert
#define NIMA_ALIGN_OF_ alignof
#define NIMA_QUIET_ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define NIMA_QUIET_END_ _Pragma("GCC diagnostic pop")
#else
#define NIMA_CAST_(T, x) ((T)(x))
#define NIMA_TYPE_OF_(T) _Generic((T *)0, double *: NIMA_DOUBLE, float *: NIMA_FLOAT, bool *: NIMA_BOOL, \
    nima_id *: NIMA_ID, nima_text *: NIMA_TEXT, nima_file *: NIMA_FILE, unsigned char *: NIMA_UINT, \
    unsigned short *: NIMA_UINT, unsigned *: NIMA_UINT, unsigned long *: NIMA_UINT, unsigned long long *: NIMA_UINT, \
    char *: NIMA_INT, signed char *: NIMA_INT, short *: NIMA_INT, int *: NIMA_INT, long *: NIMA_INT, \
    long long *: NIMA_INT, default: __builtin_classify_type(*(T *)0) == 5 ? NIMA_POINTER : NIMA_OPAQUE)
typedef union __attribute__((transparent_union)) { const nima *agent; const nima_setup *setup; const nima_view *view;
                                                   } nima_handle_;
#define NIMA_HANDLE_FN_(type, name, from) \
    NIMA_U_ const type *name(nima_handle_ handle) { return (const type *)from(handle.agent); }
#define nima_params_(h) ((h)->params)
#define nima_world_(h) ((h)->world)
#define NIMA_ASSERT_ _Static_assert
#define NIMA_ALIGN_OF_ _Alignof
#define NIMA_QUIET_
#define NIMA_QUIET_END_
#endif
#define NIMA_U_ static inline __attribute__((unused))

/* ---- the engine's: calls made once an event or more, in line; the rest of each is in the library ------------------------------- */
__extension__ typedef unsigned __int128 nima_wide_;
nima_id nima_at_(nima_pop, uint64_t index);
nima_rng *nima_random_(nima *);
uint32_t nima_bits32_(nima_rng *);
double nima_uniform_(nima_rng *);
uint64_t nima_below_(nima_rng *, uint64_t n);
bool nima_chance_(nima_rng *, double p);
void nima_send_(nima *, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes);

static inline nima_id nima_at(nima_pop p, uint64_t index) {
    if (__builtin_expect(index >= p.count || p.layout->places == NULL, 0)) return nima_at_(p, index);
    const nima_place_ *place = p.layout->places + NIMA_CAST_(uint64_t, NIMA_CAST_(nima_wide_, index) * p.layout->reciprocal >> 64);
    place += index >= place->end;            /* the reciprocal may fall one short */
    nima_id id = { place->base + index };
    return id;
}
static inline const nima_mail *nima_next(nima *me) { return me->own.mail < me->own.mail_end ? *me->own.mail++ : NULL; }
static inline uint64_t nima_mail_left(const nima *me) { return NIMA_CAST_(uint64_t, me->own.mail_end - me->own.mail); }

static inline nima_rng *nima_random(nima *me) { return me->own.drawing ? &me->own.random : nima_random_(me); }
static inline bool nima_at_hand_(const nima_rng *r, uint64_t n) {   /* n draws are left of the block */
    return __builtin_expect(r->block_end - r->draws - n <= 4 - n, 1);
}
static inline uint32_t nima_bits32(nima_rng *r) { return nima_at_hand_(r, 1) ? r->block[r->draws++ & 3] : nima_bits32_(r); }
static inline double nima_uniform(nima_rng *r) {
    if (!nima_at_hand_(r, 2)) return nima_uniform_(r);
    const uint64_t high = r->block[r->draws & 3], low = r->block[(r->draws & 3) + 1];
    r->draws += 2;
    return NIMA_CAST_(double, NIMA_CAST_(int64_t, (high << 32 | low) >> 11)) * 0x1p-53;
}
static inline uint64_t nima_below(nima_rng *r, uint64_t n) {
    if (n > UINT32_MAX || !nima_at_hand_(r, 1)) return nima_below_(r, n);
    const uint64_t product = r->block[r->draws & 3] * n;
    if (__builtin_expect(NIMA_CAST_(uint32_t, product) < n, 0)) return nima_below_(r, n);
    r->draws++;
    return product >> 32;
}
static inline bool nima_chance(nima_rng *r, double p) {
    if (!nima_at_hand_(r, 1) || !(p > 0 && p <= 1)) return nima_chance_(r, p);
    const int64_t draw = r->block[r->draws & 3], whole = NIMA_CAST_(int64_t, p * 0x1p32);
    if (__builtin_expect(draw == whole, 0)) return nima_chance_(r, p);
    r->draws++;
    return draw < whole;
}

/* The two common ways: to the next step of the own shard, and to a later time of another. Small payloads of a size the compiler knows. */
static inline void nima_send(nima *me, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    const uint64_t shard = to.bits >> 44, generation = to.bits & NIMA_CAST_(uint64_t, 0xFFFFFF) << 20;
    const uint32_t size = NIMA_CAST_(uint32_t, sizeof(nima_mail)) + ((bytes + 7) & ~7u);
    nima_records_ *list = NULL;
    if (delay == 0) {
        if (shard == me->own.near_shard) list = me->own.near;
    } else if (shard < me->own.far_shards && shard != me->own.shard && delay >= me->own.lookahead && delay <= me->own.last_delay - me->now)
        list = &me->own.later[shard];
    if (!__builtin_constant_p(bytes) || __builtin_expect(list == NULL || type - 1 >= 65535 || bytes > 56 || generation == 0
        || size > NIMA_CAST_(size_t, list->end - list->at), 0)) {
        nima_send_(me, to, delay, type, payload, bytes);
        return;
    }
    const nima_time time = me->now + delay;
    if (delay != 0 && time < me->own.earliest_sent) me->own.earliest_sent = time;
    uint64_t sent = *me->own.sent, *w = NIMA_CAST_(uint64_t *, NIMA_CAST_(void *, list->at));
    list->at += size;
    w[0] = NIMA_CAST_(uint64_t, time);
    w[1] = me->self.bits;
    w[2] = (sent & ~NIMA_CAST_(uint64_t, 0xFFFF)) | type;
    w[3] = (to.bits & ((NIMA_CAST_(uint64_t, 1) << 44) - 1)) | NIMA_CAST_(uint64_t, bytes) << 44;
    if (bytes & 7) w[4 + bytes / 8] = 0;     /* padding is fingerprinted */
    if (bytes) memcpy(w + 4, payload, bytes);
    *me->own.sent = sent + 0x10000;
}


/* NIMA_FOR_(F, arg, pairs...): F(arg, pair) for each, up to 24 */
#define NIMA_CAT_(a, b) NIMA_CAT2_(a, b)
#define NIMA_CAT2_(a, b) a##b
#define NIMA_COUNT_(...) NIMA_COUNT2_(0, ##__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define NIMA_COUNT2_(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, N, ...) N
#define NIMA_FOR_(F, arg, ...) NIMA_CAT_(NIMA_FOR, NIMA_COUNT_(__VA_ARGS__))(F, arg, ##__VA_ARGS__)
#define NIMA_FOR0(F, z, ...)
#define NIMA_FOR1(F, z, x) F(z, x)
#define NIMA_FOR2(F, z, x, ...) F(z, x) NIMA_FOR1(F, z, __VA_ARGS__)
#define NIMA_FOR3(F, z, x, ...) F(z, x) NIMA_FOR2(F, z, __VA_ARGS__)
#define NIMA_FOR4(F, z, x, ...) F(z, x) NIMA_FOR3(F, z, __VA_ARGS__)
#define NIMA_FOR5(F, z, x, ...) F(z, x) NIMA_FOR4(F, z, __VA_ARGS__)
#define NIMA_FOR6(F, z, x, ...) F(z, x) NIMA_FOR5(F, z, __VA_ARGS__)
#define NIMA_FOR7(F, z, x, ...) F(z, x) NIMA_FOR6(F, z, __VA_ARGS__)
#define NIMA_FOR8(F, z, x, ...) F(z, x) NIMA_FOR7(F, z, __VA_ARGS__)
#define NIMA_FOR9(F, z, x, ...) F(z, x) NIMA_FOR8(F, z, __VA_ARGS__)
#define NIMA_FOR10(F, z, x, ...) F(z, x) NIMA_FOR9(F, z, __VA_ARGS__)
#define NIMA_FOR11(F, z, x, ...) F(z, x) NIMA_FOR10(F, z, __VA_ARGS__)
#define NIMA_FOR12(F, z, x, ...) F(z, x) NIMA_FOR11(F, z, __VA_ARGS__)
#define NIMA_FOR13(F, z, x, ...) F(z, x) NIMA_FOR12(F, z, __VA_ARGS__)
#define NIMA_FOR14(F, z, x, ...) F(z, x) NIMA_FOR13(F, z, __VA_ARGS__)
#define NIMA_FOR15(F, z, x, ...) F(z, x) NIMA_FOR14(F, z, __VA_ARGS__)
#define NIMA_FOR16(F, z, x, ...) F(z, x) NIMA_FOR15(F, z, __VA_ARGS__)
#define NIMA_FOR17(F, z, x, ...) F(z, x) NIMA_FOR16(F, z, __VA_ARGS__)
#define NIMA_FOR18(F, z, x, ...) F(z, x) NIMA_FOR17(F, z, __VA_ARGS__)
#define NIMA_FOR19(F, z, x, ...) F(z, x) NIMA_FOR18(F, z, __VA_ARGS__)
#define NIMA_FOR20(F, z, x, ...) F(z, x) NIMA_FOR19(F, z, __VA_ARGS__)
#define NIMA_FOR21(F, z, x, ...) F(z, x) NIMA_FOR20(F, z, __VA_ARGS__)
#define NIMA_FOR22(F, z, x, ...) F(z, x) NIMA_FOR21(F, z, __VA_ARGS__)
#define NIMA_FOR23(F, z, x, ...) F(z, x) NIMA_FOR22(F, z, __VA_ARGS__)
#define NIMA_FOR24(F, z, x, ...) F(z, x) NIMA_FOR23(F, z, __VA_ARGS__)

#define NIMA_MEMBER_(z, pair) NIMA_MEMBER2_ pair
#define NIMA_MEMBER2_(type, name, ...) type name;
#define NIMA_ARG_(z, pair) NIMA_ARG2_ pair
#define NIMA_ARG2_(type, name) , type name
#define NIMA_SET_(z, pair) NIMA_SET2_ pair
#define NIMA_SET2_(type, name) nima_value_.name = name;
#define NIMA_FIELD_(T, pair) NIMA_FIELD2_(T, NIMA_FIRST_ pair, NIMA_SECOND_ pair)
#define NIMA_FIRST_(type, ...) type
#define NIMA_SECOND_(type, name, ...) name
#define NIMA_FIELD2_(T, type, name) NIMA_FIELD3_(T, type, name)
#define NIMA_FIELD3_(T, type, name) \
    { #name, NIMA_TYPE_OF_(type), (uint32_t)offsetof(T, name), (uint32_t)sizeof(type), NULL, NULL, NULL, NULL },
#define NIMA_PARAM_(T, tuple) NIMA_PARAM2_ tuple
#define NIMA_PARAM2_(type, name, preset, range, unit, help) \
    { #name, NIMA_TYPE_OF_(type), (uint32_t)offsetof(params, name), (uint32_t)sizeof(type), #preset, range, unit, help },
#define NIMA_END_FIELD_ { NULL, NIMA_OPAQUE, 0, 0, NULL, NULL, NULL, NULL }

#define NIMA_PART_(name, object) \
    static nima_part *const nima_part_##name __attribute__((section("nima_parts"), used)) = NIMA_CAST_(nima_part *, &(object).part);

#define NIMA_PARAMS(...) \
    typedef struct params { NIMA_FOR_(NIMA_MEMBER_, , __VA_ARGS__) } params; \
    static const nima_field nima_params_fields[] = { NIMA_FOR_(NIMA_PARAM_, params, __VA_ARGS__) NIMA_END_FIELD_ }; \
    static nima_struct nima_params_struct = { { NIMA_PART_PARAMS, __LINE__, "params" }, sizeof(params), NIMA_COUNT_(__VA_ARGS__), nima_params_fields }; \
    NIMA_PART_(params, nima_params_struct) \
    NIMA_HANDLE_FN_(params, params_of, nima_params_)
#define NIMA_WORLD(...) \
    typedef struct world { NIMA_FOR_(NIMA_MEMBER_, , __VA_ARGS__) } world; \
    static nima_struct nima_world_struct = { { NIMA_PART_WORLD, __LINE__, "world" }, sizeof(world), 0, NULL }; \
    NIMA_PART_(world, nima_world_struct) \
    NIMA_U_ world *setup_world(nima_setup *s) { return NIMA_CAST_(world *, s->world); } \
    NIMA_HANDLE_FN_(world, world_of, nima_world_)

#define NIMA_MESSAGE_PART_(number, T, size, count) \
    enum { T##_type = (number) }; \
    NIMA_ASSERT_((number) > 0 && (number) < 65536, "a message's number is 1 to 65535"); \
    static nima_message nima_message_##T = { { NIMA_PART_MESSAGE, __LINE__, #T }, T##_type, size, count, nima_fields_##T }; \
    NIMA_PART_(message_##T, nima_message_##T)
#define NIMA_MESSAGE(number, T, ...) \
    typedef struct T { NIMA_FOR_(NIMA_MEMBER_, , __VA_ARGS__) } T; \
    NIMA_ASSERT_(sizeof(T) <= NIMA_PAYLOAD_MAX && NIMA_ALIGN_OF_(T) <= 8, "a message is at most 64 KiB and aligned to 8"); \
    static const nima_field nima_fields_##T[] = { NIMA_FOR_(NIMA_FIELD_, T, __VA_ARGS__) NIMA_END_FIELD_ }; \
    NIMA_MESSAGE_PART_(number, T, sizeof(T), NIMA_COUNT_(__VA_ARGS__)) \
    NIMA_U_ void T##_send(nima *me, nima_id to, nima_time delay NIMA_FOR_(NIMA_ARG_, , __VA_ARGS__)) { \
        T nima_value_; memset(&nima_value_, 0, sizeof nima_value_); NIMA_FOR_(NIMA_SET_, , __VA_ARGS__) \
        nima_send(me, to, delay, T##_type, &nima_value_, (uint32_t)sizeof nima_value_); } \
    NIMA_U_ nima_alarm T##_alarm(nima *me, nima_time delay NIMA_FOR_(NIMA_ARG_, , __VA_ARGS__)) { \
        T nima_value_; memset(&nima_value_, 0, sizeof nima_value_); NIMA_FOR_(NIMA_SET_, , __VA_ARGS__) \
        return nima_set_alarm(me, delay, T##_type, &nima_value_, (uint32_t)sizeof nima_value_); } \
    NIMA_U_ void T##_publish(nima *me, const nima_topic *topic, uint64_t key, nima_time delay NIMA_FOR_(NIMA_ARG_, , __VA_ARGS__)) { \
        T nima_value_; memset(&nima_value_, 0, sizeof nima_value_); NIMA_FOR_(NIMA_SET_, , __VA_ARGS__) \
        nima_publish(me, topic, key, delay, T##_type, &nima_value_, (uint32_t)sizeof nima_value_); } \
    NIMA_U_ const T *T##_in(const nima_mail *m) { return m->type == T##_type ? NIMA_CAST_(const T *, nima_payload(m)) : NULL; }
#define NIMA_SIGNAL(number, T) \
    static const nima_field nima_fields_##T[] = { NIMA_END_FIELD_ }; \
    NIMA_MESSAGE_PART_(number, T, 0, 0) \
    NIMA_U_ void T##_send(nima *me, nima_id to, nima_time delay) { nima_send(me, to, delay, T##_type, NULL, 0); } \
    NIMA_U_ nima_alarm T##_alarm(nima *me, nima_time delay) { return nima_set_alarm(me, delay, T##_type, NULL, 0); } \
    NIMA_U_ void T##_publish(nima *me, const nima_topic *topic, uint64_t key, nima_time delay) { \
        nima_publish(me, topic, key, delay, T##_type, NULL, 0); } \
    NIMA_U_ bool T##_in(const nima_mail *m) { return m->type == T##_type; }
#define NIMA_BYTES(number, T) \
    static const nima_field nima_fields_##T[] = { NIMA_END_FIELD_ }; \
    NIMA_MESSAGE_PART_(number, T, UINT32_MAX, 0) \
    NIMA_U_ void T##_send(nima *me, nima_id to, nima_time delay, const void *payload, uint32_t bytes) { \
        nima_send(me, to, delay, T##_type, payload, bytes); } \
    NIMA_U_ nima_alarm T##_alarm(nima *me, nima_time delay, const void *payload, uint32_t bytes) { \
        return nima_set_alarm(me, delay, T##_type, payload, bytes); } \
    NIMA_U_ void T##_publish(nima *me, const nima_topic *topic, uint64_t key, nima_time delay, const void *payload, uint32_t bytes) { \
        nima_publish(me, topic, key, delay, T##_type, payload, bytes); } \
    NIMA_U_ const void *T##_in(const nima_mail *m, uint32_t *bytes) { \
        *bytes = (uint32_t)m->bytes; return m->type == T##_type ? nima_payload(m) : NULL; }

#define NIMA_STATE(T, ...) \
    typedef struct T { NIMA_FOR_(NIMA_MEMBER_, , __VA_ARGS__) } T; \
    NIMA_ASSERT_(NIMA_ALIGN_OF_(T) <= 8, "a state is aligned to 8 at most"); \
    enum { T##_bytes_ = (int)sizeof(T), T##_field_count_ = NIMA_COUNT_(__VA_ARGS__) }; \
    static const nima_field nima_fields_##T[] = { NIMA_FOR_(NIMA_FIELD_, T, __VA_ARGS__) NIMA_END_FIELD_ };
#define NIMA_STATELESS(T) \
    typedef struct T { char nothing_; } T; \
    enum { T##_bytes_ = 0, T##_field_count_ = 0 }; \
    static const nima_field nima_fields_##T[] = { NIMA_END_FIELD_ };
#define NIMA_CALLBACK_start(T) static void T##_start(nima *, T *); \
    NIMA_U_ void T##_start_(nima *me, void *self) { T##_start(me, NIMA_CAST_(T *, self)); }
#define NIMA_CALLBACK_update(T) static void T##_update(nima *, T *); \
    NIMA_U_ void T##_update_(nima *me, void *self) { T##_update(me, NIMA_CAST_(T *, self)); }
#define NIMA_CALLBACK_stop(T) static void T##_stop(nima *, T *); \
    NIMA_U_ void T##_stop_(nima *me, void *self) { T##_stop(me, NIMA_CAST_(T *, self)); }
#define NIMA_WRAP_(T, which) NIMA_CALLBACK_##which(T)
#define NIMA_PICK_(T, which) NIMA_PICK_##which(T)
#define NIMA_PICK_start(T) .start = T##_start_,
#define NIMA_PICK_update(T) .update = T##_update_,
#define NIMA_PICK_stop(T) .stop = T##_stop_,
/* NIMA_BEHAVIOR(T, start, update, stop) in this order; leave out what does not exist */
#define NIMA_BEHAVIOR(T, ...) \
    NIMA_FOR_(NIMA_WRAP_, T, __VA_ARGS__) \
    NIMA_QUIET_ static nima_behavior T##_behavior[1] = { { .part = { NIMA_PART_BEHAVIOR, __LINE__, #T }, \
        .state_bytes = T##_bytes_, .field_count = T##_field_count_, .fields = nima_fields_##T, \
        NIMA_FOR_(NIMA_PICK_, T, __VA_ARGS__) .index = 0 } }; NIMA_QUIET_END_ \
    NIMA_PART_(behavior_##T, T##_behavior[0]) \
    NIMA_U_ nima_pop T##_populate(nima_setup *s, uint64_t count, uint64_t per_group) { \
        return nima_populate(s, T##_behavior, count, per_group); } \
    NIMA_U_ nima_id T##_spawn(nima *me, nima_time delay, const T *state) { return nima_spawn(me, T##_behavior, delay, state); } \
    NIMA_U_ void T##_spawn_far(nima *me, nima_time delay, const T *state) { nima_spawn_far(me, T##_behavior, delay, state); } \
    NIMA_U_ void T##_spawn_in(nima *me, uint32_t shard, nima_time delay, const T *state) { \
        nima_spawn_in(me, shard, T##_behavior, delay, state); } \
    NIMA_U_ const T *T##_at(const nima_view *v, nima_id id) { \
        return NIMA_CAST_(const T *, nima_view_state(v, id, T##_behavior)); }

#define NIMA_REDUCE_count NIMA_COUNT
#define NIMA_REDUCE_sum NIMA_SUM
#define NIMA_REDUCE_mean NIMA_MEAN
#define NIMA_REDUCE_min NIMA_MIN
#define NIMA_REDUCE_max NIMA_MAX
#define NIMA_REPORTER_(name, how, T, unit, low, high, bins, ...) \
    static double nima_value_of_##name(const void *state_) { \
        const T *self = NIMA_CAST_(const T *, state_); (void)self; return NIMA_CAST_(double, (__VA_ARGS__)); } \
    static nima_reporter name[1] = { { { NIMA_PART_REPORTER, __LINE__, #name }, unit, T##_behavior, how, \
        nima_value_of_##name, low, high, bins, 0 } }; \
    NIMA_PART_(reporter_##name, name[0])
#define NIMA_REPORTER(name, how, T, unit, ...) NIMA_REPORTER_(name, NIMA_REDUCE_##how, T, unit, 0, 0, 0, __VA_ARGS__)
#define NIMA_BINS(name, T, unit, low, high, bins, ...) \
    NIMA_REPORTER_(name, NIMA_HISTOGRAM, T, unit, low, high, bins, __VA_ARGS__)
#define NIMA_TALLY(name, unit) \
    static nima_tally_stat name[1] = { { { NIMA_PART_TALLY, __LINE__, #name }, unit, 0 } }; NIMA_PART_(tally_##name, name[0])
#define NIMA_LEVEL(name, unit) \
    static nima_level_stat name[1] = { { { NIMA_PART_LEVEL, __LINE__, #name }, unit, 0 } }; NIMA_PART_(level_##name, name[0])
#define NIMA_TOPIC(name) \
    static nima_topic name[1] = { { { NIMA_PART_TOPIC, __LINE__, #name }, 0 } }; NIMA_PART_(topic_##name, name[0])

#define NIMA_EACH(me, m) for (const nima_mail *m; (m = nima_next(me)) != NULL;)
#define NIMA_RESIZE(me, pointer, count) \
    ((pointer) = (__typeof__(pointer))nima_resize((me), (pointer), (size_t)(count) * sizeof *(pointer)))

#define NIMA_MODEL(...) \
    extern nima_part *const __start_nima_parts[] __attribute__((visibility("hidden"))); \
    extern nima_part *const __stop_nima_parts[] __attribute__((visibility("hidden"))); \
    static nima_part *const nima_part_none __attribute__((section("nima_parts"), used)) = NULL; \
    extern const nima_model nima_model_ __attribute__((visibility("default"))); \
    NIMA_QUIET_ const nima_model nima_model_ = { __VA_ARGS__, .abi = NIMA_ABI, \
        .parts = __start_nima_parts, .parts_end = __stop_nima_parts }; NIMA_QUIET_END_

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
