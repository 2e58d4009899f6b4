/* chunk.h: lists of records (messages with their payload) in chunks of 4 KiB.
 *
 * Records are written once, in place, and never move within a list. A worker has a pool: it takes chunks from it and gives
 * back those it has read. Pools exchange batches of chunks through one depot, so that a worker that only sends and one
 * that only receives both stay bounded. No two threads touch a list or a pool at once; the depot has a lock. */
#ifndef NIMA_CHUNK_H
#define NIMA_CHUNK_H
#include "memory.h"
#include "nima.h"
#include <pthread.h>

enum { CHUNK_BYTES = 4096, CHUNK_BATCH = 64 };

typedef struct chunk {
    struct chunk *next;
    uint32_t used, room;                     /* bytes of data; used <= room */
    char data[];
} chunk;
enum { CHUNK_ROOM = CHUNK_BYTES - (int)sizeof(chunk) };

/* Where the next record goes stands here, not in the chunk: appending reads nothing that may have left the cache. The last
 * chunk's `used` is brought up to date by chunk_list_read. */
typedef nima_records_ chunk_list;             /* all NULL: empty */

typedef struct {                                              /* shared by the workers of a run */
    pthread_mutex_t lock;                                     /* guards all below */
    chunk *batches[1024]; uint32_t count;                     /* each a chain of CHUNK_BATCH chunks */
    void *slabs;                                              /* all memory, chained through its first bytes, for the end */
    memory *memory;
} chunk_depot;

typedef struct {                                              /* one a worker */
    chunk *free; uint32_t count;
    chunk_depot *depot;
    int dirty;                                                /* -1, or the byte that fresh chunks are filled with */
} chunk_pool;

void chunk_depot_init(chunk_depot *, memory *);
void chunk_depot_fini(chunk_depot *);
chunk *chunk_refill(chunk_pool *);                            /* from depot or system */
void chunk_surplus(chunk_pool *);                             /* a batch to the depot */
chunk *chunk_large(chunk_pool *, uint32_t room);              /* own memory, for a record beyond CHUNK_ROOM */
void chunk_large_free(chunk_pool *, chunk *);

static inline void chunk_list_init(chunk_list *l) { *l = (chunk_list){ NULL, NULL, NULL, NULL }; }

static inline void chunk_give(chunk_pool *p, chunk *c) {
    if (__builtin_expect(c->room != CHUNK_ROOM, 0)) { chunk_large_free(p, c); return; }
    c->next = p->free;
    p->free = c;
    if (__builtin_expect(++p->count >= 4 * CHUNK_BATCH, 0)) chunk_surplus(p);
}

static inline chunk *chunk_take(chunk_pool *p, uint32_t bytes) {
    chunk *c;
    if (__builtin_expect(bytes > CHUNK_ROOM, 0)) c = chunk_large(p, bytes);
    else if (__builtin_expect(p->free != NULL, 1)) { c = p->free; p->free = c->next; p->count--; }
    else c = chunk_refill(p);
    c->next = NULL;
    c->used = 0;
    return c;
}

void *chunk_append_new(chunk_pool *, chunk_list *, uint32_t bytes);
/* Room for a record of `bytes` (a multiple of 8) at the end of the list. */
static inline void *chunk_append(chunk_pool *p, chunk_list *l, uint32_t bytes) {
    char *at = l->at;
    if (__builtin_expect(bytes > (size_t)(l->end - at), 0)) return chunk_append_new(p, l, bytes);
    l->at = at + bytes;
    return at;
}

/* First chunk, with all `used` up to date; the list stays as it is. */
static inline chunk *chunk_list_read(const chunk_list *l) {
    if (l->tail) l->tail->used = (uint32_t)(l->at - l->tail->data);
    return l->head;
}

static inline void chunk_list_free(chunk_pool *p, chunk_list *l) {
    for (chunk *c = l->head; c;) { chunk *next = c->next; chunk_give(p, c); c = next; }
    chunk_list_init(l);
}

/* Empties the list; keeps its chunk for the next use, if it is the only one. */
static inline void chunk_list_reset(chunk_pool *p, chunk_list *l) {
    chunk *c = l->head;
    if (!c) return;
    if (__builtin_expect(c->next != NULL || c->room != CHUNK_ROOM, 0)) { chunk_list_free(p, l); return; }
    l->at = c->data;
}

/* At the end of a run: gives back what is not the depot's, that is, large records. */
void chunk_list_end(memory *, chunk_list *);

/* Moves all of `from` behind `to`, without copying. */
static inline void chunk_list_join(chunk_list *to, chunk_list *from) {
    if (!from->head) return;
    if (to->head) {
        chunk_list_read(to);
        to->tail->next = from->head;
        from->head = to->head;
    }
    *to = *from;
    chunk_list_init(from);
}

/* A record is a nima_mail and its payload, padded to 8 bytes. */
static inline uint32_t record_bytes(uint32_t payload) { return (uint32_t)sizeof(nima_mail) + ((payload + 7u) & ~7u); }
/* Of one that exists: a publication's topic (16 bytes) follows its payload. */
enum { RECORD_MAIL, RECORD_ALARM, RECORD_START, RECORD_BIRTH, RECORD_PUBLICATION };
static inline uint32_t record_size(const nima_mail *m) {
    return record_bytes((uint32_t)m->bytes) + ((uint32_t)(m->kind == RECORD_PUBLICATION) << 4);
}
static inline nima_mail *record_after(nima_mail *m) { return (nima_mail *)(void *)((char *)m + record_size(m)); }
#define CHUNK_EACH(c, m) \
    for (nima_mail *m = (nima_mail *)(void *)(c)->data, *m##_end = (nima_mail *)(void *)((c)->data + (c)->used); m < m##_end; \
         m = record_after(m))
#endif
