/* cluster.c: the life of a dispatcher among others: start, windows under the clock, end. See cluster.h. */
#include "cluster/private.h"
#include <stdlib.h>

/* ---- the clock ---- */
static bool report(nima_run *r) {            /* of the window that was run; window 0: of set-up */
    cluster *k = r->cluster;
    uint64_t events = 0;
    for (uint32_t s = r->own_from; s < r->own_to; s++) events += r->shards[s].events;
    const uint64_t ran = events - k->events;
    k->events = events;
    moment earliest = { r->net, r->net_step };
    for (unsigned w = 0; w < r->threads; w++)
        if (r->contexts[w].failed) earliest = MOMENT_NEVER; /* a shard was abandoned: no NET */
    const wire_net net = {.window = k->arrivals.window,
                          .events = ran,
                          .earliest = {earliest.time, earliest.step},
                          .halt_time = r->halt_at,
                          .compute_ns = (uint64_t)(r->window_us * 1000),
                          .exchange_ns = k->exchange_us * 1000,
                          .sent = {k->sent, k->count}};
    if (k->self) {
        const wire_message m = { .kind = WIRE_NET, .net = net };
        cluster_send(r, 0, &m);
        return !r->failed;
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < k->count; d++) if (k->sent[d]) k->report_counts[count++] = (batch_count){ d, k->sent[d] };
    const authority_report own = {.window = net.window,
                                  .net = earliest,
                                  .halt_at = r->halt_at,
                                  .last_event = -1,
                                  .events = ran,
                                  .busy_us = (uint64_t)r->window_us,
                                  .exchange_us = k->exchange_us,
                                  .sent = k->report_counts,
                                  .sent_count = count};
    char error[300];
    if (authority_take(k->authority, 0, &own, cluster_now_us(), error, sizeof error)) cluster_fail(r, "%s", error);
    while (!r->failed && !authority_complete(k->authority)) cluster_pump(r, true);
    if (r->failed) return false;
    authority_report all;
    authority_reduce(k->authority, &all);
    k->all_events += all.events;
    r->net = all.net.time;
    r->net_step = all.net.step;
    if (all.halt_at < r->halt_at) r->halt_at = all.halt_at;
    return true;
}

static bool await_batches(nima_run *r, const authority_grant *g) {   /* and starts the window */
    cluster *k = r->cluster;
    const uint64_t begin = cluster_now_us();
    for (bool started = false; !r->failed; cluster_pump(r, true)) {
        if (arrivals_start(&k->arrivals, g, &started))
            cluster_fail(r, "%s: more events arrived than were sent", k->peers[k->self].name);
        if (started) break;
        if (k->ended) return false;
    }
    k->has_run = g->order == AUTHORITY_REST;
    k->exchange_us = cluster_now_us() - begin;
    return !r->failed;
}

static void grant(nima_run *r, const authority_grant *plan) {   /* to all; returns once it may be started here */
    cluster *k = r->cluster;
    char error[300];
    if (authority_open(k->authority, plan, cluster_now_us(), error, sizeof error)) {
        cluster_fail(r, "%s", error);
        return;
    }
    k->granted_us = cluster_now_us();
    for (uint32_t d = 1; d < k->count && !r->failed; d++) {
        authority_grant g;
        authority_grant_to(k->authority, d, &g);
        uint32_t expected = g.awaited_count ? g.awaited[0].batches : 0;
        const wire_message m = {.kind = WIRE_GRANT,
                                .grant = {.window = g.window,
                                          .from = {g.from.time, g.from.step},
                                          .until = {g.until.time, g.until.step},
                                          .order = g.order,
                                          .expected = {&expected, 1}}};
        cluster_send(r, d, &m);
    }
    authority_grant own;
    authority_grant_to(k->authority, 0, &own);
    await_batches(r, &own);
}

void cluster_begin_window(nima_run *r) {
    r->cluster->collected = false;
    const authority_grant plan = {.window = r->cluster->arrivals.window + 1,
                                  .order = AUTHORITY_RUN,
                                  .from = {r->net, r->net_step},
                                  .until = r->step_mode ? (moment){r->net, r->net_step + 1} : (moment){r->until, 0}};
    grant(r, &plan);
}

/* Nothing is run; at its end no batch is in flight. */
static void rest(nima_run *r) {
    authority_grant plan;
    authority_plan_rest(r->cluster->authority, &plan);
    grant(r, &plan);
    memset(r->cluster->sent, 0, r->cluster->count * sizeof *r->cluster->sent);
    if (!r->failed) report(r);
}

static void tell_failure(nima_run *r) {      /* follower: before its report */
    for (unsigned w = 0; w < r->threads; w++) {
        const context *c = &r->contexts[w];
        if (!c->failed) continue;
        const wire_message m = {.kind = WIRE_FAIL,
                                .fail = {.code = c->failure.code,
                                         .at = {c->failure.time, c->failure.step},
                                         .agent = c->failure.agent.bits,
                                         .cause = wire_text_of(c->failure.text)}};
        cluster_send(r, 0, &m);
    }
}

void cluster_end_window(nima_run *r) {
    cluster *k = r->cluster;
    const uint64_t begin = cluster_now_us();
    cluster_send_events(r);
    k->exchange_us += cluster_now_us() - begin;
    if (k->self) {
        gather_send_log(r);
        loads_send(r);
        gather_send_sent(r);
        tell_failure(r);
    }
    if (!r->failed) report(r);
}

/* ---- leader: questions to all ---- */
void cluster_ask(nima_run *r, uint32_t operation) {
    cluster *k = r->cluster;
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = operation } };
    if (operation == OPERATION_COLLECT || (operation == OPERATION_SAMPLE && r->gset_count)) rest(r);
    k->parts_missing = k->count - 1;
    for (uint32_t d = 1; d < k->count && !r->failed; d++) cluster_send(r, d, &m);
    while (!r->failed && k->parts_missing) cluster_pump(r, true);
}


void cluster_row(nima_run *r, const double *row) {
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_ROW,
                             .blob = { row, (uint32_t)(r->engine.row_values * sizeof *row) } } };
    for (uint32_t d = 1; d < r->cluster->count && !r->failed; d++) cluster_send(r, d, &m);
}

typedef struct { nima_id to; uint64_t number; uint32_t type, bytes; } post_head;
void cluster_post(nima_run *r, nima_id to, nima_time at, uint32_t type, uint64_t number, const void *payload,
                  uint32_t bytes) {
    cluster *k = r->cluster;
    const post_head head = { to, number, type, bytes };
    const uint32_t owner = cluster_owner(r, id_shard(to));
    authority_post(k->authority, (moment){ at, 0 });
    if (owner == k->self) return;
    char *blob = malloc(sizeof head + bytes);
    if (!blob) { cluster_fail(r, "no memory for a message"); return; }
    memcpy(blob, &head, sizeof head);
    if (bytes) memcpy(blob + sizeof head, payload, bytes);
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_POST, .number = at,
                             .blob = { blob, (uint32_t)sizeof head + bytes } } };
    cluster_send(r, owner, &m);
    free(blob);
}

void cluster_take_post(nima_run *r, const wire_control *m) {
    post_head head;
    if (m->blob.bytes < sizeof head) { cluster_fail(r, "a post of nothing"); return; }
    memcpy(&head, m->blob.at, sizeof head);
    const uint32_t shard_number = id_shard(head.to);
    if (head.bytes != m->blob.bytes - sizeof head || shard_number < r->own_from || shard_number >= r->own_to) {
        cluster_fail(r, "a post to nobody here");
        return;
    }
    embed_post(r, head.to, m->number, head.type, head.number, (const char *)m->blob.at + sizeof head, head.bytes);
}

static void ask_status(nima_run *r, uint32_t operation, nima_time *last_event, bool *pending) {
    cluster *k = r->cluster;
    k->last_event = *last_event;
    k->pending = *pending;
    cluster_ask(r, operation);
    *last_event = k->last_event;
    *pending = k->pending;
}
void cluster_sample(nima_run *r, nima_time *last_event, bool *pending) {
    ask_status(r, OPERATION_SAMPLE, last_event, pending);
}
void cluster_step(nima_run *r, bool *any, bool *more) {
    nima_time last = -1;
    bool pending = false;
    r->cluster->any_step = *any;
    r->cluster->more_steps = *more;
    ask_status(r, OPERATION_STATUS, &last, &pending);
    *any = r->cluster->any_step;
    *more = r->cluster->more_steps;
}
void cluster_status(nima_run *r, nima_time *last_event, bool *pending) {
    ask_status(r, OPERATION_STATUS, last_event, pending);
}

void cluster_collect(nima_run *r) {
    cluster *k = r->cluster;
    if (k->collected) return;
    k->collected = true;
    uint64_t **others[] = { &r->others_dead, &r->others_unread };
    for (int i = 0; i < 2; i++) if (*others[i]) memset(*others[i], 0, 65536 * sizeof **others[i]);
    cluster_ask(r, OPERATION_COLLECT);
}

uint64_t cluster_events(const nima_run *r) { return r->cluster->all_events; }

void cluster_summary(const nima_run *r, char *text, size_t room) {
    text[0] = 0;
    if (r->cluster && r->cluster->authority) authority_summary(r->cluster->authority, r->engine.lookahead, text, room);
}

/* ---- follower ---- */
nima_err cluster_follow(nima_run *r) {
    cluster *k = r->cluster;
    failure_before before;
    failure_enter(&r->contexts[0], &before);
    while (!r->failed && !k->ended) {
        cluster_pump(r, true);
        if (k->granted) {
            const authority_grant g = k->grant;
            k->granted = false;
            if (!await_batches(r, &g)) break;
            if (g.order == AUTHORITY_REST) {
                memset(k->sent, 0, k->count * sizeof *k->sent);
                report(r);
                continue;
            }
            window_follow(r, g.from.time, g.from.step, g.until.step ? g.until.time + 1 : g.until.time,
                          g.until.step > 0);
            cluster_end_window(r);
        } else if (k->operation) {
            const uint32_t operation = k->operation;
            k->operation = 0;
            if (operation == OPERATION_SAMPLE) gather_send_sums(r);
            if (operation == OPERATION_SAMPLE || operation == OPERATION_STATUS) gather_send_status(r);
            else if (operation == OPERATION_COLLECT) gather_send_all(r);
            else if (operation == OPERATION_SET_HASHES) sets_send_hashes(r);
            else if (operation == OPERATION_SET_BITS) sets_send_bits(r);
            else if (operation == OPERATION_ROW) continue;
            else break;                      /* the end */
            gather_done(r);
        }
    }
    failure_leave(&before);
    return r->failed ? r->failure.code : NIMA_OK;
}

/* ---- life ---- */
static nima_err allocate(nima_run *r, char *error, size_t room) {
    cluster *k = r->cluster;
    k->links = calloc(k->count, sizeof *k->links);
    k->peers = calloc(k->count, sizeof *k->peers);
    k->batches = calloc(k->count, sizeof *k->batches);
    k->sent = calloc(k->count, sizeof *k->sent);
    k->report_counts = calloc(k->count, sizeof *k->report_counts);
    k->parts = calloc(k->count, sizeof *k->parts);
    loads_init(k);
    bool good = k->loads.at && k->parts && k->links && k->peers && k->batches && k->sent && k->report_counts;
    for (uint32_t d = 0; good && d < k->count; d++)
        good = d == k->self || !wire_batch_init(&k->batches[d], WIRE_BATCH_BYTES);
    if (!good) snprintf(error, room, "no memory for batches");
    return good ? NIMA_OK : NIMA_E_MEMORY;
}

static nima_err lead(nima_run *r, const nima_options *o, char *error, size_t room) {
    cluster *k = r->cluster;
    transport_fault fault;
    randombytes_buf(k->run_id, 16);
    k->has_key = k->config->hosts > 1 && !k->config->insecure;
    if (k->has_key && !*k->config->key) seal_key_new(&k->key);
    else if (k->has_key && seal_key_read(&k->key, k->config->key, &fault)) {
        snprintf(error, room, "%s", fault.text);
        return NIMA_E_USAGE;
    }
    return hosts_start(r, o, error, room);
}

static nima_err begin(nima_run *r, char *error, size_t room) { /* links, the clock, and everybody's first report */
    cluster *k = r->cluster;
    nima_err code = links_name(k, error, room);
    if (!code) code = links_open(k, error, room);
    if (code) return code;
    authority_child children[64];
    for (uint32_t d = 0; d < k->count; d++) children[d] = (authority_child){ k->peers[d].name, d, 1 };
    if (!k->self) k->authority = authority_new(children, k->count, k->count, cluster_now_us());
    while (!r->failed && !links_are_up(k)) cluster_pump(r, true);
    if (r->failed || !report(r)) { snprintf(error, room, "%s", r->failure.text); return r->failure.code; }
    if (!k->self) hosts_up(k);
    k->up = true;
    return NIMA_OK;
}

nima_err cluster_open(nima_run *r, const nima_options *o, char *error, size_t room) {
    const uint32_t count = r->tuning.dispatchers;
    const char *wrong = count > CONFIG_HOSTS_MAX ? "a run has 63 dispatchers at most"
                      : r->tuning.on_delivery ? "tracing, and stopping at an agent, need one dispatcher" : NULL;
    if (wrong) { snprintf(error, room, "%s", wrong); return NIMA_E_USAGE; }
    if (!seal_start()) { snprintf(error, room, "libsodium does not start"); return NIMA_E_SYSTEM; }
    cluster *k = r->cluster = calloc(1, sizeof *k);
    if (!k) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    team_bind(r->team, false);               /* the other dispatchers and NNG's threads are to run on any core */
    k->self = r->tuning.dispatcher;
    k->count = count;
    k->crowded = r->threads * (r->tuning.here ? r->tuning.here : count) >= team_cores();
    cluster_config_local(&k->own, count, r->threads);
    k->config = r->tuning.cluster ? r->tuning.cluster : &k->own;
    memcpy(k->run_id, r->tuning.run_id, 16);
    if (k->self) snprintf(k->folder, sizeof k->folder, "%s", r->tuning.dispatcher_folder);
    nima_err code = allocate(r, error, room);
    if (!code && !k->self) code = lead(r, o, error, room);
    if (!code) code = begin(r, error, room);
    team_bind(r->team, true);
    return code;
}

void cluster_close(nima_run *r) {
    cluster *k = r->cluster;
    const wire_message end = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_END } };
    transport_fault fault;
    const bool failed = r->failed || !k->up;
    k->ended = true;
    for (uint32_t d = 1; k->self == 0 && !failed && d < k->count; d++)
        if (link_send_message(k->links[d], &end, &fault)) {} /* lost in the last moment: it ends by itself */
    if (k->self == 0 && failed) hosts_end(k, true);
    for (uint32_t d = 0; k->links && d < k->count; d++)
        if (k->links[d] && link_close(k->links[d], failed ? 0 : 500, &fault)) {}     /* the run is over either way */
    if (k->self == 0 && !failed) hosts_end(k, false);
    for (uint32_t d = 0; k->batches && d < k->count; d++) if (k->batches[d].memory) wire_batch_fini(&k->batches[d]);
    for (uint32_t i = 0; i < k->early_count; i++) link_discard(&k->early[i].frame);
    for (uint32_t d = 0; k->parts && d < k->count; d++) free(k->parts[d].at);
    authority_free(k->authority);
    loads_fini(k);
    seal_key_wipe(&k->key);
    void *arrays[] = { k->parts, k->early, k->links, k->peers, k->batches, k->sent, k->report_counts, k };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    r->cluster = NULL;
}
