/* Births and deaths: nobody is skipped, visited dead, forgotten or confused with a later tenant, and nothing is kept of the
 * dead. Model: a mother bears children in one of several scenes; flocks shrink while they are swept. */
#include "nima.h"

NIMA_PARAMS((nima_text, scene, "storm", "storm|batches|churn|far|hand|late|flock|reborn", "", "what mothers do"),
            (int64_t, mothers, 1, "0..", "", "mothers"),
            (int64_t, shards, 1, "1..", "", "shards"),
            (int64_t, children, 1000, "0..", "", "at a time"),
            (int64_t, rounds, 1, "0..", "", "times"),
            (int64_t, own_key, 0, "0..1", "", "each child subscribes to a key of its own as well"),
            (int64_t, flock, 0, "0..", "", "agents that are swept"))
NIMA_WORLD((nima_pop, mother), (nima_pop, bird))
NIMA_MESSAGE(1, word, (int64_t, value))
NIMA_SIGNAL(2, tick)
NIMA_SIGNAL(3, farewell)
NIMA_TOPIC(news)
NIMA_LEVEL(alive, "")
NIMA_STATE(mother, (int64_t, round), (uint64_t, farewells), (nima_id, first), (nima_id, second), (uint64_t, sum))
NIMA_STATE(child, (int64_t, life), (uint64_t, got), (nima_alarm, far), (char *, memory))
NIMA_STATE(bird, (int64_t, updates), (nima_time, last))
NIMA_BEHAVIOR(mother, start, update)
NIMA_BEHAVIOR(child, start, update, stop)
NIMA_BEHAVIOR(bird, update)

static bool scene_is(const void *p, const char *name) { return !strcmp(((const params *)p)->scene, name); }

static void bear(nima *me, mother *self) {
    const params *p = params_of(me);
    for (int64_t i = 0; i < p->children; i++) {
        const child one = { .life = 1 + i % 3 };
        if (scene_is(p, "far")) child_spawn_far(me, 1 + i % 4, &one);
        else {
            const nima_id id = child_spawn(me, 0, &one);
            word_send(me, id, scene_is(p, "churn") ? 1 + i % 5 : 0, i);   /* some come too late */
            self->sum += id.bits;
        }
    }
    if (++self->round < p->rounds) tick_alarm(me, scene_is(p, "batches") ? 0 : 1);
}

static void mother_start(nima *me, mother *self) {
    if (scene_is(params_of(me), "hand")) {   /* five messages in one update of the child */
        self->first = child_spawn(me, 0, NULL);
        for (int64_t i = 0; i < 5; i++) word_send(me, self->first, 0, i);
        tick_send(me, self->first, 1);       /* when it is gone */
    } else if (scene_is(params_of(me), "late")) {
        self->first = child_spawn(me, 0, NULL);
        tick_send(me, self->first, 0);       /* it stops at once */
        tick_alarm(me, 10);
    } else if (!scene_is(params_of(me), "flock")) bear(me, self);
}

static void mother_update(nima *me, mother *self) {
    NIMA_EACH(me, m) {
        if (farewell_in(m)) self->farewells++;
        if (!tick_in(m)) continue;
        if (!scene_is(params_of(me), "late")) { bear(me, self); continue; }
        if (self->round++ == 0) {            /* the slot has a new tenant; write to the old one */
            const child one = { .life = 1000 };
            self->second = child_spawn(me, 0, &one);
            word_send(me, self->first, 5, 1);
            word_send(me, self->second, 5, 2);
            tick_alarm(me, 90);
        }
    }
}

static void child_start(nima *me, child *self) {
    if (scene_is(params_of(me), "churn")) {  /* all that an agent can hold */
        NIMA_RESIZE(me, self->memory, 40 + nima_self(me).bits % 200);
        NIMA_RESIZE(me, self->memory, 300);
        memset(self->memory, 1, 300);
        self->far = tick_alarm(me, 9);       /* it will be dead by then, or cancel it */
        if (params_of(me)->own_key) nima_subscribe(me, news, nima_self(me).bits);
        nima_subscribe(me, news, 7);
        nima_level(me, alive, 1);
    } else if (scene_is(params_of(me), "late")) self->far = tick_alarm(me, 20);   /* due when the slot has another tenant */
    else if (scene_is(params_of(me), "far")) nima_stop(me);
    if (scene_is(params_of(me), "churn") && self->life == 1) nima_stop(me);
}

static void child_update(nima *me, child *self) {
    const bool hand = scene_is(params_of(me), "hand");
    NIMA_EACH(me, m) {
        const word *w = word_in(m);
        self->got++;
        if (scene_is(params_of(me), "late")) {
            if (tick_in(m) && self->life == 0) nima_stop(me);
            if (tick_in(m) && self->life && nima_now(me) != 30)   /* it set its own at 10 */
                nima_fail(me, "an alarm of the tenant before, at %lld", (long long)nima_now(me));
            continue;
        }
        if (hand && self->got < 2) continue;
        if (self->life == 3 && scene_is(params_of(me), "churn") && !nima_cancel(me, self->far)) nima_fail(me, "too late");
        nima_stop(me);
        if (hand && (w->value != 1 || m->type != word_type || nima_next(me) != NULL || nima_mail_left(me) != 0))
            nima_fail(me, "the message in hand is gone, or another comes after nima_stop");
    }
}

static void child_stop(nima *me, child *self) {
    (void)self;
    if (nima_next(me)) nima_fail(me, "mail in stop");
    farewell_send(me, nima_parent(me), 1);
}

static void bird_update(nima *me, bird *self) {
    const nima_time t = nima_now(me);
    if (self->last >= t && t) nima_fail(me, "visited twice");
    self->last = t;
    self->updates++;
    if (t >= 10 && (nima_index(me) + (uint64_t)t / 10) % 7 == 0) {   /* a seventh leaves at each beat, and some are born */
        if (nima_index(me) % 2) bird_spawn(me, 0, NULL);
        nima_stop(me);
    }
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->mother = mother_populate(s, (uint64_t)p->mothers, 0);
    setup_world(s)->bird = bird_populate(s, (uint64_t)p->flock, 0);
    nima_shards(s, (uint32_t)p->shards);
    nima_lookahead(s, 1);
    if (p->flock) { nima_period(s, bird_behavior, 10); nima_until(s, 101); }
}
static void finish(nima_view *v) { nima_result(v, "alive", nima_level_mean(v, alive)); }
NIMA_MODEL(.name = "life", .help = "births and deaths", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .finish = finish)

#include "pitfall.h"

START_TEST(mail_in_hand) {
    nima_run *r = opened(1, SET("scene=hand"));
    advance(r, NIMA_FOREVER);
    const nima_summary s = look(r);
    const mother *m = nima_state(r, nima_member(r, mother_behavior, 0), mother_behavior);
    ck_assert_uint_eq(m->farewells, 1);
    ck_assert_uint_eq(s.unread, 3);          /* of five, two were read */
    ck_assert_uint_eq(run_unread_of(r, word_type), 3);
    ck_assert_uint_eq(run_dead_letters_of(r, tick_type), 1);
    ck_assert_uint_eq(s.dead_letters, 1);
    ck_assert_uint_eq(s.events, 2 + 5 + 1);
    ck_assert_uint_eq(s.agents, 1);
    nima_close(r);
}
END_TEST

START_TEST(late_mail) {                      /* to an id whose slot has a new tenant: no one gets it, and it is counted */
    nima_run *r = opened(1, SET("scene=late"));
    advance(r, NIMA_FOREVER);
    const mother *m = nima_state(r, nima_member(r, mother_behavior, 0), mother_behavior);
    ck_assert_uint_eq(m->first.bits & 0xFFFFF, m->second.bits & 0xFFFFF);
    ck_assert_uint_ne(m->first.bits, m->second.bits);
    ck_assert_ptr_null(nima_state(r, m->first, child_behavior));
    const child *c = nima_state(r, m->second, child_behavior);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(c->got, 2);            /* its word and its own alarm */
    ck_assert_uint_eq(run_dead_letters_of(r, word_type), 1);
    ck_assert_uint_eq(look(r).dead_letters, 1);     /* the dead one's alarm vanished uncounted */
    ck_assert_int_eq(look(r).virtual_time, 100);
    nima_close(r);
}
END_TEST

START_TEST(every_word_accounted) {           /* words sent = delivered + dead; farewells = deaths */
    for (unsigned threads = 1; threads <= 2; threads++) {
        nima_run *r = opened(threads, SET("scene=churn", "mothers=20", "shards=6", "children=30", "rounds=40"));
        advance(r, NIMA_FOREVER);
        const nima_summary s = look(r);
        run_counters n;
        run_counters_read(r, &n);
        uint64_t farewells = 0;
        for (uint64_t i = 0; i < 20; i++)
            farewells += ((const mother *)nima_state(r, nima_member(r, mother_behavior, i), mother_behavior))->farewells;
        ck_assert_uint_eq(n.births, 20 * 30 * 40);
        ck_assert_uint_eq(n.deaths, n.births);
        ck_assert_uint_eq(farewells, n.deaths);
        ck_assert_uint_eq(s.agents, 20);
        const uint64_t starts = 20 + n.births, words = n.births, ticks = 20 * 39;
        /* a child of life 3 reads one word and cancels; of life 2 reads one; of life 1 none: at most 1 a child */
        ck_assert_uint_gt(run_dead_letters_of(r, word_type), 0);
        ck_assert_uint_eq(s.events, starts + ticks + farewells + words - run_dead_letters_of(r, word_type));
        ck_assert_uint_eq(s.dead_letters, run_dead_letters_of(r, word_type));
        nima_close(r);
    }
}
END_TEST

static void flat(const char *own_key) {
    nima_run *r = opened(1, SET("scene=churn", "children=200", "rounds=4000", own_key));
    advance(r, 400);
    const long before = resident_kib();
    advance(r, 4000);
    const long after = resident_kib();
    ck_assert_uint_lt(look(r).agents, 2000);
    ck_assert_flat(before, after, 1024);
    nima_close(r);
}

START_TEST(churn_is_flat) { flat("own_key=0"); }
END_TEST

START_TEST(churn_of_keys_is_flat) { flat("own_key=1"); }
END_TEST

START_TEST(far_churn_is_flat) {
    nima_run *r = opened(2, SET("scene=far", "mothers=8", "shards=8", "children=50", "rounds=2000"));
    advance(r, 200);
    const long before = resident_kib();
    advance(r, 2000);
    const long after = resident_kib();
    ck_assert_flat(before, after, 1024);
    nima_close(r);
}
END_TEST

/* ---- ids ---- */
typedef struct { uint64_t *ids; size_t count, room; } census;
static void note_start(void *arg, const run_delivery *d) {
    census *c = arg;
    if (!d->starts) return;
    ck_assert_uint_lt(c->count, c->room);
    c->ids[c->count++] = d->agent.bits;
}
static int by_id(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(ids_are_never_reused) {
    static const char *const scenes[] = { "scene=churn", "scene=far", "scene=storm" };
    for (int i = 0; i < 3; i++) {
        census c = { .room = 200000 };
        c.ids = calloc(c.room, sizeof *c.ids);
        const nima_options o = { .threads = 2, .set = SET(scenes[i], "mothers=10", "shards=4", "children=20", "rounds=300"),
                                 .no_pin = true };
        run_tuning t = RUN_TUNING_DEFAULT;
        t.on_delivery = note_start;
        t.on_delivery_arg = &c;
        whole_run(opened_with(&o, &t));
        ck_assert_uint_eq(c.count, 10 + 10 * 20 * 300);
        qsort(c.ids, c.count, sizeof *c.ids, by_id);
        for (size_t k = 1; k < c.count; k++) ck_assert_uint_ne(c.ids[k - 1], c.ids[k]);
        free(c.ids);
    }
}
END_TEST

START_TEST(ids_on_other_threads) {
    static const char *const scenes[] = { "scene=churn", "scene=far", "scene=storm" };
    for (int i = 0; i < 3; i++) {
        const char *const *set = SET(scenes[i], "mothers=10", "shards=4", "children=20", "rounds=100");
        const uint64_t one = whole_run(opened(1, set)).fingerprint;
        for (unsigned threads = 2; threads <= 5; threads++) ck_assert_uint_eq(whole_run(opened(threads, set)).fingerprint, one);
    }
}
END_TEST

/* ---- many at once ---- */
static double storm(const char *const *set, uint64_t agents, uint64_t rounds) {
    nima_run *r = opened(1, set);
    const double from = cpu_s();
    advance(r, NIMA_FOREVER);
    const double took = cpu_s() - from;
    run_counters n;
    run_counters_read(r, &n);
    ck_assert_uint_eq(n.births, agents);
    ck_assert_uint_eq(n.deaths, agents);
    ck_assert_uint_eq(look(r).events, rounds + 3 * agents);      /* start, word, farewell of each; start and ticks */
    nima_close(r);
    return took;
}

START_TEST(spawn_storm) {
    const double small = storm(SET("scene=storm", "children=100000"), 100000, 1);
    const double large = storm(SET("scene=storm", "children=1000000"), 1000000, 1);
    if (SANITIZED) return;
    ck_assert_msg(large < 3, "1M agents took %.2f s", large);
    ck_assert_msg(large < 30 * small + 0.2, "100k agents took %.3f s, 1M %.3f s: not linear", small, large);
}
END_TEST

START_TEST(spawn_batches) {
    const double took = storm(SET("scene=batches", "children=1000", "rounds=1000"), 1000000, 1000);
    if (!SANITIZED) ck_assert_msg(took < 3, "1M agents in batches took %.2f s", took);
}
END_TEST

/* ---- removed while visited ---- */
static struct { uint64_t birds; } flock;
static void count_bird(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    (void)id;
    (void)arg;
    if (b != bird_behavior) return;
    flock.birds++;
    ck_assert(((const bird *)state)->last == 100 || ((const bird *)state)->updates == 0);     /* born at 100 */
}

START_TEST(sweep_of_a_shrinking_flock) {
    for (unsigned threads = 1; threads <= 2; threads++) {
        nima_run *r = opened(threads, SET("scene=flock", "mothers=0", "flock=1000", "shards=5"));
        advance(r, NIMA_FOREVER);
        uint64_t alive = 0, born = 0;
        for (uint64_t i = 0; i < 1000; i++) {                    /* when does bird i leave? */
            uint64_t t = 10;
            while (t <= 100 && (i + t / 10) % 7) t += 10;
            alive += t > 100;
            born += t <= 100 && i % 2;
        }
        ck_assert_uint_eq(alive, 0);         /* seven beats are enough */
        flock.birds = 0;
        run_each(r, count_bird, NULL);
        const nima_summary s = look(r);
        ck_assert_uint_gt(born, 0);
        ck_assert_uint_eq(s.agents, flock.birds);
        run_counters n;
        run_counters_read(r, &n);
        ck_assert_uint_eq(n.births, n.deaths + flock.birds - 1000);
        ck_assert_uint_ge(n.births, born);
        nima_close(r);
    }
}
END_TEST

START_TEST(every_bird_is_swept) {            /* until none leaves: each exactly once a beat */
    nima_run *r = opened(2, SET("scene=flock", "mothers=0", "flock=1000", "shards=5"));
    advance(r, 10);                          /* one beat, at 0 */
    ck_assert_uint_eq(look(r).events, 1000 + 1000);
    advance(r, 11);
    uint64_t leave = 0, born = 0;
    for (uint64_t i = 0; i < 1000; i++) { leave += (i + 1) % 7 == 0; born += (i + 1) % 7 == 0 && i % 2; }
    ck_assert_uint_eq(look(r).agents, 1000 - leave + born);
    ck_assert_uint_eq(look(r).events, 1000 + 2000 + born);       /* the newborn start in step 1: not due */
    advance(r, 21);
    ck_assert_uint_ge(look(r).events, 1000 + 2000 + born + (1000 - leave + born));
    nima_close(r);
}
END_TEST

PITFALLS(
    { "pitfall 5: an agent stops with mail in hand", mail_in_hand },
    { "pitfall 6: one-shot agents hold nothing after death (800000 births)", churn_is_flat },
    { "pitfall 6: topics that only one-shot agents subscribed to are given back", churn_of_keys_is_flat },
    { "pitfall 6: one-shot agents born far hold nothing after death", far_churn_is_flat },
    { "pitfall 7: mail to a dying agent is counted", every_word_accounted },
    { "pitfall 7: mail for the tenant before is a dead letter", late_mail },
    { "pitfall 13: a million agents at once", spawn_storm },
    { "pitfall 13: a million agents in batches", spawn_batches },
    { "pitfall 16: removing agents while a flock is swept", sweep_of_a_shrinking_flock },
    { "pitfall 16: each agent is swept once a beat", every_bird_is_swept },
    { "pitfall 17: ids are never reused", ids_are_never_reused },
    { "pitfall 17: ids are the same on other thread counts", ids_on_other_threads })
