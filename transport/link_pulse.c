/* link_pulse.c: the one thread of a process that keeps its links alive: every LINK_PULSE_MS it looks at each, sends the
 * heartbeats that are due, notices peers that are gone or silent, and says who is slow. It lives while there are links.
 */
#include "link_private.h"
#include <stdlib.h>

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static link_end *registered;
static bool running;

static void look_at_silence(link_end *l, int64_t now) {
    const int in = atomic_load(&l->pipe_in), out = atomic_load(&l->pipe_out);
    if (l->bound_out == 0) l->bound_out = out; /* the other pipe's CONFIRM may overtake the news of this one */
    const bool gone = in != l->bound_in || out != l->bound_out;
    if (gone && !l->gone_ns)
        l->gone_ns = now; /* the next pulse: what came before is in its slots by then */
    else if (gone && !l->peer_said_bye) link_end_with(l, TRANSPORT_LOST, "connection cut");
    bool reads = false;                      /* while the owner leaves all slots full, nothing can be heard */
    for (int i = 0; i < LINK_RECEIVE_SLOTS; i++) reads |= !atomic_load(&l->receive[i].ready);
    const int64_t silent_ms = (now - atomic_load(&l->heard_ns)) / 1000000;
    if (!reads) atomic_store(&l->heard_ns, now);
    else if (silent_ms > l->options.lost_ms)
        link_end_with(l, TRANSPORT_LOST, "nothing heard for %lld ms", (long long)silent_ms);
}

static void look_at_slowness(link_end *l, int64_t now) {
    if (!l->full_ns) { l->full_logged_ns = 0; return; }
    const int64_t since = l->full_logged_ns ? l->full_logged_ns : l->full_ns;
    if (now - since < (int64_t)l->options.slow_ms * (l->full_logged_ns ? 5000000 : 1000000)) return;
    l->full_logged_ns = now;
    link_say(l, TRANSPORT_WARNING, "link of %s and %s: %s is slow to read: %u frames, %u bytes wait since %lld ms",
             l->self, l->peer, l->peer, atomic_load(&l->waiting_frames), atomic_load(&l->waiting_bytes),
             (long long)((now - l->full_ns) / 1000000));
}

static void look_at(link_end *l, int64_t now) {
    pthread_mutex_lock(&l->lock);
    if (l->err) goto done;
    if (l->state != LINK_UP && !l->backend->intact(&l->place))
        link_end_with(l, TRANSPORT_ADDRESS, "its socket's file was taken away or replaced");
    const uint64_t strangers = atomic_load(&l->strangers);
    if (l->state == LINK_UP && strangers != l->strangers_logged)
        link_say(l, TRANSPORT_WARNING, "link of %s and %s: another client was turned away", l->self, l->peer);
    l->strangers_logged = strangers;
    if (l->state != LINK_UP) { link_wake(l); goto done; }       /* the owner sees to the handshake's timers */
    if (now - l->heartbeat_ns >= (int64_t)l->options.heartbeat_ms * 1000000) link_beat(l, now);
    look_at_silence(l, now);
    look_at_slowness(l, now);
done:
    pthread_mutex_unlock(&l->lock);
}

static void *pulse(void *arg) {
    for (;;) {
        const struct timespec pause = {.tv_nsec = LINK_PULSE_MS * 1000000};
        pthread_mutex_lock(&registry);
        for (link_end *l = registered; l; l = l->next) look_at(l, link_now_ns());
        running = registered != NULL;
        const bool stop = !running;
        pthread_mutex_unlock(&registry);
        if (stop) return arg;
        nanosleep(&pause, NULL);
    }
}

void link_pulse_add(link_end *l) {
    pthread_mutex_lock(&registry);
    l->next = registered;
    registered = l;
    if (!running) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, pulse, NULL) != 0) abort(); /* no thread to be had: nothing here can work */
        pthread_detach(thread);
        running = true;
    }
    pthread_mutex_unlock(&registry);
}

void link_pulse_remove(link_end *l) {
    pthread_mutex_lock(&registry);
    link_end **at = &registered;
    while (*at && *at != l) at = &(*at)->next;
    if (*at) *at = l->next;
    pthread_mutex_unlock(&registry);
}
