/* embed.c: the library that embeds a run: open, run, step, post, look, close. See nima.h and run.h. */
#include "cluster/cluster.h"
#include "fingerprint.h"
#include "parameters.h"
#include "state.h"
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ERROR_CASE(name, value, text) case name: return text;
const char *nima_error_text(nima_err code) {
    switch (code) { NIMA_ERRORS(ERROR_CASE) }
    return "unknown error";
}

const char *nima_error_detail(const nima_run *r) { return r ? r->failure.text : run_open_error; }

/* ---- opening ---- */
static void worker_enters(void *run, unsigned worker) {
    failure_before none;                     /* the thread ends with the run */
    failure_enter(&((nima_run *)run)->contexts[worker], &none);
}

static void run_exhausted(void *arg, size_t bytes, const char *what) {
    nima_run *r = arg;
    context *c = failure_current();
    if (!c) c = &r->contexts[0];
    fail(c, NIMA_E_MEMORY, "out of memory: %zu bytes for %s, with %llu of %llu bytes in use", bytes, what,
         (unsigned long long)atomic_load(&r->engine.memory.used), (unsigned long long)r->engine.memory.limit);
}

static const double *reported(const engine *e, nima_time at_most) {
    const nima_run *r = e->run;
    if (at_most < 0 || !r->row_count) return NULL;
    uint64_t row = (uint64_t)(at_most / e->sample);
    if (row >= r->row_count) row = r->row_count - 1;
    return r->rows + row % r->row_ring * e->row_values;
}

static void deliver(context *c, const nima_behavior *b, bool starts) {
    nima_run *r = c->engine->run;
    const run_delivery d = { .agent = c->me.self, .behavior = b, .time = c->me.now, .step = c->step, .starts = starts, .mail = c->me.own.mail,
                             .mail_count = nima_mail_left(&c->me), .chain = c->agent->chain,
                             .state = agent_state(c->engine, c->agent, b),
                             .stream = { .key = c->engine->seed, .stream = c->agent->stream, .draws = c->agent->draws } };
    pthread_mutex_lock(&r->deliver_lock);
    r->tuning.on_delivery(r->tuning.on_delivery_arg, &d);
    pthread_mutex_unlock(&r->deliver_lock);
}

/* Where a shard's agents lie; in every process, also for shards that others own. */
static void place_shard(nima_run *r, uint32_t number) {
    engine *e = &r->engine;
    shard *h = &r->shards[number];
    uint64_t before = 0, initial = 0;
    for (uint32_t p = 0; p < e->population_count; p++) {
        before += e->populations[p].first[number];
        initial += e->populations[p].first[number + 1] - e->populations[p].first[number];
    }
    const size_t region = (size_t)SLOTS_MAX * e->stride;
    h->initial = (uint32_t)initial;
    h->agents = r->agents + before * e->stride;
    h->born = r->born + number * region - initial * e->stride;
    h->rest = r->rest + (size_t)number * SLOTS_MAX;
    if (e->shards <= 4096) {                 /* beyond the first 2 MiB of births, on pages of 2 MiB */
        const uintptr_t from = ((uintptr_t)r->born + number * region + 2 * MEMORY_HUGE - 1) & ~(uintptr_t)(MEMORY_HUGE - 1);
        madvise((void *)from, region - 2 * MEMORY_HUGE, MADV_HUGEPAGE);
    }
}

static void build_item(void *arg, unsigned worker, uint32_t number) {
    nima_run *r = arg;
    context *c = &r->contexts[worker];
    if (sigsetjmp(c->escape, 0)) return;
    place_shard(r, number);
    shard_init(&r->shards[number], &r->engine, number, &c->pool);
    if (number >= r->own_from && number < r->own_to) shard_first_agents(&r->shards[number], c);
}

static nima_err reserve(nima_run *r, char *error, size_t room) {
    engine *e = &r->engine;
    r->shards = calloc(e->shards, sizeof *r->shards);
    const size_t lists = (size_t)4 * (r->threads + 1) * e->shards;
    r->lists = malloc(lists * sizeof *r->lists);
    uint64_t initial = 0;
    for (uint32_t p = 0; p < e->population_count; p++) initial += e->populations[p].count;
    r->agents_bytes = initial * e->stride + 64;
    r->agents = memory_map(&e->memory, r->agents_bytes, r->agents_bytes >= MEMORY_HUGE, "agents");
    r->born_bytes = (size_t)SLOTS_MAX * e->stride * e->shards;
    r->born = memory_reserve(r->born_bytes);
    r->rest_bytes = (size_t)SLOTS_MAX * sizeof(agent_rest) * e->shards;
    r->rest = memory_reserve(r->rest_bytes);
    if (!r->shards || !r->lists || !r->born || !r->rest) {
        snprintf(error, room, "no address space for %u shards", e->shards);
        return NIMA_E_MEMORY;
    }
    for (size_t i = 0; i < lists; i++) chunk_list_init(&r->lists[i]);
    r->row_ring = 2;
    if (e->sample) {
        r->row_ring += (uint64_t)((e->lookahead > 1 ? e->lookahead : 1) / e->sample) + 1;
        r->rows = calloc(r->row_ring * e->row_values + 1, sizeof *r->rows);
        if (!r->rows) { snprintf(error, room, "no memory for %llu rows of reporters", (unsigned long long)r->row_ring); return NIMA_E_MEMORY; }
    }
    return NIMA_OK;
}

/* The order in which this process takes its shards, those from own_from on. */
static nima_err order_shards(nima_run *r, char *error, size_t room) {
    const uint32_t own = r->own_to - r->own_from;
    if (!r->tuning.shard_order) return NIMA_OK;
    r->order = malloc((own + 1u) * sizeof *r->order);
    if (!r->order) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    for (uint32_t i = 0; i < own; i++) r->order[i] = i;
    for (uint32_t i = own; i-- > 1;) {
        const uint32_t j = (uint32_t)(hash_mum(r->tuning.shard_order ^ HASH_K0, i ^ HASH_K1) % (i + 1u)), swap = r->order[i];
        r->order[i] = r->order[j];
        r->order[j] = swap;
    }
    return NIMA_OK;
}

static nima_err open_run(nima_run *r, const nima_options *o, char *error, size_t room) {
    engine *e = &r->engine;
    e->run = r;
    e->model = r->model;
    e->memory.limit = r->tuning.memory_limit ? r->tuning.memory_limit : memory_default_limit();
    e->warmup = r->tuning.warmup;
    e->dirty = r->tuning.dirty;
    e->log_level = r->tuning.log_level;
    e->dead_letters = (uint32_t)r->tuning.dead_letters;
    e->fingerprint = !o->no_fingerprint;
    e->reported = reported;
    e->name = run_agent_name;
    e->deliver = r->tuning.on_delivery ? deliver : NULL;
    e->watched = e->deliver || e->dirty >= 0;
    pthread_mutex_init(&r->deliver_lock, NULL);
    chunk_depot_init(&r->depot, &e->memory);
    nima_err code = setup_declare(r, error, room);
    if (code) return code;
    r->threads = o->threads ? o->threads : team_cores();
    r->contexts = aligned_alloc(64, (r->threads * sizeof(context) + 63) / 64 * 64);
    if (!r->contexts) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    memset(r->contexts, 0, r->threads * sizeof(context));
    r->counts = aligned_alloc(64, r->threads * sizeof *r->counts);
    if (!r->counts) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    memset(r->counts, 0, r->threads * sizeof *r->counts);
    for (unsigned w = 0; w < r->threads; w++) {
        r->contexts[w].engine = e;
        r->contexts[w].signal_stack = malloc(FAILURE_STACK_BYTES);
        if (!r->contexts[w].signal_stack) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    }
    failure_guard(true);
    r->guarded = true;
    const unsigned here = r->tuning.here ? r->tuning.here : r->tuning.dispatchers > 1 ? r->tuning.dispatchers : 1;
    r->team = team_new(r->threads, r->tuning.here_before * r->threads, r->threads * here, !o->no_pin, worker_enters, r, error, room);
    if (!r->team) return NIMA_E_SYSTEM;
    code = setup_run(r, o, error, room);
    if (code) return code;
    e->memory.exhausted = run_exhausted;
    if (sigsetjmp(r->contexts[0].escape, 0)) {
        failure_collect(r);
        snprintf(error, room, "%s", r->failure.text);
        return r->failure.code;
    }
    code = reserve(r, error, room);
    if (code) return code;
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        c->me.params = r->params;
        c->me.world = r->world;
        c->pool = (chunk_pool){ .depot = &r->depot, .dirty = e->dirty };
        c->record_sent = o->record_sent;
        c->number = w;
    }
    const uint64_t dispatchers = r->tuning.dispatchers > 1 ? r->tuning.dispatchers : 1;
    r->own_from = (uint32_t)(r->tuning.dispatcher * (uint64_t)e->shards / dispatchers);
    r->own_to = (uint32_t)((r->tuning.dispatcher + 1) * (uint64_t)e->shards / dispatchers);
    e->shared = dispatchers > 1;
    code = order_shards(r, error, room);
    if (code) return code;
    team_phase(r->team, build_item, r, e->shards);
    failure_collect(r);
    if (r->failed) { snprintf(error, room, "%s", r->failure.text); return r->failure.code; }
    r->net = NIMA_FOREVER;
    for (uint32_t s = r->own_from; s < r->own_to; s++) if (r->shards[s].net < r->net) r->net = r->shards[s].net;
    r->halt_at = r->next_sample = NIMA_FOREVER;
    if (e->sample) r->next_sample = 0;
    r->span = 1024;
    if (e->shards > 1) r->span = NIMA_FOREVER / 2;
    r->parallel = true;
    if (dispatchers > 1) {
        code = cluster_open(r, o, error, room);
        if (code) return code;
    }
    if (o->out && r->tuning.dispatcher == 0) {
        r->store = store_new(o->out, error, room);
        if (!r->store) return NIMA_E_SYSTEM;
        if (e->reporter_count && store_columns(r->store, e->reporters, e->reporter_count)) {
            snprintf(error, room, "%s", store_error(r->store));
            return NIMA_E_SYSTEM;
        }
    }
    return NIMA_OK;
}

nima_err run_open(nima_run **out, const nima_model *model, const nima_options *options, const run_tuning *tuning) {
    static const nima_options none;
    *out = NULL;
    run_open_error[0] = 0;
    nima_run *r = calloc(1, sizeof *r);
    if (!r || !model) {
        free(r);
        snprintf(run_open_error, sizeof run_open_error, model ? "no memory" : "no model");
        return model ? NIMA_E_MEMORY : NIMA_E_USAGE;
    }
    r->model = model;
    r->tuning = *tuning;
    const nima_err code = open_run(r, options ? options : &none, run_open_error, sizeof run_open_error);
    if (code) nima_close(r);
    else *out = r;
    return code;
}

nima_err nima_open(nima_run **out, const nima_model *model, const nima_options *options) {
    const run_tuning tuning = RUN_TUNING_DEFAULT;
    return run_open(out, model, options, &tuning);
}

void nima_close(nima_run *r) {
    if (!r) return;
    if (r->cluster) cluster_close(r);
    team_free(r->team);
    if (r->guarded) failure_guard(false);
    engine *e = &r->engine;
    for (uint32_t s = 0; r->shards && s < e->shards; s++) shard_fini(&r->shards[s], e);
    for (unsigned w = 0; r->contexts && w < r->threads; w++) {
        context *c = &r->contexts[w];
        for (size_t i = 0; i < c->sent_count; i++) free(c->sent[i].mail);
        for (size_t i = 0; i < c->line_count; i++) free(c->lines[i].text);
        void *arrays[] = { c->heads, c->marks, c->summary, c->links, c->mailbox, c->special, c->dead, c->unread, c->lines, c->sent, c->bits, c->signal_stack };
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    }
    for (size_t i = 0; r->lists && i < (size_t)4 * (r->threads + 1) * e->shards; i++) chunk_list_end(&e->memory, &r->lists[i]);
    chunk_depot_fini(&r->depot);
    memory_release(r->agents, r->agents_bytes);
    memory_release(r->born, r->born_bytes);
    memory_release(r->rest, r->rest_bytes);
    for (uint32_t p = 0; p < e->population_count; p++) {
        nima_layout *l = &r->populations[p];
        free((void *)(uintptr_t)l->in_line.places);
        free(l->first);
        free(l->slot);
    }
    for (world_piece *p = r->pieces, *next; p; p = next) { next = p->next; munmap(p, p->bytes); }
    for (uint32_t i = 0; i < r->input_count; i++) input_close(&r->inputs[i]);
    for (uint32_t i = 0; i < r->gset_count; i++) { memory_unmap(&e->memory, (void *)(uintptr_t)r->gsets[i]->map, gset_bytes(r->gsets[i]->bits)); free(r->gsets[i]); }
    for (uint32_t i = 0; i < r->result_count; i++) free(r->results[i].name);
    if (r->store && store_free(r->store)) {}  /* reported by nima_finish, or earlier */
    void *arrays[] = { r->shards, r->lists, r->rows, r->order, r->contexts, r->counts, r->populations, r->periods, r->columns, r->messages,
                       r->behaviors, r->reporters, r->tallies, r->levels, r->topics, r->message_names, r->params, r->texts, r->inputs,
                       r->gsets, r->results, r->others_dead, r->others_unread };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    pthread_mutex_destroy(&r->deliver_lock);
    free(r);
}

/* ---- running ---- */
static int by_sending(const void *a, const void *b) {
    const sent_record *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->mail->sender.bits != y->mail->sender.bits) return x->mail->sender.bits < y->mail->sender.bits ? -1 : 1;
    return x->mail->sequence < y->mail->sequence ? -1 : x->mail->sequence > y->mail->sequence;
}

/* All in one list, in the order of sending. */
static void order_sent(nima_run *r) {
    context *c = &r->contexts[0];
    for (unsigned w = 1; w < r->threads; w++) {
        context *other = &r->contexts[w];
        if (!other->sent_count) continue;
        c->sent = memory_grow(&r->engine.memory, c->sent, &c->sent_room, c->sent_count + other->sent_count, sizeof *c->sent, "messages sent");
        memcpy(c->sent + c->sent_count, other->sent, other->sent_count * sizeof *c->sent);
        c->sent_count += other->sent_count;
        other->sent_count = 0;
    }
    if (c->sent_count) qsort(c->sent, c->sent_count, sizeof *c->sent, by_sending);
}

static void forget_sent(nima_run *r) {
    for (unsigned w = 0; w < r->threads; w++) {
        for (size_t i = 0; i < r->contexts[w].sent_count; i++) free(r->contexts[w].sent[i].mail);
        r->contexts[w].sent_count = 0;
    }
}

nima_err nima_run_to(nima_run *r, nima_time until) {
    const char *wrong = until < 0 ? "run to a negative time" : r->finished ? "the run is finished" : NULL;
    if (wrong && !r->failed) {
        snprintf(r->failure.text, sizeof r->failure.text, "nima_run_to: %s", wrong);
        return NIMA_E_USAGE;
    }
    failure_before before;
    forget_sent(r);
    failure_enter(&r->contexts[0], &before);
    const nima_err code = window_advance(r, until == NIMA_FOREVER ? r->default_until : until);
    order_sent(r);
    failure_leave(&before);
    return code;
}

nima_err nima_run_step(nima_run *r) {
    failure_before before;
    forget_sent(r);
    failure_enter(&r->contexts[0], &before);
    const nima_err code = window_step(r);
    order_sent(r);
    failure_leave(&before);
    return code;
}

void embed_post(nima_run *r, nima_id to, nima_time at, uint32_t type, uint64_t number, const void *payload, uint32_t bytes) {
    context *c = &r->contexts[0];
    shard *h = &r->shards[id_shard(to)];
    h->queue.pool = &c->pool;
    nima_mail *m = queue_append(&h->queue, at, id_slot(to), record_bytes(bytes));
    if (bytes) ((uint64_t *)(void *)(m + 1))[(bytes - 1) / 8] = 0;
    *m = (nima_mail){ .time = at, .type = type & 0xFFFF, .sequence = number & 0xFFFFFFFFFFFF, .receiver = ID_LOW(to), .bytes = bytes & 0x1FFFF };
    if (bytes) memcpy(m + 1, payload, bytes);
    shard_refresh_net(h);
}

nima_err nima_post(nima_run *r, nima_id to, nima_time at, uint32_t type, const void *payload, uint32_t bytes) {
    const char *wrong = type == 0 || type > 65535 ? "a message's number is 1 to 65535"
                      : bytes > NIMA_PAYLOAD_MAX ? "the payload is too large"
                      : id_generation(to) == 0 || id_shard(to) >= r->engine.shards ? "the receiver is no agent's id"
                      : at < r->frontier || at == NIMA_FOREVER ? "its time has passed" : NULL;
    if (wrong) {
        snprintf(r->failure.text, sizeof r->failure.text, "nima_post: %s", wrong);
        return NIMA_E_USAGE;
    }
    context *c = &r->contexts[0];
    if (sigsetjmp(c->escape, 0)) { failure_collect(r); return r->failure.code; }
    if (r->cluster) cluster_post(r, to, at, type, r->posted, payload, bytes);
    if (id_shard(to) >= r->own_from && id_shard(to) < r->own_to) embed_post(r, to, at, type, r->posted, payload, bytes);
    r->posted++;
    if (at < r->net) { r->net = at; r->net_step = 0; }
    return r->failed ? r->failure.code : NIMA_OK;
}

nima_err nima_finish(nima_run *r) { return sample_finish(r); }

/* ---- looking ---- */
size_t nima_sent_count(const nima_run *r) { return r->contexts[0].sent_count; }

const nima_mail *nima_sent(const nima_run *r, size_t i, nima_id *to) {
    if (i >= r->contexts[0].sent_count) return NULL;
    *to = r->contexts[0].sent[i].to;
    return r->contexts[0].sent[i].mail;
}

const void *nima_state(const nima_run *r, nima_id id, const nima_behavior *b) {
    const uint32_t s = id_shard(id), slot = id_slot(id);
    if (r->cluster && !r->failed) cluster_collect((nima_run *)(uintptr_t)r);
    if (s >= r->engine.shards || slot >= r->shards[s].slots) return NULL;
    agent *a = shard_agent(&r->shards[s], &r->engine, slot);
    if (a->generation != id_generation(id) || !(a->flags & AGENT_ALIVE) || (b && r->behaviors[a->sent & 0xFFFF] != b)) return NULL;
    return agent_state(&r->engine, a, r->behaviors[a->sent & 0xFFFF]);
}

nima_id nima_member(const nima_run *r, const nima_behavior *b, uint64_t index) {
    for (uint32_t p = 0; p < r->engine.population_count; p++)
        if (r->populations[p].behavior == b && index < r->populations[p].count)
            return nima_at((nima_pop){ r->populations[p].count, &r->populations[p].in_line }, index);
    return NOBODY;
}

double nima_value(const nima_run *r, const char *name) {
    for (uint32_t i = 0; i < r->result_count; i++) if (!strcmp(r->results[i].name, name)) return r->results[i].value;
    return NAN;
}

static uint64_t counted(const nima_run *r, bool unread, uint32_t type) {
    const uint64_t *others = unread ? r->others_unread : r->others_dead;
    uint64_t n = others ? others[type] : 0;
    for (unsigned w = 0; w < r->threads; w++) {
        const uint64_t *counts = unread ? r->contexts[w].unread : r->contexts[w].dead;
        n += counts ? counts[type] : 0;
    }
    return n;
}

nima_err nima_look(nima_run *r, nima_summary *s) {
    if (r->cluster && !r->failed) cluster_collect(r);
    *s = (nima_summary){ .virtual_time = r->now, .threads = r->threads, .shards = r->engine.shards, .wall_s = r->wall_s,
                         .results = r->result_count, .halted = r->halt_at != NIMA_FOREVER && r->halt_at <= r->asked };
    s->exhausted = r->exhausted;
    uint64_t chains = 0;
    for (uint32_t i = 0; i < r->engine.shards; i++) {
        s->agents += r->shards[i].alive;
        s->events += r->shards[i].events;
        if (r->engine.fingerprint) chains += shard_chains(&r->shards[i], &r->engine, r->now);
    }
    for (uint32_t t = 0; t < 65536; t++) {
        s->dead_letters += counted(r, false, t);
        s->unread += counted(r, true, t);
    }
    s->fingerprint = hash_mum(chains ^ HASH_K3, r->rows_chain ^ HASH_K4);
    return r->failed ? r->failure.code : NIMA_OK;
}

/* ---- what the tools read ---- */
void run_progress_read(const nima_run *r, run_progress *p) {
    *p = (run_progress){ .time = atomic_load_explicit(&r->shown_time, memory_order_relaxed),
                         .until = atomic_load_explicit(&r->shown_until, memory_order_relaxed),
                         .events = atomic_load_explicit(&r->shown_events, memory_order_relaxed),
                         .windows = atomic_load_explicit(&r->shown_windows, memory_order_relaxed),
                         .inline_windows = atomic_load_explicit(&r->shown_inline, memory_order_relaxed),
                         .wall_s = atomic_load_explicit(&r->shown_wall, memory_order_relaxed),
                         .lag_s = atomic_load_explicit(&r->shown_lag, memory_order_relaxed),
                         .paused = atomic_load_explicit(&r->wish, memory_order_relaxed) == RUN_PAUSE,
                         .running = atomic_load_explicit(&r->shown_running, memory_order_relaxed) };
}
const nima_model *run_model(const nima_run *r) { return r->model; }
double run_ticks_per_unit(const nima_run *r) { return r->engine.ticks_per_unit; }
const char *run_unit(const nima_run *r) { return r->model->unit ? r->model->unit : "s"; }
unsigned run_threads(const nima_run *r) { return r->threads; }
nima_time run_default_until(const nima_run *r) { return r->default_until; }
nima_time run_lookahead(const nima_run *r) { return r->engine.lookahead; }

size_t run_param_text(const nima_run *r, size_t i, const char **name, char *text, size_t room) {
    const size_t count = r->params_struct ? r->params_struct->field_count : 0;
    if (i >= count) return 0;
    *name = r->params_struct->fields[i].name;
    parameters_text(&r->params_struct->fields[i], r->params, text, room);
    return count - i;
}

bool run_reporter(const nima_run *r, uint32_t i, run_reporter_info *info) {
    if (i >= r->engine.reporter_count || !r->engine.sample) return false;
    const nima_reporter *p = r->reporters[i];
    const uint32_t bins = p->reduce == NIMA_HISTOGRAM ? p->bins : 1;
    *info = (run_reporter_info){ p->part.name, p->unit, r->columns[i], bins, p->low, p->high };
    return true;
}

size_t run_result_count(const nima_run *r) { return r->result_count; }
const char *run_result(const nima_run *r, size_t i, run_result_kind *kind, double *value, uint64_t *hash) {
    if (i >= r->result_count) return NULL;
    *kind = r->results[i].kind;
    *value = r->results[i].value;
    *hash = r->results[i].hash;
    return r->results[i].name;
}

void run_counters_read(const nima_run *r, run_counters *n) {
    *n = (run_counters){ .windows = r->windows, .inline_windows = r->inline_windows };
    for (uint32_t s = 0; s < r->engine.shards; s++) {
        n->births += r->shards[s].births;
        n->deaths += r->shards[s].deaths;
    }
}

uint64_t run_dead_letters_of(const nima_run *r, uint32_t type) { return counted(r, false, type & 0xFFFF); }
uint64_t run_unread_of(const nima_run *r, uint32_t type) { return counted(r, true, type & 0xFFFF); }

void run_each(const nima_run *r, void (*each)(nima_id, const nima_behavior *, const void *, void *), void *arg) {
    for (uint32_t s = 0; s < r->engine.shards; s++)
        for (uint32_t slot = 0; slot < r->shards[s].slots; slot++) {
            agent *a = shard_agent(&r->shards[s], &r->engine, slot);
            if (!(a->flags & AGENT_ALIVE)) continue;
            const nima_behavior *b = r->behaviors[a->sent & 0xFFFF];
            each(shard_id(&r->shards[s], a, slot), b, agent_state(&r->engine, a, b), arg);
        }
}

/* ---- names ---- */
static const nima_layout *member_of(const nima_run *r, nima_id id, uint64_t *index) {   /* by layout alone: also after its death */
    const uint32_t s = id_shard(id), slot = id_slot(id);
    if (id_generation(id) != 1 || s >= r->engine.shards) return NULL;
    for (uint32_t p = 0; p < r->engine.population_count; p++) {
        const nima_layout *l = &r->populations[p];
        const uint64_t here = l->first[s + 1] - l->first[s];
        if (slot < l->slot[s] || slot - l->slot[s] >= here) continue;
        *index = l->first[s] + (slot - l->slot[s]);
        return l;
    }
    return NULL;
}

static uint64_t offset_of(const nima_run *r, const nima_layout *l) {   /* populations of one behavior are numbered through */
    uint64_t n = 0;
    for (const nima_layout *p = r->populations; p < l; p++) if (p->behavior == l->behavior) n += p->count;
    return n;
}

void run_agent_name(const nima_run *r, nima_id id, char *text, size_t room) {
    uint64_t index;
    const nima_layout *l = member_of(r, id, &index);
    if (l) { snprintf(text, room, "%s[%llu]", l->behavior->part.name, (unsigned long long)(offset_of(r, l) + index)); return; }
    const uint32_t s = id_shard(id), slot = id_slot(id);
    const char *name = "agent";
    if (s < r->engine.shards && slot < r->shards[s].slots) {
        const agent *a = shard_agent(&r->shards[s], &r->engine, slot);
        if (a->generation == id_generation(id)) name = r->behaviors[a->sent & 0xFFFF]->part.name;
    }
    snprintf(text, room, "%s#%llx", name, (unsigned long long)id.bits);
}

nima_id run_agent_parse(const nima_run *r, const char *text, char *error, size_t room) {
    char name[128];
    unsigned long long n;
    int end = 0;
    if (sscanf(text, "%127[^[#][%llu]%n", name, &n, &end) == 2 && end && !text[end]) {
        bool known = false;
        uint64_t members = 0;
        for (uint32_t p = 0; p < r->engine.population_count; p++) {
            const nima_layout *l = &r->populations[p];
            if (strcmp(l->behavior->part.name, name)) continue;
            known = true;
            if (n < members + l->count) return nima_at((nima_pop){ l->count, &l->in_line }, n - members);
            members += l->count;
        }
        if (known) snprintf(error, room, "%s: there are %llu of %s, counted from 0", text, (unsigned long long)members, name);
        else snprintf(error, room, "%s: no population of %s", text, name);
        return NOBODY;
    }
    end = 0;
    if (sscanf(text, "%127[^[#]#%llx%n", name, &n, &end) == 2 && end && !text[end] && n) return (nima_id){ n };
    snprintf(error, room, "%s: an agent is named behavior[index], or behavior#id for a newborn", text);
    return NOBODY;
}
