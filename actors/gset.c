/* gset.c: what agents do to grow-only sets: see gset.h. */
#include "gset.h"
#include "memory.h"
#include "shard.h"

static void __attribute__((noinline, noreturn)) no_bit(const nima *me, const nima_gset *g, uint64_t bit) {
    fail(CONTEXT((uintptr_t)me), NIMA_E_MODEL, "bit %llu of a set of %llu", (unsigned long long)bit, (unsigned long long)g->bits);
}

bool nima_gset_has(const nima *me, const nima_gset *g, uint64_t bit) {
    if (__builtin_expect(bit >= g->bits, 0)) no_bit(me, g, bit);
    if (__builtin_expect(!gset_maps(g, bit), 1)) return false;
    return g->mode != NIMA_GSET_TIMED || atomic_load_explicit(&g->seen[bit], memory_order_relaxed) <= me->now;
}

/* Timed replicas must agree on times, so a time that becomes less is told too; otherwise only what is new here. */
void nima_gset_add(nima *me, nima_gset *g, uint64_t bit) {
    if (__builtin_expect(bit >= g->bits, 0)) no_bit(me, g, bit);
    context *c = CONTEXT(me);
    const bool timed = g->mode == NIMA_GSET_TIMED;
    const nima_time delay = timed ? g->delay : 0, from = me->now > NIMA_FOREVER - delay ? NIMA_FOREVER : me->now + delay;
    nima_time was;
    if ((!timed && gset_maps(g, bit)) || !gset_lower(g, bit, from, &was)) return;
    if (!c->engine->shared || g->mode == NIMA_GSET_STATIC || (!timed && was != NIMA_FOREVER)) return;
    memory *counted = (memory *)(uintptr_t)&c->engine->memory;
    c->bits = memory_grow(counted, c->bits, &c->bit_room, c->bit_count + 1, sizeof *c->bits, "bits set");
    c->bits[c->bit_count++] = (set_bit){ g->number, bit, from, was == NIMA_FOREVER };
}
