/* topics.c: who in this shard subscribes to what. Subscriptions of agents that stopped are dropped when a publication meets
 * them, or when a list would have to grow. */
#include "shard.h"
#include <stdlib.h>

#define MEM(c) ((memory *)(uintptr_t)&(c)->engine->memory)

static uint64_t topic_key(uint32_t family, uint64_t key) { return hash_mum(key ^ HASH_K1, family ^ HASH_K2) | 1; }

topic *topics_find(const topics *t, uint32_t family, uint64_t key) {
    const uint64_t *i = map_find(&t->index, topic_key(family, key));
    return i ? &t->topics[*i] : NULL;
}

static uint64_t member_key(const topic *t, nima_id id) {
    return hash_mum(id.bits ^ HASH_K3, topic_key(t->family, t->key)) | 1;
}

void topics_drop_dead(context *c, topic *t) {
    map *members = &c->shard->topics.members;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const nima_id id = t->subscribers[i];
        const agent *a = shard_agent(c->shard, c->engine, id_slot(id));
        if (a->generation != id_generation(id) || !(a->flags & AGENT_ALIVE)) { map_remove(members, member_key(t, id)); continue; }
        if (kept != i) *map_put(members, MEM(c), member_key(t, id)) = kept;
        t->subscribers[kept++] = id;
    }
    t->count = kept;
}

/* A topic without living subscribers is given back; called when there would have to be more. */
static void drop_empty(context *c) {
    topics *all = &c->shard->topics;
    for (size_t i = 0; i < all->count; i++) {
        topic *t = &all->topics[i];
        if (!t->used) continue;
        topics_drop_dead(c, t);
        if (t->count) continue;
        map_remove(&all->index, topic_key(t->family, t->key));
        t->used = false;
        t->next_free = all->first_free;
        all->first_free = i + 1;
        all->free++;
    }
}

static topic *new_topic(context *c, uint32_t family, uint64_t key) {
    topics *all = &c->shard->topics;
    if (!all->first_free && all->count == all->room) {
        drop_empty(c);
        if (!all->first_free || all->free < all->count / 2)
            all->topics = memory_grow(MEM(c), all->topics, &all->room, all->count + 1, sizeof *all->topics, "topics");
    }
    size_t i = all->count;
    topic kept = { .key = 0 };
    if (all->first_free) {
        i = all->first_free - 1;
        kept = all->topics[i];
        all->first_free = kept.next_free;
        all->free--;
    } else all->count++;
    all->topics[i] = (topic){ .key = key, .family = family, .used = true, .room = kept.room, .subscribers = kept.subscribers };
    *map_put(&all->index, MEM(c), topic_key(family, key)) = i;
    return &all->topics[i];
}

void topics_change(context *c, uint32_t family, uint64_t key, bool subscribe) {
    topics *all = &c->shard->topics;
    topic *t = topics_find(all, family, key);
    if (!t && !subscribe) return;
    if (!t) t = new_topic(c, family, key);
    const nima_id id = c->me.self;
    uint64_t *place = map_find(&all->members, member_key(t, id));
    if (subscribe && !place) {
        if (t->count == t->room) {
            topics_drop_dead(c, t);
            if (t->count == t->room || t->count >= t->room / 2)
                t->subscribers = memory_grow(MEM(c), t->subscribers, &t->room, t->count + 1u, sizeof *t->subscribers, "subscribers");
        }
        *map_put(&all->members, MEM(c), member_key(t, id)) = t->count;
        t->subscribers[t->count++] = id;
    } else if (!subscribe && place) {
        const uint64_t at = *place;
        map_remove(&all->members, member_key(t, id));
        const nima_id moved = t->subscribers[at] = t->subscribers[--t->count];
        if (!nima_same(moved, id)) *map_put(&all->members, MEM(c), member_key(t, moved)) = at;
    }
}

void topics_free(topics *t, memory *m) {
    for (size_t i = 0; i < t->count; i++) free(t->topics[i].subscribers);
    free(t->topics);
    map_free(&t->index, m);
    map_free(&t->members, m);
}
