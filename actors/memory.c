/* memory.c: see memory.h. */
#include "memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t number_in(const char *path) {
    FILE *f = fopen(path, "r");
    unsigned long long v = 0;
    if (!f) return UINT64_MAX;
    if (fscanf(f, "%llu", &v) != 1) v = UINT64_MAX;           /* "max": no limit */
    fclose(f);
    return v;
}

uint64_t memory_default_limit(void) {
    uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t v2 = number_in("/sys/fs/cgroup/memory.max");
    const uint64_t v1 = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    if (v2 < ram) ram = v2;
    if (v1 < ram) ram = v1;
    return ram / 10 * 9;
}

void memory_count(memory *m, int64_t bytes, const char *what) {
    const uint64_t now = atomic_fetch_add_explicit(&m->used, (uint64_t)bytes, memory_order_relaxed) + (uint64_t)bytes;
    if (bytes > 0 && now > m->limit) {
        atomic_fetch_sub_explicit(&m->used, (uint64_t)bytes, memory_order_relaxed);
        m->exhausted(m->arg, (size_t)bytes, what);
    }
}

void *memory_reserve(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void memory_release(void *p, size_t bytes) { if (p) munmap(p, bytes); }

void *memory_map(memory *m, size_t bytes, bool huge, const char *what) {
    memory_count(m, (int64_t)bytes, what);
    if (huge) {                              /* aligned by hand: the kernel backs only whole 2 MiB pages */
        char *p = memory_reserve(bytes + MEMORY_HUGE);
        if (p) {
            char *at = (char *)(((uintptr_t)p + MEMORY_HUGE - 1) & ~(uintptr_t)(MEMORY_HUGE - 1));
            if (at != p) munmap(p, (size_t)(at - p));
            const size_t tail = MEMORY_HUGE - (size_t)(at - p);
            if (tail) munmap(at + bytes, tail);
            madvise(at, bytes, MADV_HUGEPAGE);
            return at;
        }
    } else {
        void *p = memory_reserve(bytes);
        if (p) return p;
    }
    m->exhausted(m->arg, bytes, what);
    abort();
}

void memory_unmap(memory *m, void *p, size_t bytes) {
    if (!p) return;
    munmap(p, bytes);
    memory_count(m, -(int64_t)bytes, "");
}

void *memory_grow(memory *m, void *array, size_t *room, size_t count, size_t bytes, const char *what) {
    if (count <= *room) return array;
    size_t want = *room * 2 < 16 ? 16 : *room * 2;
    if (want < count) want = count;
    memory_count(m, (int64_t)((want - *room) * bytes), what);
    void *grown = realloc(array, want * bytes);
    if (!grown) { m->exhausted(m->arg, want * bytes, what); abort(); }
    *room = want;
    return grown;
}
