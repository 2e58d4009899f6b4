/* link_send.c: frames out. A ring of NNG send operations, started in order under the lock, so that counters, nonces and
 * the order on the socket agree; NNG's callback frees a slot and wakes the owner if it waits for room. */
#include "link_private.h"
#include <assert.h>

void link_on_sent(void *arg) {
    link_send_slot *slot = arg;
    link_end *l = slot->link;
    if (nng_aio_result(slot->aio) != 0)
        nng_msg_free(nng_aio_get_msg(slot->aio)); /* closing: the pipe's end is noticed */
    atomic_fetch_sub(&l->waiting_frames, 1);
    atomic_fetch_sub(&l->waiting_bytes, slot->bytes);
    atomic_store(&slot->busy, 0);
    if (atomic_exchange(&l->wants_room, 0)) {
        atomic_store(&l->room_came, 1);
        link_wake(l);
    }
}

/* A slot for a frame of so many bytes; NULL: no room. Callbacks may run late and out of order, so any free slot will
 * do: the order on the socket is that of the calls. */
static link_send_slot *find_room(link_end *l, size_t bytes, bool control) {
    const uint32_t frames = atomic_load(&l->waiting_frames), waiting = atomic_load(&l->waiting_bytes);
    if (!control && (frames >= l->options.window_frames || (frames && waiting + bytes > l->options.window_bytes)))
        return NULL;
    for (uint32_t i = 0; i < l->send_slots; i++) {
        link_send_slot *slot = &l->send[l->send_next++ % l->send_slots];
        if (!atomic_load(&slot->busy)) return slot;
    }
    return NULL;
}

/* Memory in: header, body, tag; only header and body are used where nothing is sealed. FULL leaves the message alone.
 */
transport_err link_put(link_end *l, nng_msg *message, size_t bytes, bool control) {
    link_send_slot *slot = find_room(l, bytes, control);
    if (!slot) return TRANSPORT_FULL;
    const bool handshake = l->state != LINK_UP;
    const uint64_t counter = handshake ? 0 : ++l->out_counter;
    const bool seals = l->sealed && !handshake;
    const size_t length = LINK_FRAME_HEADER + bytes + (seals ? SEAL_TAG_BYTES : 0);
    uint8_t *at = nng_msg_body(message);
    assert(nng_msg_len(message) >= length);
    nng_msg_chop(message, nng_msg_len(message) - length);
    memcpy(at, &counter, sizeof counter);
    if (seals) seal_frame(&l->seal_out, counter, at + LINK_FRAME_HEADER, bytes);
    slot->bytes = (uint32_t)bytes;
    atomic_store(&slot->busy, 1);
    atomic_fetch_add(&l->waiting_frames, 1);
    atomic_fetch_add(&l->waiting_bytes, slot->bytes);
    nng_aio_set_msg(slot->aio, message);
    nng_send_aio(l->out, slot->aio);
    if (!control) {
        l->frames_sent++;
        l->bytes_sent += bytes;
    }
    return TRANSPORT_OK;
}

transport_err link_put_message(link_end *l, const wire_message *m) {
    nng_msg *message;
    const size_t bound = wire_encode_bound(m);
    if (nng_msg_alloc(&message, LINK_FRAME_HEADER + bound + SEAL_TAG_BYTES) != 0) return TRANSPORT_MEMORY;
    const size_t bytes = wire_encode(m, (uint8_t *)nng_msg_body(message) + LINK_FRAME_HEADER, bound);
    const transport_err err = link_put(l, message, bytes, true);
    if (err) nng_msg_free(message);
    return err;
}

void link_beat(link_end *l, int64_t now) {
    const wire_message m = {.kind = WIRE_HEARTBEAT,
                            .heartbeat = {.received = l->in_counter, .sent_ns = link_wall_ns(), .echo_ns = l->echo_ns,
                                          .held_ns = l->echo_ns ? now - l->echo_arrived_ns : 0}};
    l->heartbeat_ns = now;
    (void)link_put_message(l, &m);           /* no room: enough is on its way to show that we live */
}

transport_err link_reserve(link_end *l, size_t bytes, link_frame *frame, transport_fault *fault) {
    nng_msg *message;
    if (bytes > l->options.frame_max)
        return transport_fail(fault, TRANSPORT_OVERSIZED, "message of %zu bytes from %s: the link's limit is %u", bytes,
                              l->self, l->options.frame_max);
    if (nng_msg_alloc(&message, LINK_FRAME_HEADER + bytes + SEAL_TAG_BYTES) != 0)
        return transport_fail(fault, TRANSPORT_MEMORY, "message of %zu bytes from %s: out of memory", bytes, l->self);
    *frame = (link_frame){(uint8_t *)nng_msg_body(message) + LINK_FRAME_HEADER, bytes, 0, message};
    return TRANSPORT_OK;
}

/* What a send or receive may do at all; with the lock held. */
static transport_err may_send(link_end *l, transport_fault *fault) {
    if (l->err) return transport_fail(fault, l->err, "%s", l->fault.text);
    if (l->peer_said_bye || l->said_bye)
        return transport_fail(fault, TRANSPORT_CLOSED, "link of %s and %s: closed by %s", l->self, l->peer,
                              l->said_bye ? l->self : l->peer);
    if (l->state == LINK_UP) return TRANSPORT_OK;
    return transport_fail(fault, TRANSPORT_FULL, "link of %s at %s: not up yet", l->self, l->url);
}

transport_err link_send(link_end *l, link_frame *frame, size_t bytes, transport_fault *fault) {
    assert(frame->handle && bytes <= frame->bytes && wire_kind_of(frame->data, bytes) >= WIRE_GRANT);
    pthread_mutex_lock(&l->lock);
    transport_err err = may_send(l, fault);
    if (!err) {
        err = link_put(l, frame->handle, bytes, false);
        if (err) {                           /* say so, then look again: room may have come in between */
            atomic_store(&l->wants_room, 1);
            err = link_put(l, frame->handle, bytes, false);
        }
        if (!err) l->full_ns = 0;
        else {
            l->full++;
            if (!l->full_ns) l->full_ns = link_now_ns();
            transport_fail(fault, err, "link of %s and %s: %u frames wait to be sent", l->self, l->peer,
                           atomic_load(&l->waiting_frames));
        }
    }
    pthread_mutex_unlock(&l->lock);
    if (err == TRANSPORT_OK) frame->handle = NULL;
    else if (err != TRANSPORT_FULL) link_discard(frame);
    return err;
}

transport_err link_send_message(link_end *l, const wire_message *m, transport_fault *fault) {
    link_frame frame;
    transport_err err = link_reserve(l, wire_encode_bound(m), &frame, fault);
    if (err) return err;
    err = link_send(l, &frame, wire_encode(m, frame.data, frame.bytes), fault);
    if (err == TRANSPORT_FULL) link_discard(&frame);
    return err;
}

void link_discard(link_frame *frame) {
    if (frame->handle) nng_msg_free(frame->handle);
    *frame = (link_frame){0};
}
