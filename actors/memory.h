/* memory.h: memory of a run, counted against its limit.
 *
 * Everything that grows with a model is taken here: agents, chunks of mail, arenas. Memory comes zeroed from the system,
 * on 2 MiB pages where they pay. Running out, of the limit or of the system, calls `exhausted`, which does not return. */
#ifndef NIMA_MEMORY_H
#define NIMA_MEMORY_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_HUGE ((size_t)2 << 20)

typedef struct {
    uint64_t limit;                          /* bytes; constant */
    _Atomic uint64_t used;                   /* bytes handed out; written by all, relaxed: a count, orders nothing */
    void (*exhausted)(void *arg, size_t bytes, const char *what);   /* noreturn */
    void *arg;
} memory;

/* 90 % of the machine's memory or of the control group's limit, whichever is less. */
uint64_t memory_default_limit(void);
/* Counts `bytes` (which may be negative) and stops the run when the limit is passed. */
void memory_count(memory *, int64_t bytes, const char *what);
/* `bytes` of address space, uncounted and unbacked until touched; NULL when the system refuses. */
void *memory_reserve(size_t bytes);
void memory_release(void *, size_t bytes);
/* Counted, zeroed memory; huge: advised for 2 MiB pages. Never NULL. */
void *memory_map(memory *, size_t bytes, bool huge, const char *what);
void memory_unmap(memory *, void *, size_t bytes);
/* Growth of a plain array: at least `count` items of `bytes` each; contents kept; never NULL. */
void *memory_grow(memory *, void *, size_t *room, size_t count, size_t bytes, const char *what);
#endif
