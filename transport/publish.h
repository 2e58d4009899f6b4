/* publish.h: the publish socket, by which anybody can watch a run and nobody can disturb it.
 *
 * A message is  topic NUL [counter, value]  with the array in msgpack; counter counts the messages of this topic from
 * this publisher, from 1, so that a subscriber knows what it missed; value is a map, or what a model gave. Clients
 * subscribe by a prefix of the topic. Whoever connects is sent the last value of each topic that is kept, with its old
 * counter, within 100 ms; the others see it once more.
 *
 * Sending never waits: each subscriber has a queue of buffer_messages, and loses what does not fit. All calls may be
 * made on any thread, except open and close, and block only for another thread's call. NNG makes its threads here: fork
 * and exec before. */
#ifndef TRANSPORT_PUBLISH_H
#define TRANSPORT_PUBLISH_H
#include "error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUBLISH_TOPIC_MAX = 127, PUBLISH_TOPICS_MAX = 4096, PUBLISH_URLS_MAX = 16, PUBLISH_BYTES_MAX = 16 << 20 };

typedef struct publisher publisher;

typedef struct publish_options {
    const char *const *urls;
    uint32_t url_count; /* tcp://HOST:PORT, ipc:///PATH, ws://HOST:PORT/PATH; nothing else is bound */
    uint32_t buffer_messages;                /* per subscriber; 0: 1024; at most 8192 */
    /* Whom a ws address serves; called on NNG's threads. origin is NULL for what is no web page. NULL: pages of the
     * same host and port only, and all that are no page, see visitor.h. */
    bool (*admit)(void *arg, const char *origin, const char *host, const char *uri);
    void *admit_arg;
    transport_log *log; void *log_arg;       /* NULL: standard error */
} publish_options;

/* ADDRESS (names the url), SYSTEM, MEMORY. */
transport_err publish_open(publisher **, const publish_options *, transport_fault *) TRANSPORT_MUST_CHECK;
/* Waits linger_ms for what was sent last to leave, then closes; NULL is allowed. Blocks up to linger_ms + 3 s. */
void publish_close(publisher *, uint32_t linger_ms);

uint32_t publish_subscribers(const publisher *);             /* connected now */

/* A value under construction: a map from texts to values. Grows as needed; reusable after publish_send. One thread at a
 * time. */
typedef struct publish_map { uint8_t *data; size_t used, room; uint32_t pairs; bool failed; } publish_map;

void publish_map_init(publish_map *);
void publish_map_fini(publish_map *);
void publish_map_clear(publish_map *);
void publish_int(publish_map *, const char *name, int64_t);
void publish_uint(publish_map *, const char *name, uint64_t);
void publish_double(publish_map *, const char *name, double);
void publish_bool(publish_map *, const char *name, bool);
void publish_text(publish_map *, const char *name, const char *text);
void publish_bin(publish_map *, const char *name, const void *, size_t bytes);
void publish_doubles(publish_map *, const char *name, const double *, size_t count);
void publish_inner(publish_map *, const char *name, publish_map *inner);     /* a map within; clears `inner` */

typedef enum { PUBLISH_STREAM, PUBLISH_KEEP } publish_keep;  /* KEEP: remembered for those who connect later */

/* Sends the map and clears it. OVERSIZED: topic empty or too long, value too large; FULL: too many topics; MEMORY. */
transport_err publish_send(publisher *, const char *topic, publish_map *, publish_keep,
                           transport_fault *) TRANSPORT_MUST_CHECK;
/* Sends a change, and keeps the whole of which it is the last change, under the same counter. Clears both. */
transport_err publish_change(publisher *, const char *topic, publish_map *change, publish_map *whole,
                             transport_fault *) TRANSPORT_MUST_CHECK;
/* The same for one msgpack value that the caller has packed. */
transport_err publish_value(publisher *, const char *topic, const void *msgpack, size_t bytes, publish_keep,
                            transport_fault *) TRANSPORT_MUST_CHECK;

#endif
