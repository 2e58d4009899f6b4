/* gather.c: what followers send to the leader beside the clock: sums of reporters, lines of the log, and at the end all
 * their agents.
 *
 * The leader puts it where its own shards' would stand, so that whatever reads a run reads all of it, in shard order,
 * with the same arithmetic as on one dispatcher. Parts are plain structs: both ends run the same build on the same kind
 * of machine, which the start has checked. */
#include "cluster/private.h"
#include <stdlib.h>

enum { PIECE = 256 << 10, PART_MORE = 0x100 };              /* MORE: the rest of this part follows */
typedef struct { char *at; size_t bytes, room; } buffer;
typedef struct { nima_time time; nima_id agent; uint32_t step, line, level, bytes; } line_head;
typedef struct { nima_time last; int32_t pending, any_step, more_steps, unused; } status_head;
typedef struct { nima_id to; nima_time time; uint32_t step, bytes; } sent_head;
typedef struct { uint32_t number, slots; uint64_t chains, alive, events, births, deaths;
                 nima_time now, last_event; } shard_head;
typedef struct { uint32_t slot, bytes, blocks; agent head; } agent_head;
typedef struct { char *at; uint64_t bytes; } block_head;      /* at: where it was there */

static void add(nima_run *r, buffer *b, const void *from, size_t bytes) {
    if (b->bytes + bytes > b->room) {
        const size_t want = 2 * (b->bytes + bytes) + 4096;
        char *grown = realloc(b->at, want);
        if (!grown) { cluster_fail(r, "no memory for what is sent to the leader"); return; }
        b->at = grown;
        b->room = want;
    }
    memcpy(b->at + b->bytes, from, bytes);
    b->bytes += bytes;
}

static void ship(nima_run *r, uint32_t part, uint64_t number, buffer *b) {
    size_t sent = 0;
    do {
        const size_t bytes = b->bytes - sent < 2 * PIECE ? b->bytes - sent : 2 * PIECE;
        const wire_message m = {.kind = WIRE_RESULT,
                                .result = {.part = part | (sent + bytes < b->bytes ? PART_MORE : 0),
                                           .number = number,
                                           .blob = {b->at ? b->at + sent : NULL, (uint32_t)bytes}}};
        cluster_send(r, 0, &m);
        sent += bytes;
    } while (sent < b->bytes && !r->failed);
    b->bytes = 0;
}

void gather_done(nima_run *r) {
    buffer none = { NULL, 0, 0 };
    ship(r, PART_DONE, 0, &none);
}

/* ---- follower ---- */
void gather_send_sums(nima_run *r) {
    const engine *e = &r->engine;
    buffer b = { NULL, 0, 0 };
    sample_shards(r);
    for (uint32_t s = r->own_from; s < r->own_to; s++) {
        add(r, &b, r->shards[s].sums, e->reporter_count * sizeof(reporter_sum));
        add(r, &b, r->shards[s].row, e->row_values * sizeof(double));
        ship(r, PART_SUMS, s, &b);
    }
    free(b.at);
}

void gather_send_log(nima_run *r) {
    buffer b = { NULL, 0, 0 };
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        for (size_t i = 0; i < c->line_count; i++) {
            const log_line *l = &c->lines[i];
            const line_head head = { l->time, l->agent, l->step, l->line, l->level, (uint32_t)strlen(l->text) + 1 };
            add(r, &b, &head, sizeof head);
            add(r, &b, l->text, head.bytes);
            memory_count(&r->engine.memory, -(int64_t)head.bytes, "");
            free(l->text);
            if (b.bytes > PIECE) ship(r, PART_LOG, 0, &b);
        }
        c->line_count = 0;
    }
    if (b.bytes) ship(r, PART_LOG, 0, &b);
    free(b.at);
}

void gather_send_sent(nima_run *r) {
    buffer b = { NULL, 0, 0 };
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        for (size_t i = 0; i < c->sent_count; i++) {
            const sent_record *s = &c->sent[i];
            const sent_head head = { s->to, s->time, s->step, (uint32_t)sizeof *s->mail + s->mail->bytes };
            add(r, &b, &head, sizeof head);
            add(r, &b, s->mail, head.bytes);
            free(s->mail);
            if (b.bytes > PIECE) ship(r, PART_SENT, 0, &b);
        }
        c->sent_count = 0;
    }
    if (b.bytes) ship(r, PART_SENT, 0, &b);
    free(b.at);
}

void gather_send_status(nima_run *r) {
    buffer b = { NULL, 0, 0 };
    const status_head status = { window_last_event(r), window_pending(r), r->stepped, window_more_steps(r), 0 };
    add(r, &b, &status, sizeof status);
    ship(r, PART_STATUS, 0, &b);
    free(b.at);
}

/* An agent's own memory. */
typedef struct { nima_run *run; buffer *to; uint32_t count; } block_list;
static void count_block(void *block, size_t bytes, void *arg) {
    (void)block; (void)bytes;
    ((block_list *)arg)->count++;
}
static void add_block(void *block, size_t bytes, void *arg) {
    block_list *l = arg;
    const block_head head = { block, bytes };
    add(l->run, l->to, &head, sizeof head);
    add(l->run, l->to, block, bytes);
}

void gather_send_all(nima_run *r) {
    const engine *e = &r->engine;
    buffer b = { NULL, 0, 0 };
    for (uint32_t s = r->own_from; s < r->own_to && !r->failed; s++) {
        const shard *h = &r->shards[s];
        const shard_head head = {.number = s,
                                 .slots = h->slots,
                                 .chains = h->chains,
                                 .alive = h->alive,
                                 .events = h->events,
                                 .births = h->births,
                                 .deaths = h->deaths,
                                 .now = h->now,
                                 .last_event = h->last_event};
        add(r, &b, &head, sizeof head);
        add(r, &b, h->tallies, e->tally_count * sizeof(tally));
        add(r, &b, h->levels, e->level_count * sizeof(level));
        ship(r, PART_SHARD, s, &b);
        for (uint32_t slot = 0; slot < h->slots; slot++) {
            agent *a = shard_agent(h, e, slot);
            if (!(a->flags & AGENT_ALIVE)) continue;
            const nima_behavior *behavior = e->behaviors[a->sent & 0xFFFF];
            agent_head one = { .slot = slot, .bytes = (uint32_t)behavior->state_bytes };
            memcpy(&one.head, a, sizeof one.head);
            block_list blocks = { r, &b, 0 };
            arena_each(&h->rest[slot], count_block, &blocks);
            one.blocks = blocks.count;
            add(r, &b, &one, sizeof one);
            add(r, &b, agent_state(e, a, behavior), one.bytes);
            arena_each(&h->rest[slot], add_block, &blocks);
            if (b.bytes > PIECE) ship(r, PART_AGENTS, s, &b);
        }
        if (b.bytes) ship(r, PART_AGENTS, s, &b);
    }
    for (unsigned w = 0; w < r->threads; w++)
        for (int which = 0; which < 2; which++) {
            const uint64_t *counts = which ? r->contexts[w].unread : r->contexts[w].dead;
            for (uint32_t type = 0; counts && type < 65536; type++) {
                if (!counts[type]) continue;
                add(r, &b, &type, sizeof type);
                add(r, &b, &counts[type], sizeof counts[type]);
            }
            if (b.bytes) ship(r, PART_COUNTS, (uint64_t)which, &b);
        }
    free(b.at);
}

/* ---- leader ---- */
static void take_sums(nima_run *r, const wire_result *m) {
    const engine *e = &r->engine;
    const size_t sums = e->reporter_count * sizeof(reporter_sum), row = e->row_values * sizeof(double);
    if (m->number >= e->shards || m->blob.bytes != sums + row) { cluster_fail(r, "sums of no shard"); return; }
    memcpy(r->shards[m->number].sums, m->blob.at, sums);
    memcpy(r->shards[m->number].row, (const char *)m->blob.at + sums, row);
}

static void take_log(nima_run *r, const wire_result *m) {
    context *c = &r->contexts[0];
    const char *at = m->blob.at, *end = at + m->blob.bytes;
    for (line_head head; (size_t)(end - at) >= sizeof head;) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        if (head.bytes == 0 || head.bytes > (size_t)(end - at) || at[head.bytes - 1]) {
            cluster_fail(r, "lines of no log");
            return;
        }
        memory_count(&r->engine.memory, head.bytes, "log");
        char *text = strdup(at);
        if (!text) { cluster_fail(r, "no memory for the log"); return; }
        c->lines = memory_grow(&r->engine.memory, c->lines, &c->line_room, c->line_count + 1, sizeof *c->lines, "log");
        c->lines[c->line_count++] = (log_line){ head.time, head.step, head.line, head.level, head.agent, text };
        at += head.bytes;
    }
}

static void take_sent(nima_run *r, const wire_result *m) {
    context *c = &r->contexts[0];
    const char *at = m->blob.at, *end = at + m->blob.bytes;
    for (sent_head head; (size_t)(end - at) >= sizeof head; at += head.bytes) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        nima_mail *mail = head.bytes >= sizeof *mail && head.bytes <= (size_t)(end - at) ? malloc(head.bytes) : NULL;
        if (!mail) { cluster_fail(r, "what was sent cannot be listed"); return; }
        memcpy(mail, at, head.bytes);
        c->sent =
            memory_grow(&r->engine.memory, c->sent, &c->sent_room, c->sent_count + 1, sizeof *c->sent, "messages sent");
        c->sent[c->sent_count++] = (sent_record){ head.to, mail, head.time, head.step };
    }
}

static void take_shard(nima_run *r, const wire_result *m) {
    const engine *e = &r->engine;
    shard_head head;
    const size_t tallies = e->tally_count * sizeof(tally), levels = e->level_count * sizeof(level);
    if (m->number >= e->shards || m->blob.bytes != sizeof head + tallies + levels) {
        cluster_fail(r, "no shard");
        return;
    }
    memcpy(&head, m->blob.at, sizeof head);
    shard *h = &r->shards[m->number];
    for (uint32_t slot = 0; slot < h->slots; slot++) {       /* of an earlier copy */
        shard_agent(h, e, slot)->flags = 0;
        arena_give_all(h, &h->rest[slot]);
    }
    arena_free(&h->arena, &r->engine.memory);
    h->arena = (arena){ .at = NULL };
    h->slots = head.slots;
    h->chains = head.chains;
    h->alive = head.alive;
    h->events = head.events;
    h->births = head.births;
    h->deaths = head.deaths;
    h->now = head.now;
    h->last_event = head.last_event;
    memcpy(h->tallies, (const char *)m->blob.at + sizeof head, tallies);
    memcpy(h->levels, (const char *)m->blob.at + sizeof head + tallies, levels);
}

/* Pointers into an agent's own memory point to the copy from now on. A word is taken for such a pointer if it points
 * into one of the blocks: no other value comes near those addresses. */
static void point_to_copies(void *words, size_t bytes, const block_head *was, char *const *is, uint32_t count) {
    for (size_t at = 0; at + sizeof(char *) <= bytes; at += sizeof(char *)) {
        char *p;
        memcpy(&p, (char *)words + at, sizeof p);
        for (uint32_t i = 0; i < count; i++) {
            if (p < was[i].at || p > was[i].at + was[i].bytes) continue;
            p = is[i] + (p - was[i].at);
            memcpy((char *)words + at, &p, sizeof p);
            break;
        }
    }
}

/* The agent's blocks, behind its state in the message. NULL: they are none. */
static const char *take_blocks(nima_run *r, shard *h, const agent_head *one, void *state, const char *at,
                               const char *end) {
    context *c = &r->contexts[0];
    block_head *was = calloc(one->blocks, sizeof *was);
    char **is = calloc(one->blocks, sizeof *is);
    c->shard = h;
    bool good = was && is;
    for (uint32_t i = 0; good && i < one->blocks; i++) {
        good = (size_t)(end - at) >= sizeof *was;
        if (good) memcpy(&was[i], at, sizeof *was);
        at += sizeof *was;
        good = good && was[i].bytes <= (size_t)(end - at) && was[i].bytes > 0 &&
               (is[i] = arena_resize(c, &h->rest[one->slot], NULL, was[i].bytes)) != NULL;
        if (!good) break;
        memcpy(is[i], at, was[i].bytes);
        at += was[i].bytes;
    }
    if (good) point_to_copies(state, one->bytes, was, is, one->blocks);
    for (uint32_t i = 0; good && i < one->blocks; i++) point_to_copies(is[i], was[i].bytes, was, is, one->blocks);
    free(was);
    free(is);
    return good ? at : NULL;
}

static void take_agents(nima_run *r, const wire_result *m) {
    const engine *e = &r->engine;
    const char *at = m->blob.at, *end = at + m->blob.bytes;
    shard *h = m->number < e->shards ? &r->shards[m->number] : NULL;
    for (agent_head one; (size_t)(end - at) >= sizeof one;) {
        memcpy(&one, at, sizeof one);
        at += sizeof one;
        const uint32_t behavior = one.head.sent & 0xFFFF;
        if (!h || one.slot >= h->slots || one.bytes > (size_t)(end - at) || behavior >= e->behavior_count
            || one.bytes != e->behaviors[behavior]->state_bytes) { cluster_fail(r, "agents of no shard"); return; }
        agent *a = shard_agent(h, e, one.slot);
        memcpy(a, &one.head, sizeof one.head);
        void *state = a->state;
        if (one.bytes > e->inline_bytes) {
            r->contexts[0].shard = h;
            state = arena_take(&r->contexts[0], one.bytes);
            memcpy(a->state, &state, sizeof state);
        }
        memcpy(state, at, one.bytes);
        at += one.bytes;
        if (one.blocks && !(at = take_blocks(r, h, &one, state, at, end))) {
            cluster_fail(r, "an agent's memory is cut short");
            return;
        }
    }
}

static void take_counts(nima_run *r, const wire_result *m) {
    uint64_t **counts = m->number ? &r->others_unread : &r->others_dead;
    if (!*counts && !(*counts = calloc(65536, sizeof **counts))) { cluster_fail(r, "no memory"); return; }
    for (size_t at = 0; at + 12 <= m->blob.bytes; at += 12) {
        uint32_t type;
        uint64_t n;
        memcpy(&type, (const char *)m->blob.at + at, 4);
        memcpy(&n, (const char *)m->blob.at + at + 4, 8);
        (*counts)[type & 0xFFFF] += n;
    }
}

/* Puts parts together that were too long for one message. false: there is more to come. */
static bool whole(nima_run *r, uint32_t from, wire_result *m) {
    part_so_far *p = &r->cluster->parts[from];
    const bool more = m->part & PART_MORE;
    m->part &= ~(uint32_t)PART_MORE;
    if (!more && !p->bytes) return true;
    char *grown = realloc(p->at, p->bytes + m->blob.bytes);
    if (!grown || p->bytes + m->blob.bytes > UINT32_MAX) {
        cluster_fail(r, "no memory for an agent of %s", r->cluster->peers[from].name);
        return false;
    }
    memcpy(grown + p->bytes, m->blob.at, m->blob.bytes);
    p->at = grown;
    p->bytes += m->blob.bytes;
    if (more) return false;
    m->blob = (wire_blob){ p->at, (uint32_t)p->bytes };
    p->bytes = 0;                            /* its memory serves the next one */
    return true;
}

void gather_take(nima_run *r, uint32_t from, const wire_result *piece) {
    cluster *k = r->cluster;
    wire_result it = *piece, *m = &it;
    if (!whole(r, from, m)) return;
    status_head status;
    switch (m->part) {
    case PART_SUMS: take_sums(r, m); return;
    case PART_LOG: take_log(r, m); return;
    case PART_SENT: take_sent(r, m); return;
    case PART_LOAD: loads_take(r, from, m); return;
    case PART_SHARD: take_shard(r, m); return;
    case PART_AGENTS: take_agents(r, m); return;
    case PART_COUNTS: take_counts(r, m); return;
    case PART_STATUS:
        if (m->blob.bytes != sizeof status) { cluster_fail(r, "no status"); return; }
        memcpy(&status, m->blob.at, sizeof status);
        if (status.last > k->last_event) k->last_event = status.last;
        k->pending |= status.pending != 0;
        k->any_step |= status.any_step != 0;
        k->more_steps |= status.more_steps != 0;
        return;
    case PART_SET_HASHES: sets_take_hashes(r, m); return;
    case PART_SET_BITS: sets_take_bits(r, m); return;
    case PART_DONE: if (k->parts_missing) k->parts_missing--; return;
    default: cluster_fail(r, "part %u of a result is unknown", m->part);
    }
}
