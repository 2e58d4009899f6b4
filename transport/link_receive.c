/* link_receive.c: frames in. A ring of NNG receive operations, looked at in the order in which they were posted; each
 * frame is checked (length, counter, seal, version) before anybody sees it. */
#include "link_private.h"
#include <inttypes.h>
#include <unistd.h>

void link_on_received(void *arg) {
    link_receive_slot *slot = arg;
    slot->arrived_ns = link_now_ns();
    slot->arrived_wall_ns = link_wall_ns();
    atomic_store(&slot->link->heard_ns, slot->arrived_ns);
    atomic_store(&slot->ready, 1);
    link_wake(slot->link);
}

void link_receive_post(link_receive_slot *slot) {
    atomic_store(&slot->ready, 0);
    nng_recv_aio(slot->link->in, slot->aio);
}

/* The peer's clock by the way of NTP: what we sent came back in its heartbeat, with how long it was held there. */
static void heartbeat(link_end *l, const wire_heartbeat *m, const link_receive_slot *slot) {
    l->echo_ns = m->sent_ns;
    l->echo_arrived_ns = slot->arrived_ns;
    if (!m->echo_ns) return;
    const int64_t round_trip = slot->arrived_wall_ns - m->echo_ns - m->held_ns;
    if (round_trip <= 0 || (l->round_trip_ns && round_trip > l->round_trip_ns)) return;
    l->round_trip_ns = round_trip;
    l->clock_offset_ns = m->sent_ns - (slot->arrived_wall_ns - round_trip / 2);
}

/* One of the link's own messages, on a link that is up. */
static void own_message(link_end *l, const uint8_t *body, size_t bytes, const link_receive_slot *slot) {
    wire_message m;
    transport_fault fault;
    transport_err err = wire_decode(&m, body, bytes, l->peer, &fault);
    if (err) { link_end_with(l, err, "%s", fault.text); return; }
    switch (m.kind) {
    case WIRE_HEARTBEAT: heartbeat(l, &m.heartbeat, slot); break;
    case WIRE_BYE:
        if (m.bye.frames != l->in_counter - 1) {
            link_end_with(l, TRANSPORT_GAP, "BYE after %" PRIu64 " frames", m.bye.frames);
            return;
        }
        l->peer_said_bye = l->owes_done = true;
        break;
    case WIRE_DONE: l->got_done = true; break;
    default: link_end_with(l, TRANSPORT_MALFORMED, "%s on a link that is up", wire_kind_name(m.kind)); break;
    }
}

/* Checks a frame of an established link; true: it is for the owner. */
static bool established(link_end *l, uint8_t *at, size_t length, const link_receive_slot *slot) {
    const size_t around = LINK_FRAME_HEADER + (l->sealed ? (size_t)SEAL_TAG_BYTES : 0);
    uint8_t *body = at + LINK_FRAME_HEADER;
    uint64_t counter;
    if (length < around || length - around > l->options.frame_max) {
        link_end_with(l, length < around ? TRANSPORT_TRUNCATED : TRANSPORT_OVERSIZED, "frame of %zu bytes", length);
        return false;
    }
    const size_t bytes = length - around;
    memcpy(&counter, at, sizeof counter);
    if (counter != l->in_counter + 1) {
        link_end_with(l, counter <= l->in_counter ? TRANSPORT_REPLAYED : TRANSPORT_GAP,
                      "frame %" PRIu64 " where %" PRIu64 " was due", counter, l->in_counter + 1);
        return false;
    }
    if (l->sealed && !seal_open(&l->seal_in, counter, body, bytes)) {
        link_end_with(l, TRANSPORT_FORGED, "frame %" PRIu64 " does not open", counter);
        return false;
    }
    l->in_counter = counter;
    const uint32_t kind = wire_kind_of(body, bytes);
    if (l->state == LINK_CONFIRMED && kind == WIRE_HEARTBEAT) link_up(l, slot->arrived_ns);
    if (kind >= WIRE_GRANT && l->state == LINK_UP) {
        l->frames_received++;
        l->bytes_received += bytes;
        return true;
    }
    own_message(l, body, bytes, slot);
    return false;
}

static void handshake(link_end *l, const uint8_t *at, size_t length, int pipe) {
    wire_message m;
    transport_fault fault;
    if (pipe != atomic_load(&l->pipe_in) || pipe == l->ignored_in) return;
    if (length < LINK_FRAME_HEADER ||
        wire_decode(&m, at + LINK_FRAME_HEADER, length - LINK_FRAME_HEADER, "stranger", &fault)) {
        atomic_fetch_add(&l->strangers, 1);
        link_throw_out(l, length < LINK_FRAME_HEADER ? "said something too short" : fault.text);
        return;
    }
    link_hello_frame(l, &m, pipe);
}

/* true: *frame is the owner's. */
static bool take(link_end *l, nng_msg *message, const link_receive_slot *slot, link_frame *frame) {
    uint8_t *at = nng_msg_body(message);
    const size_t length = nng_msg_len(message);
    const int pipe = nng_pipe_id(nng_msg_get_pipe(message));
    static const uint8_t zero[LINK_FRAME_HEADER];
    const bool counted = length >= LINK_FRAME_HEADER && memcmp(at, zero, sizeof zero) != 0;
    if (pipe == l->bound_in && (l->state == LINK_UP || (l->state == LINK_CONFIRMED && counted))) {
        if (!established(l, at, length, slot)) return false;
        const size_t bytes = length - LINK_FRAME_HEADER - (l->sealed ? (size_t)SEAL_TAG_BYTES : 0);
        *frame = (link_frame){at + LINK_FRAME_HEADER, bytes, wire_kind_of(at + LINK_FRAME_HEADER, bytes), message};
        return true;
    }
    int none = 0;                            /* NNG delivers a first frame before it tells of the pipe, now and then */
    if (l->state != LINK_UP) atomic_compare_exchange_strong(&l->pipe_in, &none, pipe);
    if (l->state != LINK_UP) handshake(l, at, length, pipe);
    return false;
}

/* With the lock held: what the link owes, and whether it has ended with nothing left to read. */
static transport_err settle(link_end *l, bool readable, transport_fault *fault) {
    if (l->state != LINK_UP && !l->err) link_hello_tick(l, link_now_ns());
    if (l->owes_done && !l->err) {
        const wire_message done = {.kind = WIRE_DONE, .done = {l->in_counter}};
        l->owes_done = link_put_message(l, &done) != TRANSPORT_OK;
    }
    if (readable) return TRANSPORT_OK;
    if (l->err) return transport_fail(fault, l->err, "%s", l->fault.text);
    if (!l->peer_said_bye) return TRANSPORT_OK;
    return transport_fail(fault, TRANSPORT_CLOSED, "link of %s and %s: closed by %s", l->self, l->peer, l->peer);
}

/* What is there, in order: an owner's frame (OK), nothing (EMPTY), or the link's end. A peer that is lost may have sent
 * frames before, which are still read; after any other error none is. */
transport_err link_next(link_end *l, link_frame *frame, bool until_up, transport_fault *fault) {
    *frame = (link_frame){0};
    for (;;) {
        if (until_up && link_is_up(l)) return TRANSPORT_EMPTY;
        link_receive_slot *slot = &l->receive[l->receive_next % LINK_RECEIVE_SLOTS];
        bool given = false;
        pthread_mutex_lock(&l->lock);
        const bool readable =
            atomic_load(&slot->ready) && nng_aio_result(slot->aio) == 0 && (!l->err || l->err == TRANSPORT_LOST);
        if (readable) {
            nng_msg *message = nng_aio_get_msg(slot->aio);
            l->receive_next++;
            given = take(l, message, slot, frame);
            if (!given) nng_msg_free(message);
            link_receive_post(slot);
        }
        const transport_err err = settle(l, readable, fault);
        pthread_mutex_unlock(&l->lock);
        if (given) return TRANSPORT_OK;
        if (err) return err;
        if (readable) continue;
        /* The signal is taken first and the slots looked at after, so none is lost. A signal that is not there yet will
         * come. */
        uint64_t ignored;
        if (atomic_exchange(&l->room_came, 0)) return TRANSPORT_EMPTY;
        if (!atomic_load(&l->signaled) || read(l->fd, &ignored, sizeof ignored) < 0) return TRANSPORT_EMPTY;
        atomic_store(&l->signaled, 0);
    }
}

transport_err link_receive(link_end *l, link_frame *frame, transport_fault *fault) {
    return link_next(l, frame, false, fault);
}
