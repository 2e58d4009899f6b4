/* collect.c: what a shard collects: reporters at a sample, tallies and time-weighted levels as it goes. See shard.h. */
#include "shard.h"
#include <math.h>

#define MEM(e) ((memory *)(uintptr_t)&(e)->memory)

/* Values below `low` count in the first bin, values from `high` on in the last; NaN in none. */
static void bin(const nima_reporter *r, double *bins, double v) {
    if (v != v) return;
    const double at = (v - r->low) / (r->high - r->low) * r->bins;
    bins[at < 0 ? 0 : at >= r->bins ? r->bins - 1 : (uint32_t)at] += 1;
}

void shard_sample(shard *h, const engine *e) {
    if (!h->changed) return;                 /* same agents, same states, same sums */
    h->changed = false;
    for (uint32_t r = 0; r < e->reporter_count; r++) h->sums[r] = (reporter_sum){ 0, 0, INFINITY, -INFINITY };
    memset(h->row, 0, e->row_values * sizeof *h->row);
    for (uint32_t slot = 0; slot < h->slots; slot++) {
        agent *a = shard_agent(h, e, slot);
        if (!(a->flags & AGENT_ALIVE)) continue;
        const nima_behavior *b = e->behaviors[a->sent & 0xFFFF];
        const void *state = agent_state(e, a, b);
        for (uint32_t i = 0; i < e->reporter_count; i++) {
            const nima_reporter *r = e->reporters[i];
            if (r->of != b) continue;
            const double v = r->value(state);
            reporter_sum *s = &h->sums[i];
            if (r->reduce == NIMA_HISTOGRAM) { bin(r, h->row + e->columns[i], v); continue; }
            if (r->reduce == NIMA_COUNT) { s->count += v != 0; continue; }
            if (v < s->least) s->least = v;
            if (v > s->most) s->most = v;
            s->count++;
            s->sum += v;
        }
    }
}

void nima_tally(nima *me, const nima_tally_stat *stat, double x) {
    context *c = CONTEXT(me);
    if (me->now < c->engine->warmup) return;
    tally *t = &c->shard->tallies[stat->index];
    const double d = x - t->mean;
    t->count++;
    t->mean += d / (double)t->count;
    t->m2 += d * (x - t->mean);
}

double level_integral(const level *l, const engine *e, nima_time to) {
    const nima_time from = l->since > e->warmup ? l->since : e->warmup;
    return to > from ? l->integral + l->now * (double)(to - from) : l->integral;
}

static void level_change(context *c, uint32_t index, double by) {
    level *l = &c->shard->levels[index];
    l->integral = level_integral(l, c->engine, c->me.now);
    l->since = c->me.now;
    l->now += by;
}

static uint64_t level_key(uint32_t slot, uint32_t index) { return ((uint64_t)index << SLOT_BITS | slot) + 1; }

void nima_level(nima *me, const nima_level_stat *stat, double x) {
    context *c = CONTEXT(me);
    uint64_t *bits = map_put(&c->shard->levels_of, MEM(c->engine), level_key(id_slot(me->self), stat->index));
    double last;
    memcpy(&last, bits, sizeof last);
    memcpy(bits, &x, sizeof x);
    c->agent->flags |= AGENT_LEVELS;
    level_change(c, stat->index, x - last);
}

void levels_of_end(context *c, uint32_t slot) {
    for (uint32_t i = 0; i < c->engine->level_count; i++) {
        const uint64_t *bits = map_find(&c->shard->levels_of, level_key(slot, i));
        if (!bits) continue;
        double last;
        memcpy(&last, bits, sizeof last);
        map_remove(&c->shard->levels_of, level_key(slot, i));
        if (last != 0) level_change(c, i, -last);
    }
}

double nima_reported(const nima *me, const nima_reporter *r) {
    const engine *e = CONTEXT((uintptr_t)me)->engine;
    const double *row = e->reported(e, me->now - (e->lookahead > 1 ? e->lookahead : 1));
    return row ? row[e->columns[r->index]] : 0;
}
