/* reader.c: checked reading of msgpack; see reader.h. */
#include "reader.h"

void reader_init(reader *r, const void *data, size_t bytes, const char *peer, transport_fault *fault) {
    *r = (reader){.at = data, .end = (const uint8_t *)data + bytes, .peer = peer, .message = "message", .fault = fault};
}

transport_err reader_error(reader *r, transport_err err, const char *what) {
    if (r->err) return r->err;
    r->err = err;
    r->at = r->end;
    return transport_fail(r->fault, err, "%s from %s: %s: %s", r->message, r->peer, what, transport_error_text(err));
}

/* The next `bytes` bytes, or NULL. */
static const uint8_t *take(reader *r, size_t bytes, const char *what) {
    if (r->err) return NULL;
    if ((size_t)(r->end - r->at) < bytes) { reader_error(r, TRANSPORT_TRUNCATED, what); return NULL; }
    const uint8_t *at = r->at;
    r->at += bytes;
    return at;
}

static uint64_t take_big_endian(reader *r, size_t bytes, const char *what) {
    const uint8_t *at = take(r, bytes, what);
    uint64_t value = 0;
    for (size_t i = 0; at && i < bytes; i++) value = value << 8 | at[i];
    return value;
}

uint32_t reader_array(reader *r, const char *what) {
    const uint8_t *tag = take(r, 1, what);
    if (!tag) return 0;
    if ((*tag & 0xF0u) == 0x90u) return *tag & 0x0Fu;
    reader_error(r, TRANSPORT_MALFORMED, what);
    return 0;
}

/* Any integer: its bits, and whether it is negative. */
static uint64_t take_integer(reader *r, const char *what, int *negative) {
    *negative = 0;
    const uint8_t *tag = take(r, 1, what);
    if (!tag) return 0;
    if (*tag < 0x80u) return *tag;
    if (*tag >= 0xE0u) { *negative = 1; return (uint64_t)(int64_t)(int8_t)*tag; }
    if (*tag >= 0xCCu && *tag <= 0xCFu) return take_big_endian(r, (size_t)1 << (*tag - 0xCCu), what);
    if (*tag >= 0xD0u && *tag <= 0xD3u) {
        const unsigned bits = 8u << (*tag - 0xD0u);
        uint64_t value = take_big_endian(r, bits / 8, what);
        *negative = (int)(value >> (bits - 1));
        if (*negative && bits < 64) value |= ~(uint64_t)0 << bits;
        return value;
    }
    reader_error(r, TRANSPORT_MALFORMED, what);
    return 0;
}

uint64_t reader_uint(reader *r, const char *what, uint64_t max) {
    int negative;
    const uint64_t value = take_integer(r, what, &negative);
    if (!negative && value <= max) return value;
    reader_error(r, TRANSPORT_OVERSIZED, what);
    return 0;
}

int64_t reader_int(reader *r, const char *what) {
    int negative;
    const uint64_t value = take_integer(r, what, &negative);
    if (negative || value <= INT64_MAX) return (int64_t)value;
    reader_error(r, TRANSPORT_OVERSIZED, what);
    return 0;
}

static reader_span take_span(reader *r, uint64_t bytes, const char *what, uint32_t max_bytes) {
    if (bytes > max_bytes) { reader_error(r, TRANSPORT_OVERSIZED, what); return (reader_span){NULL, 0}; }
    const uint8_t *at = take(r, (size_t)bytes, what);
    return (reader_span){at, at ? (uint32_t)bytes : 0};
}

reader_span reader_bin(reader *r, const char *what, uint32_t max_bytes) {
    const uint8_t *tag = take(r, 1, what);
    if (tag && *tag >= 0xC4u && *tag <= 0xC6u)
        return take_span(r, take_big_endian(r, (size_t)1 << (*tag - 0xC4u), what), what, max_bytes);
    reader_error(r, TRANSPORT_MALFORMED, what);
    return (reader_span){NULL, 0};
}

reader_span reader_text(reader *r, const char *what, uint32_t max_bytes) {
    const uint8_t *tag = take(r, 1, what);
    if (tag && (*tag & 0xE0u) == 0xA0u) return take_span(r, *tag & 0x1Fu, what, max_bytes);
    if (tag && *tag >= 0xD9u && *tag <= 0xDBu)
        return take_span(r, take_big_endian(r, (size_t)1 << (*tag - 0xD9u), what), what, max_bytes);
    reader_error(r, TRANSPORT_MALFORMED, what);
    return (reader_span){NULL, 0};
}

transport_err reader_end(reader *r) {
    if (!r->err && r->at != r->end) reader_error(r, TRANSPORT_MALFORMED, "bytes after the end");
    return r->err;
}
