/* rows.c: reporters at the end of a tick, tallies, levels, and how a run is ended by them. */
#include "reference.h"
#include <math.h>

static uint32_t values_of(const nima_reporter *r) { return r->reduce == NIMA_HISTOGRAM ? r->bins : 1; }

static size_t offset_of(const nima_run *run, const nima_reporter *r) {
    size_t offset = 0;
    for (uint32_t i = 0; i < r->index; i++) offset += values_of(run->parts.reporters[i]);
    return offset;
}

void ref_halt_at(nima_run *run, nima_time t) {
    const nima_time delay = ref_min_delay(run);
    if (t <= NIMA_FOREVER - delay && t + delay < run->halt) run->halt = t + delay;
}

static void count_bin(const nima_reporter *r, double x, double *bins) {
    if (isnan(x)) return;
    uint32_t bin = 0;
    if (x >= r->high) bin = r->bins - 1;
    else if (x >= r->low) bin = (uint32_t)((x - r->low) / (r->high - r->low) * r->bins);
    bins[bin < r->bins ? bin : r->bins - 1] += 1;
}

typedef struct { uint64_t count, nonzero; double sum, least, most; } partial;

static partial read_shard(const ref_shard *shard, const nima_reporter *r, double *bins) {
    partial p = { 0, 0, 0, HUGE_VAL, -HUGE_VAL };
    for (size_t i = 0; i < shard->slot_count; i++) {
        const ref_agent *a = shard->slots[i].agent;
        if (!a || !a->alive || a->behavior != r->of) continue;
        const double x = r->value(a->state);
        p.count++;
        p.nonzero += x != 0;
        p.sum += x;
        if (x < p.least) p.least = x;
        if (x > p.most) p.most = x;
        if (r->reduce == NIMA_HISTOGRAM) count_bin(r, x, bins);
    }
    return p;
}

static void read_reporter(const nima_run *run, const nima_reporter *r, double *values) {
    partial all = { 0, 0, 0, HUGE_VAL, -HUGE_VAL };
    for (uint32_t s = 0; s < run->shard_count; s++) {
        const partial p = read_shard(run->shards + s, r, values);
        all.count += p.count;
        all.nonzero += p.nonzero;
        all.sum += p.sum;
        if (p.least < all.least) all.least = p.least;
        if (p.most > all.most) all.most = p.most;
    }
    switch (r->reduce) {
    case NIMA_COUNT: *values = (double)all.nonzero; break;
    case NIMA_SUM: *values = all.sum; break;
    case NIMA_MEAN: *values = all.count ? all.sum / (double)all.count : NAN; break;
    case NIMA_MIN: *values = all.count ? all.least : NAN; break;
    case NIMA_MAX: *values = all.count ? all.most : NAN; break;
    case NIMA_HISTOGRAM: break;
    }
}

static void take_row(nima_run *run, nima_time tick) {
    double *values = ref_zeroed(run->row_values * sizeof(double));
    size_t offset = 0;
    for (size_t i = 0; i < run->parts.reporter_count; i++) {
        read_reporter(run, run->parts.reporters[i], values + offset);
        offset += values_of(run->parts.reporters[i]);
    }
    run->row_chain = hash_mum(run->row_chain ^ (uint64_t)tick, HASH_K0);
    for (size_t i = 0; i < offset; i++) run->row_chain = hash_mum(run->row_chain ^ ref_bits(values[i]), HASH_K1);
    run->rows = ref_grow(run->rows, &run->row_room, run->row_count + 1, sizeof *run->rows);
    run->rows[run->row_count++] = (ref_row){ tick, values };
}

void ref_rows_until(nima_run *run, nima_time until) {
    while (run->sample && run->next_row < ref_end(run, until)) {
        const nima_time tick = run->next_row;
        run->next_row = tick > NIMA_FOREVER - run->sample ? NIMA_FOREVER : tick + run->sample;
        take_row(run, tick);
        ref_view v = { { run->params, run->world }, run, tick, false };
        if (run->model->done && run->model->done(&v.view)) ref_halt_at(run, tick);
    }
}

double nima_reported(const nima *me, const nima_reporter *r) {
    const nima_run *run = ref_of(me)->run;
    const nima_time newest = me->now - ref_min_delay(run);
    for (size_t i = run->row_count; i-- > 0;)
        if (run->rows[i].tick <= newest) return run->rows[i].values[offset_of(run, r)];
    return 0;
}

double nima_last(const nima_view *v, const nima_reporter *r) {
    const nima_run *run = ((const ref_view *)v)->run;
    return run->row_count ? run->rows[run->row_count - 1].values[offset_of(run, r)] : 0;
}

/* ---- tallies and levels ---------------------------------------------------------------------------------------- */
void nima_tally(nima *me, const nima_tally_stat *stat, double x) {
    ref_tally *t = ref_of(me)->run->shards[ref_shard_of(me->self)].tallies + stat->index;
    const double d = x - t->mean;
    t->count++;
    t->mean += d / (double)t->count;
    t->m2 += d * (x - t->mean);
}

static ref_tally combined(const nima_view *v, const nima_tally_stat *stat) {
    const nima_run *run = ((const ref_view *)v)->run;
    ref_tally a = { 0, 0, 0 };
    for (uint32_t s = 0; s < run->shard_count; s++) {
        const ref_tally b = run->shards[s].tallies[stat->index];
        if (!b.count) continue;
        if (!a.count) {
            a = b;
            continue;
        }
        const double na = (double)a.count, nb = (double)b.count, n = na + nb, d = b.mean - a.mean;
        a.mean = a.mean + d * nb / n;
        a.m2 = a.m2 + b.m2 + d * d * na * nb / n;
        a.count += b.count;
    }
    return a;
}

uint64_t nima_tally_count(const nima_view *v, const nima_tally_stat *stat) { return combined(v, stat).count; }

double nima_tally_mean(const nima_view *v, const nima_tally_stat *stat) {
    const ref_tally t = combined(v, stat);
    return t.count ? t.mean : NAN;
}

double nima_tally_sd(const nima_view *v, const nima_tally_stat *stat) {
    const ref_tally t = combined(v, stat);
    return t.count < 2 ? 0 : sqrt(t.m2 / ((double)t.count - 1));
}

void nima_level(nima *me, const nima_level_stat *stat, double x) {
    ref_level_set(ref_of(me)->run, ref_of(me)->agent, stat->index, x, me->now);
}

double ref_level_mean(const nima_run *run, uint32_t level, nima_time end) {
    double sum = 0;
    for (uint32_t s = 0; s < run->shard_count; s++) {
        const ref_level *l = run->shards[s].levels + level;
        sum += end > l->since ? l->integral + l->now * (double)(end - l->since) : l->integral;
    }
    return end > 0 ? sum / (double)end : NAN;
}

double nima_level_mean(const nima_view *v, const nima_level_stat *stat) {
    return ref_level_mean(((const ref_view *)v)->run, stat->index, ((const ref_view *)v)->now);
}
