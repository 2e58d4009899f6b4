/* 64 pieces of 100 us work each tick, on bare threads: what a second thread can gain on this machine here and now.
 *
 *   heavy THREADS TICKS
 *
 * Threads take pieces by a ticket and meet at a barrier after each tick. A piece is arithmetic in registers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PIECES = 64, ROUNDS = 60000 };       /* about 100 us */

static long ticks;
static atomic_ulong ticket, sum;
static pthread_barrier_t barrier;

static void *work(void *unused) {
    (void)unused;
    uint64_t x = 88172645463325252u;
    for (long tick = 0; tick < ticks; tick++) {
        for (unsigned long taken; (taken = atomic_load(&ticket)) < (unsigned long)(tick + 1) * PIECES;) {
            if (!atomic_compare_exchange_weak(&ticket, &taken, taken + 1)) continue;
            for (int i = 0; i < ROUNDS; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
        }
        pthread_barrier_wait(&barrier);
    }
    atomic_fetch_add(&sum, x);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: heavy THREADS TICKS\n"); return 2; }
    unsigned threads = (unsigned)atoi(argv[1]);
    ticks = atol(argv[2]);
    pthread_barrier_init(&barrier, NULL, threads);
    pthread_t *handles = calloc(threads, sizeof *handles);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned t = 0; t < threads; t++) pthread_create(&handles[t], NULL, work, NULL);
    for (unsigned t = 0; t < threads; t++) pthread_join(handles[t], NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (atomic_load(&sum) == 0) return 1;
    printf("pieces %ld seconds %.3f events_per_s %.0f\n", ticks * PIECES, seconds, (double)(ticks * PIECES) / seconds);
    return 0;
}
