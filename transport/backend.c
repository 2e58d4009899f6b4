/* backend.c: the four transports of links; see backend.h. */
#include "backend.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static transport_err format_url(char out[BACKEND_URL_MAX], const char *url, const char *suffix,
                                transport_fault *fault) {
    if (snprintf(out, BACKEND_URL_MAX, "%s%s", url, suffix) < BACKEND_URL_MAX) return TRANSPORT_OK;
    return transport_fail(fault, TRANSPORT_ADDRESS, "%.100s...: address too long", url);
}

static transport_err split_by_suffix(backend_place *p, const char *url, const char *up, const char *down,
                                     transport_fault *fault) {
    transport_err err = format_url(p->up, url, up, fault);
    if (!err) err = format_url(p->down, url, down, fault);
    return err ? err : format_url(p->address, url, "", fault);
}

static transport_err nothing_started(backend_place *p, const char *url, nng_listener up, nng_listener down,
                                     transport_fault *fault) {
    (void)p; (void)url; (void)up; (void)down; (void)fault;
    return TRANSPORT_OK;
}
static bool always_intact(const backend_place *p) { (void)p; return true; }
static void nothing_to_finish(backend_place *p) { (void)p; }

/* ---- inproc: for tests ---- */

static transport_err inproc_prepare(backend_place *p, const char *url, transport_fault *fault) {
    return split_by_suffix(p, url, ".up", ".down", fault);
}

/* ---- ipc ----
 * An NNG ipc listener dies when a second one is started on its path (which probes the path by connecting to it), and
 * any local user may connect. So the socket is in a directory that only its owner can enter, and a lock file keeps out
 * a second listener of ours; if the socket's file is replaced all the same, intact() says so. */

static const char *ipc_path(const char *url) { return url + sizeof "ipc://" - 1; }

static uint64_t inode_of(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 ? (uint64_t)file.st_ino : 0;
}

static transport_err check_directory(const char *path, transport_fault *fault) {
    char directory[BACKEND_URL_MAX];
    struct stat file;
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (path[0] != '/' || slash == directory)
        return transport_fail(fault, TRANSPORT_ADDRESS, "ipc://%s: needs an absolute path in a directory of its own",
                              path);
    *slash = 0;
    if (lstat(directory, &file) != 0)
        return transport_fail(fault, TRANSPORT_ADDRESS, "ipc://%s: %s: %s", path, directory, strerror(errno));
    if (!S_ISDIR(file.st_mode) || file.st_uid != geteuid() || (file.st_mode & 0777) != 0700)
        return transport_fail(fault, TRANSPORT_INSECURE, "ipc://%s: %s must be a directory of user %u with mode 0700",
                              path, directory, geteuid());
    return TRANSPORT_OK;
}

static transport_err ipc_prepare(backend_place *p, const char *url, transport_fault *fault) {
    const char *path = ipc_path(url);
    char lock[BACKEND_URL_MAX];
    transport_err err = split_by_suffix(p, url, ".up", ".down", fault);
    if (!err) err = format_url(lock, path, ".lock", fault);
    if (!err) err = check_directory(path, fault);
    if (err) return err;
    if (strlen(ipc_path(p->down)) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: path too long for a socket", url);
    if (!p->listens) return TRANSPORT_OK;
    p->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (p->lock_fd < 0) return transport_fail(fault, TRANSPORT_SYSTEM, "%s: %s", lock, strerror(errno));
    if (flock(p->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: taken by another process, which holds %s", url, lock);
    unlink(ipc_path(p->up));                 /* left by a process that was killed: NNG must not probe */
    unlink(ipc_path(p->down));
    return TRANSPORT_OK;
}

static transport_err ipc_started(backend_place *p, const char *url, nng_listener up, nng_listener down,
                                 transport_fault *fault) {
    (void)up; (void)down;
    p->up_inode = inode_of(ipc_path(p->up));
    if (p->up_inode) return TRANSPORT_OK;
    return transport_fail(fault, TRANSPORT_ADDRESS, "%s: no socket where one was made", url);
}

static bool ipc_intact(const backend_place *p) { return !p->listens || inode_of(ipc_path(p->up)) == p->up_inode; }

static void ipc_finish(backend_place *p) {
    if (p->lock_fd >= 0) close(p->lock_fd); /* the lock's file stays: removing it would let two others lock two files */
    p->lock_fd = -1;
}

/* ---- tcp: two ports ---- */

static bool parse_port(const char **at, long *port) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    *port = strtol(*at, &end, 10);
    *at = end;
    return *port <= 65535;
}

static transport_err tcp_prepare(backend_place *p, const char *url, transport_fault *fault) {
    const char *colon = strrchr(url, ':'), *at = colon + 1;
    const char *host = url + sizeof "tcp://" - 1;
    long up = 0, down = 0;
    if (colon <= host || !parse_port(&at, &up))
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: expected tcp://HOST:PORT or tcp://HOST:PORT,PORT", url);
    down = up == 0 ? 0 : up + 1;
    if (*at == ',') { at++; if (!parse_port(&at, &down)) down = -1; }
    if (*at || down < 0 || down > 65535 || (!p->listens && (up == 0 || down == 0)))
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: ports must be 1 to 65535, or 0 for a listener", url);
    const int length = (int)(colon - url);
    snprintf(p->up, sizeof p->up, "%.*s:%ld", length, url, up);
    snprintf(p->down, sizeof p->down, "%.*s:%ld", length, url, down);
    snprintf(p->address, sizeof p->address, "%.*s:%ld,%ld", length, url, up, down);
    return TRANSPORT_OK;
}

static transport_err tcp_started(backend_place *p, const char *url, nng_listener up, nng_listener down,
                                 transport_fault *fault) {
    int ports[2] = {0, 0};
    if (nng_listener_get_int(up, NNG_OPT_TCP_BOUND_PORT, &ports[0]) != 0 ||
        nng_listener_get_int(down, NNG_OPT_TCP_BOUND_PORT, &ports[1]) != 0)
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: the bound port is not known", url);
    snprintf(p->address, sizeof p->address, "%.*s:%d,%d", (int)(strrchr(url, ':') - url), url, ports[0], ports[1]);
    return TRANSPORT_OK;
}

/* ---- ws: two paths on one port ---- */

static transport_err ws_prepare(backend_place *p, const char *url, transport_fault *fault) {
    const char *host = url + sizeof "ws://" - 1, *colon = strchr(host, ':'), *at = colon ? colon + 1 : "";
    long port = 0;
    if (!colon || colon == host || !parse_port(&at, &port) || port == 0 || *at != '/')
        return transport_fail(fault, TRANSPORT_ADDRESS, "%s: expected ws://HOST:PORT/PATH", url);
    return split_by_suffix(p, url, "/up", "/down", fault);
}

static const backend backends[] = {
    {"inproc://", true, inproc_prepare, nothing_started, always_intact, nothing_to_finish},
    {"ipc://", true, ipc_prepare, ipc_started, ipc_intact, ipc_finish},
    {"tcp://", false, tcp_prepare, tcp_started, always_intact, nothing_to_finish},
    {"ws://", false, ws_prepare, nothing_started, always_intact, nothing_to_finish},
};

const backend *backend_of(const char *url) {
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strncmp(url, backends[i].scheme, strlen(backends[i].scheme)) == 0) return &backends[i];
    return NULL;
}
