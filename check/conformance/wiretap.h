/* wiretap.h: a stranger's tools: raw connections, and a proxy between two ends of a tcp link that reads NNG's framing
 * (8 bytes of greeting, then [length u64 big-endian][frame]) and repeats, drops, alters or records frames on their way
 * to the listener. */
#ifndef CONFORMANCE_WIRETAP_H
#define CONFORMANCE_WIRETAP_H
#include "links.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const uint8_t pair_greeting[8] = {0, 'S', 'P', 0, 0, 0x10, 0, 0};

static inline int stranger_connect(int port) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    const struct timeval patience = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static inline void stranger_send(int fd, const void *bytes, size_t count) {
    (void)!send(fd, bytes, count, MSG_NOSIGNAL);                /* may be cut at any moment */
}

static inline bool read_all(int fd, void *to, size_t count) {
    for (size_t got = 0; got < count;) {
        const ssize_t n = recv(fd, (char *)to + got, count - got, 0);
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

static inline void link_ports(const link_end *l, int ports[2]) {
    ck_assert_int_eq(sscanf(link_address(l), "tcp://127.0.0.1:%d,%d", &ports[0], &ports[1]), 2);
}

typedef enum { TAP_PASS, TAP_REPEAT, TAP_DROP, TAP_FLIP, TAP_SWAP, TAP_INJECT } tap_action;

typedef struct tap {
    int listener_fd, port, target;
    tap_action action;
    uint64_t at_counter;                     /* the frame that it is done to */
    uint8_t recorded[8][2048]; size_t recorded_bytes[8]; int records;   /* the first frames */
    int from, to;
} tap;

static inline void tap_forward(tap *t, const uint8_t *frame, uint64_t bytes) {
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bytes >> (56 - 8 * i));
    stranger_send(t->to, length, 8);
    stranger_send(t->to, frame, bytes);
}

static inline void *tap_back(void *arg) {                       /* listener to dialer, as it comes */
    tap *t = arg;
    char buffer[65536];
    for (;;) {
        const ssize_t n = recv(t->to, buffer, sizeof buffer, 0);
        if (n <= 0) break;
        stranger_send(t->from, buffer, (size_t)n);
    }
    shutdown(t->from, SHUT_RDWR);
    return NULL;
}

static inline void *tap_run(void *arg) {
    tap *t = arg;
    uint8_t greeting[8], length[8], *held = NULL;
    uint64_t held_bytes = 0;
    pthread_t back;
    t->from = accept(t->listener_fd, NULL, NULL);
    if (t->from < 0) return NULL;
    t->to = stranger_connect(t->target);
    const struct timeval forever = {0, 0};
    setsockopt(t->to, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
    ck_assert_int_eq(pthread_create(&back, NULL, tap_back, t), 0);
    pthread_detach(back);
    if (!read_all(t->from, greeting, 8)) return NULL;
    stranger_send(t->to, greeting, 8);
    while (read_all(t->from, length, 8)) {
        uint64_t bytes = 0, counter;
        for (int i = 0; i < 8; i++) bytes = bytes << 8 | length[i];
        uint8_t *frame = malloc(bytes);
        if (!frame || bytes < 8 || !read_all(t->from, frame, bytes)) { free(frame); break; }
        memcpy(&counter, frame, 8);
        if (t->records < 8 && bytes <= sizeof t->recorded[0]) {
            memcpy(t->recorded[t->records], frame, bytes);
            t->recorded_bytes[t->records++] = bytes;
        }
        const bool now = counter == t->at_counter;
        if (now && t->action == TAP_FLIP) frame[bytes / 2] ^= 4;
        if (now && t->action == TAP_INJECT) tap_forward(t, pair_greeting, 8);
        if (now && t->action == TAP_SWAP) { held = frame; held_bytes = bytes; continue; }
        if (!(now && t->action == TAP_DROP)) tap_forward(t, frame, bytes);
        if (now && t->action == TAP_REPEAT) tap_forward(t, frame, bytes);
        if (held) { tap_forward(t, held, held_bytes); free(held); held = NULL; }
        free(frame);
    }
    free(held);
    shutdown(t->to, SHUT_RDWR);
    return NULL;
}

/* A listening socket of loopback; its port. */
static inline int stranger_listen(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    ck_assert_int_eq(listen(fd, 4), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static inline void tap_start(tap *t, int target, tap_action action, uint64_t at_counter) {
    pthread_t thread;
    memset(t, 0, sizeof *t);
    t->target = target;
    t->action = action;
    t->at_counter = at_counter;
    t->listener_fd = stranger_listen(&t->port);
    ck_assert_int_eq(pthread_create(&thread, NULL, tap_run, t), 0);
    pthread_detach(thread);
}

#endif
