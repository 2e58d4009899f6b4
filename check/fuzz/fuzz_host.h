/* fuzz_host.h: what readers of input files are given here: items in turn from the end; memory freed after each input. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H
#include "input.h"
#include <stdlib.h>

static void *taken[16];
static unsigned taken_count;
static void *host_allocate(void *arg, size_t bytes) {
    (void)arg;
    if (taken_count == 16) abort();
    return taken[taken_count++] = calloc(1, bytes);
}
static void host_parallel(void *arg, uint64_t n, void (*each)(uint64_t, void *), void *each_arg) {
    (void)arg;
    while (n-- > 0) each(n, each_arg);
}
static const input_host host = { host_allocate, host_parallel, NULL };
static void host_free(void) { while (taken_count) free(taken[--taken_count]); }
static void must(bool true_always) { if (!true_always) abort(); }
#endif
