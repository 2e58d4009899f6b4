/* batch.c: writing and checking event batches; see batch.h. */
#include "batch.h"
#include "reader.h"
#include <assert.h>
#include <msgpack.h>
#include <stdlib.h>

enum { COLUMNS = 7, FIELDS = 4 + COLUMNS };

transport_err wire_batch_init(wire_batch *b, uint32_t room) {
    assert(room >= 4096 && room <= WIRE_BATCH_BYTES_MAX - WIRE_BATCH_HEADER_MAX);
    const size_t events = (room / WIRE_EVENT_BYTES + 15u) & ~(size_t)15u;
    char *at = aligned_alloc(64, (events * WIRE_EVENT_BYTES + room + 63u) & ~(size_t)63u);
    *b = (wire_batch){.room = room, .memory = at};
    if (!at) return TRANSPORT_MEMORY;
    b->time = (void *)at;
    b->sender = (void *)(at += events * 8);
    b->order = (void *)(at += events * 8);
    b->receiver_word = (void *)(at += events * 8);
    b->shard = (void *)(at += events * 8);
    b->bytes = (void *)(at += events * 4);
    b->payload = (void *)(at += events * 4);
    return TRANSPORT_OK;
}

void wire_batch_fini(wire_batch *b) {
    free(b->memory);
    *b = (wire_batch){0};
}

static int write_bytes(void *arg, const char *bytes, size_t count) {
    uint8_t **at = arg;
    memcpy(*at, bytes, count);
    *at += count;
    return 0;
}

static void column(msgpack_packer *p, const void *at, size_t bytes) {
    msgpack_pack_bin(p, bytes);
    msgpack_pack_bin_body(p, at, bytes);
}

size_t wire_batch_write(wire_batch *b, uint64_t window, void *out) {
    uint8_t *at = out;
    msgpack_packer p;
    msgpack_packer_init(&p, &at, write_bytes);
    msgpack_pack_array(&p, FIELDS);
    msgpack_pack_uint8(&p, WIRE_VERSION);
    msgpack_pack_uint8(&p, WIRE_BATCH);
    msgpack_pack_uint64(&p, window);
    msgpack_pack_uint32(&p, b->count);
    const size_t n = b->count;
    column(&p, b->time, n * 8);
    column(&p, b->sender, n * 8);
    column(&p, b->order, n * 8);
    column(&p, b->receiver_word, n * 8);
    column(&p, b->shard, n * 4);
    column(&p, b->bytes, n * 4);
    column(&p, b->payload, b->payload_bytes);
    b->count = b->payload_bytes = b->used = 0;
    return (size_t)(at - (uint8_t *)out);
}

static const uint8_t *read_column(reader *r, const char *what, uint32_t count, uint32_t width) {
    const reader_span span = reader_bin(r, what, WIRE_BATCH_BYTES_MAX);
    if (!r->err && span.bytes != (uint64_t)count * width) reader_error(r, TRANSPORT_MALFORMED, what);
    return span.at;
}

transport_err wire_batch_open(wire_events *v, const void *data, size_t bytes, const char *peer,
                              transport_fault *fault) {
    reader r;
    *v = (wire_events){0};
    reader_init(&r, data, bytes, peer, fault);
    r.message = wire_kind_name(WIRE_BATCH);
    if (bytes > WIRE_BATCH_BYTES_MAX) return reader_error(&r, TRANSPORT_OVERSIZED, "length");
    const uint32_t fields = reader_array(&r, "array");
    if (reader_uint(&r, "version", UINT64_MAX) != WIRE_VERSION) reader_error(&r, TRANSPORT_VERSION, "version");
    if (wire_kind_of(data, bytes) != WIRE_BATCH) reader_error(&r, TRANSPORT_MALFORMED, "kind");
    if (fields != FIELDS) reader_error(&r, TRANSPORT_MALFORMED, "number of fields");
    (void)reader_uint(&r, "kind", WIRE_BATCH);
    v->window = reader_uint(&r, "window", UINT64_MAX);
    const uint32_t count = (uint32_t)reader_uint(&r, "count", WIRE_BATCH_BYTES_MAX / WIRE_EVENT_BYTES);
    v->time = read_column(&r, "time", count, 8);
    v->sender = read_column(&r, "sender", count, 8);
    v->order = read_column(&r, "order", count, 8);
    v->receiver_word = read_column(&r, "receiver", count, 8);
    v->shard = read_column(&r, "shard", count, 4);
    v->bytes = read_column(&r, "bytes", count, 4);
    const reader_span payload = reader_bin(&r, "payload", WIRE_BATCH_BYTES_MAX);
    v->payload = payload.at;
    if (reader_end(&r)) return r.err;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t each;
        memcpy(&each, v->bytes + 4 * i, 4);
        sum += each;
    }
    if (sum != payload.bytes)
        return reader_error(&r, TRANSPORT_MALFORMED, "bytes (their sum is not that of the payload)");
    v->count = count;
    return TRANSPORT_OK;
}
