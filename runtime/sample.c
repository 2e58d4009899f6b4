/* sample.c: what a run collects across its shards: reporter rows, the log in order, tallies and levels, the final table of agents. */
#include "cluster/cluster.h"
#include "state.h"
#include <math.h>
#include <stdlib.h>

/* ---- reporters ---- */
static void sample_item(void *arg, unsigned worker, uint32_t item) {
    nima_run *r = arg;
    context *c = &r->contexts[worker];
    if (sigsetjmp(c->escape, 0) == 0) shard_sample(&r->shards[r->own_from + item], &r->engine);
}

/* Brings the sums of this process's shards up to date. */
void sample_shards(nima_run *r) {
    const uint32_t own = r->own_to - r->own_from;
    bool changed = false;
    for (uint32_t s = r->own_from; s < r->own_to; s++) changed |= r->shards[s].changed;
    if (changed && r->parallel) team_phase(r->team, sample_item, r, own);
    else if (changed) for (uint32_t s = 0; s < own; s++) sample_item(r, 0, s);
}

static double combine(const nima_run *r, uint32_t i) {
    uint64_t count = 0;
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (uint32_t s = 0; s < r->engine.shards; s++) {
        const reporter_sum *one = &r->shards[s].sums[i];
        if (!one->count) continue;
        if (one->least < least) least = one->least;
        if (one->most > most) most = one->most;
        count += one->count;
        sum += one->sum;
    }
    switch (r->reporters[i]->reduce) {
    case NIMA_COUNT: return (double)count;
    case NIMA_SUM: return sum;
    case NIMA_MEAN: return count ? sum / (double)count : NAN;
    case NIMA_MIN: return count ? least : NAN;
    case NIMA_MAX: return count ? most : NAN;
    default: return NAN;
    }
}

static uint64_t bits_of(double v) {
    uint64_t bits;
    if (v != v) return 0x7FF8000000000000u;  /* whichever NaN the processor made */
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The sums of all shards as of now. False: there is no row at this tick, since nothing is pending that could reach it. */
bool sample_gather(nima_run *r, nima_time tick) {
    nima_time last = window_last_event(r);
    bool pending = tick <= last || window_pending(r);
    sample_shards(r);
    if (r->cluster) cluster_sample(r, &last, &pending);
    return tick <= last || pending;
}

void sample_row(nima_run *r, nima_time tick) {
    const engine *e = &r->engine;
    double *row = r->rows + r->row_count % r->row_ring * e->row_values;
    memset(row, 0, e->row_values * sizeof *row);
    for (uint32_t i = 0; i < e->reporter_count; i++) {
        if (r->reporters[i]->reduce != NIMA_HISTOGRAM) { row[r->columns[i]] = combine(r, i); continue; }
        for (uint32_t s = 0; s < e->shards; s++)
            for (uint32_t b = 0; b < r->reporters[i]->bins; b++) row[r->columns[i] + b] += r->shards[s].row[r->columns[i] + b];
    }
    r->row_count++;
    if (r->cluster) cluster_row(r, row);
    r->rows_chain = hash_mum(r->rows_chain ^ (uint64_t)tick, HASH_K0);
    for (uint32_t v = 0; v < e->row_values; v++) r->rows_chain = hash_mum(r->rows_chain ^ bits_of(row[v]), HASH_K1);
    if (r->store && store_row(r->store, tick, (double)tick / e->ticks_per_unit, row, e->row_values))
        failure_set(r, NIMA_E_SYSTEM, "%s", store_error(r->store));
    if (r->tuning.watcher.row) r->tuning.watcher.row(r->tuning.watcher.arg, tick, row);
    if (!r->model->done) return;
    view_handle v = { { r->params, r->world }, r, tick, false, false };
    if (!r->model->done(&v.head)) return;
    const nima_time wait = e->lookahead > 1 ? e->lookahead : 1;
    if (tick > NIMA_FOREVER - wait || tick + wait >= r->halt_at) return;
    r->halt_at = tick + wait;
    snprintf(r->halt_why, sizeof r->halt_why, "done");
}

/* ---- log ---- */
static int by_place(const void *a, const void *b) {
    const log_line *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->agent.bits != y->agent.bits) return x->agent.bits < y->agent.bits ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool is_cut(const nima_run *r, const log_line *l) {   /* beyond the failure that ends the run */
    if (!r->failed) return false;
    const log_line at = { .time = r->failure.time, .step = r->failure.step, .agent = r->failure.agent, .line = UINT32_MAX };
    return by_place(l, &at) > 0;
}

void sample_logs(nima_run *r) {
    size_t count = 0;
    for (unsigned w = 0; w < r->threads; w++) count += r->contexts[w].line_count;
    if (!count) return;
    log_line *all = malloc(count * sizeof *all);
    if (!all) { failure_set(r, NIMA_E_MEMORY, "no memory to order the log"); return; }
    count = 0;
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        if (c->line_count) memcpy(all + count, c->lines, c->line_count * sizeof *all);
        count += c->line_count;
        c->line_count = 0;
    }
    qsort(all, count, sizeof *all, by_place);
    static const char *const names[] = { "error", "warning", "info", "debug" };
    for (size_t i = 0; i < count; i++) {
        const log_line *l = &all[i];
        char agent_text[80], *line = NULL;
        run_agent_name(r, l->agent, agent_text, sizeof agent_text);
        if (!is_cut(r, l) && asprintf(&line, "%lld %u %s %s: %s", (long long)l->time, l->step, agent_text,
                                      names[l->level > 3 ? 3 : l->level], l->text) >= 0) {
            if (r->store && store_log(r->store, line)) failure_set(r, NIMA_E_SYSTEM, "%s", store_error(r->store));
            if (r->tuning.watcher.log) r->tuning.watcher.log(r->tuning.watcher.arg, line);
            free(line);
        }
        memory_count(&r->engine.memory, -(int64_t)(strlen(l->text) + 1), "");
        free(l->text);
    }
    free(all);
}

/* ---- tallies and levels: combined in shard order ---- */
tally sample_tally(const nima_run *r, uint32_t index) {
    tally a = { 0, 0, 0 };
    for (uint32_t s = 0; s < r->engine.shards; s++) {
        const tally b = r->shards[s].tallies[index];
        if (!b.count) continue;
        if (!a.count) { a = b; continue; }
        const double na = (double)a.count, nb = (double)b.count, n = na + nb, d = b.mean - a.mean;
        a.mean = a.mean + d * nb / n;
        a.m2 = a.m2 + b.m2 + d * d * na * nb / n;
        a.count += b.count;
    }
    return a;
}

/* ---- what a view reads ---- */
static const view_handle *handle(const nima_view *v) { return (const view_handle *)(const void *)v; }
static const nima_run *whole(const nima_view *v) {           /* with what other dispatchers hold */
    nima_run *r = handle(v)->run;
    if (r->cluster && !r->failed) cluster_collect(r);
    return r;
}

nima_time nima_view_now(const nima_view *v) { return handle(v)->now; }
double nima_view_units(const nima_view *v, nima_time t) { return (double)t / handle(v)->run->engine.ticks_per_unit; }

double nima_last(const nima_view *v, const nima_reporter *rep) {
    const nima_run *r = handle(v)->run;
    if (!r->row_count) return 0;
    return r->rows[(r->row_count - 1) % r->row_ring * r->engine.row_values + r->columns[rep->index]];
}

uint64_t nima_tally_count(const nima_view *v, const nima_tally_stat *t) { return sample_tally(whole(v), t->index).count; }
double nima_tally_mean(const nima_view *v, const nima_tally_stat *t) {
    const tally a = sample_tally(whole(v), t->index);
    return a.count ? a.mean : NAN;
}
double nima_tally_sd(const nima_view *v, const nima_tally_stat *t) {
    const tally a = sample_tally(whole(v), t->index);
    return a.count < 2 ? 0 : sqrt(a.m2 / (double)(a.count - 1));
}

double nima_level_mean(const nima_view *v, const nima_level_stat *l) {
    const view_handle *h = handle(v);
    double sum = 0;
    for (uint32_t s = 0; s < whole(v)->engine.shards; s++) sum += level_integral(&h->run->shards[s].levels[l->index], &h->run->engine, h->now);
    return h->now > h->run->engine.warmup ? sum / (double)(h->now - h->run->engine.warmup) : NAN;
}

typedef struct { const nima_behavior *of; void (*each)(nima_id, const void *, void *); void *arg; } each_of;
static void one_of(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    const each_of *e = arg;
    if (b == e->of) e->each(id, state, e->arg);
}
void nima_view_each(const nima_view *v, const nima_behavior *b, void (*each)(nima_id, const void *, void *), void *arg) {
    each_of e = { b, each, arg };
    run_each(whole(v), one_of, &e);
}
const void *nima_view_state(const nima_view *v, nima_id id, const nima_behavior *b) { return nima_state(handle(v)->run, id, b); }
nima_time nima_view_gset_time(const nima_view *v, const nima_gset *g, uint64_t bit) {
    const nima_time seen = bit < g->bits ? atomic_load_explicit(&g->seen[bit], memory_order_relaxed) : NIMA_FOREVER;
    return handle(v)->finishing || seen <= handle(v)->now ? seen : NIMA_FOREVER;   /* in `done`: as of its tick */
}
bool nima_view_gset(const nima_view *v, const nima_gset *g, uint64_t bit) { return nima_view_gset_time(v, g, bit) != NIMA_FOREVER; }

FILE *nima_view_file(nima_view *v, const char *name) {
    nima_run *r = handle(v)->run;
    if (!r->store) return NULL;
    FILE *f = store_file(r->store, name);
    if (!f) failure_set(r, NIMA_E_SYSTEM, "file %s: %s", name, store_error(r->store));
    return f;
}

/* ---- results ---- */
static void add_result(nima_view *v, const char *name, run_result_kind kind, double value, uint64_t hash) {
    nima_run *r = handle(v)->run;
    if (!handle(v)->finishing) { failure_set(r, NIMA_E_MODEL, "result %s named outside finish", name); return; }
    if (r->result_count == r->result_room) {
        result *grown = realloc(r->results, (2 * r->result_room + 16) * sizeof *grown);
        if (!grown) { failure_set(r, NIMA_E_MEMORY, "no memory for results"); return; }
        r->results = grown;
        r->result_room = 2 * r->result_room + 16;
    }
    char *copy = strdup(name);
    if (!copy) { failure_set(r, NIMA_E_MEMORY, "no memory for results"); return; }
    r->results[r->result_count++] = (result){ copy, kind, value, hash };
    if (kind != RUN_RESULT_MEASURED)
        r->rows_chain = hash_mum(r->rows_chain ^ hash_text(name), (kind == RUN_RESULT_HASH ? hash : bits_of(value)) ^ HASH_K2);
}
void nima_result(nima_view *v, const char *name, double x) { add_result(v, name, RUN_RESULT_VALUE, x, 0); }
void nima_result_hash(nima_view *v, const char *name, uint64_t h) { add_result(v, name, RUN_RESULT_HASH, 0, h); }
void nima_result_measured(nima_view *v, const char *name, double x) { add_result(v, name, RUN_RESULT_MEASURED, x, 0); }

typedef struct { nima_run *run; nima_err code; } table;
static void table_row(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    table *t = arg;
    char name[80];
    if (t->code) return;
    run_agent_name(t->run, id, name, sizeof name);
    t->code = store_agent(t->run->store, id, name, b, state);
}

nima_err sample_finish(nima_run *r) {
    if (r->finished || r->failed) return r->failed ? r->failure.code : NIMA_OK;
    if (r->cluster) cluster_collect(r);
    if (r->cluster && !r->failed) cluster_merge(r);
    if (r->failed) return r->failure.code;
    r->finished = true;
    view_handle v = { { r->params, r->world }, r, r->now, true, false };
    if (r->model->finish) r->model->finish(&v.head);
    if (r->store && !r->failed) {
        table t = { r, store_agents_begin(r->store, r->engine.behaviors, r->engine.behavior_count) };
        if (!t.code) run_each(r, table_row, &t);
        if (!t.code) t.code = store_flush(r->store);
        if (t.code) failure_set(r, NIMA_E_SYSTEM, "%s", store_error(r->store));
    }
    return r->failed ? r->failure.code : NIMA_OK;
}
