/* link.c: making, waiting for and closing a link end; see link.h. */
#include "link_private.h"
#include "nng_close.h"
#include <assert.h>
#include <errno.h>
#include <nng/protocol/pair0/pair.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
int64_t link_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
int64_t link_wall_ns(void) { return clock_ns(CLOCK_REALTIME); }

void link_wake(link_end *l) {
    const uint64_t one = 1;
    if (!atomic_exchange(&l->signaled, 1) && write(l->fd, &one, sizeof one) < 0)
        abort(); /* cannot be full: it is 0 or 1 */
}

void link_say(link_end *l, transport_level level, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (l->options.log) l->options.log(l->options.log_arg, level, text);
    else fprintf(stderr, "%s\n", text);
}

transport_err link_end_with(link_end *l, transport_err err, const char *format, ...) {
    char cause[sizeof l->fault.text];
    va_list arguments;
    if (l->err) return l->err;
    va_start(arguments, format);
    vsnprintf(cause, sizeof cause, format, arguments);
    va_end(arguments);
    l->err = err;
    const char *peer = l->peer[0] ? l->peer : l->wanted[0] ? l->wanted : "?";
    transport_fail(&l->fault, err, "link of %s and %s (%s): %s: %.200s", l->self, peer, l->place.address,
                   transport_error_text(err), cause);
    link_wake(l);
    return err;
}

/* ---- making ---- */

static void pipe_has_come(link_end *l) {
    atomic_store(&l->pipe_ns, link_now_ns());
    link_wake(l);
}

/* NNG's threads, no locks: flags only. ADD_POST may come after the pipe's first frame, so a pipe counts from ADD_PRE
 * on, unless there is one already: then pair0 turns the new one away, or, if the old one is just leaving, ADD_POST
 * makes it count. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg) {
    link_end *l = arg;
    const int id = nng_pipe_id(pipe);
    _Atomic int *current = nng_socket_id(nng_pipe_socket(pipe)) == nng_socket_id(l->in) ? &l->pipe_in : &l->pipe_out;
    int none = 0, same = id;
    switch (event) {
    case NNG_PIPE_EV_ADD_PRE:
        if (atomic_load(&l->is_up)) atomic_fetch_add(&l->strangers, 1);
        if (atomic_compare_exchange_strong(current, &none, id)) pipe_has_come(l);
        break;
    case NNG_PIPE_EV_ADD_POST:
        if (atomic_exchange(current, id) != id) pipe_has_come(l);
        break;
    case NNG_PIPE_EV_REM_POST:
        if (atomic_compare_exchange_strong(current, &same, 0)) link_wake(l);
        break;
    default: break;
    }
}

static transport_err socket_open(link_end *l, nng_socket *socket, transport_fault *fault) {
    const size_t frame_bytes = LINK_FRAME_HEADER + (size_t)l->options.frame_max + SEAL_TAG_BYTES;
    int err = nng_pair0_open(socket);
    if (err) { *socket = (nng_socket)NNG_SOCKET_INITIALIZER; goto failed; }
    if ((err = nng_socket_set_size(*socket, NNG_OPT_RECVMAXSZ, frame_bytes)) != 0) goto failed;
    if ((err = nng_socket_set_ms(*socket, NNG_OPT_RECONNMINT, 10)) != 0) goto failed;
    if ((err = nng_socket_set_ms(*socket, NNG_OPT_RECONNMAXT, 200)) != 0) goto failed;
    for (int event = NNG_PIPE_EV_ADD_PRE; event <= NNG_PIPE_EV_REM_POST; event++)
        if ((err = nng_pipe_notify(*socket, (nng_pipe_ev)event, on_pipe, l)) != 0) goto failed;
    return TRANSPORT_OK;
failed:
    return transport_fail(fault, TRANSPORT_SYSTEM, "link of %s at %s: socket: %s", l->self, l->url, nng_strerror(err));
}

static transport_err sockets_open(link_end *l, transport_fault *fault) {
    transport_err err = socket_open(l, &l->out, fault);
    if (!err) err = socket_open(l, &l->in, fault);
    for (uint32_t i = 0; !err && i < l->send_slots; i++) {
        l->send[i].link = l;
        if (nng_aio_alloc(&l->send[i].aio, link_on_sent, &l->send[i]) != 0) err = TRANSPORT_MEMORY;
    }
    for (uint32_t i = 0; !err && i < LINK_RECEIVE_SLOTS; i++) {
        l->receive[i].link = l;
        if (nng_aio_alloc(&l->receive[i].aio, link_on_received, &l->receive[i]) != 0) err = TRANSPORT_MEMORY;
    }
    return err == TRANSPORT_MEMORY ? transport_fail(fault, err, "link of %s at %s: out of memory", l->self, l->url)
                                   : err;
}

static transport_err sockets_start(link_end *l, transport_fault *fault) {
    nng_socket up = l->dials ? l->out : l->in, down = l->dials ? l->in : l->out;
    nng_listener listeners[2] = {NNG_LISTENER_INITIALIZER, NNG_LISTENER_INITIALIZER};
    int err;
    if (l->dials) {
        err = nng_dial(up, l->place.up, NULL, NNG_FLAG_NONBLOCK);
        if (!err) err = nng_dial(down, l->place.down, NULL, NNG_FLAG_NONBLOCK);
    } else {
        err = nng_listen(up, l->place.up, &listeners[0], 0);
        if (!err) err = nng_listen(down, l->place.down, &listeners[1], 0);
    }
    if (err)
        return transport_fail(fault, TRANSPORT_ADDRESS, "link of %s: cannot %s %s: %s", l->self,
                              l->dials ? "dial" : "listen at", l->url, nng_strerror(err));
    return l->dials ? TRANSPORT_OK : l->backend->started(&l->place, l->url, listeners[0], listeners[1], fault);
}

static void set_options(link_end *l, const link_options *o) {
    l->options = *o;
    if (!l->options.connect_ms) l->options.connect_ms = 10000;
    if (!l->options.hello_ms) l->options.hello_ms = 1000;
    if (!l->options.heartbeat_ms) l->options.heartbeat_ms = 500;
    if (!l->options.lost_ms) l->options.lost_ms = 3000;
    if (!l->options.slow_ms) l->options.slow_ms = 1000;
    if (!l->options.frame_max) l->options.frame_max = 1 << 20;
    if (!l->options.window_frames) l->options.window_frames = 32;
    if (!l->options.window_bytes) l->options.window_bytes = 16 << 20;
    assert(l->options.frame_max <= WIRE_FRAME_MAX);
    snprintf(l->url, sizeof l->url, "%s", o->url);
    snprintf(l->self, sizeof l->self, "%s", o->self);
    snprintf(l->wanted, sizeof l->wanted, "%s", o->peer ? o->peer : "");
    if (o->key) l->key = *o->key;
    l->options.url = l->url;
    l->options.self = l->self;
    l->options.peer = l->wanted;
    l->options.key = o->key ? &l->key : NULL;
}

/* Sealed wherever others can reach, or where asked for; never silently plain. */
static transport_err choose_seal(link_end *l, transport_fault *fault) {
    const link_options *o = &l->options;
    l->sealed = o->key && !o->insecure && (o->seal_private || !l->backend->is_private);
    if (l->sealed || l->backend->is_private) return TRANSPORT_OK;
    if (!o->insecure)
        return transport_fail(fault, TRANSPORT_INSECURE, "link of %s at %s: no key, and others can reach this address",
                              l->self, l->url);
    link_say(l, TRANSPORT_ALARM,
             "INSECURE: the link of %s at %s is neither encrypted nor authenticated; anybody who reaches it can read, "
             "forge and stop this run",
             l->self, l->url);
    return TRANSPORT_OK;
}

static void link_free(link_end *l) {
    for (uint32_t i = 0; i < l->send_slots; i++)
        if (l->send[i].aio) nng_aio_free(l->send[i].aio);
    for (uint32_t i = 0; i < LINK_RECEIVE_SLOTS; i++) {
        link_receive_slot *slot = &l->receive[i];
        if (slot->aio && atomic_load(&slot->ready) && nng_aio_result(slot->aio) == 0)
            nng_msg_free(nng_aio_get_msg(slot->aio));
        if (slot->aio) nng_aio_free(slot->aio);
    }
    seal_direction_fini(&l->seal_out);
    seal_direction_fini(&l->seal_in);
    seal_key_wipe(&l->key);
    if (l->backend) l->backend->finish(&l->place);
    if (l->fd >= 0) close(l->fd);
    pthread_mutex_destroy(&l->lock);
    free(l->send);
    free(l);
}

static void link_destroy(link_end *l) {
    const nng_socket sockets[2] = {l->out, l->in};
    link_pulse_remove(l);
    if (nng_close_guarded(sockets, 2, LINK_CLOSE_MS)) { link_free(l); return; }
    link_say(l, TRANSPORT_WARNING, "link of %s at %s: NNG does not close; left behind", l->self, l->url);
}

static transport_err link_start(link_end **out, const link_options *o, bool dials, transport_fault *fault) {
    *out = NULL;
    if (strlen(o->url) >= BACKEND_URL_MAX || !o->self[0] || strlen(o->self) > WIRE_NAME_MAX ||
        (o->peer && strlen(o->peer) > WIRE_NAME_MAX))
        return transport_fail(fault, TRANSPORT_ADDRESS, "link at %.100s: name or address empty or too long", o->url);
    if (!seal_start()) return transport_fail(fault, TRANSPORT_SYSTEM, "libsodium does not start");
    link_end *l = aligned_alloc(64, (sizeof *l + 63u) & ~(size_t)63u);
    if (!l) return transport_fail(fault, TRANSPORT_MEMORY, "link at %s: out of memory", o->url);
    memset(l, 0, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    set_options(l, o);
    l->dials = dials;
    l->place.listens = !dials;
    l->place.lock_fd = -1;
    l->out = l->in = (nng_socket)NNG_SOCKET_INITIALIZER;
    l->bound_in = l->bound_out = -1;
    l->started_ns = l->progress_ns = link_now_ns();
    l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->send = calloc(l->options.window_frames + LINK_CONTROL_SLOTS, sizeof *l->send);
    if (l->send) l->send_slots = l->options.window_frames + LINK_CONTROL_SLOTS;
    l->backend = backend_of(l->url);
    transport_err err = TRANSPORT_OK;
    if (l->fd < 0) err = transport_fail(fault, TRANSPORT_SYSTEM, "link at %s: eventfd: %s", l->url, strerror(errno));
    else if (!l->send) err = transport_fail(fault, TRANSPORT_MEMORY, "link at %s: out of memory", l->url);
    else if (!l->backend) err = transport_fail(fault, TRANSPORT_ADDRESS, "%s: expected inproc, ipc, tcp or ws", l->url);
    if (!err) err = l->backend->prepare(&l->place, l->url, fault);
    if (!err) err = choose_seal(l, fault);
    if (!err) err = sockets_open(l, fault);
    if (!err) err = sockets_start(l, fault);
    if (err) { link_destroy(l); return err; }
    for (uint32_t i = 0; i < LINK_RECEIVE_SLOTS; i++) link_receive_post(&l->receive[i]);
    link_pulse_add(l);
    *out = l;
    return TRANSPORT_OK;
}

transport_err link_listen(link_end **out, const link_options *o, transport_fault *fault) {
    return link_start(out, o, false, fault);
}
transport_err link_dial(link_end **out, const link_options *o, transport_fault *fault) {
    return link_start(out, o, true, fault);
}

/* ---- asking ---- */

const char *link_address(const link_end *l) { return l->place.address; }
const char *link_peer(const link_end *l) { return l->peer[0] ? l->peer : l->wanted; }
uint32_t link_peer_role(const link_end *l) { return l->peer_role; }
bool link_is_up(const link_end *l) { return atomic_load(&l->is_up); }
bool link_is_sealed(const link_end *l) { return l->sealed; }
int link_fd(const link_end *l) { return l->fd; }

void link_count(link_end *l, link_counters *c) {
    pthread_mutex_lock(&l->lock);
    *c = (link_counters){.frames_sent = l->frames_sent,
                         .bytes_sent = l->bytes_sent,
                         .frames_received = l->frames_received,
                         .bytes_received = l->bytes_received,
                         .full = l->full,
                         .strangers = atomic_load(&l->strangers),
                         .round_trip_ns = l->round_trip_ns,
                         .clock_offset_ns = l->clock_offset_ns,
                         .waiting_frames = atomic_load(&l->waiting_frames),
                         .waiting_bytes = atomic_load(&l->waiting_bytes)};
    pthread_mutex_unlock(&l->lock);
}

static void sleep_on(link_end *l, int ms) {
    struct pollfd wait = {.fd = l->fd, .events = POLLIN};
    (void)poll(&wait, 1, ms);
}

transport_err link_wait(link_end *l, transport_fault *fault) {
    link_frame frame;
    while (!link_is_up(l)) {
        const transport_err err = link_next(l, &frame, true, fault);
        if (err != TRANSPORT_EMPTY) return err;
        if (!link_is_up(l)) sleep_on(l, LINK_PULSE_MS);
    }
    return TRANSPORT_OK;
}

/* ---- closing ---- */

static bool say_bye(link_end *l) {
    pthread_mutex_lock(&l->lock);
    if (!l->said_bye && !l->err) {
        const wire_message bye = {.kind = WIRE_BYE, .bye = {l->out_counter}};
        l->said_bye = link_put_message(l, &bye) == TRANSPORT_OK;
    }
    const bool said = l->said_bye;
    pthread_mutex_unlock(&l->lock);
    return said;
}

/* Reads on until the peer has confirmed that it has read everything. */
static transport_err drain(link_end *l, uint32_t drain_ms, transport_fault *fault) {
    const int64_t until = link_now_ns() + (int64_t)drain_ms * 1000000;
    link_frame frame;
    for (;;) {
        const bool said = say_bye(l);
        const transport_err err = link_receive(l, &frame, fault);
        if (err == TRANSPORT_OK) { l->late_frames++; link_discard(&frame); continue; }
        if (l->got_done) return TRANSPORT_OK;
        const bool gone = atomic_load(&l->pipe_in) != l->bound_in;      /* after its own BYE: it has closed before us */
        if (err == TRANSPORT_CLOSED && said && gone) return TRANSPORT_OK;
        if (err != TRANSPORT_CLOSED && err != TRANSPORT_EMPTY) return err;
        if (link_now_ns() >= until)
            return transport_fail(fault, TRANSPORT_DEADLINE,
                                  "link of %s and %s: not everything sent was read within %u ms", l->self, l->peer,
                                  drain_ms);
        sleep_on(l, LINK_PULSE_MS);
    }
}

transport_err link_close(link_end *l, uint32_t drain_ms, transport_fault *fault) {
    if (!l) return TRANSPORT_OK;
    transport_err err = TRANSPORT_OK;
    if (link_is_up(l) && drain_ms) err = drain(l, drain_ms, fault);
    if (l->late_frames)
        link_say(l, TRANSPORT_NOTE, "link of %s and %s: %llu messages came while closing, and were not read", l->self,
                 l->peer, (unsigned long long)l->late_frames);
    link_destroy(l);
    return err;
}
