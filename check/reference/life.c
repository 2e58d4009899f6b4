/* life.c: birth, death, memory, random numbers and what an agent may ask about itself. */
#include "reference.h"
#include <math.h>
#include <stdlib.h>

uint32_t nima_step(const nima *me) { return ref_of(me)->step; }
uint64_t nima_index(const nima *me) { return ref_of(me)->agent->index; }
nima_id nima_parent(const nima *me) { return ref_of(me)->agent->parent; }
nima_rng *nima_random_(nima *me) { return &ref_of(me)->agent->random; }

static double ticks_per_unit(const nima_run *run) {
    return run->model->ticks_per_unit > 0 ? run->model->ticks_per_unit : 1e6;
}

nima_time nima_ticks(const nima *me, double units) { return llround(units * ticks_per_unit(ref_of(me)->run)); }
double nima_units(const nima *me, nima_time t) { return (double)t / ticks_per_unit(ref_of(me)->run); }
nima_time nima_setup_ticks(const nima_setup *s, double units) {
    return llround(units * ticks_per_unit(((const ref_setup *)s)->run));
}
double nima_view_units(const nima_view *v, nima_time t) {
    return (double)t / ticks_per_unit(((const ref_view *)v)->run);
}

static nima_rng named_stream(const nima_run *run, const char *name) {
    const uint64_t mask = (UINT64_C(1) << 62) - 1;
    return (nima_rng){ .key = run->seed, .stream = UINT64_C(3) << 62 | (hash_text(name) & mask) };
}
nima_rng nima_stream(const nima *me, const char *name) { return named_stream(ref_of(me)->run, name); }
nima_rng nima_setup_stream(const nima_setup *s, const char *name) {
    return named_stream(((const ref_setup *)s)->run, name);
}

static uint64_t newborn_stream(const ref_agent *parent, uint64_t number) {
    const uint64_t mask = (UINT64_C(1) << 62) - 1;
    return UINT64_C(2) << 62 | (hash_mum(parent->random.stream ^ HASH_K0, number ^ HASH_K1) & mask);
}

nima_id nima_spawn(nima *me, const nima_behavior *behavior, nima_time delay, const void *state) {
    ref_callback *c = ref_of(me);
    nima_time time;
    uint32_t step;
    ref_arrival(c, delay, "birth", 0, &time, &step);
    const uint64_t stream = newborn_stream(c->agent, c->agent->births++);
    ref_agent *a = ref_agent_new(c->run, ref_shard_of(me->self), behavior, stream, state);
    a->parent = me->self;
    a->group = c->agent->group;
    ref_queue_start(c->run, a, time, step);
    return a->id;
}

void nima_spawn_in(nima *me, uint32_t shard, const nima_behavior *behavior, nima_time delay, const void *state) {
    ref_callback *c = ref_of(me);
    nima_time time;
    uint32_t step;
    if (shard >= c->run->shard_count) ref_fail_in(c, "birth in shard %u of %u", shard, c->run->shard_count);
    ref_arrival(c, delay, "birth", 0, &time, &step);
    if (delay < c->run->lookahead)
        ref_fail_in(c, "birth elsewhere with delay %lld, below the lookahead of %lld", (long long)delay,
                    (long long)c->run->lookahead);
    ref_entry *e = ref_zeroed(sizeof *e);
    e->kind = ENTRY_BIRTH;
    e->time = time;
    e->step = step;
    e->receiver.bits = (uint64_t)shard << 44;
    e->sender = me->self;
    e->sequence = c->agent->births++;
    e->behavior = behavior;
    e->stream = newborn_stream(c->agent, e->sequence);
    e->state = ref_copy(state, behavior->state_bytes);
    ref_queue_push(c->run, e);
}

void nima_spawn_far(nima *me, const nima_behavior *behavior, nima_time delay, const void *state) {
    ref_callback *c = ref_of(me);
    const uint32_t own = ref_shard_of(me->self);
    const uint64_t k = ++c->run->shards[own].spread;
    nima_spawn_in(me, (uint32_t)((own + k) % c->run->shard_count), behavior, delay, state);
}

void nima_stop(nima *me) {
    ref_callback *c = ref_of(me);
    if (!c->agent->stopping) c->left = me->own.mail;
    c->agent->stopping = true;
    me->own.mail = me->own.mail_end;
}

void nima_keep_awake(nima *me, bool awake) {
    ref_callback *c = ref_of(me);
    if (!c->run->periods[c->agent->behavior->index]) ref_fail_in(c, "keep_awake in a behavior without a period");
    c->agent->awake = awake;
}

void nima_halt(nima *me, const char *why) {
    (void)why;
    ref_halt_at(ref_of(me)->run, me->now);
}

void nima_log(nima *me, int level, const char *format, ...) { (void)me, (void)level, (void)format; }

void *nima_resize(nima *me, void *block, size_t bytes) {
    ref_agent *a = ref_of(me)->agent;
    ref_block **link = &a->blocks, *old = block ? (ref_block *)block - 1 : NULL;
    while (old && *link && *link != old) link = &(*link)->next;
    if (old && !*link) ref_fail_in(ref_of(me), "nima_resize of memory that is not the agent's own");
    ref_block *grown = NULL;
    if (bytes) {
        grown = ref_zeroed(sizeof *grown + bytes);
        grown->bytes = bytes;
        if (old) memcpy(grown + 1, old + 1, old->bytes < bytes ? old->bytes : bytes);
    }
    if (old) {
        *link = old->next;
        free(old);
    }
    if (!grown) return NULL;
    grown->next = a->blocks;
    a->blocks = grown;
    return grown + 1;
}
