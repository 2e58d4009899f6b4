/* execute.c: runs a shard: event by event, step by step, in the order of the contract.
 *
 * One event alone in its (time, step), the common case of a sparse model, is run at once. Of several, each is linked into
 * its receiver's list and the receiver's bit is set; then the bits are walked in slot order. Nothing is sorted but a list found
 * out of (sender, sequence) order. The same walk serves periodic sweeps: their bits are joined in. */
#include "fingerprint.h"
#include "shard.h"
#include <stdlib.h>

enum { AHEAD = 16, AHEAD_MAIL = 8 };          /* events by which agents and records are prefetched */

static void *room(context *c, void *array, size_t *have, size_t count, size_t bytes) {
    return memory_grow((memory *)&c->engine->memory, array, have, count, bytes, "mail of a step");
}

/* ---- one agent's turn ---- */
static void count_type(context *c, uint64_t **counts, uint32_t type, uint64_t n) {
    if (!*counts) {
        memory_count((memory *)&c->engine->memory, 65536 * 8, "counters");
        *counts = calloc(65536, sizeof **counts);
        if (!*counts) fail(c, NIMA_E_MEMORY, "no memory for counters");
    }
    (*counts)[type] += n;
}

static void __attribute__((noinline)) dead_letter(context *c, const nima_mail *m) {
    shard *h = c->shard;
    if (m->kind == RECORD_ALARM) return;     /* of an agent that is gone: vanishes */
    h->last_event = h->now;
    count_type(c, &c->dead, m->type, 1);
    if (c->engine->dead_letters == 0) return;
    const char *type = c->engine->message_names[m->type];
    char name[80];
    c->engine->name(c->engine->run, (nima_id){ (uint64_t)h->number << 44 | m->receiver }, name, sizeof name);
    c->me.self = m->sender;                  /* for the log's order and the failure's place */
    if (c->engine->dead_letters == 1) nima_log(&c->me, NIMA_WARNING, "dead letter: %s for %s, which is not alive", type ? type : "message", name);
    else fail(c, NIMA_E_MODEL, "dead letter: %s for %s, which is not alive", type ? type : "message", name);
}

static bool __attribute__((noinline)) alarm_cancelled(context *c, const nima_mail *m) {
    return map_remove(&c->shard->cancelled, hash_mum(m->receiver ^ HASH_K3, m->sequence ^ HASH_K4) | 1);
}

static void __attribute__((noinline)) dirty_stack(int byte) {
    char below[8192];
    memset(below, byte, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory");           /* it is wanted, though nobody reads it */
}

static void __attribute__((noinline)) watch(context *c, const nima_behavior *b, bool starts) {
    if (c->engine->deliver) c->engine->deliver(c, b, starts);
    if (c->engine->dirty >= 0) dirty_stack(c->engine->dirty);
}

static inline void call(context *c, nima_callback *f, void *state) {
    f(&c->me, state);
    if (c->me.own.drawing) {
        c->agent->draws = c->me.own.random.draws;
        c->me.own.drawing = false;
    }
}

static void __attribute__((noinline)) agent_stops(context *c, uint32_t slot) {
    const nima_behavior *b = agent_behavior(c->engine, c->agent);
    c->stopping = false;
    c->in_stop = true;
    c->me.own.mail = c->me.own.mail_end;
    if (b->stop) call(c, b->stop, agent_state(c->engine, c->agent, b));
    c->in_stop = false;
    shard_agent_ends(c, c->agent, slot);
}

static void __attribute__((noinline)) unread(context *c, const nima_mail *const *left) {
    for (; left < c->me.own.mail_end; left++) count_type(c, &c->unread, (*left)->type, 1);
}

static void __attribute__((noinline)) first_call(context *c, nima_callback *start, void *state) {   /* start sees no mail */
    const nima_mail *const *mail = c->me.own.mail;
    c->me.own.mail = c->me.own.mail_end;
    if (start) call(c, start, state);
    if (c->stopping) c->mail_left = mail;
    else c->me.own.mail = mail;
    if (c->engine->dirty >= 0) dirty_stack(c->engine->dirty);
}

/* The agent is alive, or starts. Mail: n messages, in order. due: its period. */
static inline __attribute__((always_inline)) void turn(context *c, agent *a, uint32_t slot, const nima_mail *const *mail, uint32_t n,
                                                       bool starts, bool due) {
    shard *h = c->shard;
    const engine *e = c->engine;
    const nima_behavior *b = agent_behavior(e, a);
    void *state = agent_state(e, a, b);
    c->me.self = shard_id(h, a, slot);
    c->agent = a;
    c->me.own.sent = &a->sent;
    c->mail_first = c->me.own.mail = mail;
    c->me.own.mail_end = mail + n;
    h->last_event = c->me.now;
    h->events += n + starts;
    if (starts) {
        a->flags = (a->flags & ~(uint32_t)AGENT_EXPECTED) | AGENT_ALIVE;
        h->alive++;
        if (e->fingerprint) a->chain = chain_begin(c->me.self, b->index, h->now, h->step);
    }
    if (e->fingerprint) {
        uint64_t chain = a->chain;
        for (uint32_t i = 0; i < n; i++) chain = chain_mail(chain, mail[i], c->step);
        a->chain = chain;
    }
    if (__builtin_expect(e->watched, 0)) watch(c, b, starts);
    c->in_callback = true;
    if (starts) first_call(c, b->start, state);
    if ((n || due) && !(starts && c->stopping)) {
        h->events += n == 0;
        if (b->update) call(c, b->update, state);
    }
    if (__builtin_expect(c->stopping, 0)) {
        unread(c, c->mail_left);
        agent_stops(c, slot);
    } else if (__builtin_expect(c->me.own.mail != c->me.own.mail_end, 0)) unread(c, c->me.own.mail);
    c->in_callback = false;
}

/* ---- several in one (time, step) ---- */
static inline bool before(const nima_mail *a, const nima_mail *b) {   /* (sender, sequence) */
    return a->sender.bits != b->sender.bits ? a->sender.bits < b->sender.bits : a->sequence < b->sequence;
}

static inline void ensure_links(context *c, uint32_t more) {
    if (__builtin_expect(c->link_count + more >= c->links_room, 0))
        c->links = room(c, c->links, &c->links_room, c->link_count + more + 1u, sizeof *c->links);
}

/* Behind what the slot has already; there is room (ensure_links). */
static inline void link_mail(context *c, uint32_t slot, const nima_mail *m) {
    if (__builtin_expect(slot >= c->shard->slots, 0)) { dead_letter(c, m); return; }
    const uint32_t i = ++c->link_count;      /* 0 is none */
    struct link *links = c->links;
    struct link_ends *list = &c->heads[slot];
    links[i] = (struct link){ m, 0 };
    if (list->first) links[list->last].next = i;
    else {
        list->first = i;
        c->marks[slot / 64] |= (uint64_t)1 << slot % 64;
        c->summary[slot / 4096] |= (uint64_t)1 << slot / 64 % 64;
    }
    list->last = i;
}

static int compare(const void *a, const void *b) {
    const nima_mail *x = *(const nima_mail *const *)a, *y = *(const nima_mail *const *)b;
    return before(x, y) ? -1 : before(y, x);
}

static void sort_mail(const nima_mail **mail, uint32_t n) {
    if (n > 32) { qsort(mail, n, sizeof *mail, compare); return; }
    for (uint32_t i = 1; i < n; i++) {
        const nima_mail *k = mail[i];
        uint32_t j = i;
        for (; j && before(k, mail[j - 1]); j--) mail[j] = mail[j - 1];
        mail[j] = k;
    }
}

/* From the first due time after now on. */
void sweep_wake(context *c, sweep *s, nima_time period, uint32_t slot) {
    shard *h = c->shard;
    const size_t word = slot / 64, had = s->room;
    s->bits = room(c, s->bits, &s->room, word + 1, 8);
    if (s->room > had) memset(s->bits + had, 0, (s->room - had) * 8);
    if (s->bits[word] >> slot % 64 & 1) return;
    s->bits[word] |= (uint64_t)1 << slot % 64;
    if (s->awake++ == 0) s->due = h->now > NIMA_FOREVER - period ? NIMA_FOREVER : (h->now / period + 1) * period;
    if (s->due < h->due) h->due = s->due;
    if (s->due < c->limit) c->limit = s->due;
}

/* The turn of the receiver of one message, alone in its (time, step). False: the message is of a kind that needs more. */
static inline bool one_turn(context *c, const nima_mail *m) {
    shard *h = c->shard;
    const uint32_t slot = (uint32_t)m->receiver & (SLOTS_MAX - 1), generation = (uint32_t)(m->receiver >> SLOT_BITS), kind = m->kind;
    if (__builtin_expect(kind > RECORD_ALARM, 0)) return false;
    if (__builtin_expect(kind == RECORD_ALARM && h->cancelled.count, 0) && alarm_cancelled(c, m)) return true;
    agent *a = shard_agent(h, c->engine, slot);
    if (__builtin_expect(slot >= h->slots || a->generation != generation || !(a->flags & AGENT_ALIVE), 0)) dead_letter(c, m);
    else turn(c, a, slot, &m, 1, false, false);
    return true;
}

/* Whether mail linked to a slot reaches the agent there; publications were expanded for who lives there now. */
static bool __attribute__((noinline)) reaches(context *c, const nima_mail *m, bool alive, uint64_t receiver) {
    if (m->kind == RECORD_PUBLICATION) return true;
    if (m->kind == RECORD_START || (m->kind == RECORD_ALARM && c->shard->cancelled.count && alarm_cancelled(c, m))) return false;
    if (alive && m->receiver == receiver) return true;
    dead_letter(c, m);
    return false;
}

/* The turn of the agent in `slot`, with the mail linked to it. */
static void __attribute__((noinline)) many_turn(context *c, uint32_t slot, uint32_t head, bool due) {
    shard *h = c->shard;
    agent *a = shard_agent(h, c->engine, slot);
    bool starts = false, unordered = false;
    if (a->flags & AGENT_EXPECTED) {         /* a start comes first, wherever it was linked */
        starts = h->starting;
        for (uint32_t i = head; i && !starts; i = c->links[i].next) starts = c->links[i].mail->kind == RECORD_START;
    }
    if (__builtin_expect(c->link_count > c->mailbox_room, 0))
        c->mailbox = room(c, c->mailbox, &c->mailbox_room, c->link_count, sizeof *c->mailbox);
    const bool alive = a->flags & AGENT_ALIVE || starts;
    const uint64_t receiver = (uint64_t)a->generation << SLOT_BITS | slot;
    const struct link *links = c->links;
    const nima_mail **mailbox = c->mailbox;
    uint64_t sender = 0, sequence = 0;
    uint32_t n = 0;
    for (uint32_t i = head; i; i = links[i].next) {
        const nima_mail *m = links[i].mail;
        if (__builtin_expect(!alive || m->receiver != receiver || m->kind != RECORD_MAIL, 0) && !reaches(c, m, alive, receiver)) continue;
        unordered |= m->sender.bits < sender || (m->sender.bits == sender && m->sequence < sequence);
        sender = m->sender.bits;
        sequence = m->sequence;
        mailbox[n++] = m;
    }
    if (__builtin_expect(unordered, 0)) sort_mail(mailbox, n);
    if (starts) {
        const nima_time period = c->engine->periods[a->sent & 0xFFFF];
        if (period) {
            due = h->step == 0 && h->now % period == 0;
            sweep_wake(c, &h->sweeps[a->sent & 0xFFFF], period, slot);
        }
    }
    if (n || starts || due) turn(c, a, slot, mailbox, n, starts, due);
}

static void __attribute__((noinline)) more_slots(context *c) {
    const size_t slots = ((size_t)c->shard->slots + 4096) / 4096 * 4096, had = c->heads_room;
    const size_t had_marks = c->marks_room, had_summary = c->summary_room;
    c->heads = room(c, c->heads, &c->heads_room, slots, sizeof *c->heads);
    memset(c->heads + had, 0, (c->heads_room - had) * sizeof *c->heads);
    c->marks = room(c, c->marks, &c->marks_room, c->heads_room / 64 + 1, sizeof *c->marks);
    memset(c->marks + had_marks, 0, (c->marks_room - had_marks) * sizeof *c->marks);
    c->summary = room(c, c->summary, &c->summary_room, c->heads_room / 4096 + 1, sizeof *c->summary);
    memset(c->summary + had_summary, 0, (c->summary_room - had_summary) * sizeof *c->summary);
}
static inline void ensure_slots(context *c) {
    if (__builtin_expect(c->shard->slots >= c->heads_room, 0)) more_slots(c);   /* there is some, even for no slots */
}

/* After a failure: nothing of the abandoned step stays behind. */
void context_forget_step(context *c) {
    if (c->heads) memset(c->heads, 0, c->heads_room * sizeof *c->heads);
    if (c->marks) memset(c->marks, 0, c->marks_room * sizeof *c->marks);
    if (c->summary) memset(c->summary, 0, c->summary_room * sizeof *c->summary);
    c->link_count = c->special_count = 0;
    c->stopping = c->in_stop = c->in_callback = c->me.own.drawing = false;
}

/* The turns of all agents of one word that have mail, or whose bit is set in `awake`. */
static inline void walk_word(context *c, size_t w, uint64_t awake) {
    const uint64_t mail = c->marks[w];
    c->marks[w] = 0;
    for (uint64_t rest = mail | awake; rest; rest &= rest - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(rest);
        const uint32_t slot = (uint32_t)(w * 64) + bit;
        const struct link_ends list = c->heads[slot];
        c->heads[slot] = (struct link_ends){ 0, 0 };
        if (list.first && list.first == list.last && !(awake >> bit & 1) && one_turn(c, c->links[list.first].mail)) continue;
        many_turn(c, slot, list.first, awake >> bit & 1);
    }
}

/* Agents with mail, and those whose period is due, in slot order. */
static void __attribute__((noinline)) walk_due(context *c) {
    shard *h = c->shard;
    const engine *e = c->engine;
    const sweep *due[64];
    uint32_t dues = 0;
    h->due = NIMA_FOREVER;
    for (uint32_t b = 0; b < e->behavior_count; b++) {
        sweep *s = &h->sweeps[b];
        if (!s->awake) continue;
        if (s->due == h->now) {
            s->due = h->now > NIMA_FOREVER - e->periods[b] ? NIMA_FOREVER : h->now + e->periods[b];
            if (dues == 64) fail(c, NIMA_E_MODEL, "more than 64 behaviors are due at one time");
            due[dues++] = s;
        }
        if (s->due < h->due) h->due = s->due;
    }
    const size_t words = ((size_t)h->slots + 63) / 64;
    for (size_t w = 0; w < words; w++) {
        uint64_t awake = 0;
        for (uint32_t i = 0; i < dues; i++) awake |= w < due[i]->room ? due[i]->bits[w] : 0;
        walk_word(c, w, awake);
    }
    for (size_t i = 0; i <= words / 64; i++) c->summary[i] = 0;
    c->link_count = 0;
}

/* (0, 0): all agents there are. */
static void __attribute__((noinline)) walk_all(context *c) {
    shard *h = c->shard;
    for (uint32_t slot = 0; slot < h->initial; slot++) {
        const uint32_t head = c->heads[slot].first;
        c->heads[slot] = (struct link_ends){ 0, 0 };
        many_turn(c, slot, head, false);
    }
    h->starting = false;
    memset(c->marks, 0, c->marks_room * sizeof *c->marks);
    memset(c->summary, 0, c->summary_room * sizeof *c->summary);
    c->link_count = 0;
}

static inline void walk(context *c) {
    shard *h = c->shard;
    if (__builtin_expect(h->starting, 0)) { walk_all(c); return; }
    if (__builtin_expect(h->step == 0 && h->due == h->now, 0)) { walk_due(c); return; }
    for (size_t i = 0, words = (size_t)h->slots / 4096 + 1; i < words; i++)
        for (; c->summary[i]; c->summary[i] &= c->summary[i] - 1)
            walk_word(c, i * 64 + (size_t)__builtin_ctzll(c->summary[i]), 0);
    c->link_count = 0;
}

/* ---- births from elsewhere, publications, mail to slots yet unused: before any agent of their (time, step) ---- */
static void note_special(context *c, nima_mail *m) {
    c->special = room(c, c->special, &c->special_room, c->special_count + 1u, sizeof *c->special);
    c->special[c->special_count++] = m;
}

static void expand(context *c, const nima_mail *m) {
    shard *h = c->shard;
    const shard_topic *t = record_topic(m);
    topic *to = topics_find(&h->topics, t->family, t->key);
    h->last_event = h->now;
    if (!to) return;
    topics_drop_dead(c, to);
    ensure_links(c, to->count);
    for (uint32_t i = 0; i < to->count; i++) link_mail(c, id_slot(to->subscribers[i]), m);
}

static void specials(context *c) {
    uint32_t births = 0;
    for (uint32_t i = 0; i < c->special_count; i++)
        if (c->special[i]->kind == RECORD_BIRTH) {
            nima_mail *m = c->special[i];
            c->special[i] = c->special[births];
            c->special[births++] = m;
        }
    qsort(c->special, births, sizeof *c->special, compare);
    for (uint32_t i = 0; i < births; i++) {
        nima_mail *m = c->special[i];
        const shard_birth *birth = (const shard_birth *)(const void *)(m + 1);
        c->me.self = m->sender;
        const nima_id id = shard_birth_here(c, c->engine->behaviors[birth->behavior], birth->bytes ? birth + 1 : NULL, birth->stream,
                                            m->sender, 0);
        m->kind = RECORD_START;
        m->receiver = ID_LOW(id);
        ensure_slots(c);
        ensure_links(c, 1);
        link_mail(c, id_slot(id), m);
    }
    for (uint32_t i = births; i < c->special_count; i++) {
        nima_mail *m = c->special[i];
        if (m->kind == RECORD_PUBLICATION) { expand(c, m); continue; }
        ensure_links(c, 1);                  /* for a slot that was new a moment ago, or is nobody's */
        link_mail(c, (uint32_t)m->receiver & (SLOTS_MAX - 1), m);
    }
    c->special_count = 0;
}

static inline void sort_in(context *c, nima_mail *m) {
    const uint32_t slot = (uint32_t)m->receiver & (SLOTS_MAX - 1);
    if (__builtin_expect(m->kind > RECORD_START || slot >= c->shard->slots, 0)) note_special(c, m);
    else link_mail(c, slot, m);
}

/* ---- (time, 0) ---- */
static void run_time(context *c, nima_time t) {
    shard *h = c->shard;
    queue *q = &h->queue;
    if (queue_earliest(q) == t) {
        queue_spread(q);
        const uint64_t offset = (uint64_t)(t - q->base);
        ensure_slots(c);
        while (q->at < q->count && q->batch[q->at].key >> SLOT_BITS == offset) {
            ensure_links(c, 1);
            sort_in(c, q->batch[q->at++].mail);
        }
        while (q->heap_count && q->heap[0].key >> SLOT_BITS == offset) {
            ensure_links(c, 1);
            sort_in(c, queue_pop_heap(q).mail);
        }
    }
    ensure_slots(c);
    if (c->special_count) specials(c);
    walk(c);
}

/* ---- later steps ---- */
static inline void run_next_step(context *c) {
    shard *h = c->shard;
    chunk_list swap = h->cur;
    h->cur = h->next;
    h->next = swap;
    c->step = ++h->step;
    if (__builtin_expect(c->step + 1 >= c->engine->step_bound, 0)) c->me.own.near_shard = UINT64_MAX;
    chunk *first = chunk_list_read(&h->cur);
    nima_mail *m = (nima_mail *)(void *)first->data;
    if (!first->next && (char *)record_after(m) == first->data + first->used && one_turn(c, m)) {
        chunk_list_reset(&c->pool, &h->cur);
        return;
    }
    ensure_slots(c);
    for (chunk *k = first; k; k = k->next) {
        ensure_links(c, k->used / (uint32_t)sizeof(nima_mail));
        CHUNK_EACH(k, r) sort_in(c, r);
    }
    if (c->special_count) specials(c);
    walk(c);
    chunk_list_reset(&c->pool, &h->cur);
}

/* ---- a window ---- */
static void enter(shard *h, context *c) {
    c->shard = h;
    h->queue.pool = &c->pool;
    c->link_count = c->special_count = 0;
    h->changed = true;
    c->all_ok = !c->record_sent && c->engine->lookahead == 0;
    c->me.own.near = &h->next;
    c->me.own.near_shard = c->all_ok && c->step + 1 < c->engine->step_bound ? h->number : UINT64_MAX;
    c->me.own.shard = h->number;
    c->me.own.far_shards = c->record_sent ? 0 : c->engine->shards;
    c->me.own.lookahead = c->engine->lookahead;
    c->me.own.last_delay = NIMA_FOREVER - 1;
}

static inline bool has_next_step(const shard *h) { return h->next.head && h->next.at != h->next.head->data; }

void shard_refresh_net(shard *h) {
    const bool stepping = has_next_step(h);
    const nima_time t = h->starting ? 0 : stepping ? h->now : queue_earliest(&h->queue);
    h->net = t < h->due ? t : h->due;
    h->net_step = stepping ? h->step + 1 : 0;
}

static inline void at_time(shard *h, context *c, nima_time t) {
    h->now = t;
    h->step = c->step = 0;
    c->me.now = t;
    if (c->all_ok) c->me.own.near_shard = h->number;
}

/* The blocks from which the agents of the next RANDOM_LANES entries will draw, if they draw at all. */
static void __attribute__((noinline)) draw_ahead(shard *h, context *c, const queue_entry *next) {
    uint64_t stream[RANDOM_LANES];
    for (int i = 0; i < RANDOM_LANES; i++) {
        const agent *a = c->ahead_agent[i] = shard_agent(h, c->engine, (uint32_t)next[i].key & (SLOTS_MAX - 1));
        stream[i] = a->stream;
        c->ahead_block[i] = a->draws >> 2;
    }
    random_blocks(c->engine->seed, stream, c->ahead_block, c->ahead);
    c->draws = false;                        /* until one does */
}

static inline nima_time least(nima_time a, nima_time b) { return a < b ? a : b; }

void shard_run(shard *h, context *c, nima_time until) {
    const engine *e = c->engine;
    enter(h, c);
    c->me.now = h->now;
    queue *q = &h->queue;
    if (h->starting) {
        at_time(h, c, 0);
        run_time(c, 0);
    }
    for (;;) {
        while (has_next_step(h)) run_next_step(c);
        c->lane = RANDOM_LANES;
        c->limit = least(least(until, c->halt_at), h->due);
        while (q->at < q->count && !q->heap_count) {          /* events alone in their time: one after the other */
            const queue_entry *x = &q->batch[q->at];
            const nima_time t = q->base + (nima_time)(x->key >> SLOT_BITS);
            if (t >= c->limit || x[1].key >> SLOT_BITS == x->key >> SLOT_BITS) break;
            if (q->at + AHEAD < q->count) {
                const char *ahead = (const char *)shard_agent(h, e, (uint32_t)x[AHEAD].key & (SLOTS_MAX - 1));
                __builtin_prefetch(ahead, 1);
                if (e->stride > 64) __builtin_prefetch(ahead + 64, 1);
                __builtin_prefetch(x[AHEAD_MAIL].mail);
            }
            if (++c->lane >= RANDOM_LANES) {
                c->lane = RANDOM_LANES;
                if (c->draws && q->at + RANDOM_LANES <= q->count) {
                    draw_ahead(h, c, x);
                    c->lane = 0;
                }
            }
            at_time(h, c, t);
            q->at++;
            if (!one_turn(c, x->mail)) { q->at--; break; }
            if (has_next_step(h)) break;
        }
        c->lane = RANDOM_LANES;              /* nobody's */
        if (has_next_step(h)) continue;
        if (c->halt_at < until) until = c->halt_at;
        const nima_time event = queue_earliest(q), t = event < h->due ? event : h->due;
        if (t >= until) break;
        if (t == event && q->at == q->count && !q->heap_count) {
            queue_spread(q);                 /* loads it; perhaps it is alone */
            if (t < h->due && !q->heap_count && q->batch[q->at].mail->kind <= RECORD_ALARM
                && (q->at + 1 == q->count || q->batch[q->at + 1].key >> SLOT_BITS != q->batch[q->at].key >> SLOT_BITS)) continue;
        }
        at_time(h, c, t);
        run_time(c, t);
    }
    shard_refresh_net(h);
}

void shard_run_step(shard *h, context *c, nima_time t, uint32_t step) {
    enter(h, c);
    c->me.now = t;
    if (step == 0) {
        at_time(h, c, t);
        run_time(c, t);
    } else {
        h->now = t;
        h->step = step - 1;
        run_next_step(c);
    }
    shard_refresh_net(h);
}

static inline void copy_words(char *to, const void *from, uint32_t bytes) {   /* a multiple of 8, not 0 */
    for (uint32_t i = 0; i < bytes; i += 8) memcpy(to + i, (const char *)from + i, 8);
}

void shard_file(shard *h, context *c, nima_time t, uint32_t step, chunk_list *zero, chunk_list *later) {
    h->queue.pool = &c->pool;
    if (zero && zero->head) {
        if (h->now != t || !has_next_step(h)) {
            h->now = t;
            h->step = step;
        }
        if (has_next_step(h)) chunk_list_join(&h->next, zero);
        else {
            chunk_list_free(&c->pool, &h->next);
            h->next = *zero;
            chunk_list_init(zero);
        }
    }
    queue *q = &h->queue;
    for (chunk *k = chunk_list_read(later); k;) {
        chunk *next = k->next;
        if (next) for (int line = 0; line < 256; line += 64) __builtin_prefetch((char *)next + line);
        CHUNK_EACH(k, m) {
            const uint32_t bytes = record_size(m);
            char *to = queue_append(q, m->time, (uint32_t)m->receiver & (SLOTS_MAX - 1), bytes);
            memcpy(to, m, sizeof *m);
            if (bytes > sizeof *m) copy_words(to + sizeof *m, m + 1, bytes - (uint32_t)sizeof *m);
        }
        chunk_give(&c->pool, k);
        k = next;
    }
    chunk_list_init(later);
}
