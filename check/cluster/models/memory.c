/* memory.c: agents with memory of their own, a list and a large table, that the end of the run walks. */
#include "nima.h"
typedef struct item { struct item *next; int64_t value; } item;
NIMA_PARAMS((int64_t, agents, 300, "1..", "", "agents"),
            (int64_t, table, 300000, "1..", "", "numbers in the first agent's table"))
NIMA_MESSAGE(1, more, (int64_t, value))
NIMA_STATE(keeper, (int64_t, count), (item *, first), (int64_t *, table))
static void keeper_start(nima *me, keeper *self) {
    const uint64_t n = (uint64_t)params_of(me)->table;
    if (nima_index(me) % 100 == 0) {
        int64_t *table = nima_resize(me, NULL, n * sizeof *table);
        for (uint64_t i = 0; i < n; i++) table[i] = (int64_t)(i * 3 + nima_index(me));
        self->table = table;
    }
    more_alarm(me, 1, (int64_t)nima_index(me));
}
static void keeper_update(nima *me, keeper *self) {
    NIMA_EACH(me, m) {
        item *one = nima_resize(me, NULL, sizeof *one);
        *one = (item){ self->first, more_in(m)->value };
        self->first = one;
        if (++self->count < 20) more_alarm(me, 5, more_in(m)->value * 7 + 1);
    }
}
NIMA_BEHAVIOR(keeper, start, update)
static void add_up(nima_id id, const void *state, void *arg) {
    const keeper *k = state;
    uint64_t *sum = arg;
    for (const item *i = k->first; i; i = i->next) *sum = *sum * 31 + (uint64_t)i->value + id.bits;
    const int64_t *table = k->table;
    for (uint64_t i = 0; table && i < 300000; i++) *sum = *sum * 31 + (uint64_t)table[i];
}
static void setup(nima_setup *s) {
    keeper_populate(s, (uint64_t)params_of(s)->agents, 0);
    nima_shards(s, 7);
}
static void finish(nima_view *v) {
    uint64_t sum = 0;
    nima_view_each(v, keeper_behavior, add_up, &sum);
    nima_result_hash(v, "kept", sum);
}
NIMA_MODEL(.name = "memory", .help = "Walks agents' memory at the end", .unit = "tick", .ticks_per_unit = 1,
           .setup = setup, .finish = finish)
