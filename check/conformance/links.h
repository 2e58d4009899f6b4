/* links.h: what the tests of links share: the transports, a place on each that nobody else uses, a log that can be
 * searched, and two ends brought up by one thread. */
#ifndef CONFORMANCE_LINKS_H
#define CONFORMANCE_LINKS_H
#include "link.h"
#include "suite.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef enum { INPROC, IPC, TCP, WS, TRANSPORTS } transport_kind;
enum { PLAIN, SEALED, WAYS };

static const char *const transport_names[] = {"inproc", "ipc", "tcp", "ws"};

typedef struct log_book { pthread_mutex_t lock; char text[1 << 16]; size_t used; } log_book;

static inline void log_into(void *arg, transport_level level, const char *text) {
    log_book *book = arg;
    pthread_mutex_lock(&book->lock);
    const int n = snprintf(book->text + book->used, sizeof book->text - book->used, "%d %s\n", (int)level, text);
    if (n > 0 && (size_t)n < sizeof book->text - book->used) book->used += (size_t)n;
    pthread_mutex_unlock(&book->lock);
}

static inline bool logged(log_book *book, const char *text) {
    pthread_mutex_lock(&book->lock);
    const bool found = strstr(book->text, text) != NULL;
    pthread_mutex_unlock(&book->lock);
    return found;
}

typedef struct two_ends {
    transport_kind kind;
    char url[128], directory[64];
    seal_key key;
    log_book listener_log, dialer_log;
    link_options listener_options, dialer_options;
    link_end *listener, *dialer;
} two_ends;

static inline double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void sleep_ms(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Options for both ends; a test may change them before ends_listen and ends_up. */
static inline void ends_init(two_ends *e, transport_kind kind, int way) {
    memset(e, 0, sizeof *e);
    e->kind = kind;
    pthread_mutex_init(&e->listener_log.lock, NULL);
    pthread_mutex_init(&e->dialer_log.lock, NULL);
    snprintf(e->directory, sizeof e->directory, "/tmp/nima-links-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(e->directory));
    switch (kind) {
    case INPROC: snprintf(e->url, sizeof e->url, "inproc://%d", (int)getpid()); break;
    case IPC: snprintf(e->url, sizeof e->url, "ipc://%s/a", e->directory); break;
    case TCP: snprintf(e->url, sizeof e->url, "tcp://127.0.0.1:0"); break;
    case WS: snprintf(e->url, sizeof e->url, "ws://127.0.0.1:%d/link", free_port()); break;
    case TRANSPORTS: break;
    }
    ck_assert(seal_start());
    seal_key_new(&e->key);
    e->listener_options = (link_options){.url = e->url,
                                         .self = "authority",
                                         .peer = "node1",
                                         .role = 1,
                                         .run_id = {7},
                                         .log = log_into,
                                         .log_arg = &e->listener_log,
                                         .lost_ms = 1500,
                                         .heartbeat_ms = 200,
                                         .seal_private = way == SEALED,
                                         .key = way == SEALED ? &e->key : NULL,
                                         .insecure = way == PLAIN};
    e->dialer_options = e->listener_options;
    e->dialer_options.self = "node1";
    e->dialer_options.peer = "authority";
    e->dialer_options.role = 2;
    e->dialer_options.log_arg = &e->dialer_log;
}

static inline void ends_listen(two_ends *e) {
    transport_fault fault = {""};
    ck_assert_msg(link_listen(&e->listener, &e->listener_options, &fault) == TRANSPORT_OK, "%s", fault.text);
    e->dialer_options.url = link_address(e->listener);
}

static inline void ends_up(two_ends *e) {
    transport_fault fault = {""};
    if (!e->listener) ends_listen(e);
    ck_assert_msg(link_dial(&e->dialer, &e->dialer_options, &fault) == TRANSPORT_OK, "%s", fault.text);
    link_frame frame;
    const double until = now_s() + 10;
    while (!link_is_up(e->listener) || !link_is_up(e->dialer)) {
        transport_err err = TRANSPORT_EMPTY;
        if (!link_is_up(e->listener)) err = link_receive(e->listener, &frame, &fault);
        if (err == TRANSPORT_EMPTY && !link_is_up(e->dialer)) err = link_receive(e->dialer, &frame, &fault);
        ck_assert_msg(err == TRANSPORT_EMPTY, "%s\nlistener: %s\ndialer: %s", fault.text, e->listener_log.text,
                      e->dialer_log.text);
        ck_assert_msg(now_s() < until, "not up\nlistener: %s\ndialer: %s", e->listener_log.text, e->dialer_log.text);
        struct pollfd wait[2] = {{.fd = link_fd(e->listener), .events = POLLIN},
                                 {.fd = link_fd(e->dialer), .events = POLLIN}};
        (void)poll(wait, 2, 10);
    }
}

/* Waits for the next message. */
static inline transport_err next(link_end *l, link_frame *frame, int timeout_ms, transport_fault *fault) {
    const double until = now_s() + timeout_ms / 1000.0;
    for (;;) {
        const transport_err err = link_receive(l, frame, fault);
        if (err != TRANSPORT_EMPTY || now_s() >= until) return err;
        struct pollfd wait = {.fd = link_fd(l), .events = POLLIN};
        (void)poll(&wait, 1, 50);
    }
}

static inline void expect_nothing(link_end *l, int timeout_ms) {
    link_frame frame;
    transport_fault fault = {""};
    const transport_err err = next(l, &frame, timeout_ms, &fault);
    ck_assert_msg(err == TRANSPORT_EMPTY, "%d: %s", err, fault.text);
}

/* A RESULT of `bytes` bytes, whose content follows from its number. */
static inline transport_err send_numbered(link_end *l, uint64_t number, uint32_t bytes, transport_fault *fault) {
    static _Thread_local uint8_t blob[1 << 20];
    memset(blob, (int)(number * 31 & 255), bytes);
    const wire_message m = {.kind = WIRE_RESULT, .result = {.part = 1, .number = number, .blob = {blob, bytes}}};
    return link_send_message(l, &m, fault);
}

static inline void expect_numbered(const link_frame *frame, uint64_t number, uint32_t bytes) {
    wire_message m;
    transport_fault fault = {""};
    ck_assert_uint_eq(frame->kind, WIRE_RESULT);
    ck_assert_msg(wire_decode(&m, frame->data, frame->bytes, "peer", &fault) == TRANSPORT_OK, "%s", fault.text);
    ck_assert_uint_eq(m.result.number, number);
    ck_assert_uint_eq(m.result.blob.bytes, bytes);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes; i++)
        wrong += ((const uint8_t *)m.result.blob.at)[i] != (uint8_t)(number * 31 & 255);
    ck_assert_uint_eq(wrong, 0);
}

static inline void ends_fini(two_ends *e) {
    transport_fault fault;
    (void)link_close(e->dialer, 0, &fault);
    (void)link_close(e->listener, 0, &fault);
    char path[128];
    const char *names[] = {"a.up", "a.down", "a.lock"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", e->directory, names[i]);
        unlink(path);
    }
    rmdir(e->directory);
}

#endif
