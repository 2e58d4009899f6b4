/* exchange.c: what crosses the links of a dispatcher: events of a window, and the messages of the clock. See cluster.h.
 */
#include "cluster/private.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

enum { SPIN_US = 50, WATCH_MS = 200, CAUSE_MS = 400 };

uint64_t cluster_now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000;
}

void cluster_fail(nima_run *r, const char *format, ...) {
    char text[480];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    failure_set(r, NIMA_E_LINK, "%s", text);
}

/* A link has ended. Whoever watches the other end knows better why, and says so in a moment. */
static void lost(nima_run *r, const char *text) {
    const bool known = r->cluster->process_count && hosts_read(r->cluster, CAUSE_MS);
    cluster_fail(r, "%s", known ? r->cluster->cause : text);
}

/* ---- out ---- */
void cluster_send(nima_run *r, uint32_t to, const wire_message *m) {
    transport_fault fault;
    while (!r->failed || m->kind == WIRE_CONTROL || m->kind == WIRE_FAIL || m->kind == WIRE_NET) {
        const transport_err e = link_send_message(r->cluster->links[to], m, &fault);
        if (e == TRANSPORT_OK) return;
        if (e != TRANSPORT_FULL) { lost(r, fault.text); return; }
        if (!cluster_pump(r, true)) return;
    }
}

static void send_batch(nima_run *r, uint32_t to) {
    cluster *k = r->cluster;
    wire_batch *b = &k->batches[to];
    if (!b->count || r->failed) return;
    transport_fault fault;
    link_frame frame;
    transport_err e = link_reserve(k->links[to], wire_batch_bound(b), &frame, &fault);
    if (e) { cluster_fail(r, "%s", fault.text); return; }
    const size_t bytes = wire_batch_write(b, k->arrivals.window, frame.data);
    while ((e = link_send(k->links[to], &frame, bytes, &fault)) == TRANSPORT_FULL)
        if (!cluster_pump(r, true)) { link_discard(&frame); return; }
    if (e) { lost(r, fault.text); return; }
    k->sent[to]++;
}

static void send_event(nima_run *r, uint32_t to, const wire_event *e) {
    wire_batch *b = &r->cluster->batches[to];
    if (wire_batch_add(b, e)) return;
    send_batch(r, to);
    if (!r->failed && !wire_batch_add(b, e)) cluster_fail(r, "an event of %u bytes does not fit a batch", e->bytes);
}

uint32_t cluster_owner(const nima_run *r, uint32_t shard) {   /* the d with own_from(d) <= shard < own_from(d + 1) */
    const uint64_t d = ((uint64_t)shard * r->cluster->count + r->cluster->count - 1) / r->engine.shards;
    for (uint64_t i = d > r->cluster->count - 1 ? r->cluster->count - 1 : d;; i--)
        if (i * r->engine.shards / r->cluster->count <= shard) return (uint32_t)i;
}

static void send_list(nima_run *r, uint32_t to, uint32_t shard_number, chunk_list *l) {
    for (chunk *c = chunk_list_read(l); c; c = c->next)
        CHUNK_EACH(c, m) {
            const uint64_t *w = (const uint64_t *)(const void *)m;
            const wire_event e = {.time = m->time,
                                  .sender = w[1],
                                  .order = w[2],
                                  .receiver_word = w[3],
                                  .shard = shard_number,
                                  .bytes = record_size(m) - (uint32_t)sizeof *m,
                                  .payload = m + 1};
            send_event(r, to, &e);
        }
    chunk_list_free(&r->contexts[0].pool, l);
}

static bool take_batch(nima_run *r, uint32_t from, const link_frame *);
static void take_early(nima_run *r) {        /* batches of this window that had come before it was run */
    cluster *k = r->cluster;
    const uint32_t count = k->early_count;
    k->early_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!r->failed) take_batch(r, k->early[i].from, &k->early[i].frame);
        link_discard(&k->early[i].frame);
    }
}

/* What this window's workers sent to shards elsewhere, and the bits they set. */
void cluster_send_events(nima_run *r) {
    cluster *k = r->cluster;
    k->has_run = true;
    take_early(r);
    memset(k->sent, 0, k->count * sizeof *k->sent);
    for (uint32_t s = 0; s < r->engine.shards; s++) {
        if (s >= r->own_from && s < r->own_to) continue;
        const uint32_t to = cluster_owner(r, s);
        for (unsigned w = 0; w < r->threads; w++)
            for (int later = 0; later < 2; later++) {
                chunk_list *l = &window_list(r, !r->parity, w, later)[s];
                if (l->head) send_list(r, to, s, l);
            }
    }
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        for (size_t i = 0; i < c->bit_count; i++) {
            const wire_event e = { .time = c->bits[i].seen, .sender = c->bits[i].set, .order = c->bits[i].bit,
                                   .receiver_word = (uint64_t)RECORD_SET_BIT << 61 };
            for (uint32_t to = 0; to < k->count; to++) if (to != k->self) send_event(r, to, &e);
            if (c->bits[i].fresh) r->broadcasts += k->count - 1;
        }
        c->bit_count = 0;
    }
    for (uint32_t to = 0; to < k->count; to++) if (to != k->self) send_batch(r, to);
}

/* ---- in ---- */
static void take_bit(nima_run *r, const wire_event *e) {
    if (e->sender >= r->gset_count || e->order >= r->gsets[e->sender]->bits) {
        cluster_fail(r, "a bit of no set");
        return;
    }
    nima_time was;
    gset_lower(r->gsets[e->sender], e->order, e->time, &was);
}

static bool keep_early(nima_run *r, uint32_t from, const link_frame *f) {
    cluster *k = r->cluster;
    if (k->early_count == k->early_room) {
        const uint32_t room = 2 * k->early_room + 16;
        early_batch *grown = realloc(k->early, room * sizeof *grown);
        if (!grown) { cluster_fail(r, "no memory for what came early"); return false; }
        k->early = grown;
        k->early_room = room;
    }
    k->early[k->early_count++] = (early_batch){ from, *f };
    return true;
}

/* The events of a batch go to the lists of a worker that does not exist, which the next window reads like the others'.
 * A peer that was granted its window sooner may already send what is to be read in the one after ours: that is kept
 * until ours has run. true: the frame is kept. */
static bool take_batch(nima_run *r, uint32_t from, const link_frame *f) {
    cluster *k = r->cluster;
    transport_fault fault;
    wire_events v;
    if (wire_batch_open(&v, f->data, f->bytes, k->peers[from].name, &fault)) {
        cluster_fail(r, "%s", fault.text);
        return false;
    }
    if (v.window == k->arrivals.window + 1 || (v.window == k->arrivals.window && !k->has_run))
        return keep_early(r, from, f);
    if (arrivals_note(&k->arrivals, v.window)) {
        cluster_fail(r, "%s sent events of window %llu in window %llu", k->peers[from].name,
                     (unsigned long long)v.window, (unsigned long long)k->arrivals.window);
        return false;
    }
    chunk_list *lists[2] = {window_list(r, !r->parity, r->threads, false),
                            window_list(r, !r->parity, r->threads, true)};
    for (wire_event e; wire_batch_next(&v, &e);) {
        if (e.receiver_word >> 61 == RECORD_SET_BIT) { take_bit(r, &e); continue; }
        const uint64_t kind = e.receiver_word >> 61, payload = e.receiver_word >> 44 & 0x1FFFF;
        const uint32_t size =
            record_bytes((uint32_t)payload) + (kind == RECORD_PUBLICATION ? (uint32_t)sizeof(shard_topic) : 0);
        if (e.shard < r->own_from || e.shard >= r->own_to || kind > RECORD_PUBLICATION ||
            e.bytes != size - sizeof(nima_mail)) {
            cluster_fail(r, "%s sent an event that is none", k->peers[from].name);
            return false;
        }
        const bool zero = !r->engine.local_steps && e.time == r->from && k->arrivals.window > 0;
        uint64_t *w = chunk_append(&r->contexts[0].pool, &lists[!zero][e.shard], size);
        w[0] = (uint64_t)e.time;
        w[1] = e.sender;
        w[2] = e.order;
        w[3] = e.receiver_word;
        if (e.bytes) memcpy(w + 4, e.payload, e.bytes);
    }
    return false;
}

static void take_net(nima_run *r, uint32_t from, const wire_net *n) {
    cluster *k = r->cluster;
    batch_count sent[64], *list = n->sent.count > 64 ? malloc(n->sent.count * sizeof *list) : sent;
    uint32_t count = 0;
    if (!list) { cluster_fail(r, "no memory"); return; }
    for (uint32_t d = 0; d < n->sent.count; d++)
        if (wire_count_at(n->sent, d)) list[count++] = (batch_count){ d, wire_count_at(n->sent, d) };
    const authority_report report = {.window = n->window,
                                     .net = {n->earliest.time, n->earliest.step},
                                     .halt_at = n->halt_time,
                                     .last_event = -1,
                                     .events = n->events,
                                     .busy_us = n->compute_ns / 1000,
                                     .exchange_us = n->exchange_ns / 1000,
                                     .sent = list,
                                     .sent_count = count};
    if (!k->self) loads_net(r, from, n->compute_ns);
    char error[300];
    if (!k->authority || authority_take(k->authority, from, &report, cluster_now_us(), error, sizeof error))
        cluster_fail(r, "%s", k->authority ? error : "a report to a follower");
    if (list != sent) free(list);
}

static void take_fail(nima_run *r, uint32_t from, const wire_fail *f) {
    failure one = { .code = (nima_err)f->code, .time = f->at.time, .step = f->at.step, .agent = { f->agent } };
    snprintf(one.text, sizeof one.text, "%.*s (on %s)", (int)f->cause.bytes, f->cause.at, r->cluster->peers[from].name);
    context *c = &r->contexts[0];
    if (!c->failed || failure_earlier(&one, &c->failure)) c->failure = one;
    c->failed = true;
}

static void take_message(nima_run *r, uint32_t from, const link_frame *f) {
    cluster *k = r->cluster;
    transport_fault fault;
    wire_message m;
    if (wire_decode(&m, f->data, f->bytes, k->peers[from].name, &fault)) { cluster_fail(r, "%s", fault.text); return; }
    switch (m.kind) {
    case WIRE_NET: take_net(r, from, &m.net); return;
    case WIRE_FAIL: take_fail(r, from, &m.fail); return;
    case WIRE_RESULT: gather_take(r, from, &m.result); return;
    case WIRE_GRANT:
        k->awaited = (batch_count){ k->self, m.grant.expected.count ? wire_count_at(m.grant.expected, 0) : 0 };
        k->grant = (authority_grant){.window = m.grant.window,
                                     .order = m.grant.order == AUTHORITY_REST ? AUTHORITY_REST : AUTHORITY_RUN,
                                     .from = {m.grant.from.time, m.grant.from.step},
                                     .until = {m.grant.until.time, m.grant.until.step},
                                     .awaited = &k->awaited,
                                     .awaited_count = 1};
        k->granted = true;
        return;
    case WIRE_CONTROL:
        if (m.control.operation == OPERATION_END) k->ended = true;
        if (m.control.operation == OPERATION_POST) cluster_take_post(r, &m.control);
        else if (m.control.operation == OPERATION_SET_TAKE) sets_take_merged(r, &m.control);
        else if (m.control.operation == OPERATION_ROW &&
                 m.control.blob.bytes == r->engine.row_values * sizeof(double)) {
            memcpy(r->rows + r->row_count % r->row_ring * r->engine.row_values, m.control.blob.at,
                   m.control.blob.bytes);
            r->row_count++;
        } else
            k->operation = m.control.operation;
        return;
    default: cluster_fail(r, "%s sent a message that is not expected here", k->peers[from].name);
    }
}

static bool take_frames(nima_run *r) {       /* true: there was something */
    cluster *k = r->cluster;
    bool any = false;
    for (uint32_t d = 0; d < k->count; d++) {
        link_frame f;
        transport_fault fault;
        transport_err e = TRANSPORT_EMPTY;
        while (k->links[d] && !k->granted && !k->operation &&
               (e = link_receive(k->links[d], &f, &fault)) == TRANSPORT_OK) {
            any = true;
            if (f.kind == WIRE_BATCH) { if (take_batch(r, d, &f)) continue; }
            else take_message(r, d, &f);
            link_discard(&f);
        }
        if (e != TRANSPORT_EMPTY && e != TRANSPORT_OK && !k->ended) { lost(r, fault.text); return true; }
    }
    return any;
}

static bool take_all(nima_run *r) {
    context *c = &r->contexts[0];
    c->me.self = NOBODY;
    c->me.now = r->from;
    if (sigsetjmp(c->escape, 0) == 0) return take_frames(r);
    failure_collect(r);                      /* out of memory */
    return true;
}

bool cluster_pump(nima_run *r, bool wait) {
    cluster *k = r->cluster;
    const uint64_t begin = cluster_now_us();
    do {
        if (take_all(r) || !wait || r->failed || k->ended || k->granted || k->operation) return !r->failed;
    } while (!k->crowded && cluster_now_us() - begin < SPIN_US);
    struct pollfd fds[4 * CONFIG_HOSTS_MAX];
    nfds_t count = 0;
    for (uint32_t d = 0; d < k->count; d++)
        if (k->links[d]) fds[count++] = (struct pollfd){link_fd(k->links[d]), POLLIN, 0};
    count += hosts_poll(k, fds + count, 2 * CONFIG_HOSTS_MAX);
    if (poll(fds, count, WATCH_MS) < 0 && errno != EINTR) cluster_fail(r, "poll: %s", strerror(errno));
    char text[300];
    if (k->authority &&
        authority_watch(k->authority, cluster_now_us(), (uint64_t)k->config->window_ms * 1000, text, sizeof text))
        cluster_fail(r, "%s", text);
    if (k->process_count && !k->ended && hosts_read(k, 0)) cluster_fail(r, "%s", k->cause);
    if (!r->failed) take_all(r);
    return !r->failed;
}
