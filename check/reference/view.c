/* view.c: the whole model as `done` and `finish` see it, and grow-only sets. */
#include "reference.h"

nima_time nima_view_now(const nima_view *v) { return ((const ref_view *)v)->now; }

const void *nima_state(const nima_run *run, nima_id id, const nima_behavior *behavior) {
    const ref_agent *a = ref_find((nima_run *)(uintptr_t)run, id);
    return a && a->alive && a->behavior == behavior ? a->state : NULL;
}

const void *nima_view_state(const nima_view *v, nima_id id, const nima_behavior *behavior) {
    return nima_state(((const ref_view *)v)->run, id, behavior);
}

void nima_view_each(const nima_view *v, const nima_behavior *behavior, void (*each)(nima_id, const void *, void *),
                    void *arg) {
    const nima_run *run = ((const ref_view *)v)->run;
    for (uint32_t s = 0; s < run->shard_count; s++)
        for (size_t i = 0; i < run->shards[s].slot_count; i++) {
            const ref_agent *a = run->shards[s].slots[i].agent;
            if (a && a->alive && a->behavior == behavior) each(a->id, a->state, arg);
        }
}

/* ---- results --------------------------------------------------------------------------------------------------- */
static void add_result(nima_view *v, const char *name, double value, uint64_t bits, bool measured) {
    nima_run *run = ((ref_view *)v)->run;
    run->results = ref_grow(run->results, &run->result_room, run->result_count + 1, sizeof *run->results);
    run->results[run->result_count++] = (ref_result){ ref_copy(name, strlen(name) + 1), value };
    if (!measured) run->row_chain = hash_mum(run->row_chain ^ hash_text(name), bits ^ HASH_K2);
}

void nima_result(nima_view *v, const char *name, double x) { add_result(v, name, x, ref_bits(x), false); }
void nima_result_hash(nima_view *v, const char *name, uint64_t x) { add_result(v, name, (double)x, x, false); }
void nima_result_measured(nima_view *v, const char *name, double x) { add_result(v, name, x, 0, true); }

double nima_value(const nima_run *run, const char *name) {
    for (size_t i = 0; i < run->result_count; i++)
        if (!strcmp(run->results[i].name, name)) return run->results[i].value;
    return __builtin_nan("");
}

FILE *nima_view_file(nima_view *v, const char *name) {
    (void)v, (void)name;                     /* the reference has no run folder */
    return NULL;
}

/* ---- grow-only sets -------------------------------------------------------------------------------------------- */
nima_gset *nima_gset_new(nima_setup *s, uint64_t bits) {
    nima_run *run = ((ref_setup *)s)->run;
    nima_gset *g = ref_zeroed(sizeof *g);
    g->bits = bits;
    g->seen = ref_zeroed(bits * sizeof *g->seen);
    for (uint64_t i = 0; i < bits; i++) g->seen[i] = NIMA_FOREVER;
    g->next = run->gsets;
    run->gsets = g;
    return g;
}

void nima_gset_seed(nima_setup *s, nima_gset *g, uint64_t bit) {
    if (bit >= g->bits) nima_setup_fail(s, "bit %llu is not in the set", (unsigned long long)bit);
    g->seen[bit] = 0;
}

bool nima_gset_has(const nima *me, const nima_gset *g, uint64_t bit) {
    if (bit >= g->bits) ref_fail_in(ref_of(me), "bit %llu is not in the set", (unsigned long long)bit);
    return g->seen[bit] <= me->now;
}

void nima_gset_add(nima *me, nima_gset *g, uint64_t bit) {
    if (bit >= g->bits) ref_fail_in(ref_of(me), "bit %llu is not in the set", (unsigned long long)bit);
    const nima_time seen = me->now + ref_min_delay(ref_of(me)->run);
    if (seen < g->seen[bit]) g->seen[bit] = seen;
}

/* One replica is the whole world here, and one agent acts at a time: that everything is timed is one way to keep the promise. */
void nima_gset_share(nima_setup *s, nima_gset *g, nima_gset_mode mode) { (void)s; (void)g; (void)mode; }

uint64_t nima_view_broadcasts(const nima_view *v) { (void)v; return 0; }

uint64_t nima_view_gset_hash(const nima_view *v, const nima_gset *g) {
    uint64_t h = g->bits;
    (void)v;
    for (uint64_t i = 0; i < g->bits; i++)
        if (g->seen[i] != NIMA_FOREVER) h += hash_mum(i ^ HASH_K0, (uint64_t)g->seen[i] ^ HASH_K1);
    return h;
}

nima_time nima_view_gset_time(const nima_view *v, const nima_gset *g, uint64_t bit) {
    const ref_view *view = (const ref_view *)v;
    if (bit >= g->bits) return NIMA_FOREVER;
    return view->finishing || g->seen[bit] <= view->now ? g->seen[bit] : NIMA_FOREVER;
}

bool nima_view_gset(const nima_view *v, const nima_gset *g, uint64_t bit) {
    return nima_view_gset_time(v, g, bit) != NIMA_FOREVER;
}
