/* link.h: a link is a pair of one-way NNG sockets between two processes of a run, with what NNG does not promise: both
 * ends know each other before the first data, frames arrive once and in order or the link says so, a dead peer is
 * noticed.
 *
 *   up      dialer to listener        down    listener to dialer
 *
 * One end listens, the other dials. HELLO, WELCOME, CONFIRM and a first HEARTBEAT make the link; until then nothing is
 * delivered and nothing can be sent. From then on every frame has a counter; a frame lost, repeated or altered ends the
 * link. Each end sends a HEARTBEAT every heartbeat_ms, whatever its owner does; an end that hears nothing for lost_ms
 * gives up. A link that has ended stays ended: what to do about it is the owner's decision.
 *
 * Memory is bounded: at most `window_frames` frames and `window_bytes` bytes wait to be sent, and as many frames are
 * received ahead; beyond that link_send says FULL, and a reader who does not read holds up the sender, which is logged.
 *
 * Threads: each end has one owner thread, which makes all calls on it, except where said otherwise. One thread per
 * process, made with the first link, sends heartbeats and looks at deadlines. NNG makes its own threads at the first
 * link: fork and exec before. No call blocks, except link_wait and link_close. */
#ifndef TRANSPORT_LINK_H
#define TRANSPORT_LINK_H
#include "error.h"
#include "seal.h"
#include "wire.h"
#include <stdbool.h>

typedef struct link_end link_end;

typedef struct link_options {
    /* inproc://NAME, ipc:///DIRECTORY/NAME (the directory has mode 0700), tcp://HOST:PORT[,PORT], ws://HOST:PORT/PATH.
     * A link over tcp takes two ports: PORT and PORT + 1 if only one is given. 0 (listener only): any free ones;
     * link_address tells. HOST is an address to bind to or to reach, and nothing else is bound. */
    const char *url;
    const char *self, *peer; /* names; peer NULL: whoever has the key (listener), whoever answers (dialer) */
    uint32_t role;                           /* the owner's number, told to the peer */
    uint8_t run_id[16];
    const seal_key *key;                     /* copied; NULL: none */
    bool insecure; /* no key, over an address that others reach: only for benchmarks; logged as ALARM */
    bool seal_private;                       /* seal also inproc and ipc, where nobody else can listen in */
    uint32_t connect_ms;                     /* until the link must be up; 0: 10000 */
    uint32_t hello_ms;                       /* a stranger who says nothing useful is thrown out; 0: 1000 */
    uint32_t heartbeat_ms, lost_ms;          /* 0: 500, 3000 */
    uint32_t slow_ms;                        /* FULL for so long is logged; 0: 1000 */
    uint32_t frame_max;                      /* bytes of a message; 0: 1 MiB; at most WIRE_FRAME_MAX */
    uint32_t window_frames, window_bytes;    /* 0: 32 frames, 16 MiB */
    transport_log *log; void *log_arg;            /* NULL: standard error */
} link_options;

typedef struct link_counters {
    uint64_t frames_sent, bytes_sent, frames_received, bytes_received;   /* bytes of messages, without our headers */
    uint64_t full;                           /* times that link_send said FULL */
    uint64_t strangers;                      /* connections thrown out or refused */
    int64_t round_trip_ns;                   /* of HEARTBEATs, the least seen; 0: not yet known */
    int64_t clock_offset_ns;                 /* measured with it: peer's clock less ours */
    uint32_t waiting_frames, waiting_bytes;  /* not yet taken by NNG */
} link_counters;

/* ADDRESS, INSECURE, SYSTEM, MEMORY. Returns at once; the link comes up while the owner waits, polls or receives. */
transport_err link_listen(link_end **, const link_options *, transport_fault *) TRANSPORT_MUST_CHECK;
transport_err link_dial(link_end **, const link_options *, transport_fault *) TRANSPORT_MUST_CHECK;

/* What the peer must dial: the url with the ports that were bound. Owned by the link. Any thread. */
const char *link_address(const link_end *);
const char *link_peer(const link_end *);                     /* its name once the link is up, else "" or whom we want */
uint32_t link_peer_role(const link_end *);
bool link_is_up(const link_end *);
bool link_is_sealed(const link_end *);

/* Blocks until the link is up, or has failed (DEADLINE after connect_ms, REFUSED ...). */
transport_err link_wait(link_end *, transport_fault *) TRANSPORT_MUST_CHECK;

/* Becomes readable when a frame has come, when there is room again after FULL, or when the link has ended. For poll and
 * epoll; do not read it. An owner's loop: link_receive until EMPTY (which makes it unreadable, but for room after
 * FULL, which an owner sees even if it came before it slept), send what was FULL, sleep. */
int link_fd(const link_end *);

/* A message of up to frame_max bytes, written in place: reserve, fill, send. */
typedef struct link_frame { void *data; size_t bytes; uint32_t kind; void *handle; } link_frame;

transport_err link_reserve(link_end *, size_t bytes, link_frame *,
                           transport_fault *) TRANSPORT_MUST_CHECK; /* OVERSIZED, MEMORY */
/* Takes the frame, of which the first `bytes` (may be fewer than reserved) are a wire message. FULL: the frame is still
 * the caller's, to be sent again or discarded; link_fd wakes. Any other error: the frame is gone, the link has ended.
 */
transport_err link_send(link_end *, link_frame *, size_t bytes, transport_fault *) TRANSPORT_MUST_CHECK;
transport_err link_send_message(link_end *, const wire_message *,
                                transport_fault *) TRANSPORT_MUST_CHECK; /* FULL: not sent */

/* The next message, the owner's until discarded. EMPTY: nothing now. CLOSED: the peer has said BYE. Anything else: the
 * link has ended, and the text names both ends and the cause; all that arrived before is delivered before. */
transport_err link_receive(link_end *, link_frame *, transport_fault *) TRANSPORT_MUST_CHECK;
void link_discard(link_frame *);

void link_count(link_end *, link_counters *);                /* any thread */

/* Says BYE, waits up to drain_ms until the peer has read all that was sent, closes and frees. NULL is allowed.
 * DEADLINE: it has not; LOST and others as in link_receive. The link is gone in any case. Messages that arrive
 * meanwhile are counted and logged, not delivered. drain_ms 0: close at once. */
transport_err link_close(link_end *, uint32_t drain_ms, transport_fault *);

#endif
