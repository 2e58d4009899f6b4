/* reader.h: a checked cursor over one msgpack message, shared by the decoders of transport/.
 *
 * msgpack-c's own unpacker allocates what a length claims before it has seen the bytes, so that five hostile bytes ask
 * for 100 GB. This cursor allocates nothing, follows no pointer and reads no byte it has not counted. The first error
 * sticks: every later call gives zero or nothing, so that a decoder reads all fields and looks at `err` once. */
#ifndef TRANSPORT_READER_H
#define TRANSPORT_READER_H
#include "error.h"
#include <stddef.h>
#include <stdint.h>

typedef struct { const uint8_t *at; uint32_t bytes; } reader_span;

typedef struct {
    const uint8_t *at, *end;
    const char *peer;                        /* for the text of an error */
    const char *message;                     /* name of what is being read, for the same */
    transport_err err;
    transport_fault *fault;
} reader;

void reader_init(reader *, const void *data, size_t bytes, const char *peer, transport_fault *);
transport_err reader_error(reader *, transport_err, const char *what);   /* the first one sticks */
/* `what` names the field. Integers in any msgpack encoding; beyond [min, max] is OVERSIZED. */
uint32_t reader_array(reader *, const char *what);
uint64_t reader_uint(reader *, const char *what, uint64_t max);
int64_t reader_int(reader *, const char *what);
reader_span reader_bin(reader *, const char *what, uint32_t max_bytes);
reader_span reader_text(reader *, const char *what, uint32_t max_bytes);
transport_err reader_end(reader *); /* anything left over is MALFORMED; returns the error so far */

#endif
