/* calls.c: what a model calls from its callbacks; `me` is the first member of the worker's context. See nima.h, shard.h. */
#include "shard.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MEM(c) ((memory *)(uintptr_t)&(c)->engine->memory)

/* ---- who and when ---- */
uint32_t nima_step(const nima *me) { return CONTEXT((uintptr_t)me)->step; }

uint64_t nima_index(const nima *me) {
    const context *c = CONTEXT((uintptr_t)me);
    if (UNLIKELY(c->agent->flags & AGENT_NEWBORN)) return UINT64_MAX;
    const uint32_t slot = id_slot(me->self);
    const span *s = c->shard->spans + c->shard->span_count - 1;
    while (slot < s->slot) s--;
    return slot + s->offset;
}

nima_id nima_parent(const nima *me) {
    const context *c = CONTEXT((uintptr_t)me);
    return c->agent->flags & AGENT_NEWBORN ? c->shard->rest[id_slot(me->self)].parent : NOBODY;
}

nima_id nima_at_(nima_pop p, uint64_t index) {
    const nima_layout *l = (const nima_layout *)(const void *)p.layout;
    if (UNLIKELY(index >= p.count)) {
        fprintf(stderr, "nima_at: index %llu of a population of %llu\n", (unsigned long long)index, (unsigned long long)p.count);
        abort();
    }
    const uint64_t s = l->per_group ? (uint64_t)((unsigned __int128)(index / l->per_group) * l->shards / l->groups_max)
                                    : (uint64_t)((unsigned __int128)index * l->shards / l->count);
    return id_make((uint32_t)s, 1, l->slot[s] + (uint32_t)(index - l->first[s]));
}

nima_time nima_ticks(const nima *me, double units) {
    const context *c = CONTEXT((uintptr_t)me);
    const double ticks = rint(units * c->engine->ticks_per_unit);
    if (UNLIKELY(!(ticks > -9.2e18 && ticks < 9.2e18)))
        fail(CONTEXT((uintptr_t)me), NIMA_E_MODEL, "nima_ticks: %g units are no time", units);
    return (nima_time)ticks;
}

double nima_units(const nima *me, nima_time t) { return (double)t / CONTEXT((uintptr_t)me)->engine->ticks_per_unit; }

/* ---- numbers ---- */
nima_rng *nima_random_(nima *me) {
    context *c = CONTEXT(me);
    nima_rng *r = &me->own.random;
    const uint64_t stream = c->agent->stream, draws = c->agent->draws;
    me->own.drawing = c->draws = true;
    r->stream = stream;
    r->draws = draws;
    r->key = c->engine->seed;
    r->block_end = 0;
    if (c->ahead_agent[c->lane] == c->agent && c->ahead_block[c->lane] == draws >> 2) {
        memcpy(r->block, c->ahead[c->lane], sizeof r->block);
        r->block_end = (draws | 3) + 1;
    }
    return r;
}

nima_rng nima_stream(const nima *me, const char *name) {
    return (nima_rng){ .key = CONTEXT((uintptr_t)me)->engine->seed, .stream = (uint64_t)3 << 62 | (hash_text(name) & (~(uint64_t)0 >> 2)) };
}

/* ---- mail ---- */
void nima_shuffle_mail(nima *me) {
    const nima_mail **left = (const nima_mail **)(uintptr_t)me->own.mail;
    for (uint64_t i = nima_mail_left(me); i-- > 1;) {
        const uint64_t j = nima_below(nima_random(me), i + 1);
        const nima_mail *m = left[i];
        left[i] = left[j];
        left[j] = m;
    }
}

static const char *type_name(const context *c, uint32_t type) {
    const char *name = type < 65536 ? c->engine->message_names[type] : NULL;
    return name ? name : "message";
}

/* Sends below the lookahead: to oneself, within the group, or to nobody in the own shard. */
static void __attribute__((noinline)) check_promise(context *c, nima_id to, nima_time delay, uint32_t type) {
    const shard *h = c->shard;
    if (id_shard(to) == h->number) {
        const uint32_t slot = id_slot(to);
        const agent *a = shard_agent(h, c->engine, slot);
        if (slot >= h->slots || a->generation != id_generation(to) || !(a->flags & (AGENT_ALIVE | AGENT_EXPECTED))) return;
        if (shard_group(h, c->engine, slot) == shard_group(h, c->engine, id_slot(c->me.self))) return;
    }
    char name[80];
    c->engine->name(c->engine->run, to, name, sizeof name);
    fail(c, NIMA_E_MODEL, "%s to %s, of another group, with delay %lld, below the model's lookahead of %lld", type_name(c, type), name,
         (long long)delay, (long long)c->engine->lookahead);
}

static void __attribute__((noinline, noreturn)) bad_send(context *c, nima_id to, nima_time delay, uint32_t type, uint32_t bytes) {
    const char *name = type_name(c, type);
    if (type == 0 || type > 65535) fail(c, NIMA_E_MODEL, "a message's number is 1 to 65535, not %u", type);
    if (bytes > NIMA_PAYLOAD_MAX) fail(c, NIMA_E_MODEL, "%s of %u bytes; a payload has %u at most", name, bytes, NIMA_PAYLOAD_MAX);
    if (delay < 0) fail(c, NIMA_E_MODEL, "%s with a negative delay of %lld", name, (long long)delay);
    if (delay > NIMA_FOREVER - 1 - c->me.now) fail(c, NIMA_E_MODEL, "%s with delay %lld: virtual time overflows", name, (long long)delay);
    if (id_generation(to) == 0 || id_shard(to) >= c->engine->shards)
        fail(c, NIMA_E_MODEL, "%s to %016llx, which is no agent's id", name, (unsigned long long)to.bits);
    fail(c, NIMA_E_MODEL, "%s without delay would arrive at step %u of one tick: more than the bound of %u steps", name, c->step + 1,
         c->engine->step_bound);
}

static inline void check_send(context *c, nima_id to, nima_time delay, uint32_t type, uint32_t bytes) {
    const engine *e = c->engine;
    if (UNLIKELY(type - 1 >= 65535 || bytes > NIMA_PAYLOAD_MAX || (uint64_t)delay > (uint64_t)(NIMA_FOREVER - 1 - c->me.now)
                 || (to.bits & (uint64_t)GENERATION_MAX << SLOT_BITS) == 0 || id_shard(to) >= e->shards
                 || (delay == 0 && c->step + 1 >= e->step_bound)))
        bad_send(c, to, delay, type, bytes);
    if (delay < e->lookahead && !nima_same(to, c->me.self)) check_promise(c, to, delay, type);
}

/* Room for a record on its way to shard `to`, slot `slot`, due at `time`. */
static inline nima_mail *place(context *c, uint32_t to, uint32_t slot, nima_time time, nima_time delay, uint32_t size) {
    shard *h = c->shard;
    if (to == h->number) return delay ? queue_append(&h->queue, time, slot, size) : chunk_append(&c->pool, &h->next, size);
    if (delay == 0) {
        c->sent_zero = true;
        return chunk_append(&c->pool, &c->zero[to], size);
    }
    if (time < c->me.own.earliest_sent) c->me.own.earliest_sent = time;
    return chunk_append(&c->pool, &c->me.own.later[to], size);
}

static inline void copy_payload(nima_mail *m, const void *payload, uint32_t bytes) {
    if (bytes == 8) memcpy(m + 1, payload, 8);
    else if (bytes) {
        uint64_t *last = (uint64_t *)(void *)(m + 1) + (bytes - 1) / 8;
        *last = 0;                           /* padding is zero: it is fingerprinted */
        memcpy(m + 1, payload, bytes);
    }
}

static void __attribute__((noinline)) note_sent(context *c, nima_id to, const nima_mail *m) {
    c->sent = memory_grow(MEM(c), c->sent, &c->sent_room, c->sent_count + 1, sizeof *c->sent, "messages sent");
    nima_mail *copy = malloc(record_size(m));
    if (!copy) fail(c, NIMA_E_MEMORY, "no memory to keep what was sent");
    memcpy(copy, m, record_size(m));
    c->sent[c->sent_count++] = (sent_record){ to, copy, c->me.now, c->step };
}

static inline uint64_t put(context *c, uint32_t kind, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    const uint64_t sequence = c->agent->sent >> 16;
    c->agent->sent += 1u << 16;
    const nima_time time = c->me.now + delay;
    nima_mail *m = place(c, id_shard(to), id_slot(to), time, delay, record_bytes(bytes));
    uint64_t *w = (uint64_t *)(void *)m;
    w[0] = (uint64_t)time;
    w[1] = c->me.self.bits;
    w[2] = sequence << 16 | type;
    w[3] = ID_LOW(to) | (uint64_t)bytes << 44 | (uint64_t)kind << 61;
    copy_payload(m, payload, bytes);
    if (UNLIKELY(c->record_sent)) note_sent(c, to, m);
    return sequence;
}

void nima_send_(nima *me, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    check_send(CONTEXT(me), to, delay, type, bytes);
    put(CONTEXT(me), RECORD_MAIL, to, delay, type, payload, bytes);
}

static uint32_t alarm_check(const nima *me, nima_time time, uint64_t sequence, uint32_t step) {
    return (uint32_t)hash_mum(me->self.bits ^ HASH_K0 ^ (uint64_t)time, (sequence << 20 | step) ^ HASH_K1) | 1;
}

nima_alarm nima_set_alarm(nima *me, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    context *c = CONTEXT(me);
    if (UNLIKELY(c->in_stop)) fail(c, NIMA_E_MODEL, "an alarm set in stop");
    check_send(c, me->self, delay, type, bytes);
    const uint64_t sequence = put(c, RECORD_ALARM, me->self, delay, type, payload, bytes);
    const nima_time time = me->now + delay;
    const uint32_t step = delay ? 0 : c->step + 1;
    return (nima_alarm){ time, sequence, step, alarm_check(me, time, sequence, step) };
}

bool nima_cancel(nima *me, nima_alarm a) {
    context *c = CONTEXT(me);
    if (a.time < me->now || (a.time == me->now && a.step <= c->step)) return false;
    if (a.check != alarm_check(me, a.time, a.sequence, a.step)) return false;
    uint64_t *known = map_put(&c->shard->cancelled, MEM(c), hash_mum(ID_LOW(me->self) ^ HASH_K3, a.sequence ^ HASH_K4) | 1);
    if (*known) return false;
    *known = 1;
    return true;
}

typedef struct { uint64_t receiver, sequence; const nima_mail *found; } wanted;
static bool is_wanted(const nima_mail *m, void *arg) {
    wanted *w = arg;
    if (m->kind != RECORD_ALARM || m->receiver != w->receiver || m->sequence != w->sequence) return false;
    w->found = m;
    return true;
}

nima_alarm nima_move(nima *me, nima_alarm a, nima_time delay) {
    context *c = CONTEXT(me);
    if (!nima_cancel(me, a)) return (nima_alarm){ 0, 0, 0, 0 };
    wanted w = { ID_LOW(me->self), a.sequence, NULL };
    if (a.time > me->now) queue_any_at(&c->shard->queue, a.time, is_wanted, &w);
    else for (chunk *k = chunk_list_read(&c->shard->next); k && !w.found; k = k->next)
        CHUNK_EACH(k, m) if (is_wanted(m, &w)) break;
    if (!w.found) fail(c, NIMA_E_MODEL, "nima_move: the alarm is not there");
    nima_mail *kept = NULL;                  /* the record may move while its copy is written */
    char small[256];
    kept = w.found->bytes <= sizeof small ? (void *)small : malloc(w.found->bytes);
    if (!kept) fail(c, NIMA_E_MEMORY, "no memory to move an alarm");
    memcpy(kept, w.found + 1, w.found->bytes);
    const nima_alarm moved = nima_set_alarm(me, delay, w.found->type, kept, (uint32_t)w.found->bytes);
    if ((void *)kept != small) free(kept);
    return moved;
}

static void put_topic(nima_mail *m, uint32_t family, uint64_t key) { *record_topic(m) = (shard_topic){ key, family, 0 }; }

void nima_publish(nima *me, const nima_topic *topic, uint64_t key, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    context *c = CONTEXT(me);
    check_send(c, me->self, delay, type, bytes);
    if (delay < c->engine->lookahead)
        fail(c, NIMA_E_MODEL, "publication of %s with delay %lld, below the model's lookahead of %lld", type_name(c, type), (long long)delay,
             (long long)c->engine->lookahead);
    const uint64_t sequence = c->agent->sent >> 16;
    c->agent->sent += 1u << 16;
    for (uint32_t s = 0; s < c->engine->shards; s++) {
        nima_mail *m = place(c, s, 0, me->now + delay, delay, record_bytes(bytes) + (uint32_t)sizeof(shard_topic));
        *m = (nima_mail){ .time = me->now + delay, .sender = me->self, .type = type & 0xFFFF, .sequence = sequence & 0xFFFFFFFFFFFF,
                          .bytes = bytes & 0x1FFFF, .kind = RECORD_PUBLICATION };
        copy_payload(m, payload, bytes);
        put_topic(m, topic->index, key);
        if (UNLIKELY(c->record_sent && s == 0)) note_sent(c, NOBODY, m);
    }
}

void nima_subscribe(nima *me, const nima_topic *t, uint64_t key) { topics_change(CONTEXT(me), t->index, key, true); }
void nima_unsubscribe(nima *me, const nima_topic *t, uint64_t key) { topics_change(CONTEXT(me), t->index, key, false); }

/* ---- life and memory ---- */
static uint64_t child_stream(context *c) {   /* and counts the birth */
    agent_rest *r = &c->shard->rest[id_slot(c->me.self)];
    return (uint64_t)2 << 62 | (hash_mum(c->agent->stream ^ HASH_K0, r->births++ ^ HASH_K1) & (~(uint64_t)0 >> 2));
}

static inline void check_birth(context *c, nima_time delay) {
    if (UNLIKELY((uint64_t)delay > (uint64_t)(NIMA_FOREVER - 1 - c->me.now) || (delay == 0 && c->step + 1 >= c->engine->step_bound)))
        bad_send(c, c->me.self, delay, 1, 0);
}

nima_id nima_spawn(nima *me, const nima_behavior *b, nima_time delay, const void *state) {
    context *c = CONTEXT(me);
    check_birth(c, delay);
    const uint64_t group = shard_group(c->shard, c->engine, id_slot(me->self));
    const nima_id id = shard_birth_here(c, b, state, child_stream(c), me->self, group);
    nima_mail *m = place(c, c->shard->number, id_slot(id), me->now + delay, delay, record_bytes(0));
    *m = (nima_mail){ .time = me->now + delay, .sender = me->self, .receiver = ID_LOW(id), .kind = RECORD_START };
    return id;
}

void nima_spawn_in(nima *me, uint32_t to, const nima_behavior *b, nima_time delay, const void *state) {
    context *c = CONTEXT(me);
    check_birth(c, delay);
    if (to >= c->engine->shards) fail(c, NIMA_E_MODEL, "birth of %s in shard %u of %u", b->part.name, to, c->engine->shards);
    if (delay < c->engine->lookahead)
        fail(c, NIMA_E_MODEL, "birth of %s in another shard with delay %lld, below the model's lookahead of %lld", b->part.name,
             (long long)delay, (long long)c->engine->lookahead);
    if (b->state_bytes > NIMA_PAYLOAD_MAX)
        fail(c, NIMA_E_MODEL, "birth of %s in another shard: its state of %zu bytes is more than a payload's %u", b->part.name,
             b->state_bytes, NIMA_PAYLOAD_MAX);
    const uint32_t bytes = (uint32_t)(sizeof(shard_birth) + (state ? b->state_bytes : 0));
    const uint64_t number = c->shard->rest[id_slot(me->self)].births;
    nima_mail *m = place(c, to, 0, me->now + delay, delay, record_bytes(bytes));
    *m = (nima_mail){ .time = me->now + delay, .sender = me->self, .sequence = number & 0xFFFFFFFFFFFF, .bytes = bytes & 0x1FFFF,
                      .kind = RECORD_BIRTH };
    shard_birth *birth = (shard_birth *)(void *)(m + 1);
    *birth = (shard_birth){ child_stream(c), b->index, bytes - (uint32_t)sizeof *birth };
    if (state) memcpy(birth + 1, state, b->state_bytes);
}

void nima_spawn_far(nima *me, const nima_behavior *b, nima_time delay, const void *state) {
    context *c = CONTEXT(me);
    const uint64_t k = ++c->shard->spread;
    nima_spawn_in(me, (uint32_t)((c->shard->number + k) % c->engine->shards), b, delay, state);
}

void nima_stop(nima *me) {
    context *c = CONTEXT(me);
    if (c->in_stop || c->stopping) return;
    c->stopping = true;
    c->mail_left = me->own.mail;
    me->own.mail = me->own.mail_end;
}

void nima_keep_awake(nima *me, bool awake) {
    context *c = CONTEXT(me);
    const nima_behavior *b = agent_behavior(c->engine, c->agent);
    const nima_time period = c->engine->periods[b->index];
    if (!period) fail(c, NIMA_E_MODEL, "nima_keep_awake: %s has no period", b->part.name);
    sweep *s = &c->shard->sweeps[b->index];
    const uint32_t slot = id_slot(me->self);
    if (awake) sweep_wake(c, s, period, slot);
    else if (slot / 64 < s->room && s->bits[slot / 64] >> slot % 64 & 1) {
        s->bits[slot / 64] &= ~((uint64_t)1 << slot % 64);
        s->awake--;
    }
}

void *nima_resize(nima *me, void *block, size_t bytes) {
    context *c = CONTEXT(me);
    return arena_resize(c, &c->shard->rest[id_slot(me->self)], block, bytes);
}

void nima_halt(nima *me, const char *why) {
    context *c = CONTEXT(me);
    const nima_time wait = c->engine->lookahead > 1 ? c->engine->lookahead : 1;
    const nima_time at = me->now > NIMA_FOREVER - wait ? NIMA_FOREVER : me->now + wait;
    if (at >= c->halt_at) return;
    c->halt_at = at;
    if (at < c->limit) c->limit = at;
    snprintf(c->halt_why, sizeof c->halt_why, "%s", why ? why : "");
}

void nima_fail(nima *me, const char *format, ...) {
    char text[480];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail(CONTEXT(me), NIMA_E_MODEL, "%s", text);
}

void nima_log(nima *me, int level, const char *format, ...) {
    context *c = CONTEXT(me);
    if (level > c->engine->log_level) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0) memory_count(MEM(c), length + 1, "log");
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text) fail(c, NIMA_E_MEMORY, "no memory for a line of the log");
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    c->lines = memory_grow(MEM(c), c->lines, &c->line_room, c->line_count + 1, sizeof *c->lines, "log");
    c->lines[c->line_count] = (log_line){ me->now, c->step, (uint32_t)c->line_count, (uint32_t)level, me->self, text };
    c->line_count++;
}
