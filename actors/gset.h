/* gset.h: grow-only set of bits, of which each dispatcher has a replica: for each bit, the time from which it is seen. A merge
 * keeps the lesser time, so that replicas which have heard of the same bits are equal, in whatever order and however often.
 *
 * Timed: what is added in a window is seen after it, so no reader can tell a race. Eventual and static: what is added is seen at
 * once in this replica; in the others when it arrives, or after the run. `map` has a bit for each that has a time, so that a
 * question about one that has none touches little memory. */
#ifndef NIMA_GSET_H
#define NIMA_GSET_H
#include "hash.h"
#include "nima.h"
#include <stdatomic.h>
struct nima_gset {
    uint64_t bits, number;
    nima_time delay;                         /* max(lookahead, 1) */
    nima_gset_mode mode;
    _Atomic nima_time *seen;                 /* NIMA_FOREVER: not in the set */
    _Atomic uint64_t *map;
};

static inline size_t gset_map_words(uint64_t bits) { return (size_t)(bits / 64 + 1); }
static inline size_t gset_bytes(uint64_t bits) { return ((size_t)bits + gset_map_words(bits)) * sizeof(uint64_t); }

/* memory: gset_bytes(bits), zeroed, of which map and seen are made. */
static inline void gset_init(nima_gset *g, void *memory) {
    g->map = memory;
    g->seen = (_Atomic nima_time *)(void *)(g->map + gset_map_words(g->bits));
    for (uint64_t i = 0; i < g->bits; i++) atomic_init(&g->seen[i], NIMA_FOREVER);
}

static inline bool gset_maps(const nima_gset *g, uint64_t bit) {
    return atomic_load_explicit(&g->map[bit / 64], memory_order_relaxed) >> (bit % 64) & 1;
}

/* Keeps the lesser time. true: it is `from`, and `*was` is what it was before. */
static inline bool gset_lower(nima_gset *g, uint64_t bit, nima_time from, nima_time *was) {
    *was = atomic_load_explicit(&g->seen[bit], memory_order_relaxed);
    while (from < *was)
        if (atomic_compare_exchange_weak_explicit(&g->seen[bit], was, from, memory_order_relaxed, memory_order_relaxed)) {
            if (*was == NIMA_FOREVER) atomic_fetch_or_explicit(&g->map[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
            return true;
        }
    return false;
}

/* Of bits and times: equal of equal replicas. */
static inline uint64_t gset_hash(const nima_gset *g) {
    uint64_t h = g->bits;
    for (uint64_t bit = 0; bit < g->bits; bit++)
        if (gset_maps(g, bit))
            h += hash_mum(bit ^ HASH_K0, (uint64_t)atomic_load_explicit(&g->seen[bit], memory_order_relaxed) ^ HASH_K1);
    return h;
}
#endif
