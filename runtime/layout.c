/* layout.c: which shard and slot each initial agent has: a function of the model and its parameters, never of the machine. */
#include "state.h"
#include <stdlib.h>

static uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* First index of a population that lives in shard s: the least i with floor(g S / G) >= s. */
static uint64_t first_in(const nima_layout *l, uint64_t s) {
    const uint64_t units = l->per_group ? l->groups_max : l->count;
    const unsigned __int128 n = (unsigned __int128)s * units;
    const uint64_t unit = (uint64_t)((n + l->shards - 1) / l->shards);
    const unsigned __int128 index = l->per_group ? (unsigned __int128)unit * l->per_group : unit;
    return index < l->count ? (uint64_t)index : l->count;
}

nima_err layout_build(nima_run *r, char *error, size_t room) {
    engine *e = &r->engine;
    uint64_t agents = 0, groups = 0, single = 0;
    for (uint32_t p = 0; p < e->population_count; p++) {
        const nima_layout *l = &r->populations[p];
        agents += l->count;
        if (!l->per_group) single += l->count;
        else if (ceil_div(l->count, l->per_group) > groups) groups = ceil_div(l->count, l->per_group);
    }
    const uint64_t most = groups + single;   /* no more shards than groups, where an agent in none is one by itself */
    uint64_t shards = ceil_div(agents, 16384), few = ceil_div(agents, 2048);
    if (few > 64) few = 64;
    if (shards < few) shards = few;
    if (shards > most) shards = most;
    if (shards < 1) shards = 1;
    if (shards > SHARDS_MAX) shards = SHARDS_MAX;
    if (r->shards_wanted) shards = r->shards_wanted;
    e->shards = (uint32_t)shards;
    uint32_t *filled = calloc(shards, sizeof *filled);
    if (!filled) { snprintf(error, room, "no memory for %llu shards", (unsigned long long)shards); return NIMA_E_MEMORY; }
    for (uint32_t p = 0; p < e->population_count; p++) {
        nima_layout *l = &r->populations[p];
        l->shards = e->shards;
        l->groups_max = groups;
        l->first = calloc(shards + 1, sizeof *l->first);
        l->slot = calloc(shards + 1, sizeof *l->slot);
        if (!l->first || !l->slot) { free(filled); snprintf(error, room, "no memory for the layout"); return NIMA_E_MEMORY; }
        for (uint64_t s = 0; s <= shards; s++) l->first[s] = s < shards ? first_in(l, s) : l->count;
        for (uint64_t s = 0; s < shards; s++) {
            const uint64_t here = l->first[s + 1] - l->first[s];
            l->slot[s] = filled[s];
            if (filled[s] + here > SLOTS_MAX) {
                snprintf(error, room, "shard %llu would hold %llu agents; a shard holds %d: declare more shards", (unsigned long long)s,
                         (unsigned long long)(filled[s] + here), SLOTS_MAX);
                free(filled);
                return NIMA_E_MODEL;
            }
            filled[s] += (uint32_t)here;
        }
        if (shards > 1 && (l->per_group || shards >= l->count)) continue;
        nima_place_ *places = calloc(shards, sizeof *places);
        if (!places) { free(filled); snprintf(error, room, "no memory for the layout"); return NIMA_E_MEMORY; }
        for (uint64_t s = 0; s < shards; s++)
            places[s] = (nima_place_){ l->first[s + 1], id_make((uint32_t)s, 1, l->slot[s]).bits - l->first[s] };
        l->in_line = (nima_layout_){ places, shards > 1 ? (uint64_t)(((unsigned __int128)shards << 64) / l->count) : 0 };
    }
    free(filled);
    e->populations = r->populations;
    e->local_steps = e->lookahead > 0 || e->shards == 1;
    if (e->reporter_count == 0) e->sample = 0;
    /* agents: header and state together, in one cache line where they fit */
    uint32_t inline_bytes = 8;
    uint64_t best = 0;                       /* the most numerous behavior decides */
    for (uint32_t p = 0; p < e->population_count; p++) {
        const nima_layout *l = &r->populations[p];
        if (l->count <= best || l->behavior->state_bytes > 984) continue;
        best = l->count;
        inline_bytes = (uint32_t)l->behavior->state_bytes;
    }
    if (best <= 4096)                        /* few agents, perhaps many born: room for the largest that is not large */
        for (uint32_t b = 0; b < e->behavior_count; b++)
            if (e->behaviors[b]->state_bytes <= 216 && e->behaviors[b]->state_bytes > inline_bytes)
                inline_bytes = (uint32_t)e->behaviors[b]->state_bytes;
    const uint32_t all = (uint32_t)sizeof(agent) + (inline_bytes < 24 ? 24 : inline_bytes);
    e->stride = all <= 64 ? 64 : (all + 15) / 16 * 16;
    e->inline_bytes = e->stride - (uint32_t)sizeof(agent);
    return NIMA_OK;
}
