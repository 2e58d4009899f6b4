/* layout.c: which shard and slot each initial agent has: arithmetic on its index. */
#include "reference.h"
#include <stdlib.h>

static uint64_t up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* Member i of n lives in floor(i S / n): the first member of shard s is ceil(s n / S). */
static uint64_t first_in(uint64_t shard, uint64_t n, uint64_t shards) {
    const unsigned __int128 x = (unsigned __int128)shard * n;
    return (uint64_t)((x + shards - 1) / shards);
}

static uint64_t groups_of(const nima_run *run) {
    uint64_t most = 0;
    for (size_t p = 0; p < run->population_count; p++) {
        const struct nima_layout *l = run->populations[p];
        if (l->per_group && up(l->count, l->per_group) > most) most = up(l->count, l->per_group);
    }
    return most;
}

static uint32_t default_shards(const nima_run *run, uint64_t grouped) {
    uint64_t n = 0, groups = grouped;
    for (size_t p = 0; p < run->population_count; p++) {
        n += run->populations[p]->count;
        if (!run->populations[p]->per_group) groups += run->populations[p]->count;
    }
    uint64_t shards = up(n, 2048) < 64 ? up(n, 2048) : 64;
    if (up(n, 16384) > shards) shards = up(n, 16384);
    if (shards > groups) shards = groups;
    if (shards > 1u << 20) shards = 1u << 20;
    return (uint32_t)(shards ? shards : 1);
}

static void place(nima_run *run, struct nima_layout *l, uint64_t groups) {
    const uint32_t shards = run->shard_count;
    l->first = ref_zeroed((shards + 1) * sizeof *l->first);
    l->base = ref_zeroed(shards * sizeof *l->base);
    for (uint32_t s = 0; s <= shards; s++) {
        uint64_t first = l->per_group ? first_in(s, groups, shards) * l->per_group : first_in(s, l->count, shards);
        l->first[s] = first < l->count ? first : l->count;
    }
    for (uint32_t s = 0; s < shards; s++) {
        l->base[s] = (uint32_t)run->shards[s].slot_count;
        for (uint64_t i = l->first[s]; i < l->first[s + 1]; i++) {
            ref_agent *a = ref_agent_new(run, s, l->behavior, l->number << 48 | i, NULL);
            a->index = i;
            a->group = l->per_group ? i / l->per_group : run->groups++;
            ref_queue_start(run, a, 0, 0);
        }
    }
}

void ref_layout(nima_run *run) {
    const uint64_t groups = groups_of(run);
    if (!run->shard_count) run->shard_count = default_shards(run, groups);
    run->groups = groups;                    /* numbers above are for those who are a group by themselves */
    run->shards = ref_zeroed(run->shard_count * sizeof *run->shards);
    for (uint32_t s = 0; s < run->shard_count; s++) {
        run->shards[s].tallies = ref_zeroed(run->parts.tally_count * sizeof(ref_tally));
        run->shards[s].levels = ref_zeroed(run->parts.level_count * sizeof(ref_level));
    }
    for (size_t p = 0; p < run->population_count; p++) place(run, run->populations[p], groups);
}

nima_id nima_at_(nima_pop pop, uint64_t index) {
    const struct nima_layout *l = (const struct nima_layout *)(const void *)pop.layout;
    uint32_t s = 0;
    while (index >= l->first[s + 1]) s++;
    return (nima_id){ (uint64_t)s << 44 | 1u << 20 | (l->base[s] + (index - l->first[s])) };
}

nima_id nima_member(const nima_run *run, const nima_behavior *behavior, uint64_t index) {
    for (size_t p = 0; p < run->population_count; p++) {
        const struct nima_layout *l = run->populations[p];
        if (l->behavior == behavior && index < l->count) return nima_at((nima_pop){ l->count, &l->in_line }, index);
        if (l->behavior == behavior) break;
    }
    return (nima_id){ 0 };
}
