/* queue.c: the wheel, the sorting of a bucket and the heap beside it. See queue.h. */
#include "queue.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_ENTRIES_MAX = 256, LATE_BYTES_MAX = 1 << 20, LOADS_WATCHED = 256, FULL = 16384, BINS_MAX = 4096, SMALL = 24 };

static void set_width(queue *q, uint64_t width) {
    q->width = width;
    q->magic = UINT64_MAX / width;
}

void queue_init(queue *q, uint64_t width) {
    memset(q, 0, sizeof *q);
    set_width(q, width < 1 ? 1 : width > QUEUE_WIDTH_MAX ? QUEUE_WIDTH_MAX : width);
    q->base = -(nima_time)q->width;
    chunk_list_init(&q->batch_records);
    chunk_list_init(&q->late_records);
}

void queue_fini(queue *q, memory *m) {
    memory_count(m, -(int64_t)((q->batch_room + q->heap_room + q->scratch_room) * sizeof(queue_entry)), "");
    for (int l = 0; l < QUEUE_LEVELS; l++) {
        for (int i = 0; q->level[l] && i < 64; i++) chunk_list_end(m, &q->level[l]->bucket[i].list);
        free(q->level[l]);
    }
    chunk_list_end(m, &q->batch_records);
    chunk_list_end(m, &q->late_records);
    free(q->batch);
    free(q->heap);
    free(q->scratch);
}

/* ---- late entries ---- */
static queue_entry *grow(queue *q, queue_entry *array, size_t *room, size_t count) {
    return memory_grow(q->pool->depot->memory, array, room, count, sizeof(queue_entry), "event queue");
}

static void push_heap(queue *q, queue_entry e) {
    q->heap = grow(q, q->heap, &q->heap_room, q->heap_count + 1u);
    uint32_t i = q->heap_count++;
    while (i && q->heap[(i - 1) / 2].key > e.key) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = e;
    if (q->heap_count > LATE_ENTRIES_MAX && q->width > 1) q->shrink = true;
}

queue_entry queue_pop_heap(queue *q) {
    const queue_entry top = q->heap[0], last = q->heap[--q->heap_count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < q->heap_count; i = child) {
        if (child + 1 < q->heap_count && q->heap[child + 1].key < q->heap[child].key) child++;
        if (q->heap[child].key >= last.key) break;
        q->heap[i] = q->heap[child];
    }
    if (q->heap_count) q->heap[i] = last;
    return top;
}

void *queue_append_late(queue *q, nima_time t, uint32_t slot, uint32_t bytes) {
    assert(t >= q->base);
    void *at = chunk_append(q->pool, &q->late_records, bytes);
    q->late_bytes += bytes;
    if (q->late_bytes > LATE_BYTES_MAX && q->width > 1) q->shrink = true;
    push_heap(q, (queue_entry){ (uint64_t)(t - q->base) << QUEUE_SLOT_BITS | slot, at });
    return at;
}

/* ---- wheel ---- */
void *queue_append_new_level(queue *q, uint32_t l, nima_time t, uint64_t number, uint32_t bytes) {
    queue_level *level = aligned_alloc(64, (sizeof *level + 63u) & ~(size_t)63u);
    if (!level) { memory *m = q->pool->depot->memory; m->exhausted(m->arg, sizeof *level, "event queue"); abort(); }
    level->occupied = 0;
    for (int i = 0; i < 64; i++) {
        chunk_list_init(&level->bucket[i].list);
        level->bucket[i].earliest = NIMA_FOREVER;
    }
    q->level[l] = level;
    queue_bucket *b = &level->bucket[number >> (6 * l) & 63u];
    b->earliest = t;
    level->occupied |= (uint64_t)1 << (number >> (6 * l) & 63u);
    return chunk_append(q->pool, &b->list, bytes);
}

nima_time queue_wheel_earliest(const queue *q) {
    for (uint32_t l = 0; l < QUEUE_LEVELS; l++)              /* a lower level is always earlier than a higher one */
        if (q->level[l] && q->level[l]->occupied)
            return q->level[l]->bucket[__builtin_ctzll(q->level[l]->occupied)].earliest;
    return NIMA_FOREVER;
}

static chunk_list take_bucket(queue_level *level, uint32_t i) {
    queue_bucket *b = &level->bucket[i];
    const chunk_list l = b->list;
    chunk_list_init(&b->list);
    b->earliest = NIMA_FOREVER;
    level->occupied &= ~((uint64_t)1 << i);
    return l;
}

/* Copies the records of a list to where they belong now. */
static void refile(queue *q, chunk_list l) {
    for (chunk *c = chunk_list_read(&l); c;) {
        CHUNK_EACH(c, m) {
            const uint32_t bytes = record_size(m);
            memcpy(queue_append(q, m->time, (uint32_t)m->receiver & 0xFFFFF, bytes), m, bytes);
        }
        chunk *next = c->next;
        chunk_give(q->pool, c);
        c = next;
    }
}

/* ---- sorting ---- */
static void sort_small(queue_entry *e, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        const queue_entry k = e[i];
        uint32_t j = i;
        for (; j && e[j - 1].key > k.key; j--) e[j] = e[j - 1];
        e[j] = k;
    }
}

/* By key, stable, from `e` into `sorted`: one counting pass over as many bins as entries, then within the few bins that hold many. */
static void sort_entries(queue_entry *e, uint32_t n, queue_entry *sorted) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = e[i].key < least ? e[i].key : least;
        most = e[i].key > most ? e[i].key : most;
    }
    if (n <= SMALL || least == most) {
        memcpy(sorted, e, n * sizeof *e);
        if (least != most) sort_small(sorted, n);
        return;
    }
    uint32_t bins = 64, shift = 64 - 6;
    for (; bins < n && bins < BINS_MAX; bins *= 2) shift--;
    const uint64_t factor = UINT64_MAX / (most - least + 1);  /* bin = distance * factor * bins / 2^64 */
    uint32_t end[BINS_MAX + 1];
    memset(end, 0, (bins + 1) * sizeof *end);
#define BIN(k) ((uint32_t)(((k) - least) * factor >> shift))
    for (uint32_t i = 0; i < n; i++) end[BIN(e[i].key) + 1]++;
    uint32_t fullest = 0;
    for (uint32_t b = 0; b < bins; b++) {
        fullest = end[b + 1] > fullest ? end[b + 1] : fullest;
        end[b + 1] += end[b];
    }
    for (uint32_t i = 0; i < n; i++) sorted[end[BIN(e[i].key)]++] = e[i];
#undef BIN
    if (fullest <= SMALL) { sort_small(sorted, n); return; }
    for (uint32_t b = 0, from = 0; b < bins; from = end[b], b++) {
        const uint32_t count = end[b] - from;
        if (count <= SMALL) { sort_small(sorted + from, count); continue; }
        memcpy(e + from, sorted + from, count * sizeof *e);
        sort_entries(e + from, count, sorted + from);
    }
}

static void load(queue *q, chunk_list l) {
    uint32_t n = 0;
    for (chunk *c = chunk_list_read(&l); c; c = c->next) {
        if (c->next) for (int line = 0; line < 256; line += 64) __builtin_prefetch((char *)c->next + line);
        const size_t most = n + c->used / sizeof(nima_mail);
        q->scratch = grow(q, q->scratch, &q->scratch_room, most);
        CHUNK_EACH(c, m)
            q->scratch[n++] = (queue_entry){ (uint64_t)(m->time - q->base) << QUEUE_SLOT_BITS | (m->receiver & 0xFFFFF), m };
    }
    q->batch = grow(q, q->batch, &q->batch_room, n + 1u);
    sort_entries(q->scratch, n, q->batch);
    q->batch[n].key = UINT64_MAX;            /* equal to none */
    q->batch_records = l;
    q->at = 0;
    q->count = n;
    q->loads++;
    q->sparse += n < 2;
    if (n > FULL && (q->batch[0].key ^ q->batch[n - 1].key) >> QUEUE_SLOT_BITS) q->shrink = true;
}

void queue_bucket_done(queue *q) {
    q->at = q->count = 0;
    chunk_list_free(q->pool, &q->batch_records);
    chunk_list_reset(q->pool, &q->late_records);
    q->late_bytes = 0;
    if (q->loads == LOADS_WATCHED) {
        if (q->sparse > LOADS_WATCHED / 2 && !q->shrunk && q->width < QUEUE_WIDTH_MAX / 8) queue_rebuild(q, q->width * 8);
        q->loads = q->sparse = 0;
    }
}

nima_time queue_spread(queue *q) {
    if (__builtin_expect(q->shrink, 0)) queue_rebuild(q, q->width / 8 ? q->width / 8 : 1);
    while (q->at == q->count && !q->heap_count) {
        if (q->batch_records.head || q->late_bytes) queue_bucket_done(q);
        uint32_t l = 0;
        while (l < QUEUE_LEVELS && !(q->level[l] && q->level[l]->occupied)) l++;
        if (l == QUEUE_LEVELS) return NIMA_FOREVER;
        const uint32_t i = (uint32_t)__builtin_ctzll(q->level[l]->occupied);
        const uint64_t above = l == 10 ? 0 : q->current >> (6 * (l + 1)) << (6 * (l + 1));
        q->current = above | (uint64_t)i << (6 * l);
        q->base = (nima_time)((q->current - 1) * q->width);
        const chunk_list records = take_bucket(q->level[l], i);
        if (l == 0) load(q, records);
        else {                               /* its first bucket becomes current: what is in it is loaded, not late */
            chunk_list now;
            chunk_list_init(&now);
            for (chunk *c = chunk_list_read(&records); c;) {
                CHUNK_EACH(c, mail) {
                    const uint32_t bytes = record_size(mail);
                    void *to = queue_number(q, mail->time) == q->current
                                   ? chunk_append(q->pool, &now, bytes)
                                   : queue_append(q, mail->time, (uint32_t)mail->receiver & 0xFFFFF, bytes);
                    memcpy(to, mail, bytes);
                }
                chunk *next = c->next;
                chunk_give(q->pool, c);
                c = next;
            }
            if (now.head) load(q, now);
        }
    }
    return queue_earliest(q);
}

void queue_rebuild(queue *q, uint64_t width) {
    chunk_list all;
    chunk_list_init(&all);
    const nima_time next = queue_earliest(q);
    for (int pass = 0; pass < 2; pass++) {   /* what is left of batch and heap is scattered among records already run */
        const queue_entry *e = pass ? q->heap : q->batch + q->at;
        for (uint32_t i = 0, n = pass ? q->heap_count : q->count - q->at; i < n; i++) {
            const uint32_t bytes = record_size(e[i].mail);
            memcpy(chunk_append(q->pool, &all, bytes), e[i].mail, bytes);
        }
    }
    for (int l = 0; l < QUEUE_LEVELS; l++)
        while (q->level[l] && q->level[l]->occupied) {
            chunk_list one = take_bucket(q->level[l], (uint32_t)__builtin_ctzll(q->level[l]->occupied));
            chunk_list_join(&all, &one);
        }
    chunk_list_free(q->pool, &q->batch_records);
    chunk_list_free(q->pool, &q->late_records);
    q->at = q->count = q->heap_count = 0;
    q->late_bytes = 0;
    q->shrunk |= q->shrink;
    q->shrink = false;
    q->loads = q->sparse = 0;
    const nima_time reached = next == NIMA_FOREVER ? q->base : next;
    set_width(q, width);
    q->current = queue_number(q, reached < 0 ? 0 : reached) - 1;   /* so that what is due next is ahead, not late */
    q->base = (nima_time)((q->current - 1) * width);
    refile(q, all);
}

static bool any_in(const chunk_list *l, bool (*each)(const nima_mail *, void *), void *arg) {
    for (chunk *c = chunk_list_read(l); c; c = c->next)
        CHUNK_EACH(c, m) if (each(m, arg)) return true;
    return false;
}

static bool any_at_hand(const queue *q, bool (*each)(const nima_mail *, void *), void *arg) {
    for (uint32_t i = q->at; i < q->count; i++) if (each(q->batch[i].mail, arg)) return true;
    for (uint32_t i = 0; i < q->heap_count; i++) if (each(q->heap[i].mail, arg)) return true;
    return false;
}

bool queue_any_at(const queue *q, nima_time t, bool (*each)(const nima_mail *, void *), void *arg) {
    const uint64_t n = queue_number(q, t);
    if (n <= q->current) return any_at_hand(q, each, arg);
    const uint32_t l = (63u - (uint32_t)__builtin_clzll(n ^ q->current)) / 6u;
    return q->level[l] && any_in(&q->level[l]->bucket[n >> (6 * l) & 63u].list, each, arg);
}

bool queue_any(const queue *q, bool (*each)(const nima_mail *, void *), void *arg) {
    if (any_at_hand(q, each, arg)) return true;
    for (int l = 0; l < QUEUE_LEVELS; l++)
        for (uint64_t rest = q->level[l] ? q->level[l]->occupied : 0; rest; rest &= rest - 1)
            if (any_in(&q->level[l]->bucket[__builtin_ctzll(rest)].list, each, arg)) return true;
    return false;
}
