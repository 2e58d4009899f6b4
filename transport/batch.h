/* batch.h: one window's events for one peer, as columns: one msgpack array whose columns are `bin` in little-endian
 * order.
 *
 *   [version, BATCH, window, count, time, sender, order, receiver, shard, bytes, payload]
 *
 * A builder appends each event to arrays in memory (no allocation, no branch but the one for room), and writing a batch
 * is one copy of each column. A reader checks the frame once (lengths of all columns, sum of the payloads), and then
 * walks it by pointers. What the words of an event mean is the engine's business; transport does not look into them. */
#ifndef TRANSPORT_BATCH_H
#define TRANSPORT_BATCH_H
#include "wire.h"
#include <stdbool.h>

typedef struct wire_event {
    int64_t time;
    uint64_t sender, order, receiver_word;   /* order: type and sequence; receiver_word: as the engine packs it */
    uint32_t shard;                          /* of the receiver */
    uint32_t bytes;                          /* of payload */
    const void *payload;                     /* not aligned when decoded; lives as long as the frame */
} wire_event;

enum {
    WIRE_EVENT_BYTES = 40,                   /* of an event in the columns, beside its payload */
    WIRE_BATCH_HEADER_MAX = 3 + 9 + 5 + 7 * 5,
    WIRE_BATCH_BYTES = 256 << 10,            /* usual room of a builder */
    WIRE_BATCH_BYTES_MAX = 16 << 20          /* a larger batch is refused by the decoder */
};

/* Builder: owned by one thread at a time. used = count * WIRE_EVENT_BYTES + payload_bytes <= room. */
typedef struct wire_batch {
    uint32_t used, room, count, payload_bytes;
    int64_t *time;
    uint64_t *sender, *order, *receiver_word;
    uint32_t *shard, *bytes;
    uint8_t *payload;
    void *memory;
} wire_batch;

/* room: bytes of events and payloads together, 4 KiB to WIRE_BATCH_BYTES_MAX less the header. Takes twice that of
 * address space. MEMORY. */
transport_err wire_batch_init(wire_batch *, uint32_t room) TRANSPORT_MUST_CHECK;
void wire_batch_fini(wire_batch *);

/* Copies the event. false: no room, write the batch first. An event must fit an empty batch. */
static inline bool wire_batch_add(wire_batch *b, const wire_event *e) {
    const uint32_t i = b->count, used = b->used + WIRE_EVENT_BYTES + e->bytes;
    if (__builtin_expect(used > b->room, 0)) return false;
    b->time[i] = e->time;
    b->sender[i] = e->sender;
    b->order[i] = e->order;
    b->receiver_word[i] = e->receiver_word;
    b->shard[i] = e->shard;
    b->bytes[i] = e->bytes;
    uint8_t *to = b->payload + b->payload_bytes;
    if (e->bytes == 16) memcpy(to, e->payload, 16);          /* the common small sizes without a call */
    else if (e->bytes == 8) memcpy(to, e->payload, 8);
    else if (e->bytes) memcpy(to, e->payload, e->bytes);
    b->payload_bytes += e->bytes;
    b->used = used;
    b->count = i + 1;
    return true;
}

static inline size_t wire_batch_bound(const wire_batch *b) { return WIRE_BATCH_HEADER_MAX + (size_t)b->used; }
/* Writes the batch and empties the builder. Returns its bytes; out has wire_batch_bound() of room. */
size_t wire_batch_write(wire_batch *, uint64_t window, void *out);

/* Reader: points into the frame. */
typedef struct wire_events {
    uint64_t window;
    uint32_t count, next;
    const uint8_t *time, *sender, *order, *receiver_word, *shard, *bytes, *payload;
} wire_events;

/* MALFORMED, TRUNCATED, OVERSIZED or VERSION, with a text that names peer and column; then nothing may be read. */
transport_err wire_batch_open(wire_events *, const void *data, size_t bytes, const char *peer, transport_fault *)
    TRANSPORT_MUST_CHECK;

/* The next event; false at the end. */
static inline bool wire_batch_next(wire_events *v, wire_event *e) {
    const size_t i = v->next;
    if (i == v->count) return false;
    memcpy(&e->time, v->time + 8 * i, 8);
    memcpy(&e->sender, v->sender + 8 * i, 8);
    memcpy(&e->order, v->order + 8 * i, 8);
    memcpy(&e->receiver_word, v->receiver_word + 8 * i, 8);
    memcpy(&e->shard, v->shard + 4 * i, 4);
    memcpy(&e->bytes, v->bytes + 4 * i, 4);
    e->payload = v->payload;
    v->payload += e->bytes;
    v->next = (uint32_t)i + 1;
    return true;
}

#endif
