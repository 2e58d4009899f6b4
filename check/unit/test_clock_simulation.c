/* Whole clocks in one thread: dispatchers with queues, trees of authorities, a network that delivers in any order after any
 * delay. Which event makes which is a function of the seed alone, so a plain queue gives the history to expect; how the
 * clock gets there is chosen by chance, from the same seed. A failure prints it: NIMA_SEED=N runs that case alone. */
#include "clock/arrivals.h"
#include "hash.h"
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MOST = 8, DEEP = 9, MOST_EVENTS = 1 << 14, MOST_PACKETS = 1 << 12, LEGS = 2 };

static uint64_t seed, random_state;
static uint64_t draw(void) { return random_state = hash_mum(random_state ^ HASH_K0, (random_state + HASH_K1) ^ HASH_K2); }
static uint64_t below(uint64_t n) { return draw() % n; }
#define MUST(condition) ck_assert_msg(condition, "NIMA_SEED=%" PRIu64 ": " #condition, seed)

/* ---- the model: what an event does is a hash of it ---- */
typedef struct { moment at; uint64_t id; uint32_t to, depth; } event;
typedef struct { event *of; size_t count; } queue_of_events;

static struct { uint32_t dispatchers; nima_time lookahead, until[LEGS]; bool halts; } model;

static void add(queue_of_events *q, event e) {
    MUST(q->count < MOST_EVENTS);
    q->of[q->count++] = e;
}

static bool earlier(const event *a, const event *b) {
    if (moment_before(a->at, b->at) || moment_before(b->at, a->at)) return moment_before(a->at, b->at);
    return a->to != b->to ? a->to < b->to : a->id < b->id;
}

/* Takes the earliest event before a moment; false: there is none. */
static bool take_earliest(queue_of_events *q, moment before, event *e) {
    size_t least = 0;
    for (size_t i = 1; i < q->count; i++) if (earlier(&q->of[i], &q->of[least])) least = i;
    if (q->count == 0 || !moment_before(q->of[least].at, before)) return false;
    *e = q->of[least];
    q->of[least] = q->of[--q->count];
    return true;
}

static moment earliest(const queue_of_events *q) {
    moment m = MOMENT_NEVER;
    for (size_t i = 0; i < q->count; i++) m = moment_least(m, q->of[i].at);
    return m;
}

/* Children of an event, at most two. */
static uint32_t children_of(const event *e, event out[2]) {
    const uint64_t h = hash_mum(e->id ^ HASH_K3, seed ^ HASH_K4);
    const uint32_t count = e->depth == DEEP ? 0 : (uint32_t)(h % 8 < 1 ? 0 : h % 8 < 5 ? 1 : 2);
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t g = hash_mum(h ^ HASH_K1, (k + 1) ^ HASH_K0);
        event *c = &out[k];
        *c = (event){ .id = g, .to = (uint32_t)(g >> 8) % model.dispatchers, .depth = e->depth + 1 };
        const nima_time delay = (nima_time)(g >> 40) % 4 + (c->to == e->to ? 0 : model.lookahead);
        c->at = delay > 0 ? (moment){ e->at.time + delay, 0 } : (moment){ e->at.time, e->at.step + 1 };
    }
    return count;
}

static nima_time halt_of(const event *e) {
    const bool halts = model.halts && hash_mum(e->id, HASH_K2) % 64 == 0;
    return halts ? e->at.time + (model.lookahead > 1 ? model.lookahead : 1) : NIMA_FOREVER;
}

static event first_event(uint64_t number, uint32_t to, nima_time at) {
    return (event){ .at = { at, 0 }, .id = hash_mum(seed ^ HASH_K4, number ^ HASH_K1), .to = to };
}

static uint64_t fold(uint64_t chain, const event *e) {
    return hash_mum(chain ^ e->id, ((uint64_t)e->at.time << 16 | e->at.step) ^ HASH_K0);
}

/* What a leg must end with. */
typedef struct { uint64_t chain[MOST], events; nima_time last_event; bool pending; } history;

static history expected(queue_of_events *q, history h, nima_time until, nima_time *halt_at) {
    event e, made[2];
    while (take_earliest(q, (moment){ until < *halt_at ? until : *halt_at, 0 }, &e)) {
        h.chain[e.to] = fold(h.chain[e.to], &e);
        h.events++;
        h.last_event = e.at.time;
        if (halt_of(&e) < *halt_at) *halt_at = halt_of(&e);
        for (uint32_t k = 0, n = children_of(&e, made); k < n; k++) add(q, made[k]);
    }
    h.pending = q->count > 0;
    return h;
}

/* ---- the network ---- */
typedef enum { BATCH, REPORT, GRANT } packet_kind;
typedef struct {
    packet_kind kind;
    int node; uint32_t dispatcher, child;    /* node -1: to a dispatcher */
    uint64_t window;
    event events[4]; uint32_t event_count;
    authority_report report; authority_grant grant; batch_count counts[MOST];
} packet;

static packet *network[MOST_PACKETS];
static uint32_t packets, batches_under_way;

static packet *send_packet(packet_kind kind) {
    MUST(packets < MOST_PACKETS);
    packet *p = calloc(1, sizeof *p);
    p->kind = kind;
    batches_under_way += kind == BATCH;
    return network[packets++] = p;
}

static void send_report(int node, uint32_t child, const authority_report *r) {
    packet *p = send_packet(REPORT);
    p->node = node;
    p->child = child;
    p->report = *r;
    if (r->sent_count > 0) memcpy(p->counts, r->sent, r->sent_count * sizeof *r->sent);
    p->report.sent = p->counts;
}

static void send_grant(int node, uint32_t dispatcher, const authority_grant *g) {
    packet *p = send_packet(GRANT);
    p->node = node;
    p->dispatcher = dispatcher;
    p->grant = *g;
    if (g->awaited_count > 0) memcpy(p->counts, g->awaited, g->awaited_count * sizeof *g->awaited);
    p->grant.awaited = p->counts;
}

/* ---- dispatchers ---- */
typedef struct {
    queue_of_events held;
    arrivals arrivals;
    authority_grant grant; batch_count awaited;
    bool granted, running;
    moment begun_until;                      /* nothing before it may arrive any more */
    moment net_sent;
    batch_count sent[MOST];
    event out[MOST][4]; uint32_t out_count[MOST];
    nima_time halt_at, last_event;
    uint64_t chain, events, all_events;
    int parent; uint32_t child;
} dispatcher;

static dispatcher dispatchers[MOST];
static int victim;                           /* a dispatcher that does nothing any more; -1: none */

static void flush(uint32_t self, uint32_t to) {
    dispatcher *d = &dispatchers[self];
    if (d->out_count[to] == 0) return;
    packet *p = send_packet(BATCH);
    p->node = -1;
    p->dispatcher = to;
    p->window = d->arrivals.window;
    p->event_count = d->out_count[to];
    memcpy(p->events, d->out[to], sizeof p->events);
    d->out_count[to] = 0;
    d->sent[to].batches++;
}

static void report(uint32_t self) {
    dispatcher *d = &dispatchers[self];
    batch_count sent[MOST];
    authority_report r = { .window = d->arrivals.window, .halt_at = d->halt_at, .last_event = d->last_event,
                           .events = d->events, .sent = sent };
    for (uint32_t to = 0; to < model.dispatchers; to++) {
        flush(self, to);
        if (d->sent[to].batches > 0) sent[r.sent_count++] = (batch_count){ to, d->sent[to].batches };
        d->sent[to].batches = 0;
    }
    r.net = moment_least(earliest(&d->held), d->net_sent);
    r.pending = d->held.count > 0 || r.sent_count > 0;
    d->net_sent = MOMENT_NEVER;
    d->running = false;
    d->events = 0;
    send_report(d->parent, d->child, &r);
}

static void execute(uint32_t self, const event *e) {
    dispatcher *d = &dispatchers[self];
    event made[2];
    d->chain = fold(d->chain, e);
    d->events++;
    d->all_events++;
    if (e->at.time > d->last_event) d->last_event = e->at.time;
    if (halt_of(e) < d->halt_at) d->halt_at = halt_of(e);
    for (uint32_t k = 0, n = children_of(e, made); k < n; k++) {
        const uint32_t to = made[k].to;
        if (to == self) {
            add(&d->held, made[k]);
            continue;
        }
        d->out[to][d->out_count[to]++] = made[k];
        d->net_sent = moment_least(d->net_sent, made[k].at);
        if (d->out_count[to] == 4 || below(2) == 0) flush(self, to);
    }
}

/* One event, or the report when none is left. */
static void run_on(uint32_t self) {
    dispatcher *d = &dispatchers[self];
    event e;
    if (d->grant.order == AUTHORITY_RUN && take_earliest(&d->held, d->grant.until, &e)) execute(self, &e);
    else report(self);
}

static void try_start(uint32_t self) {
    dispatcher *d = &dispatchers[self];
    if (!d->granted || d->running) return;
    MUST(arrivals_start(&d->arrivals, &d->grant, &d->running) == NIMA_OK);
    if (!d->running) return;
    d->granted = false;
    d->begun_until = d->grant.until;
}

static void deliver_to_dispatcher(const packet *p) {
    dispatcher *d = &dispatchers[p->dispatcher];
    if (p->kind == GRANT) {
        MUST(!d->granted && !d->running);
        d->grant = p->grant;
        d->awaited = p->counts[0];
        d->grant.awaited = &d->awaited;
        d->granted = true;
    } else {
        MUST(arrivals_note(&d->arrivals, p->window) == NIMA_OK);
        batches_under_way--;
        for (uint32_t i = 0; i < p->event_count; i++) {
            MUST(!moment_before(p->events[i].at, d->begun_until));
            add(&d->held, p->events[i]);
        }
    }
    try_start(p->dispatcher);
}

/* ---- authorities ---- */
typedef struct { authority *authority; int parent; uint32_t child, children; int node[MOST]; uint32_t first[MOST]; } node;
static node nodes[4 * MOST];
static int node_count;

/* An authority over [first, first + count), of random shape; its number. */
static int build(uint32_t first, uint32_t count, int depth) {
    const int self = node_count++;
    node *n = &nodes[self];
    authority_child child[MOST];
    *n = (node){ .parent = -1 };
    for (uint32_t at = first; at < first + count; n->children++) {
        uint32_t part = depth == 0 ? 1 : 1 + (uint32_t)below(first + count - at);
        n->first[n->children] = at;
        n->node[n->children] = part > 1 || (depth > 0 && below(3) == 0) ? build(at, part, depth - 1) : -1;
        if (n->node[n->children] >= 0) {
            nodes[n->node[n->children]].parent = self;
            nodes[n->node[n->children]].child = n->children;
        } else {
            dispatchers[at].parent = self;
            dispatchers[at].child = n->children;
        }
        child[n->children] = (authority_child){ "child", at, part };
        at += part;
    }
    n->authority = authority_new(child, n->children, model.dispatchers, 0);
    return self;
}

static void open_window(int number, const authority_grant *g) {
    node *n = &nodes[number];
    char error[300] = "";
    const nima_err code = authority_open(n->authority, g, 1, error, sizeof error);
    ck_assert_msg(code == NIMA_OK, "NIMA_SEED=%" PRIu64 ": %s", seed, error);
    for (uint32_t c = 0; c < n->children; c++) {
        authority_grant to_child;
        authority_grant_to(n->authority, c, &to_child);
        send_grant(n->node[c], n->first[c], &to_child);
    }
}

static void deliver_to_node(const packet *p) {
    node *n = &nodes[p->node];
    char error[300] = "";
    if (p->kind == GRANT) {
        open_window(p->node, &p->grant);
        return;
    }
    const nima_err code = authority_take(n->authority, p->child, &p->report, 2, error, sizeof error);
    ck_assert_msg(code == NIMA_OK, "NIMA_SEED=%" PRIu64 ": %s", seed, error);
    if (p->node == 0 || !authority_complete(n->authority)) return;
    authority_report sum;
    authority_reduce(n->authority, &sum);
    send_report(n->parent, n->child, &sum);
}

/* ---- a run ---- */
/* Delivers and runs by chance until the root has all reports; false: nothing can happen any more. */
static bool until_complete(void) {
    while (!authority_complete(nodes[0].authority)) {
        uint32_t ready[MOST], running = 0;
        for (uint32_t d = 0; d < model.dispatchers; d++)
            if (dispatchers[d].running && (int)d != victim) ready[running++] = d;
        if (packets + running == 0) return false;
        const uint32_t choice = (uint32_t)below(packets + running);
        if (choice >= packets) {
            run_on(ready[choice - packets]);
            continue;
        }
        packet *p = network[choice];
        network[choice] = network[--packets];
        if (p->node >= 0) deliver_to_node(p);
        else deliver_to_dispatcher(p);
        free(p);
    }
    return true;
}

/* Opens windows until one at rest, which `end` asks for or the limit brings; false: it got stuck. */
static bool run_leg(nima_time until) {
    const nima_time span = below(3) == 0 ? 1 + (nima_time)below(4) : NIMA_FOREVER;
    authority_limits limits = { until, model.lookahead, NIMA_FOREVER, span };
    for (;;) {
        authority_grant g;
        const bool pause = below(10) == 0, runs = authority_plan(nodes[0].authority, &limits, &g);
        if (pause) authority_plan_rest(nodes[0].authority, &g);
        open_window(0, &g);
        if (!until_complete()) return false;
        if (g.order == AUTHORITY_REST) MUST(batches_under_way == 0 && packets == 0);
        if (!runs && !pause) return true;
    }
}

static history found(void) {
    history h = { .last_event = -1 };
    authority_report sum;
    authority_reduce(nodes[0].authority, &sum);
    for (uint32_t d = 0; d < model.dispatchers; d++) {
        h.chain[d] = dispatchers[d].chain;
        h.events += dispatchers[d].all_events;
    }
    h.last_event = sum.last_event;
    h.pending = sum.pending;
    return h;
}

static void ck_same(const history *a, const history *b) {
    MUST(a->events == b->events);
    for (uint32_t d = 0; d < model.dispatchers; d++) MUST(a->chain[d] == b->chain[d]);
    MUST(a->last_event == b->last_event);
    MUST(a->pending == b->pending);
}

static void set_up(queue_of_events *plain) {
    random_state = hash_mum(seed ^ HASH_K2, HASH_K3);
    model.dispatchers = 1 + (uint32_t)below(MOST);
    model.lookahead = (nima_time[]){ 0, 0, 1, 2, 7 }[below(5)];
    model.halts = below(4) == 0;
    model.until[0] = below(2) == 0 ? 1 + (nima_time)below(30) : NIMA_FOREVER;
    model.until[1] = below(2) == 0 ? 30 + (nima_time)below(30) : NIMA_FOREVER;
    victim = -1;
    packets = batches_under_way = 0;
    node_count = 0;
    plain->count = 0;
    for (uint32_t d = 0; d < model.dispatchers; d++) {
        event *room = dispatchers[d].held.of;
        dispatchers[d] = (dispatcher){ .held = { room, 0 }, .net_sent = MOMENT_NEVER, .halt_at = NIMA_FOREVER,
                                       .last_event = -1, .running = true, .grant.order = AUTHORITY_REST };
    }
    build(0, model.dispatchers, (int)below(3));
    for (uint64_t i = 0, n = below(4 * model.dispatchers); i < n; i++) {
        const event e = first_event(i, (uint32_t)below(model.dispatchers), (nima_time)below(10));
        add(plain, e);
        add(&dispatchers[e.to].held, e);
    }
}

static void tear_down(void) {
    while (packets > 0) free(network[--packets]);
    for (int n = 0; n < node_count; n++) authority_free(nodes[n].authority);
}

/* Two legs, with a message posted from outside between them. */
static void ck_history(queue_of_events *plain) {
    history want = { .last_event = -1 };
    nima_time halt_at = NIMA_FOREVER;
    MUST(until_complete());                  /* set-up */
    for (int leg = 0; leg < LEGS; leg++) {
        MUST(run_leg(model.until[leg]));
        want = expected(plain, want, model.until[leg], &halt_at);
        const history got = found();
        ck_same(&got, &want);
        if (leg > 0 || model.until[0] == NIMA_FOREVER || halt_at != NIMA_FOREVER || below(2) == 0) continue;
        const event e = first_event(1000, (uint32_t)below(model.dispatchers), model.until[0] + (nima_time)below(3));
        add(plain, e);
        add(&dispatchers[e.to].held, e);
        authority_grant g;
        authority_plan_rest(nodes[0].authority, &g);
        open_window(0, &g);
        MUST(until_complete());
    }
}

/* One dispatcher dies at some moment: it alone is named, by the authority above it. */
static void ck_victim(void) {
    char text[300];
    MUST(until_complete());
    victim = (int)below(model.dispatchers);
    MUST(!run_leg(NIMA_FOREVER));
    const dispatcher *d = &dispatchers[victim];
    for (int n = d->parent; n >= 0; n = nodes[n].parent) {
        MUST(authority_watch(nodes[n].authority, 9000001, 5000000, text, sizeof text) == 1);
        MUST(strstr(text, "for 9.0 s") != NULL);
    }
    for (int n = 0; n < node_count; n++) {   /* authorities elsewhere miss nobody */
        bool above = false;
        for (int up = d->parent; up >= 0; up = nodes[up].parent) above |= up == n;
        MUST(above || authority_watch(nodes[n].authority, 9000001, 5000000, text, sizeof text) == 0);
    }
}

static void run_seeds(bool kill) {
    queue_of_events plain = { calloc(MOST_EVENTS, sizeof(event)), 0 };
    for (uint32_t d = 0; d < MOST; d++) dispatchers[d].held.of = calloc(MOST_EVENTS, sizeof(event));
    const char *one = getenv("NIMA_SEED");
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1, count = one ? 1 : getenv("NIMA_LONG") ? 200000 : 1000;
    for (seed = first; seed < first + count; seed++) {
        set_up(&plain);
        if (kill) ck_victim();
        else ck_history(&plain);
        tear_down();
    }
    free(plain.of);
    for (uint32_t d = 0; d < MOST; d++) free(dispatchers[d].held.of);
}

START_TEST(same_history) { run_seeds(false); }
END_TEST
START_TEST(victim_is_named) { run_seeds(true); }
END_TEST

int main(void) {
    Suite *suite = suite_create("clock");
    TCase *history_case = tcase_create("clock: any delays and orders of delivery, same history as one queue");
    tcase_add_test(history_case, same_history);
    tcase_set_timeout(history_case, 1000);
    suite_add_tcase(suite, history_case);
    TCase *victim_case = tcase_create("clock: a dispatcher dies, and it alone is named");
    tcase_add_test(victim_case, victim_is_named);
    tcase_set_timeout(victim_case, 1000);
    suite_add_tcase(suite, victim_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
