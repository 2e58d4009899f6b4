/* memory.c: memory of the reference; running out ends the program, since there is nothing to compare then. */
#include "reference.h"
#include <stdlib.h>

void *ref_zeroed(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) abort();
    return p;
}

void *ref_copy(const void *from, size_t bytes) {
    void *p = ref_zeroed(bytes);
    if (from && bytes) memcpy(p, from, bytes);
    return p;
}

void *ref_grow(void *p, size_t *room, size_t count, size_t bytes) {
    if (count <= *room) return p;
    *room = count > 2 * *room ? count : 2 * *room;
    p = realloc(p, *room * bytes);
    if (!p) abort();
    return p;
}
