/* wire.h: the messages of the protocol between processes of a run, as msgpack arrays; docs/formats_wire.md has every
 * field.
 *
 * A message is [version, kind, fields...]; the array header, version and kind are one byte each. Decoding is strict: a
 * field missing, of another type, beyond its limit, or one too many is an error whose text names the peer; nothing is
 * guessed and nothing allocated: texts, bins and lists of a decoded message point into the bytes it was decoded from
 * and live as long. Event batches, the bulk of the traffic, are in batch.h. All functions may be called on any thread
 * and never block. */
#ifndef TRANSPORT_WIRE_H
#define TRANSPORT_WIRE_H
#include "error.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    WIRE_VERSION = 1,
    WIRE_NAME_MAX = 63,                      /* bytes of a process's name */
    WIRE_TEXT_MAX = 65536,                   /* bytes of any other text */
    WIRE_PEERS_MAX = 65536,                  /* entries of a list of counts */
    WIRE_HEADER_MAX = 1 << 17,               /* what a message without `blob` and lists takes at most */
    WIRE_FRAME_MAX = 64 << 20                /* bytes of any message; a link may set less */
};

typedef enum {                               /* the first six belong to the link and are not seen by its owner */
    WIRE_HELLO = 1, WIRE_WELCOME, WIRE_CONFIRM, WIRE_HEARTBEAT, WIRE_BYE, WIRE_DONE,
    WIRE_REFUSE,
    WIRE_GRANT = 16, WIRE_NET, WIRE_FAIL, WIRE_LOG, WIRE_RESULT, WIRE_CONTROL,
    WIRE_BATCH = 32
} wire_kind;

typedef struct { const char *at; uint32_t bytes; } wire_text;    /* no NUL at the end; bytes as sent, not cleaned */
typedef struct { const void *at; uint32_t bytes; } wire_blob;
typedef struct { const void *at; uint32_t count; } wire_counts;  /* u32 little-endian, unaligned: see wire_count_at */
typedef struct { int64_t time; uint32_t step; } wire_instant;    /* (time, step), in ticks */

typedef struct {
    uint8_t run_id[16], nonce[32], proof[32];
    wire_text name, peer;                    /* who speaks; whom it means to speak to */
    uint32_t role, ciphers;                  /* role is the owner's number; ciphers: bits of seal.h */
} wire_hello;

typedef struct {                             /* WELCOME: as HELLO, but `cipher` is the one chosen */
    uint8_t run_id[16], nonce[32], echo[32], proof[32];      /* echo: the nonce of the HELLO that is answered */
    wire_text name;
    uint32_t role, cipher;
} wire_welcome;

typedef struct { uint8_t proof[32]; } wire_confirm;
typedef struct { uint64_t received; int64_t sent_ns, echo_ns, held_ns; } wire_heartbeat;   /* see link.c */
typedef struct { uint64_t frames; } wire_bye;                /* sent before it; DONE: received before it */
typedef struct { int32_t code; wire_text text; } wire_refuse;

typedef struct { /* run all before `until`, once `expected` batches of window - 1 are there */
    uint64_t window;
    wire_instant from, until;
    uint32_t order;                          /* owner's number: go on, pause, end */
    wire_counts expected;                    /* batches from each peer, in the order of the run's dispatchers */
} wire_grant;

typedef struct {                             /* a dispatcher has run its window */
    uint64_t window;
    wire_instant earliest;                   /* held or sent in this window; INT64_MAX: none */
    int64_t halt_time;                       /* least time of a halt; INT64_MAX: none */
    uint64_t events;                         /* executed in this window */
    uint64_t compute_ns, wait_ns, exchange_ns;
    uint32_t load_permille;                  /* of its workers' time */
    wire_counts sent;                        /* batches to each peer in this window */
} wire_net;

typedef struct {                             /* the run must end */
    int32_t code;
    wire_instant at;
    uint64_t agent;
    wire_text place, cause;
} wire_fail;

typedef struct { uint32_t level; int64_t time; uint64_t agent, line; wire_text place, text; } wire_log;
typedef struct { uint32_t part; uint64_t number; wire_blob blob; } wire_result;      /* opaque to transport */
typedef struct { uint32_t operation; int64_t number; wire_text text; wire_blob blob; } wire_control;

typedef struct {
    wire_kind kind;
    union {
        wire_hello hello; wire_welcome welcome; wire_confirm confirm; wire_heartbeat heartbeat; wire_bye bye, done;
        wire_refuse refuse;
        wire_grant grant; wire_net net; wire_fail fail; wire_log log; wire_result result; wire_control control;
    };
} wire_message;

/* Kind of a message by its first bytes: 0 if it cannot be one of this version. */
static inline uint32_t wire_kind_of(const void *data, size_t bytes) {
    const uint8_t *at = data;
    return bytes >= 3 && (at[0] & 0xF0u) == 0x90u && at[1] == WIRE_VERSION && at[2] < 0x80u ? at[2] : 0;
}
const char *wire_kind_name(uint32_t kind);

/* Bytes that wire_encode will write at most. Texts beyond their limit are cut, so what is encoded is always legal;
 * lists and blobs beyond theirs are the caller's bug. */
size_t wire_encode_bound(const wire_message *);
size_t wire_encode(const wire_message *, void *out, size_t room);   /* bytes written; room >= wire_encode_bound */

/* MALFORMED, TRUNCATED, OVERSIZED or VERSION, with a text that names peer, message and field. */
transport_err wire_decode(wire_message *, const void *data, size_t bytes, const char *peer, transport_fault *)
    TRANSPORT_MUST_CHECK;

static inline wire_text wire_text_of(const char *text) { return (wire_text){text, (uint32_t)strlen(text)}; }
static inline uint32_t wire_count_at(wire_counts counts, uint32_t i) {
    uint32_t value;
    memcpy(&value, (const uint8_t *)counts.at + (size_t)i * sizeof value, sizeof value);
    return value;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are copied as they lie in memory");
#endif
