/* The way of a walker, kept for the plots: row << 16 | column for each place, the first ones if it is long. */
#ifndef PATH_H
#define PATH_H
#include "nima.h"

enum { PATH_PLACES = 4000, PATH_WALKERS = 20 };              /* so many walkers from either end are kept */
typedef struct { uint32_t count; uint32_t at[PATH_PLACES]; } path;

static inline bool path_kept(uint64_t walker, uint64_t walkers) {
    return walker < PATH_WALKERS || walker + PATH_WALKERS >= walkers;
}

static inline uint32_t path_place(uint64_t walker, uint64_t walkers) {    /* of one that is kept: the first, then the last */
    return (uint32_t)(walker < PATH_WALKERS ? walker : 2 * PATH_WALKERS - (walkers - walker));
}

static inline uint64_t path_walker(uint32_t place, uint64_t walkers) {    /* UINT64_MAX: there are not so many */
    if (place < PATH_WALKERS) return place < walkers ? place : UINT64_MAX;
    uint64_t from_end = 2 * PATH_WALKERS - place;
    return from_end <= walkers && walkers - from_end >= PATH_WALKERS ? walkers - from_end : UINT64_MAX;
}

static inline void path_add(path *p, uint32_t row, uint32_t column) {
    if (p->count < PATH_PLACES) p->at[p->count++] = row << 16 | column;
}

#endif
