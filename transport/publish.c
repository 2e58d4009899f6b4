/* publish.c: the publish socket and its memory of last values; see publish.h.
 *
 * NNG's pub socket queues for each subscriber and drops what does not fit, so sending never waits. A helper thread
 * sleeps until a subscriber has connected, waits a moment for others, and sends the kept values again. It also looks
 * after ipc listeners: one of NNG 1.5 makes no more pipes after a client has connected and gone without a word, though
 * it still accepts and greets. So every PROBE_MS the helper connects by itself and, if no pipe comes of it, makes the
 * listener anew (which cuts its subscribers, who dial again).
 *
 * One lock guards topics and sending, so that counters and the order on the socket agree. NNG's callbacks set flags
 * only. */
#include "publish_private.h"
#include "nng_close.h"
#include "visitor.h"
#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 2 * PUBLISH_TOPICS_MAX, COALESCE_MS = 20, PROBE_MS = 1000, PROBE_PATIENCE_MS = 900, CLOSE_MS = 3000 };
enum { PROBE_NONE, PROBE_OUT, PROBE_BACK };

typedef struct { const void *at; size_t bytes; } publish_span;
typedef struct topic {
    char name[PUBLISH_TOPIC_MAX + 1];
    uint64_t counter;                        /* of the last message */
    uint8_t *last; size_t last_bytes, last_room;   /* the whole frame, if kept */
} topic;

struct publisher {
    publish_options options;                 /* constant; urls points to urls below */
    const char *urls[PUBLISH_URLS_MAX];
    nng_socket socket;
    int wake_fd;                             /* eventfd: a newcomer, or the end */
    pthread_t helper;
    bool has_helper, has_ipc;
    nng_listener listeners[PUBLISH_URLS_MAX];      /* helper, after open */

    pthread_mutex_t lock;                    /* guards the rest, up to the atomics */
    topic *topics[BUCKETS];                  /* open addressing by hash of the name */
    uint32_t topic_count;

    _Atomic uint32_t subscribers;
    _Atomic int newcomers, ending;
    _Atomic int probe;                       /* of the helper: none, on its way, arrived */
};

__attribute__((format(printf, 3, 4))) static void say(publisher *p, transport_level level, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->options.log) p->options.log(p->options.log_arg, level, text);
    else fprintf(stderr, "%s\n", text);
}

static void sleep_ms(uint32_t ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static void wake(publisher *p) {
    const uint64_t one = 1;
    if (write(p->wake_fd, &one, sizeof one) < 0) abort();       /* 2^64 wakes cannot be waiting */
}

/* ---- who may listen ---- */

static char *request_header(nng_pipe pipe, const char *name) {
    char *value = NULL;
    return nng_pipe_get_string(pipe, name, &value) == 0 ? value : NULL;
}

static bool is_admitted(publisher *p, nng_pipe pipe) {
    char *uri = request_header(pipe, NNG_OPT_WS_REQUEST_URI);
    if (!uri) return true;                   /* not over ws */
    char *origin = request_header(pipe, NNG_OPT_WS_REQUEST_HEADER "Origin"),
         *host = request_header(pipe, NNG_OPT_WS_REQUEST_HEADER "Host");
    const bool admitted =
        p->options.admit ? p->options.admit(p->options.admit_arg, origin, host, uri) : visitor_is_ours(origin, host);
    if (!admitted) say(p, TRANSPORT_WARNING, "publish: a page of %.100s at %.100s was refused", origin ? origin : "no origin",
                       host ? host : "no host");
    nng_strfree(uri);
    if (origin) nng_strfree(origin);
    if (host) nng_strfree(host);
    return admitted;
}

/* The helper's own connection, see makes_pipes(). */
static bool is_own_probe(publisher *p, nng_pipe pipe) {
    uint64_t pid = 0;
    return atomic_load(&p->probe) == PROBE_OUT && nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &pid) == 0 &&
           pid == (uint64_t)getpid();
}

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg) {
    publisher *p = arg;
    if (event == NNG_PIPE_EV_ADD_PRE) {
        if (!is_admitted(p, pipe)) nng_pipe_close(pipe);
    } else if (event == NNG_PIPE_EV_ADD_POST) {
        atomic_fetch_add(&p->subscribers, 1);
        if (is_own_probe(p, pipe)) atomic_store(&p->probe, PROBE_BACK);
        else if (!atomic_exchange(&p->newcomers, 1)) wake(p);
    } else if (event == NNG_PIPE_EV_REM_POST) {
        atomic_fetch_sub(&p->subscribers, 1);
    }
}

/* ---- sending ---- */

static void send_message(publisher *p, nng_msg *message) {
    if (nng_sendmsg(p->socket, message, NNG_FLAG_NONBLOCK) != 0) nng_msg_free(message);
}

static topic *find_topic(publisher *p, const char *name) {
    uint64_t hash = 0xCBF29CE484222325u;     /* FNV-1a */
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    uint32_t at = (uint32_t)(hash % BUCKETS);
    while (p->topics[at] && strcmp(p->topics[at]->name, name) != 0) at = (at + 1) % BUCKETS;
    if (p->topics[at] || p->topic_count == PUBLISH_TOPICS_MAX) return p->topics[at];
    topic *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    snprintf(t->name, sizeof t->name, "%s", name);
    p->topic_count++;
    return p->topics[at] = t;
}

static bool make_room(topic *t, size_t bytes) {
    if (bytes <= t->last_room) return true;
    uint8_t *at = realloc(t->last, bytes + bytes / 4);
    if (!at) return false;
    t->last = at;
    t->last_room = bytes + bytes / 4;
    return true;
}

/* topic NUL, an array of two, the counter as uint64, the value. */
static size_t put_frame(uint8_t *to, const topic *t, publish_span value) {
    const size_t name = strlen(t->name) + 1;
    memcpy(to, t->name, name);
    to[name] = 0x92;
    to[name + 1] = 0xCF;
    for (int i = 0; i < 8; i++) to[name + 2 + (size_t)i] = (uint8_t)(t->counter >> (56 - 8 * i));
    memcpy(to + name + 10, value.at, value.bytes);
    return name + 10 + value.bytes;
}

/* Sends `value`, and keeps `kept` with the same counter (NULL: nothing). */
static transport_err send_and_keep(publisher *p, const char *name, publish_span value, const publish_span *kept,
                                   transport_fault *fault) {
    const size_t length = strlen(name), bytes = kept && kept->bytes > value.bytes ? kept->bytes : value.bytes;
    if (length == 0 || length > PUBLISH_TOPIC_MAX || value.bytes == 0 || bytes > PUBLISH_BYTES_MAX)
        return transport_fail(fault, TRANSPORT_OVERSIZED,
                              "publish: topic '%.140s' of %zu bytes, value of %zu: limits are %d and %d", name, length,
                              bytes, PUBLISH_TOPIC_MAX, PUBLISH_BYTES_MAX);
    transport_err err = TRANSPORT_MEMORY;
    nng_msg *message = NULL;
    pthread_mutex_lock(&p->lock);
    topic *t = find_topic(p, name);
    if (!t && p->topic_count == PUBLISH_TOPICS_MAX) err = TRANSPORT_FULL;
    if (t && (!kept || make_room(t, length + 11 + kept->bytes)) && nng_msg_alloc(&message, length + 11 + value.bytes) == 0) {
        t->counter++;
        put_frame(nng_msg_body(message), t, value);
        t->last_bytes = kept ? put_frame(t->last, t, *kept) : 0;
        send_message(p, message);
        err = TRANSPORT_OK;
    }
    pthread_mutex_unlock(&p->lock);
    return err ? transport_fail(fault, err, "publish: topic '%s': %s", name, transport_error_text(err)) : TRANSPORT_OK;
}

transport_err publish_value(publisher *p, const char *name, const void *value, size_t bytes, publish_keep keep,
                            transport_fault *fault) {
    const publish_span it = {value, bytes};
    return send_and_keep(p, name, it, keep == PUBLISH_KEEP ? &it : NULL, fault);
}

transport_err publish_change(publisher *p, const char *name, publish_map *change, publish_map *kept, transport_fault *fault) {
    const bool whole = publish_map_finish(change) && publish_map_finish(kept);
    const transport_err err =
        whole ? send_and_keep(p, name, (publish_span){change->data, change->used}, &(publish_span){kept->data, kept->used}, fault)
              : transport_fail(fault, TRANSPORT_OVERSIZED, "publish: topic '%.140s': value too large", name);
    publish_map_clear(change);
    publish_map_clear(kept);
    return err;
}

transport_err publish_send(publisher *p, const char *name, publish_map *m, publish_keep keep, transport_fault *fault) {
    const bool whole = publish_map_finish(m);
    const transport_err err =
        whole ? publish_value(p, name, m->data, m->used, keep, fault)
              : transport_fail(fault, TRANSPORT_OVERSIZED, "publish: topic '%.140s': value too large", name);
    publish_map_clear(m);
    return err;
}

/* ---- the helper thread ---- */

static void send_kept(publisher *p) {
    nng_msg *message;
    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        const topic *t = p->topics[i];
        if (!t || !t->last_bytes || nng_msg_alloc(&message, t->last_bytes) != 0) continue;
        memcpy(nng_msg_body(message), t->last, t->last_bytes);
        send_message(p, message);
    }
    pthread_mutex_unlock(&p->lock);
}

static bool is_ipc(const char *url) { return strncmp(url, "ipc://", 6) == 0; }

/* Connects as a subscriber would, and waits until a pipe has come of it. */
static bool makes_pipes(publisher *p, const char *path) {
    static const uint8_t greeting[8] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};
    const struct timeval patience = {.tv_usec = PROBE_PATIENCE_MS * 1000};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true;                 /* nothing is known */
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    atomic_store(&p->probe, PROBE_OUT);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send(fd, greeting, sizeof greeting, MSG_NOSIGNAL) > 0)
        for (int ms = 0; ms < PROBE_PATIENCE_MS && atomic_load(&p->probe) == PROBE_OUT; ms += 5) sleep_ms(5);
    close(fd);
    return atomic_exchange(&p->probe, PROBE_NONE) == PROBE_BACK;
}

static void look_after_ipc(publisher *p) {
    for (uint32_t i = 0; i < p->options.url_count; i++) {
        const char *path = p->urls[i] + 6;
        if (!is_ipc(p->urls[i]) || makes_pipes(p, path) || atomic_load(&p->ending)) continue;
        say(p, TRANSPORT_WARNING, "publish: the listener at %s no longer answers; made anew", p->urls[i]);
        if (nng_listener_id(p->listeners[i]) > 0) nng_listener_close(p->listeners[i]);
        unlink(path);
        const int err = nng_listen(p->socket, p->urls[i], &p->listeners[i], 0);
        if (err) say(p, TRANSPORT_WARNING, "publish: cannot listen at %s: %s", p->urls[i], nng_strerror(err));
    }
}

static void *help(void *arg) {
    publisher *p = arg;
    while (!atomic_load(&p->ending)) {
        struct pollfd wait = {.fd = p->wake_fd, .events = POLLIN};
        uint64_t ignored;
        if (poll(&wait, 1, p->has_ipc ? PROBE_MS : -1) == 0) { look_after_ipc(p); continue; }
        if (read(p->wake_fd, &ignored, sizeof ignored) < 0) continue;
        sleep_ms(COALESCE_MS);
        if (atomic_exchange(&p->newcomers, 0)) send_kept(p);
    }
    return NULL;
}

/* ---- open and close ---- */

static void publisher_free(publisher *p) {
    for (uint32_t i = 0; i < BUCKETS; i++)
        if (p->topics[i]) { free(p->topics[i]->last); free(p->topics[i]); }
    for (uint32_t i = 0; i < p->options.url_count; i++) free((char *)(uintptr_t)p->urls[i]);
    if (p->wake_fd >= 0) close(p->wake_fd);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static transport_err start(publisher *p, transport_fault *fault) {
    const int buffer = (int)(p->options.buffer_messages ? p->options.buffer_messages : 1024u);
    int err = nng_pub0_open(&p->socket);
    if (!err) err = nng_socket_set_int(p->socket, NNG_OPT_SENDBUF, buffer < 8192 ? buffer : 8192);
    if (!err) err = nng_socket_set_size(p->socket, NNG_OPT_RECVMAXSZ, 1024); /* subscribers have nothing to say */
    for (int event = NNG_PIPE_EV_ADD_PRE; !err && event <= NNG_PIPE_EV_REM_POST; event++)
        err = nng_pipe_notify(p->socket, (nng_pipe_ev)event, on_pipe, p);
    if (err) return transport_fail(fault, TRANSPORT_SYSTEM, "publish: socket: %s", nng_strerror(err));
    for (uint32_t i = 0; i < p->options.url_count; i++) {
        p->has_ipc |= is_ipc(p->urls[i]);
        if ((err = nng_listen(p->socket, p->urls[i], &p->listeners[i], 0)) != 0)
            return transport_fail(fault, TRANSPORT_ADDRESS, "publish: cannot listen at %s: %s", p->urls[i],
                                  nng_strerror(err));
    }
    p->has_helper = pthread_create(&p->helper, NULL, help, p) == 0;
    return p->has_helper ? TRANSPORT_OK : transport_fail(fault, TRANSPORT_SYSTEM, "publish: no thread");
}

transport_err publish_open(publisher **out, const publish_options *o, transport_fault *fault) {
    *out = NULL;
    if (o->url_count > PUBLISH_URLS_MAX)
        return transport_fail(fault, TRANSPORT_ADDRESS, "publish: %u addresses, the limit is %d", o->url_count,
                              PUBLISH_URLS_MAX);
    publisher *p = calloc(1, sizeof *p);
    if (!p) return transport_fail(fault, TRANSPORT_MEMORY, "publish: out of memory");
    p->options = *o;
    p->socket = (nng_socket)NNG_SOCKET_INITIALIZER;
    pthread_mutex_init(&p->lock, NULL);
    p->wake_fd = eventfd(0, EFD_CLOEXEC);
    transport_err err = TRANSPORT_OK;
    if (p->wake_fd < 0) err = transport_fail(fault, TRANSPORT_SYSTEM, "publish: eventfd: %s", strerror(errno));
    for (uint32_t i = 0; i < o->url_count; i++)
        if (!(p->urls[i] = strdup(o->urls[i]))) err = transport_fail(fault, TRANSPORT_MEMORY, "publish: out of memory");
    if (!err) err = start(p, fault);
    if (err) { publish_close(p, 0); return err; }
    *out = p;
    return TRANSPORT_OK;
}

uint32_t publish_subscribers(const publisher *p) { return atomic_load(&p->subscribers); }

void publish_close(publisher *p, uint32_t linger_ms) {
    if (!p) return;
    if (publish_subscribers(p) > 0) sleep_ms(linger_ms);
    atomic_store(&p->ending, 1);
    if (p->has_helper) {
        wake(p);
        pthread_join(p->helper, NULL);
    }
    if (nng_close_guarded(&p->socket, 1, CLOSE_MS)) publisher_free(p);
    else say(p, TRANSPORT_WARNING, "publish: NNG does not close; left behind");
}
