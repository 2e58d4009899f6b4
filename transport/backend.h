/* backend.h: what differs between inproc, ipc, tcp and ws: one table of operations each. Private to transport/.
 *
 * prepare and finish are called by the owner of a link, before its sockets listen or dial and after they are closed.
 * They may touch the file system; none of them waits for a peer. */
#ifndef TRANSPORT_BACKEND_H
#define TRANSPORT_BACKEND_H
#include "error.h"
#include <nng/nng.h>
#include <stdbool.h>

enum { BACKEND_URL_MAX = 256 };

typedef struct backend_place {               /* where the two sockets of a link are */
    char up[BACKEND_URL_MAX], down[BACKEND_URL_MAX];
    char address[BACKEND_URL_MAX];           /* for the peer to dial */
    int lock_fd;                             /* ipc listener; else -1 */
    uint64_t up_inode;                       /* ipc listener: of the socket's file, to notice a usurper */
    bool listens;
} backend_place;

typedef struct backend {
    const char *scheme;                      /* with "://" */
    bool is_private;                         /* nobody but this user can reach it, once prepare has agreed */
    /* Splits url, checks that the place may be used, takes locks. ADDRESS, INSECURE, SYSTEM. */
    transport_err (*prepare)(backend_place *, const char *url, transport_fault *);
    /* After both listeners have started: fills in address. */
    transport_err (*started)(backend_place *, const char *url, nng_listener up, nng_listener down, transport_fault *);
    bool (*intact)(const backend_place *);   /* false: somebody has taken the place away */
    void (*finish)(backend_place *);
} backend;

const backend *backend_of(const char *url);                  /* NULL: unknown scheme */

#endif
