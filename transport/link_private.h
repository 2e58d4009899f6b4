/* link_private.h: the inside of a link end, shared by link*.c.
 *
 * link.c        making, waiting, closing          link_send.c     frames out
 * link_hello.c  who is there (the handshake)      link_receive.c  frames in
 * link_pulse.c  heartbeats and deadlines, on the process's one pulse thread
 *
 * A frame is [counter u64 little-endian][message][tag of 16 bytes, if sealed]. Handshake frames have counter 0 and are
 * never sealed; after them each direction counts from 1.
 *
 * Lock order: the registry of link_pulse.c, then a link's `lock`. NNG's callbacks take no lock: they set flags and
 * wake.
 * Invariant: state is LINK_UP only with both `bound` pipes known; err is set once and never cleared. */
#ifndef TRANSPORT_LINK_PRIVATE_H
#define TRANSPORT_LINK_PRIVATE_H
#include "backend.h"
#include "link.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    LINK_FRAME_HEADER = 8,
    LINK_RECEIVE_SLOTS = 16,
    LINK_CONTROL_SLOTS = 4,                  /* of the send ring, kept for heartbeats, BYE and DONE */
    LINK_PULSE_MS = 50,
    LINK_REFUSALS_MAX = 3,                   /* a dialer gives up after so many */
    LINK_CLOSE_MS = 3000                     /* NNG's close may hang: after that we leave it behind */
};

typedef enum { LINK_OPEN, LINK_ASKED, LINK_ANSWERED, LINK_CONFIRMED, LINK_REFUSING, LINK_UP } link_state;

typedef struct link_send_slot {
    link_end *link;                          /* constant */
    nng_aio *aio;                            /* constant */
    uint32_t bytes;                          /* owner of the lock, while not busy */
    _Atomic int busy;                        /* set before the aio starts, cleared by its callback */
} link_send_slot;

typedef struct link_receive_slot {
    link_end *link;                          /* constant */
    nng_aio *aio;                            /* constant */
    int64_t arrived_ns, arrived_wall_ns;     /* written by the callback before ready */
    _Atomic int ready; /* set by the callback, cleared by the owner before it posts the aio again */
} link_receive_slot;

struct link_end {
    /* constant */
    link_options options;                    /* defaults filled in; its pointers point to the next fields */
    char url[BACKEND_URL_MAX], self[WIRE_NAME_MAX + 1], wanted[WIRE_NAME_MAX + 1];
    seal_key key;
    bool dials, sealed;
    const backend *backend;
    backend_place place;
    nng_socket out, in;
    int fd;                                  /* eventfd */
    uint32_t send_slots;
    link_send_slot *send;                    /* send_slots of them */
    link_receive_slot receive[LINK_RECEIVE_SLOTS];

    /* owner thread */
    uint32_t receive_next;
    bool peer_said_bye, got_done, closing;
    uint64_t late_frames;                    /* arrived while closing */

    /* under the lock */
    pthread_mutex_t lock;
    link_state state;
    transport_err err;
    transport_fault fault;                   /* valid if err, or the last refusal */
    char peer[WIRE_NAME_MAX + 1];
    uint32_t peer_role, refusals;
    seal_transcript transcript;
    seal_direction seal_out, seal_in;
    uint64_t out_counter, in_counter;        /* of the last frame */
    int bound_out, bound_in;                 /* pipes of the handshake, and of the link when up */
    int ignored_in;                          /* pipe that was thrown out */
    int64_t started_ns, progress_ns, gone_ns, heartbeat_ns, full_ns, full_logged_ns;
    int64_t echo_ns, echo_arrived_ns;        /* of the peer's last heartbeat: its sent_ns; when it came here */
    int64_t round_trip_ns, clock_offset_ns;
    uint32_t send_next;
    bool owes_done, said_bye;
    uint64_t frames_sent, bytes_sent, frames_received, bytes_received, full;
    uint64_t strangers_logged;

    /* shared with NNG's threads */
    _Alignas(64) _Atomic int pipe_out, pipe_in;      /* current; 0: none */
    _Atomic int64_t pipe_ns;                 /* when the last one came */
    _Atomic int64_t heard_ns;                /* when the last frame came */
    _Atomic uint64_t strangers;
    _Atomic uint32_t waiting_frames, waiting_bytes;
    _Atomic int wants_room;                  /* the owner was told FULL */
    _Atomic int room_came;                   /* it has room now: its next EMPTY leaves the eventfd readable, once */
    _Atomic int is_up;
    _Atomic int signaled;                    /* the eventfd is readable, or about to be */

    link_end *next;                          /* registry of the pulse */
};

int64_t link_now_ns(void);                   /* monotonic */
int64_t link_wall_ns(void);
void link_wake(link_end *);                  /* any thread */
__attribute__((format(printf, 3, 4))) void link_say(link_end *, transport_level, const char *format, ...);

/* All below: with the lock held. */
/* Ends the link; the text is completed with both ends' names. The first cause stays. */
__attribute__((format(printf, 3, 4))) transport_err link_end_with(link_end *, transport_err, const char *format, ...);
transport_err link_put(link_end *, nng_msg *, size_t bytes, bool control);    /* a frame with its body in place */
transport_err link_put_message(link_end *, const wire_message *);             /* one of the link's own */
void link_beat(link_end *, int64_t now);                                      /* sends a HEARTBEAT */
void link_hello_tick(link_end *, int64_t now);                                /* timers of the handshake */
void link_hello_frame(link_end *, const wire_message *, int pipe);            /* a handshake frame came */
void link_throw_out(link_end *, const char *why);                             /* closes both pipes and begins anew */
void link_up(link_end *, int64_t now);

/* No lock held, owner thread: link_receive; until_up leaves alone what comes after the handshake. */
transport_err link_next(link_end *, link_frame *, bool until_up, transport_fault *);
void link_on_sent(void *slot);               /* NNG callbacks */
void link_on_received(void *slot);
void link_receive_post(link_receive_slot *);

void link_pulse_add(link_end *);             /* no lock held */
void link_pulse_remove(link_end *);
#endif
