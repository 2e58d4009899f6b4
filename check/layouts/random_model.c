/* random_model.c: one model whose agents interpret a random program, to compare executors on everything a model can do.
 *
 * The number of the case gives populations, groups, lookahead, periods and how likely each act is (random_case.h). What
 * an agent then does it draws from its own stream; what it saw goes into `digest`, which is part of its state, and
 * which decides with the draws, so that one difference in order or content makes all that follows different.
 *
 * `tag` names an agent's group: equal tags, same group. Delays below the lookahead go to equal tags only. */
#include "nima.h"
#include "random_case.h"

NIMA_PARAMS((uint64_t, number, 1, "", "", "which random program"),
            (bool, trace, false, "", "", "what each callback sees goes to standard error"))
NIMA_WORLD((random_case, shape), (uint32_t, price), (nima_gset *, set), (nima_pop *, members))
NIMA_MESSAGE(7, letter, (nima_id, about), (uint64_t, tag), (uint64_t, about_tag), (nima_alarm, handle))
NIMA_BYTES(300, blob)
NIMA_SIGNAL(65535, nudge)
NIMA_SIGNAL(9, beat)
NIMA_TOPIC(news)
NIMA_TOPIC(gossip)
NIMA_TALLY(drawn, "")
NIMA_TALLY(waits, "tick")
NIMA_LEVEL(load, "")
NIMA_LEVEL(crowd, "")

enum { KNOWN = 8, HANDLES = 3 };
typedef struct { nima_id id; uint64_t tag; } acquaintance;
typedef struct { uint64_t words[40]; } ballast;
typedef struct { acquaintance known[KNOWN]; nima_alarm handles[HANDLES]; } memory;

/* All kinds begin alike, an ant is no more; what follows makes their states and chains differ. */
#define COMMON (uint64_t, digest), (uint64_t, tag), (int64_t, fuel), (uint32_t, born), (uint32_t, calls), \
    (memory *, memory), (uint64_t *, pad), (uint64_t, pad_words)
NIMA_STATE(ant, COMMON)
typedef ant common;
NIMA_STATE(zebra, COMMON, (double, x), (float, y), (bool, odd))
NIMA_STATE(mole, COMMON, (nima_alarm, last), (ballast, ballast))
NIMA_STATE(newt, COMMON, (nima_id, friend_), (char, letter))
NIMA_BEHAVIOR(zebra, start, update, stop)
NIMA_BEHAVIOR(mole, start, update)
NIMA_BEHAVIOR(ant, update)
NIMA_BEHAVIOR(newt, start, stop)

NIMA_REPORTER(zebras, count, zebra, "", self->odd)
NIMA_REPORTER(zebra_x, sum, zebra, "", self->x * 0.1)
NIMA_REPORTER(mole_fuel, mean, mole, "", (double)self->fuel * 0.7)
NIMA_REPORTER(ant_least, min, ant, "", (double)(self->digest >> 50) * 0.01)
NIMA_REPORTER(mole_most, max, mole, "", (double)(self->digest >> 50) - 9000.5)
NIMA_REPORTER(everyone, sum, newt, "", 1)
NIMA_BINS(zebra_bins, zebra, "", 0.0, 50.0, 5, self->x - 1)

/* ---- small tools ----------------------------------------------------------------------------------------------- */
static void mix(uint64_t *digest, uint64_t word) {
    uint64_t h = *digest ^ word;
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
    *digest = h ^ h >> 29;
}

static void mix_bytes(uint64_t *digest, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + i, bytes - i < 8 ? bytes - i : 8);
        mix(digest, word);
    }
}

static void mix_double(uint64_t *digest, double x) {
    if (x != x) x = -1.5;                    /* no NaN has its say */
    mix_bytes(digest, &x, sizeof x);
}

static uint32_t below(nima *me, uint64_t n) { return (uint32_t)nima_below(nima_random(me), n); }
static bool percent(nima *me, uint32_t p) { return below(me, 100) < p; }
static nima_behavior *behavior_of(uint32_t kind) {
    nima_behavior *const all[CASE_KINDS] = { zebra_behavior, mole_behavior, ant_behavior, newt_behavior };
    return all[kind];
}

static uint64_t tag_of(const random_case *c, uint32_t population, uint64_t index) {
    const uint32_t per_group = c->population[population].per_group;
    return per_group ? 1 + index / per_group : UINT64_C(1) << 40 | (uint64_t)population << 20 | index;
}

static uint32_t population_of(nima *me) {
    const world *w = world_of(me);
    const uint64_t i = nima_index(me);
    uint32_t p = 0;
    while (i >= w->members[p].count || !nima_same(nima_at(w->members[p], i), me->self)) p++;
    return p;
}

static memory *memory_of(nima *me, common *self) {
    if (!self->memory) NIMA_RESIZE(me, self->memory, 1);
    return self->memory;
}

static nima_time draw_delay(nima *me, nima_time least) {
    const random_case *c = &world_of(me)->shape;
    if (percent(me, c->zero)) return least;
    return least + c->scale * below(me, percent(me, 60) ? 3 : c->longest) + (c->scale > 1 ? below(me, 3) : 0);
}

/* ---- whom to write to ------------------------------------------------------------------------------------------ */
static acquaintance somebody(nima *me, common *self) {
    const random_case *c = &world_of(me)->shape;
    const uint32_t how = below(me, 100);
    if (how < 15) return (acquaintance){ me->self, self->tag };
    if (how < 50) return memory_of(me, self)->known[below(me, KNOWN)];
    if (how < 53)                            /* a slot of the own shard that nobody will ever have */
        return (acquaintance){ { (me->self.bits & ~UINT64_C(0xFFFFF)) | (0xFFF00 + below(me, 9)) }, self->tag };
    if (how < 58 && !nima_is_nobody(nima_parent(me)))   /* who lived or will live in the parent's slot */
        return (acquaintance){ { nima_parent(me).bits + ((uint64_t)below(me, 2) << 20) }, 0 };
    const uint32_t p = how < 70 ? 0 : below(me, c->populations);
    if (!c->population[p].count) return (acquaintance){ me->self, self->tag };
    const uint64_t i = how < 70 ? 0 : below(me, c->population[p].count);   /* the first has much mail */
    return (acquaintance){ nima_at(world_of(me)->members[p], i), tag_of(c, p, i) };
}

static void learn(nima *me, common *self, nima_id id, uint64_t tag) {
    if (!nima_is_nobody(id)) memory_of(me, self)->known[below(me, KNOWN)] = (acquaintance){ id, tag };
}

static uint32_t draw_payload(nima *me, unsigned char *bytes) {
    const uint32_t most = percent(me, 2) ? 5000 : world_of(me)->shape.payload;
    const uint32_t count = below(me, most + 1);
    uint64_t word = nima_bits32(nima_random(me));
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(word >> 24);
        word = word * 6364136223846793005u + 1442695040888963407u;
    }
    return count;
}

static void send(nima *me, common *self) {
    const acquaintance to = somebody(me, self), about = memory_of(me, self)->known[below(me, KNOWN)];
    if (nima_is_nobody(to.id)) return;
    const nima_time delay = draw_delay(me, to.tag == self->tag ? 0 : world_of(me)->shape.lookahead);
    const uint32_t what = below(me, 3);
    unsigned char bytes[5000];
    const nima_alarm handle = self->memory->handles[below(me, HANDLES)];
    if (what == 0) letter_send(me, to.id, delay, about.id, self->tag, about.tag, handle);
    if (what == 1) blob_send(me, to.id, delay, bytes, draw_payload(me, bytes));
    if (what == 2) nudge_send(me, to.id, delay);
}

static void publish(nima *me, common *self) {
    const random_case *c = &world_of(me)->shape;
    const nima_topic *topic = percent(me, 50) ? news : gossip;
    const uint64_t key = below(me, c->keys);
    const nima_time delay = draw_delay(me, c->lookahead);
    unsigned char bytes[5000];
    if (percent(me, 50)) letter_publish(me, topic, key, delay, me->self, self->tag, self->tag, (nima_alarm){ 0 });
    else blob_publish(me, topic, key, delay, bytes, draw_payload(me, bytes));
}

static void set_alarm(nima *me, common *self) {
    const nima_time delay = draw_delay(me, 0) * (percent(me, 20) ? 30 : 1);   /* some after all else, to be cancelled */
    nima_alarm *slot = memory_of(me, self)->handles + below(me, HANDLES);
    unsigned char bytes[5000];
    *slot = percent(me, 50) ? nudge_alarm(me, delay) : blob_alarm(me, delay, bytes, draw_payload(me, bytes));
}

static void set_beat(nima *me) {
    const random_case *c = &world_of(me)->shape;
    if (c->beat) beat_alarm(me, c->scale * (1 + below(me, c->beat)));
}

static void spawn(nima *me, common *self, random_act how) {
    const random_case *c = &world_of(me)->shape;
    const uint32_t kind = below(me, CASE_KINDS), shard = below(me, c->shards ? c->shards : 1);
    const nima_time delay = draw_delay(me, how == ACT_SPAWN ? 0 : c->lookahead);
    union { common common; zebra zebra; mole mole; ant ant; newt newt; } child;
    memset(&child, 0, sizeof child);
    child.common.fuel = self->fuel / 3;
    self->fuel -= child.common.fuel;
    child.common.tag = self->tag;
    if (how != ACT_SPAWN) {
        mix(&child.common.tag, me->self.bits);
        mix(&child.common.tag, self->born++);
        child.common.tag |= UINT64_C(1) << 63;
    }
    if (how == ACT_SPAWN) learn(me, self, nima_spawn(me, behavior_of(kind), delay, &child), self->tag);
    else if (how == ACT_SPAWN_FAR) nima_spawn_far(me, behavior_of(kind), delay, &child);
    else nima_spawn_in(me, shard, behavior_of(kind), delay, &child);
}

static void use_memory(nima *me, common *self) {
    mix_bytes(&self->digest, self->pad, self->pad_words * 8);
    const uint64_t words = below(me, percent(me, 90) ? 40 : 4000);
    NIMA_RESIZE(me, self->pad, words);
    for (uint64_t i = self->pad_words; i < words; i++) mix(&self->digest, self->pad[i]);   /* zero */
    self->pad_words = words;
    if (words) self->pad[below(me, words)] = self->digest;
}

static void draw_numbers(nima *me, common *self) {
    nima_rng *r = nima_random(me), prices = nima_stream(me, "prices"), weather = nima_stream(me, "weather");
    mix(&self->digest, nima_bits32(&prices) - world_of(me)->price);   /* 0 */
    mix(&self->digest, nima_below(&weather, 6));
    switch (below(me, 6)) {
    case 0: mix_double(&self->digest, nima_uniform(r)); break;
    case 1: mix_double(&self->digest, nima_exponential(r, 3)); break;
    case 2: mix_double(&self->digest, nima_normal(r, 1, 2)); break;
    case 3: mix(&self->digest, nima_poisson(r, 4)); break;
    case 4: mix(&self->digest, nima_below(r, UINT64_C(1) << 40)); break;
    default: mix(&self->digest, nima_chance(r, 0.3)); break;
    }
}

static void read_report(nima *me, common *self) {
    const nima_reporter *const all[] = { zebras, zebra_x, mole_fuel, ant_least, mole_most, everyone };
    const double x = nima_reported(me, all[below(me, 6)]);
    mix_double(&self->digest, x);
    if (x > 3) nima_tally(me, drawn, x);
}

/* A promise broken on purpose; of most, the run must not survive. */
static void break_promise(nima *me, common *self) {
    static const unsigned char big[NIMA_PAYLOAD_MAX + 1];
    const nima_id to = somebody(me, self).id;
    switch (below(me, 15)) {
    case 0: nima_fail(me, "as told");
    case 1: nudge_send(me, (nima_id){ 0 }, NIMA_FOREVER / 2); break;
    case 2: nudge_send(me, (nima_id){ UINT64_C(77) << 44 | 1 << 20 }, NIMA_FOREVER / 2); break;
    case 3: nudge_send(me, me->self, -1); break;
    case 4: nima_send(me, me->self, 1, 0, NULL, 0); break;
    case 5: nima_send(me, me->self, 1, 65536, NULL, 0); break;
    case 6: blob_send(me, me->self, 1, big, sizeof big); break;
    case 7: nima_spawn_in(me, 77, ant_behavior, NIMA_FOREVER / 2, NULL); break;
    case 8: nudge_publish(me, news, 0, world_of(me)->shape.lookahead - 1); break;
    case 9: nudge_send(me, me->self, NIMA_FOREVER - nima_now(me)); break;
    default: if (nima_parent(me).bits || !nima_is_nobody(to)) nudge_send(me, nima_is_nobody(to) ? me->self : to, 0);
    }
}

/* ---- one act --------------------------------------------------------------------------------------------------- */
static void act(nima *me, common *self, nima_time period, bool stopping) {
    const random_case *c = &world_of(me)->shape;
    nima_alarm *handle = memory_of(me, self)->handles + below(me, HANDLES);
    uint32_t left = (uint32_t)((below(me, c->weights) + self->digest) % c->weights), what = 0;
    while (left >= c->weight[what]) left -= c->weight[what++];
    if (stopping && (what == ACT_ALARM || what == ACT_MOVE)) return;
    const bool first = percent(me, 50);
    const nima_topic *topic = first ? news : gossip;
    switch ((random_act)what) {
    case ACT_SEND: send(me, self); break;
    case ACT_ALARM: set_alarm(me, self); break;
    case ACT_CANCEL: mix(&self->digest, nima_cancel(me, *handle)); break;
    case ACT_MOVE: *handle = nima_move(me, *handle, draw_delay(me, 0)); mix(&self->digest, handle->sequence); break;
    case ACT_SPAWN: case ACT_SPAWN_FAR: case ACT_SPAWN_IN: spawn(me, self, (random_act)what); break;
    case ACT_STOP: nima_stop(me); break;
    case ACT_AWAKE: if (period) nima_keep_awake(me, percent(me, 50)); break;
    case ACT_PUBLISH: publish(me, self); break;
    case ACT_SUBSCRIBE: nima_subscribe(me, topic, below(me, c->keys)); break;
    case ACT_UNSUBSCRIBE: nima_unsubscribe(me, topic, below(me, c->keys)); break;
    case ACT_TALLY: nima_tally(me, first ? drawn : waits, nima_uniform(nima_random(me))); break;
    case ACT_LEVEL: nima_level(me, first ? load : crowd, below(me, 1000) * 0.37); break;
    case ACT_MEMORY: use_memory(me, self); break;
    case ACT_HALT: nima_halt(me, "enough"); break;
    case ACT_GSET:
        mix(&self->digest, nima_gset_has(me, world_of(me)->set, below(me, CASE_GSET)));
        nima_gset_add(me, world_of(me)->set, below(me, CASE_GSET));
        break;
    case ACT_REPORTED: read_report(me, self); break;
    case ACT_DRAW: draw_numbers(me, self); break;
    case ACT_LOG: nima_log(me, NIMA_DEBUG, "fuel %lld", (long long)self->fuel); break;
    case ACT_BREAK: if (nima_now(me) > 5 * c->scale) break_promise(me, self); break;
    case ACTS: break;
    }
}

static void trace(const nima *me, const common *self, const char *where) {
    if (!params_of(me)->trace) return;
    nima *agent = (nima *)(uintptr_t)me;
    fprintf(stderr, "%lld %u %016llX %s index %lld mail %llu fuel %lld digest %016llX draws %llu\n", (long long)me->now,
            nima_step(me), (unsigned long long)me->self.bits, where, (long long)nima_index(me),
            (unsigned long long)nima_mail_left(me), (long long)self->fuel, (unsigned long long)self->digest,
            (unsigned long long)nima_random(agent)->draws);
}

static void act_some(nima *me, common *self, uint32_t kind, uint32_t most, bool stopping) {
    const random_case *c = &world_of(me)->shape;
    for (uint32_t n = self->fuel > 0 ? below(me, most + 1) : 0; n && self->fuel > 0; n--, self->fuel--)
        act(me, self, c->period[kind], stopping);
    if (c->tired && self->fuel <= 0 && c->period[kind]) nima_keep_awake(me, false);
}

/* ---- the three callbacks of all kinds -------------------------------------------------------------------------- */
static void begin(nima *me, common *self, uint32_t kind) {
    const random_case *c = &world_of(me)->shape;
    trace(me, self, "start");
    if (nima_is_nobody(nima_parent(me))) {
        const uint32_t p = population_of(me);
        self->tag = tag_of(c, p, nima_index(me));
        self->fuel = c->fuel;
        set_beat(me);
    } else learn(me, self, nima_parent(me), 0);
    mix(&self->digest, me->self.bits);
    mix(&self->digest, nima_parent(me).bits);
    mix(&self->digest, nima_index(me) ^ nima_step(me));
    if (nima_next(me) || nima_mail_left(me)) mix(&self->digest, 1);
    act_some(me, self, kind, 4, false);
}

static void read_mail(nima *me, common *self, const nima_mail *m) {
    const letter *l = letter_in(m);
    mix(&self->digest, (uint64_t)m->time);
    mix(&self->digest, m->sender.bits);
    mix(&self->digest, (uint64_t)m->sequence << 16 | m->type);
    mix_bytes(&self->digest, nima_payload(m), m->bytes);
    if (beat_in(m) && self->fuel-- > 0) set_beat(me);
    learn(me, self, m->sender, l ? l->tag : 0);
    if (!l) return;
    learn(me, self, l->about, l->about_tag);
    if (percent(me, 20)) memory_of(me, self)->handles[below(me, HANDLES)] = l->handle;   /* another's: of no use */
}

static void go_on(nima *me, common *self, uint32_t kind) {
    const random_case *c = &world_of(me)->shape;
    trace(me, self, "update");
    self->calls++;
    if (!self->tag && nima_is_nobody(nima_parent(me))) begin(me, self, kind);   /* a kind without start */
    if (percent(me, c->shuffled)) nima_shuffle_mail(me);
    uint64_t wanted = nima_mail_left(me);
    if (percent(me, c->lazy)) wanted = below(me, wanted + 1);
    if (percent(me, 3)) act_some(me, self, kind, 2, false);   /* may stop before it has read */
    for (const nima_mail *m; wanted-- && (m = nima_next(me)) != NULL;) read_mail(me, self, m);
    act_some(me, self, kind, c->acts, false);
    mix(&self->digest, nima_mail_left(me));
}

static void end(nima *me, common *self, uint32_t kind) {
    trace(me, self, "stop");
    mix(&self->digest, nima_mail_left(me) + (nima_next(me) != NULL));
    act_some(me, self, kind, 3, true);
}

static void zebra_start(nima *me, zebra *self) {
    begin(me, (common *)self, 0);
    self->odd = nima_index(me) % 2;
}
static void zebra_update(nima *me, zebra *self) {
    go_on(me, (common *)self, 0);
    self->x = (double)(self->digest >> 58);
    self->y = (float)self->x / 3;
}
static void zebra_stop(nima *me, zebra *self) { end(me, (common *)self, 0); }
static void mole_start(nima *me, mole *self) { begin(me, (common *)self, 1); }
static void mole_update(nima *me, mole *self) {
    go_on(me, (common *)self, 1);
    self->ballast.words[self->calls % 40] = self->digest;
    self->last = memory_of(me, (common *)self)->handles[0];
}
static void ant_update(nima *me, ant *self) { go_on(me, (common *)self, 2); }
static void newt_start(nima *me, newt *self) {
    begin(me, (common *)self, 3);
    self->letter = 'n';
    self->friend_ = memory_of(me, (common *)self)->known[0].id;
}
static void newt_stop(nima *me, newt *self) { end(me, (common *)self, 3); }

/* ---- the model ------------------------------------------------------------------------------------------------- */
static void setup(nima_setup *s) {
    world *w = setup_world(s);
    random_case *c = &w->shape;
    nima_rng r = nima_setup_stream(s, "prices");
    random_case_draw(c, params_of(s)->number);
    w->price = nima_bits32(&r);
    w->members = (nima_pop *)nima_shared(s, c->populations * sizeof(nima_pop));
    for (uint32_t p = 0; p < c->populations; p++)
        w->members[p] = nima_populate(s, behavior_of(c->population[p].kind), c->population[p].count,
                                      c->population[p].per_group);
    if (c->shards) nima_shards(s, c->shards);
    if (c->lookahead) nima_lookahead(s, c->lookahead);
    if (c->sample) nima_sample(s, c->sample);
    if (c->until) nima_until(s, c->until);
    if (c->step_bound) nima_step_bound(s, c->step_bound);
    for (uint32_t k = 0; k < CASE_KINDS; k++) if (c->period[k]) nima_period(s, behavior_of(k), c->period[k]);
    w->set = nima_gset_new(s, CASE_GSET);
    for (uint64_t i = 0; i < CASE_GSET; i++) if (c->seeded >> i & 1) nima_gset_seed(s, w->set, i);
}

static bool done(nima_view *v) {
    const random_case *c = &world_of(v)->shape;
    if (!c->done_at) return false;
    return nima_view_now(v) >= c->done_at || nima_tally_mean(v, drawn) > 6 || nima_level_mean(v, load) > 900;
}

static void mix_agent(nima_id id, const void *state, void *digest) {
    mix(digest, id.bits);
    mix(digest, ((const common *)state)->digest);
}

static void finish(nima_view *v) {
    uint64_t digest = 0, bits = 0;
    for (uint32_t k = 0; k < CASE_KINDS; k++) nima_view_each(v, behavior_of(k), mix_agent, &digest);
    for (uint64_t i = 0; i < CASE_GSET; i++) {
        mix(&bits, nima_view_gset(v, world_of(v)->set, i));
        mix(&bits, (uint64_t)nima_view_gset_time(v, world_of(v)->set, i));
    }
    nima_result_hash(v, "agents", digest);
    nima_result_hash(v, "set", bits);
    nima_result(v, "end", (double)nima_view_now(v));
    nima_result(v, "drawn_count", (double)nima_tally_count(v, drawn));
    nima_result(v, "drawn_mean", nima_tally_mean(v, drawn));
    nima_result(v, "drawn_sd", nima_tally_sd(v, drawn));
    nima_result(v, "waits_sd", nima_tally_sd(v, waits));
    nima_result(v, "load", nima_level_mean(v, load));
    nima_result(v, "crowd", nima_level_mean(v, crowd));
    nima_result(v, "zebra_x", nima_last(v, zebra_x));
    nima_result_measured(v, "measured", 1);
}

NIMA_MODEL(.name = "random", .help = "agents that do anything", .unit = "tick", .ticks_per_unit = 1, .setup = setup,
           .done = done, .finish = finish)
