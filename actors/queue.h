/* queue.h: a shard's pending events, in order of (time, slot).
 *
 * Time is cut into buckets of `width` ticks. Buckets ahead are unsorted lists in a wheel: level l has 64 buckets, each of 64^l
 * widths; a bucket of a higher level is spread over the lower ones when time comes to it. The bucket at hand is sorted once
 * (`batch`); what is added to it later goes to a small heap. Records stay where they were written until their bucket is done.
 * The width adapts to what is found: it is nobody's business but this file's.
 * Invariant: every record in the wheel is in a bucket after `current`; in batch and heap, in `current` or before. */
#ifndef NIMA_QUEUE_H
#define NIMA_QUEUE_H
#include "chunk.h"

enum { QUEUE_SLOT_BITS = 20, QUEUE_LEVELS = 11 };
#define QUEUE_WIDTH_MAX ((uint64_t)1 << 43)  /* a time within a bucket and a slot share 64 bits */

typedef struct { uint64_t key; nima_mail *mail; } queue_entry;   /* key: [time - base | slot] */
typedef struct { chunk_list list; nima_time earliest; } queue_bucket;
typedef struct { uint64_t occupied; queue_bucket bucket[64]; } queue_level;

typedef struct {
    queue_entry *batch; uint32_t at, count;  /* sorted; next is batch[at]; batch[count].key equals none */
    uint32_t heap_count; queue_entry *heap;  /* binary, least first */
    nima_time base;                          /* time at which the current bucket begins */
    uint64_t width, magic;                   /* magic = floor((2^64 - 1) / width) */
    uint64_t current;                        /* number of the bucket in batch */
    queue_level *level[QUEUE_LEVELS];        /* made when first used */
    chunk_list batch_records, late_records;  /* where batch and heap entries live */
    size_t batch_room, heap_room, scratch_room;
    queue_entry *scratch;
    uint32_t loads, sparse; bool shrink, shrunk;   /* how well the width fits */
    uint64_t late_bytes;
    chunk_pool *pool;                        /* of the worker that holds the shard */
} queue;

void queue_init(queue *, uint64_t width);
void queue_fini(queue *, memory *);
nima_time queue_spread(queue *);             /* loads buckets until batch or heap has the earliest event; its time */
void *queue_append_late(queue *, nima_time, uint32_t slot, uint32_t bytes);
void *queue_append_new_level(queue *, uint32_t level, nima_time, uint64_t number, uint32_t bytes);
queue_entry queue_pop_heap(queue *);
nima_time queue_wheel_earliest(const queue *);
void queue_rebuild(queue *, uint64_t width);
void queue_bucket_done(queue *);             /* nothing is left of the current bucket: frees its records */
/* Calls each for every pending record until it returns true; returns whether one did. */
bool queue_any(const queue *, bool (*each)(const nima_mail *, void *arg), void *arg);
/* The same for the records of the bucket that holds time t, ahead. */
bool queue_any_at(const queue *, nima_time t, bool (*each)(const nima_mail *, void *arg), void *arg);

static inline uint64_t queue_number(const queue *q, nima_time t) {   /* t / width + 1; 0 is before all time */
    uint64_t n = (uint64_t)(((unsigned __int128)(uint64_t)t * q->magic) >> 64);
    return n + 1 + ((uint64_t)t - n * q->width >= q->width);
}

/* Room for a record due at t > (what runs now), in the place where it will wait. */
static inline void *queue_append(queue *q, nima_time t, uint32_t slot, uint32_t bytes) {
    const uint64_t n = queue_number(q, t);
    if (__builtin_expect(n <= q->current, 0)) return queue_append_late(q, t, slot, bytes);
    const uint32_t l = (63u - (uint32_t)__builtin_clzll(n ^ q->current)) / 6u;
    queue_level *level = q->level[l];
    if (__builtin_expect(level == NULL, 0)) return queue_append_new_level(q, l, t, n, bytes);
    const uint32_t i = (uint32_t)(n >> (6 * l)) & 63u;
    queue_bucket *b = &level->bucket[i];
    if (t < b->earliest) { b->earliest = t; level->occupied |= (uint64_t)1 << i; }
    return chunk_append(q->pool, &b->list, bytes);
}

/* Time of the earliest event, exactly; NIMA_FOREVER: none. Cheap; loads nothing. */
static inline nima_time queue_earliest(const queue *q) {
    nima_time t = NIMA_FOREVER;
    if (q->at < q->count) t = q->base + (nima_time)(q->batch[q->at].key >> QUEUE_SLOT_BITS);
    if (q->heap_count) {
        const nima_time h = q->base + (nima_time)(q->heap[0].key >> QUEUE_SLOT_BITS);
        if (h < t) t = h;
    }
    return t != NIMA_FOREVER ? t : queue_wheel_earliest(q);
}
#endif
