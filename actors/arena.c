/* arena.c: blocks of memory that agents own, from their shard: size classes of powers of two, reused; large ones on their own.
 * An agent's blocks are chained from its agent_rest, so that they end with it. */
#include "shard.h"
#include <stdlib.h>

typedef struct block {
    struct block *next, **link;              /* of the same agent; link: what points here */
    size_t bytes; uint32_t class, zero;      /* bytes asked for */
} block;                                     /* 32 bytes; data follows */
typedef struct large { struct large *next; size_t size; } large;   /* in front of a block from malloc: all of an arena's, in use or free */
enum { CLASS_MIN = 6, PAGE = 1 << 16 };      /* 64 bytes with the header; classes above 64 KiB come from malloc */

#define MEM(c) ((memory *)(uintptr_t)&(c)->engine->memory)

static uint32_t class_of(size_t bytes) {
    const size_t all = bytes + sizeof(block);
    uint32_t class = CLASS_MIN;
    while (((size_t)1 << class) < all) class++;
    return class;
}

static block *take(context *c, size_t bytes) {
    arena *a = &c->shard->arena;
    const uint32_t class = class_of(bytes);
    const size_t size = (size_t)1 << class;
    block *b = a->free[class];
    if (b) a->free[class] = b->next;
    else if (size > PAGE / 4) {
        memory_count(MEM(c), (int64_t)size, "agents' memory");
        large *l = malloc(sizeof *l + size);
        if (!l) fail(c, NIMA_E_MEMORY, "no memory for a block of %zu bytes", bytes);
        *l = (large){ a->large, size };
        a->large = l;
        b = (block *)(void *)(l + 1);
    } else {
        if (a->at + size > a->end) {
            char *page = memory_map(MEM(c), PAGE, false, "agents' memory");
            *(void **)(void *)page = a->pages;
            a->pages = page;
            a->at = page + 64;
            a->end = page + PAGE;
        }
        b = (block *)(void *)a->at;
        a->at += size;
    }
    *b = (block){ .bytes = bytes, .class = class };
    return b;
}

static void give(shard *h, block *b) {
    b->next = h->arena.free[b->class];
    h->arena.free[b->class] = b;
}

void *arena_take(context *c, size_t bytes) { return take(c, bytes) + 1; }
void arena_give(shard *h, void *p) { give(h, (block *)p - 1); }

static void unlink_block(block *b) {
    *b->link = b->next;
    if (b->next) b->next->link = b->link;
}

static void link_block(agent_rest *r, block *b) {
    b->next = r->blocks;
    b->link = &r->blocks;
    if (b->next) b->next->link = &b->next;
    r->blocks = b;
}

void *arena_resize(context *c, agent_rest *r, void *p, size_t bytes) {
    block *old = p ? (block *)p - 1 : NULL;
    if (old && bytes && class_of(bytes) == old->class) {
        if (bytes > old->bytes) memset((char *)p + old->bytes, 0, bytes - old->bytes);
        old->bytes = bytes;
        return p;
    }
    block *b = NULL;
    if (bytes) {
        b = take(c, bytes);
        const size_t kept = old && old->bytes < bytes ? old->bytes : old ? bytes : 0;
        if (old) memcpy(b + 1, p, kept);
        memset((char *)(b + 1) + kept, 0, bytes - kept);
        link_block(r, b);
    }
    if (old) {
        unlink_block(old);
        give(c->shard, old);
    }
    return b ? b + 1 : NULL;
}

void arena_give_all(shard *h, agent_rest *r) {
    for (block *b = r->blocks; b;) {
        block *next = b->next;
        give(h, b);
        b = next;
    }
    r->blocks = NULL;
}

void arena_each(const agent_rest *r, void (*each)(void *, size_t, void *), void *arg) {
    for (block *b = r->blocks; b; b = b->next) each(b + 1, b->bytes, arg);
}

void arena_free(arena *a, memory *m) {
    while (a->large) {
        large *next = a->large->next;
        memory_count(m, -(int64_t)a->large->size, "");
        free(a->large);
        a->large = next;
    }
    while (a->pages) {
        void *next = *(void **)a->pages;
        memory_unmap(m, a->pages, PAGE);
        a->pages = next;
    }
}
