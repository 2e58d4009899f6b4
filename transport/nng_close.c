/* nng_close.c: see nng_close.h. */
#include "nng_close.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct { nng_socket sockets[NNG_CLOSE_MAX]; int count; } closing;

static void *close_all(void *arg) {
    closing *c = arg;
    for (int i = 0; i < c->count; i++)
        if (nng_socket_id(c->sockets[i]) > 0) nng_close(c->sockets[i]);
    return NULL;
}

bool nng_close_guarded(const nng_socket *sockets, int count, int patience_ms) {
    assert(count <= NNG_CLOSE_MAX);
    closing *c = malloc(sizeof *c);
    pthread_t thread;
    struct timespec until;
    if (!c) return false;
    c->count = count;
    for (int i = 0; i < count; i++) c->sockets[i] = sockets[i];
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += patience_ms / 1000;
    bool closed = false;
    if (pthread_create(&thread, NULL, close_all, c) == 0) {
        closed = pthread_timedjoin_np(thread, NULL, &until) == 0;
        if (!closed) { pthread_detach(thread); return false; }
    }
    free(c);
    return closed;
}
