/* Alarms: each fires once at its time, or was cancelled before; the model keeps its own account and fails at a difference.
 * Scenes: `account` sets, moves and cancels at random; the others put a cancel beside the delivery. */
#include "nima.h"

NIMA_PARAMS((nima_text, scene, "account", "account|race|steps|handles|tenant", "", "what sleepers do"),
            (int64_t, sleepers, 50, "1..", "", "sleepers"),
            (int64_t, shards, 4, "1..", "", "shards"),
            (int64_t, turns, 200, "0..", "", "of each sleeper"),
            (int64_t, spread, 20, "1..", "tick", "most delay"))
NIMA_WORLD((nima_pop, sleeper))
NIMA_MESSAGE(1, ring, (int64_t, which))
NIMA_SIGNAL(2, nudge)
NIMA_SIGNAL(3, die)
enum { HELD = 16 };
typedef struct { nima_alarm alarm; nima_time due; uint32_t step; bool set; } held;
typedef held held_all[HELD];
NIMA_STATE(sleeper, (int64_t, turns), (uint64_t, rung), (uint64_t, cancelled), (held *, held))
NIMA_STATE(guest, (nima_alarm, alarm), (int64_t, life))
NIMA_BEHAVIOR(sleeper, start, update)
NIMA_BEHAVIOR(guest, start, update)

static bool scene_is(nima *me, const char *name) { return !strcmp(params_of(me)->scene, name); }

static void note_set(nima *me, held *h, nima_alarm a, nima_time delay) {
    if (a.time != nima_now(me) + delay) nima_fail(me, "an alarm due at %lld", (long long)a.time);
    h->alarm = a;
    h->due = nima_now(me) + delay;
    h->step = delay ? 0 : nima_step(me) + 1;
    h->set = true;
}

static bool too_late(nima *me, const held *h) {
    return h->due < nima_now(me) || (h->due == nima_now(me) && h->step <= nima_step(me));
}

static void account(nima *me, sleeper *self) {               /* one random deed, sometimes several at one time */
    nima_rng *r = nima_random(me);
    do {
        const uint64_t i = nima_below(r, HELD);
        held *h = &self->held[i];
        const nima_time delay = (nima_time)nima_below(r, (uint64_t)params_of(me)->spread);
        const nima_alarm old = h->alarm;
        if (!h->set) {
            note_set(me, h, ring_alarm(me, delay, (int64_t)i), delay);
            if (nima_cancel(me, old)) nima_fail(me, "cancelled by the handle before");
        } else if (nima_chance(r, 0.5)) {
            const bool late = too_late(me, h);
            if (nima_cancel(me, h->alarm) == late) nima_fail(me, "cancel says %s", late ? "in time" : "too late");
            if (!late) { h->set = false; self->cancelled++; }
            if (nima_cancel(me, h->alarm)) nima_fail(me, "cancelled twice");
        } else {
            const bool late = too_late(me, h);
            const nima_alarm moved = nima_move(me, h->alarm, delay);
            if ((moved.check == 0) != late) nima_fail(me, "move says %s", late ? "in time" : "too late");
            if (!late) note_set(me, h, moved, delay);
            if (nima_cancel(me, old)) nima_fail(me, "cancelled by the handle before the move");
        }
    } while (nima_chance(r, 0.3));
}

static void sleeper_start(nima *me, sleeper *self) {
    const uint64_t next = (nima_index(me) + 1) % (uint64_t)params_of(me)->sleepers;
    NIMA_RESIZE(me, self->held, HELD);
    if (nima_cancel(me, (nima_alarm){ 0, 0, 0, 0 })) nima_fail(me, "cancelled nothing");
    if (scene_is(me, "account")) nudge_send(me, nima_self(me), 1);
    if (scene_is(me, "race")) {              /* the alarm, and the mail that would cancel it, come at one time */
        note_set(me, &self->held[0], ring_alarm(me, 10, 0), 10);
        note_set(me, &self->held[1], ring_alarm(me, 11, 1), 11);
        nudge_send(me, nima_at(world_of(me)->sleeper, next), 10);
    }
    if (scene_is(me, "steps")) nudge_send(me, nima_self(me), 5);
    if (scene_is(me, "handles")) note_set(me, &self->held[0], ring_alarm(me, 3, 0), 3);
    if (scene_is(me, "tenant")) {
        const guest first = { .life = 1 };
        die_send(me, guest_spawn(me, 0, &first), 1);
        nudge_send(me, nima_self(me), 2);    /* then the slot has another tenant, with an alarm of the same number */
    }
}

static void sleeper_update(nima *me, sleeper *self) {
    const bool race = scene_is(me, "race");
    NIMA_EACH(me, m) {
        const ring *r = ring_in(m);
        if (r) {
            held *h = &self->held[r->which];
            if (!h->set || h->due != nima_now(me) || h->step != nima_step(me))
                nima_fail(me, "alarm %lld rings at %lld, step %u", (long long)r->which, (long long)nima_now(me), nima_step(me));
            h->set = false;
            self->rung++;
            if (nima_cancel(me, h->alarm) || nima_move(me, h->alarm, 5).check) nima_fail(me, "cancelled while it rings");
            if (race && r->which == 0) continue;
            if (race) nima_fail(me, "the cancelled alarm rings");
        } else if (race) {
            if (nima_cancel(me, self->held[0].alarm)) nima_fail(me, "cancelled what is due now");
            if (!nima_cancel(me, self->held[1].alarm)) nima_fail(me, "too late one tick before");
            self->held[1].set = false;
            self->cancelled++;
        } else if (scene_is(me, "steps")) {  /* within one tick: set for the next step, and cancelled in this one */
            if (nima_step(me) == 0) {
                const nima_alarm next = ring_alarm(me, 0, 1);
                note_set(me, &self->held[2], ring_alarm(me, 0, 2), 0);
                if (!nima_cancel(me, next)) nima_fail(me, "too late one step before");
                const nima_alarm again = nima_move(me, self->held[2].alarm, 7);
                note_set(me, &self->held[2], again, 7);
            }
        } else if (scene_is(me, "tenant")) {
            const guest second = { .life = 2 };
            guest_spawn(me, 0, &second);
        } else {
            account(me, self);
            if (++self->turns < params_of(me)->turns) nudge_send(me, nima_self(me), (nima_time)nima_below(nima_random(me), 3));
        }
    }
}

static void guest_start(nima *me, guest *self) {
    self->alarm = ring_alarm(me, 10, self->life);
    if (self->life == 1 && !nima_cancel(me, self->alarm)) nima_fail(me, "too late at once");
    if (self->life == 1) self->alarm = ring_alarm(me, 12, self->life);       /* vanishes with this one */
}
static void guest_update(nima *me, guest *self) {
    NIMA_EACH(me, m) {
        const ring *r = ring_in(m);
        if (die_in(m)) nima_stop(me);
        else if (r && (r->which != 2 || nima_now(me) != 12)) nima_fail(me, "alarm of life %lld", (long long)r->which);
        else self->life = 100;
    }
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->sleeper = sleeper_populate(s, (uint64_t)p->sleepers, 0);
    nima_shards(s, (uint32_t)p->shards);
    nima_lookahead(s, 2);
}
NIMA_MODEL(.name = "alarms", .help = "sleepers", .unit = "tick", .ticks_per_unit = 1, .setup = setup)

#include "pitfall.h"

typedef struct { uint64_t rung, cancelled, left, guests; } totals;
static void add(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    (void)id;
    totals *t = arg;
    if (b == guest_behavior) { t->guests += ((const guest *)state)->life == 100; return; }
    const sleeper *s = state;
    t->rung += s->rung;
    t->cancelled += s->cancelled;
    for (int i = 0; i < HELD; i++) t->left += s->held[i].set;
}

static totals totals_of(nima_run *r) {
    totals t = { 0, 0, 0, 0 };
    run_each(r, add, &t);
    return t;
}

START_TEST(account_is_kept) {
    static const char *const spread[] = { "spread=2", "spread=20", "spread=3000", "spread=1000000000" };
    for (int i = 0; i < 4; i++) {
        uint64_t one = 0;
        for (unsigned threads = 1; threads <= 2; threads++) {
            nima_run *r = opened(threads, SET(spread[i]));
            advance(r, NIMA_FOREVER);
            const totals t = totals_of(r);
            const nima_summary s = look(r);
            ck_assert_uint_eq(t.left, 0);    /* all that were not cancelled have rung */
            ck_assert_uint_gt(t.cancelled, 100);
            ck_assert_uint_eq(s.events, 50 + 50 * 200 + t.rung);
            ck_assert_uint_eq(s.dead_letters, 0);
            if (!one) one = s.fingerprint;
            ck_assert_uint_eq(s.fingerprint, one);
            nima_close(r);
        }
    }
}
END_TEST

START_TEST(cancel_beside_delivery) {
    for (unsigned threads = 1; threads <= 2; threads++) {
        nima_run *r = opened(threads, SET("scene=race"));
        advance(r, NIMA_FOREVER);
        const totals t = totals_of(r);
        ck_assert_uint_eq(t.rung, 50);
        ck_assert_uint_eq(t.cancelled, 50);
        ck_assert_int_eq(look(r).virtual_time, 10);      /* not 11 */
        ck_assert(look(r).exhausted);
        ck_assert_uint_eq(look(r).events, 50 + 100);
        nima_close(r);
    }
}
END_TEST

START_TEST(within_a_tick) {
    nima_run *r = opened(2, SET("scene=steps"));
    advance(r, NIMA_FOREVER);
    ck_assert_uint_eq(totals_of(r).rung, 50);
    ck_assert_int_eq(look(r).virtual_time, 12);
    ck_assert_uint_eq(look(r).events, 50 + 50 + 50);
    nima_close(r);
}
END_TEST

START_TEST(late_handles) {
    nima_run *r = opened(1, SET("scene=handles"));
    advance(r, NIMA_FOREVER);
    ck_assert_uint_eq(totals_of(r).rung, 50);
    nima_close(r);
}
END_TEST

START_TEST(next_tenant) {
    nima_run *r = opened(1, SET("scene=tenant"));
    advance(r, NIMA_FOREVER);
    ck_assert_uint_eq(totals_of(r).guests, 50);
    ck_assert_uint_eq(look(r).dead_letters, 0);
    ck_assert_int_eq(look(r).virtual_time, 12);
    nima_close(r);
}
END_TEST

START_TEST(cancelled_are_given_back) {
    nima_run *r = opened(1, SET("sleepers=10", "turns=100000", "shards=1"));
    advance(r, 10000);
    const long before = resident_kib();
    advance(r, NIMA_FOREVER);
    ck_assert_int_gt(look(r).virtual_time, 90000);
    ck_assert_flat(before, resident_kib(), 512);
    nima_close(r);
}
END_TEST

PITFALLS(
    { "pitfall 32: each alarm rings once or was cancelled, by the model's own account", account_is_kept },
    { "pitfall 32: a cancel beside the delivery", cancel_beside_delivery },
    { "pitfall 32: alarms within one tick", within_a_tick },
    { "pitfall 32: a handle is too late while its alarm rings", late_handles },
    { "pitfall 32: alarms of the tenant before", next_tenant },
    { "pitfall 6: cancelled alarms are given back", cancelled_are_given_back })
