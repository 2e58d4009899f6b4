/* shard.c: agents come and go: layout of populations, births, deaths, groups, and what is still pending. See shard.h. */
#include "shard.h"
#include "fingerprint.h"
#include <stdlib.h>

#define MEM(e) ((memory *)(uintptr_t)&(e)->memory)

/* ---- maps ---- */
static uint64_t *map_slot(const map *m, uint64_t key) {
    for (size_t i = hash_mum(key, HASH_K0) & (m->room - 1);; i = (i + 1) & (m->room - 1))
        if (m->slots[i][0] == key || m->slots[i][0] == 0) return m->slots[i];
}

uint64_t *map_find(const map *m, uint64_t key) {
    if (!m->count) return NULL;
    uint64_t *s = map_slot(m, key);
    return s[0] ? &s[1] : NULL;
}

uint64_t *map_put(map *m, memory *mem, uint64_t key) {
    if (2 * (m->count + 1) > m->room) {
        map grown = { NULL, m->room ? 2 * m->room : 64, m->count };
        memory_count(mem, (int64_t)(grown.room * sizeof *m->slots), "tables of a shard");   /* both, for a while */
        grown.slots = calloc(grown.room, sizeof *grown.slots);
        if (!grown.slots) { mem->exhausted(mem->arg, grown.room * sizeof *m->slots, "tables of a shard"); abort(); }
        for (size_t i = 0; i < m->room; i++)
            if (m->slots[i][0]) memcpy(map_slot(&grown, m->slots[i][0]), m->slots[i], sizeof *m->slots);
        memory_count(mem, -(int64_t)(m->room * sizeof *m->slots), "");
        free(m->slots);
        *m = grown;
    }
    uint64_t *s = map_slot(m, key);
    if (!s[0]) { s[0] = key; s[1] = 0; m->count++; }
    return &s[1];
}

bool map_remove(map *m, uint64_t key) {
    if (!m->count) return false;
    uint64_t *s = map_slot(m, key);
    if (!s[0]) return false;
    size_t hole = (size_t)(s - &m->slots[0][0]) / 2;
    m->slots[hole][0] = 0;
    m->count--;
    for (size_t i = (hole + 1) & (m->room - 1); m->slots[i][0]; i = (i + 1) & (m->room - 1)) {   /* close the gap */
        const size_t home = hash_mum(m->slots[i][0], HASH_K0) & (m->room - 1);
        if (((i - home) & (m->room - 1)) < ((i - hole) & (m->room - 1))) continue;
        memcpy(m->slots[hole], m->slots[i], sizeof *m->slots);
        m->slots[i][0] = 0;
        hole = i;
    }
    return true;
}

void map_free(map *m, memory *mem) {
    memory_count(mem, -(int64_t)(m->room * sizeof *m->slots), "");
    free(m->slots);
    *m = (map){ NULL, 0, 0 };
}

/* ---- shard ---- */
static void *array(const engine *e, size_t count, size_t bytes) {
    memory_count(MEM(e), (int64_t)(count * bytes), "a shard");
    void *p = calloc(count ? count : 1, bytes);
    if (!p) { MEM(e)->exhausted(MEM(e)->arg, count * bytes, "a shard"); abort(); }
    return p;
}

void shard_init(shard *h, const engine *e, uint32_t number, chunk_pool *pool) {
    h->number = number;
    h->last_event = -1;
    h->due = h->net = NIMA_FOREVER;
    chunk_list_init(&h->next);
    chunk_list_init(&h->cur);
    queue_init(&h->queue, e->lookahead > 0 ? (uint64_t)e->lookahead : 1024);
    h->queue.pool = pool;
    for (uint32_t b = 0; b < e->behavior_count && !h->sweeps; b++)
        if (e->periods[b]) h->sweeps = array(e, e->behavior_count, sizeof *h->sweeps);
    h->tallies = array(e, e->tally_count, sizeof *h->tallies);
    h->levels = array(e, e->level_count, sizeof *h->levels);
    h->sums = array(e, e->reporter_count, sizeof *h->sums);
    h->row = array(e, e->row_values, sizeof *h->row);
}

void shard_fini(shard *h, const engine *e) {
    queue_fini(&h->queue, MEM(e));
    chunk_list_end(MEM(e), &h->next);
    chunk_list_end(MEM(e), &h->cur);
    for (uint32_t b = 0; h->sweeps && b < e->behavior_count; b++) free(h->sweeps[b].bits);
    free(h->sweeps);
    free(h->tallies);
    free(h->levels);
    free(h->sums);
    free(h->spans);
    free(h->row);
    free(h->free);
    topics_free(&h->topics, MEM(e));
    map_free(&h->cancelled, MEM(e));
    map_free(&h->levels_of, MEM(e));
    arena_free(&h->arena, MEM(e));
}

static void set_state(context *c, shard *h, agent *a, const nima_behavior *b, const void *state) {
    void *to = a->state;
    if (b->state_bytes > c->engine->inline_bytes) {
        shard *held = c->shard;
        c->shard = h;
        to = arena_take(c, b->state_bytes);
        c->shard = held;
        memcpy(a->state, &to, sizeof to);
    }
    if (state) memcpy(to, state, b->state_bytes);
    else for (size_t i = 0; i < b->state_bytes; i += 8) memset((char *)to + i, 0, 8);   /* rounded up: there is room */
}

void shard_first_agents(shard *h, context *c) {
    const engine *e = c->engine;
    uint32_t slot = 0;
    h->slots = h->initial;
    h->spans = array(e, e->population_count, sizeof *h->spans);
    for (uint32_t p = 0; p < e->population_count; p++) {
        const nima_layout *l = &e->populations[p];
        if (l->first[h->number] == l->first[h->number + 1]) continue;
        h->spans[h->span_count++] = (span){ slot, p, l->first[h->number] - slot };
        for (uint64_t i = l->first[h->number]; i < l->first[h->number + 1]; i++, slot++) {
            agent *a = shard_agent(h, e, slot);
            a->stream = l->number << 48 | i;
            a->draws = a->chain = 0;
            a->sent = l->behavior->index;
            a->generation = 1;
            a->flags = AGENT_EXPECTED;
            set_state(c, h, a, l->behavior, NULL);
        }
    }
    h->starting = h->initial > 0;
    shard_refresh_net(h);
}

/* Equal for two agents of one shard if and only if they are of one group. */
uint64_t shard_group(const shard *h, const engine *e, uint32_t slot) {
    const agent *a = shard_agent(h, e, slot);
    if (a->flags & AGENT_NEWBORN) return h->rest[slot].group;
    const span *s = shard_span(h, a, slot);
    const nima_layout *l = &e->populations[s->population];
    return l->per_group ? (uint64_t)1 << 63 | (slot + s->offset) / l->per_group : shard_id(h, a, slot).bits;
}

/* group 0: by itself */
nima_id shard_birth_here(context *c, const nima_behavior *b, const void *state, uint64_t stream, nima_id parent, uint64_t group) {
    shard *h = c->shard;
    const engine *e = c->engine;
    uint32_t slot;
    if (h->free_count) slot = h->free[--h->free_count];
    else {
        if (h->slots == SLOTS_MAX)
            fail(c, NIMA_E_MODEL, "shard %u is full: a shard holds %d agents; declare more shards", h->number, SLOTS_MAX);
        slot = h->slots++;
        if ((slot - h->initial) % 64 == 0) memory_count(MEM(e), (int64_t)(64 * (e->stride + sizeof(agent_rest))), "agents");
        shard_agent(h, e, slot)->generation = 1;
    }
    agent *a = shard_agent(h, e, slot);
    a->stream = stream;
    a->draws = a->chain = 0;
    a->sent = b->index;
    a->flags = AGENT_EXPECTED | AGENT_NEWBORN;
    set_state(c, h, a, b, state);
    const nima_id id = shard_id(h, a, slot);
    h->rest[slot] = (agent_rest){ .parent = parent, .group = group ? group : id.bits };
    h->births++;
    return id;
}

uint64_t agent_end_chain(const engine *e, agent *a, nima_time time, uint64_t draws) {
    const nima_behavior *b = e->behaviors[a->sent & 0xFFFF];
    uint64_t chain = hash_mum(a->chain ^ draws, a->sent >> 16 ^ HASH_K3);
    chain = hash_mum(chain ^ (uint64_t)time, HASH_K4);
    const char *state = agent_state(e, a, b);
    for (uint32_t f = 0; f < b->field_count; f++) {
        if (b->fields[f].type == NIMA_POINTER || b->fields[f].type == NIMA_TEXT || b->fields[f].type == NIMA_FILE) continue;
        for (uint32_t at = 0; at < b->fields[f].bytes; at += 8) {
            uint64_t w = 0;
            const uint32_t left = b->fields[f].bytes - at;
            memcpy(&w, state + b->fields[f].offset + at, left < 8 ? left : 8);
            chain = hash_mum(chain ^ w, HASH_K2);
        }
    }
    return chain;
}

void shard_agent_ends(context *c, agent *a, uint32_t slot) {
    shard *h = c->shard;
    const engine *e = c->engine;
    const nima_behavior *b = agent_behavior(e, a);
    if (e->fingerprint) h->chains += agent_end_chain(e, a, h->now, a->draws);
    if (a->flags & AGENT_LEVELS) levels_of_end(c, slot);
    if (h->sweeps && e->periods[b->index]) {
        sweep *s = &h->sweeps[b->index];
        if (slot / 64 < s->room && s->bits[slot / 64] >> slot % 64 & 1) {
            s->bits[slot / 64] &= ~((uint64_t)1 << slot % 64);
            s->awake--;
        }
    }
    if (b->state_bytes > e->inline_bytes) arena_give(h, *(void **)(void *)a->state);
    if (h->rest[slot].blocks) arena_give_all(h, &h->rest[slot]);
    a->flags = AGENT_NEWBORN;                /* nobody of a population any more */
    h->alive--;
    h->deaths++;
    if (a->generation++ == GENERATION_MAX) { a->generation = 0; return; }   /* used up: the slot retires */
    if (h->free_count == h->free_room) h->free = memory_grow(MEM(e), h->free, &h->free_room, h->free_count + 1u, sizeof *h->free, "free slots");
    h->free[h->free_count++] = slot;
}

uint64_t shard_chains(const shard *h, const engine *e, nima_time time) {
    uint64_t sum = h->chains;
    for (uint32_t slot = 0; slot < h->slots; slot++) {
        agent *a = shard_agent(h, e, slot);
        if (a->flags & AGENT_ALIVE) sum += agent_end_chain(e, a, time, a->draws);
    }
    return sum;
}

/* ---- pending ---- */
typedef struct { const shard *shard; const engine *engine; } pending_in;

static bool counts(const nima_mail *m, void *arg) {
    const pending_in *in = arg;
    if (m->kind != RECORD_ALARM) return true;
    const shard *h = in->shard;
    const uint32_t slot = (uint32_t)m->receiver & (SLOTS_MAX - 1);
    const agent *a = shard_agent(h, in->engine, slot);
    if (a->generation != (uint32_t)(m->receiver >> SLOT_BITS) || !(a->flags & (AGENT_ALIVE | AGENT_EXPECTED))) return false;
    return !map_find(&h->cancelled, hash_mum(m->receiver ^ HASH_K3, m->sequence ^ HASH_K4) | 1);
}

bool shard_steps(const shard *h, const engine *e) {
    pending_in in = { h, e };
    for (chunk *k = chunk_list_read(&h->next); k; k = k->next)
        CHUNK_EACH(k, m) if (counts(m, &in)) return true;
    return false;
}

bool shard_pending(const shard *h, const engine *e) {
    pending_in in = { h, e };
    if (h->starting || shard_steps(h, e)) return true;
    for (uint32_t b = 0; h->sweeps && b < e->behavior_count; b++) if (h->sweeps[b].awake) return true;
    return queue_any(&h->queue, counts, &in);
}
