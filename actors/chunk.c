/* chunk.c: pools, the depot between them, and records larger than a chunk. See chunk.h. */
#include "chunk.h"
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 2 << 20 };

void chunk_depot_init(chunk_depot *d, memory *m) {
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->memory = m;
}

void chunk_depot_fini(chunk_depot *d) {
    while (d->slabs) {
        void *next = *(void **)d->slabs;
        memory_unmap(d->memory, d->slabs, SLAB_BYTES);
        d->slabs = next;
    }
    pthread_mutex_destroy(&d->lock);
}

chunk *chunk_refill(chunk_pool *p) {
    chunk_depot *d = p->depot;
    chunk *batch = NULL;
    pthread_mutex_lock(&d->lock);
    if (d->count) batch = d->batches[--d->count];
    pthread_mutex_unlock(&d->lock);
    if (!batch) {
        char *slab = memory_map(d->memory, SLAB_BYTES, true, "mail");
        if (p->dirty >= 0) memset(slab, p->dirty, SLAB_BYTES);
        pthread_mutex_lock(&d->lock);
        *(void **)(void *)slab = d->slabs;
        d->slabs = slab;
        pthread_mutex_unlock(&d->lock);
        for (size_t at = SLAB_BYTES; at > CHUNK_BYTES;) {     /* the first piece holds the chain of slabs */
            at -= CHUNK_BYTES;
            chunk *c = (chunk *)(void *)(slab + at);
            c->room = CHUNK_ROOM;
            c->next = batch;
            batch = c;
        }
        p->count += SLAB_BYTES / CHUNK_BYTES - 1;
    } else p->count += CHUNK_BATCH;
    chunk *c = batch;
    p->free = c->next;
    p->count--;
    return c;
}

void chunk_surplus(chunk_pool *p) {
    chunk_depot *d = p->depot;
    while (p->count >= 3 * CHUNK_BATCH) {
        chunk *batch = p->free, *last = batch;
        for (int i = 1; i < CHUNK_BATCH; i++) last = last->next;
        pthread_mutex_lock(&d->lock);
        const bool room = d->count < sizeof d->batches / sizeof *d->batches;
        if (room) {
            p->free = last->next;
            last->next = NULL;
            d->batches[d->count++] = batch;
            p->count -= CHUNK_BATCH;
        }
        pthread_mutex_unlock(&d->lock);
        if (!room) return;                   /* a full depot holds 256 MiB: nobody starves, and the rest stays here */
    }
}

chunk *chunk_large(chunk_pool *p, uint32_t room) {
    memory_count(p->depot->memory, (int64_t)(sizeof(chunk) + room), "mail");
    chunk *c = malloc(sizeof(chunk) + room);
    if (!c) { p->depot->memory->exhausted(p->depot->memory->arg, room, "mail"); abort(); }
    if (p->dirty >= 0) memset(c->data, p->dirty, room);
    c->room = room;
    return c;
}

void chunk_large_free(chunk_pool *p, chunk *c) {
    memory_count(p->depot->memory, -(int64_t)(sizeof(chunk) + c->room), "");
    free(c);
}

void *chunk_append_new(chunk_pool *p, chunk_list *l, uint32_t bytes) {
    chunk *c = chunk_take(p, bytes);
    if (l->head) {
        chunk_list_read(l);
        l->tail->next = c;
    } else l->head = c;
    l->tail = c;
    l->at = c->data + bytes;
    l->end = c->data + c->room;
    return c->data;
}

void chunk_list_end(memory *m, chunk_list *l) {
    for (chunk *c = l->head; c;) {
        chunk *next = c->next;
        if (c->room != CHUNK_ROOM) {
            memory_count(m, -(int64_t)(sizeof(chunk) + c->room), "");
            free(c);
        }
        c = next;
    }
    chunk_list_init(l);
}
