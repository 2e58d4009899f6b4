/* unpack.h: msgpack from the network as JSON. Allocates nothing that a length claims before its bytes have been seen,
 * and what is no UTF-8 is replaced: the text may be shown on a terminal. */
#ifndef NIMA_UNPACK_H
#define NIMA_UNPACK_H
#include "cli/json.h"

typedef struct { const uint8_t *at, *end; bool bad; } unpack;
bool unpack_array(unpack *, uint32_t *count);                /* false: none there, nothing is taken; likewise: */
bool unpack_map(unpack *, uint32_t *count);
bool unpack_uint(unpack *, uint64_t *);
/* One value, of any kind, written under this key. Bytes become hexadecimal text, what JSON lacks null. */
void unpack_value(unpack *, json *, const char *key);
/* As text that may be shown, to be freed; NULL: no memory. */
char *unpack_clean(const uint8_t *, size_t bytes);
/* One key and its value, of a map. */
void unpack_pair(unpack *, json *);
#endif
