/* agents.c: birth and death of agents, and the slots they take. */
#include "reference.h"
#include <stdlib.h>

#define GENERATIONS 0xFFFFFFu                /* of one slot */
#define SLOTS (1u << 20)                     /* of one shard */

ref_agent *ref_find(nima_run *run, nima_id id) {
    if (ref_shard_of(id) >= run->shard_count) return NULL;
    const ref_shard *shard = run->shards + ref_shard_of(id);
    if (ref_slot_of(id) >= shard->slot_count) return NULL;
    ref_agent *a = shard->slots[ref_slot_of(id)].agent;
    return a && a->id.bits == id.bits ? a : NULL;
}

/* The slot freed last, else the next new one. */
static uint32_t take_slot(nima_run *run, uint32_t s) {
    ref_shard *shard = run->shards + s;
    if (shard->free_count) return shard->free[--shard->free_count];
    if (shard->slot_count == SLOTS) ref_fail(run, NIMA_E_MODEL, "shard %u has no slot left for a birth", s);
    shard->slots = ref_grow(shard->slots, &shard->slot_room, shard->slot_count + 1, sizeof *shard->slots);
    shard->slots[shard->slot_count] = (ref_slot){ NULL, 0 };
    return (uint32_t)shard->slot_count++;
}

/* Awaits its birth; the caller queues its start and says who its parent, group and index are. */
ref_agent *ref_agent_new(nima_run *run, uint32_t s, const nima_behavior *behavior, uint64_t stream, const void *state) {
    const uint32_t number = take_slot(run, s);
    ref_slot *slot = run->shards[s].slots + number;
    ref_agent *a = ref_zeroed(sizeof *a);
    slot->agent = a;
    slot->generation++;
    a->id.bits = (uint64_t)s << 44 | (uint64_t)slot->generation << 20 | number;
    a->behavior = behavior;
    a->index = UINT64_MAX;
    a->awake = true;
    a->random = (nima_rng){ .key = run->seed, .stream = stream };
    a->state = ref_copy(state, behavior->state_bytes);
    a->levels = ref_zeroed(run->parts.level_count * sizeof(double));
    return a;
}

void ref_agent_free(ref_agent *a) {
    for (ref_block *next, *b = a->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a->levels);
    free(a->alarms);
    free(a->topics);
    free(a->state);
    free(a);
}

void ref_level_set(nima_run *run, ref_agent *a, uint32_t level, double x, nima_time now) {
    ref_level *l = run->shards[ref_shard_of(a->id)].levels + level;
    if (now > l->since) l->integral += l->now * (double)(now - l->since);
    l->since = now;
    l->now += x - a->levels[level];
    a->levels[level] = x;
}

/* After `stop` has returned. */
void ref_agent_end(nima_run *run, ref_agent *a, nima_time now) {
    ref_shard *shard = run->shards + ref_shard_of(a->id);
    const uint32_t slot = ref_slot_of(a->id);
    for (uint32_t i = 0; i < run->parts.level_count; i++)
        if (a->levels[i] != 0) ref_level_set(run, a, i, 0, now);
    run->stopped_chains += ref_chain_end(a, now);
    run->alive--;
    shard->slots[slot].agent = NULL;
    if (shard->slots[slot].generation < GENERATIONS) {
        shard->free = ref_grow(shard->free, &shard->free_room, shard->free_count + 1, sizeof *shard->free);
        shard->free[shard->free_count++] = slot;
    }
    ref_agent_free(a);
}

/* The next due time after `now`, if the agent takes part in its period and it is not yet in the queue. */
void ref_schedule_due(nima_run *run, ref_agent *a, nima_time now) {
    const nima_time period = run->periods[a->behavior->index];
    if (!period || !a->awake || a->due_queued || now - now % period > NIMA_FOREVER - 1 - period) return;
    ref_entry *due = ref_zeroed(sizeof *due);
    due->kind = ENTRY_DUE;
    due->time = now - now % period + period;
    due->receiver = a->id;
    a->due_queued = true;
    ref_queue_push(run, due);
}
