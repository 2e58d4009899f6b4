/* Order: mail is ordered by value alone, whatever way and in whatever order it came; bytes that nobody set decide nothing.
 * Model: writers send to readers so that much arrives at one time over many ways; strangers chatter beside them. */
#include "nima.h"

NIMA_PARAMS((nima_text, scene, "ways", "ways|flood|bytes|busy", "", "what writers do"),
            (int64_t, writers, 40, "0..", "", "writers"),
            (int64_t, readers, 8, "1..", "", "readers"),
            (int64_t, strangers, 0, "0..", "", "others, who have nothing to do with them"),
            (int64_t, lookahead, 1, "0..", "tick", "least delay, as declared"),
            (int64_t, shards, 5, "1..", "", "shards"),
            (int64_t, flood, 100000, "0..", "", "messages of one update"))
NIMA_WORLD((nima_pop, writer), (nima_pop, reader), (nima_pop, stranger))
NIMA_MESSAGE(1, note, (int64_t, number))
NIMA_MESSAGE(2, holes, (char, a), (int64_t, b), (char, c), (int16_t, d))
NIMA_BYTES(3, blob)
NIMA_SIGNAL(4, tick)
NIMA_TOPIC(board)
NIMA_STATE(writer, (int64_t, turns))
NIMA_STATE(reader, (uint64_t, got), (uint64_t, sum), (uint64_t, ties))
NIMA_STATE(stranger, (int64_t, turns))
NIMA_BEHAVIOR(writer, start, update)
NIMA_BEHAVIOR(reader, start, update)
NIMA_BEHAVIOR(stranger, start, update)

static bool scene_is(nima *me, const char *name) { return !strcmp(params_of(me)->scene, name); }
static nima_id some_reader(nima *me) {
    return nima_at(world_of(me)->reader, nima_below(nima_random(me), (uint64_t)params_of(me)->readers));
}

/* All delays end at multiples of 12: what is sent at 3, 6, 8 and 9 meets there, with publications and zero-delay mail. */
static void write_ways(nima *me, writer *self) {
    const nima_time now = nima_now(me);
    for (int64_t i = 0; i < 3; i++) {
        note_send(me, some_reader(me), 12 - now % 12, self->turns * 10 + i);
        note_send(me, some_reader(me), 36 - now % 12, self->turns * 10 + 5 + i);
    }
    note_publish(me, board, nima_index(me) % 3, 24 - now % 12, self->turns);
}

static void writer_start(nima *me, writer *self) {
    (void)self;
    if (scene_is(me, "ways")) { write_ways(me, self); tick_alarm(me, 3 + (nima_time)(nima_index(me) % 4)); }
    if (scene_is(me, "flood"))
        for (int64_t i = 0; i < params_of(me)->flood; i++) note_send(me, nima_at(world_of(me)->reader, 0), 5, i);
    if (scene_is(me, "bytes"))
        for (int i = 1; i <= 60; i++) {
            char text[64];                   /* on the stack, filled up to i only */
            for (int k = 0; k < i; k++) text[k] = (char)(i + k);
            blob_send(me, some_reader(me), 1 + i % 4, text, (uint32_t)i);
            holes_send(me, some_reader(me), 1 + i % 4, (char)i, i, 'c', (int16_t)-i);
        }
    if (scene_is(me, "busy")) note_send(me, nima_at(world_of(me)->reader, 0), 0, 2000);
}

static void writer_update(nima *me, writer *self) {
    NIMA_EACH(me, m) if (tick_in(m) && ++self->turns < 20) {
        write_ways(me, self);
        tick_alarm(me, 1 + (nima_time)nima_below(nima_random(me), 5));
    }
}

static void reader_start(nima *me, reader *self) {
    (void)self;
    nima_subscribe(me, board, nima_index(me) % 3);
}

static void reader_update(nima *me, reader *self) {
    uint64_t sender = 0, sequence = 0;
    for (uint64_t left; (left = nima_mail_left(me)) > 0;) {
        const nima_mail *m = nima_next(me);
        if (nima_mail_left(me) != left - 1) nima_fail(me, "%llu messages left", (unsigned long long)left);
        if (m->sender.bits < sender || (m->sender.bits == sender && m->sequence <= sequence && self->got && sender))
            nima_fail(me, "out of order: (%llx, %llu) after (%llx, %llu)", (unsigned long long)m->sender.bits,
                      (unsigned long long)m->sequence, (unsigned long long)sender, (unsigned long long)sequence);
        self->ties += sender != 0;
        sender = m->sender.bits;
        sequence = m->sequence;
        self->got++;
        const note *n = note_in(m);
        self->sum = self->sum * 31 + (n ? (uint64_t)n->number : m->bytes) + (uint64_t)m->time * 7 + m->sender.bits;
        if (n && scene_is(me, "busy") && n->number > 0) note_send(me, nima_self(me), 0, n->number - 1);
    }
}

static void stranger_start(nima *me, stranger *self) { (void)self; tick_alarm(me, 1); }
static void stranger_update(nima *me, stranger *self) {
    const uint64_t others = (uint64_t)params_of(me)->strangers;
    NIMA_EACH(me, m) if (tick_in(m) && m->sender.bits == nima_self(me).bits && ++self->turns < 60) {
        note_send(me, nima_at(world_of(me)->stranger, nima_below(nima_random(me), others)), 12 - nima_now(me) % 12, 1);
        tick_alarm(me, 1);
    }
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    world *w = setup_world(s);
    w->writer = writer_populate(s, (uint64_t)p->writers, 0);
    w->reader = reader_populate(s, (uint64_t)p->readers, 0);
    w->stranger = stranger_populate(s, (uint64_t)p->strangers, 0);
    nima_lookahead(s, p->lookahead);
    nima_shards(s, (uint32_t)p->shards);
}
NIMA_MODEL(.name = "order", .help = "writers and readers", .unit = "tick", .ticks_per_unit = 1, .setup = setup)

#include "pitfall.h"

/* What the readers saw, as one number; and how much. */
static uint64_t readers_of(nima_run *r, uint64_t count, uint64_t *got, uint64_t *ties) {
    uint64_t sum = 0;
    *got = *ties = 0;
    for (uint64_t i = 0; i < count; i++) {
        const reader *one = nima_state(r, nima_member(r, reader_behavior, i), reader_behavior);
        sum = sum * 1000003 + one->sum;
        *got += one->got;
        *ties += one->ties;
    }
    return sum;
}

START_TEST(ties_by_value) {
    uint64_t got, ties, first = 0, first_got = 0;
    static const char *const strangers[] = { "strangers=0", "strangers=1", "strangers=100", "strangers=3000" };
    for (int i = 0; i < 4; i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            nima_run *r = opened(threads, SET(strangers[i]));
            advance(r, NIMA_FOREVER);
            const uint64_t sum = readers_of(r, 8, &got, &ties);
            if (!first) { first = sum; first_got = got; }
            ck_assert_uint_gt(ties, 1000);
            ck_assert_msg(sum == first, "%s changed what readers saw", strangers[i]);
            ck_assert_uint_eq(got, first_got);
            nima_close(r);
        }
}
END_TEST

START_TEST(ways_on_any_layout) {             /* one shard or many, short windows or long, one thread or three */
    static const char *const lookahead[] = { "lookahead=0", "lookahead=1" };
    uint64_t one = 0;
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int l = 0; l < 2; l++)
            for (uint64_t order = 0; order < 3; order++) {
                const nima_options o = { .threads = threads, .set = SET(lookahead[l], "strangers=20"), .no_pin = true };
                run_tuning t = RUN_TUNING_DEFAULT;
                t.shard_order = order;
                const uint64_t print = whole_run(opened_with(&o, &t)).fingerprint;
                if (!one) one = print;
                ck_assert_uint_eq(print, one);
            }
}
END_TEST

START_TEST(length_of_a_mailbox) {            /* 4 x 100000 messages in one update, the length asked twice for each */
    nima_run *r = opened(2, SET("scene=flood", "writers=4"));
    const double from = cpu_s();
    advance(r, NIMA_FOREVER);
    const double took = cpu_s() - from;
    uint64_t got, ties;
    readers_of(r, 8, &got, &ties);
    ck_assert_uint_eq(got, 400000);
    if (!SANITIZED) ck_assert_msg(took < 2, "%.2f s", took);
    nima_close(r);
}
END_TEST

START_TEST(mailboxes_give_back) {            /* floods do not pile up: the memory of one serves the next */
    nima_run *r = opened(1, SET("scene=flood", "writers=0"));
    const nima_id to = nima_member(r, reader_behavior, 0);
    long before = 0;
    for (nima_time t = 10; t < 20; t++) {
        for (int64_t i = 0; i < 200000; i++) ck_assert_int_eq(nima_post(r, to, t, note_type, &i, sizeof i), NIMA_OK);
        advance(r, t + 1);
        if (t == 11) before = resident_kib();
    }
    ck_assert_flat(before, resident_kib(), 2048);
    ck_assert_uint_eq(look(r).events, 8 + 10 * 200000);
    nima_close(r);
}
END_TEST

START_TEST(unset_bytes) {                    /* fresh memory and the stack full of something: nothing changes */
    static const int dirt[] = { -1, 0x00, 0x5A, 0xFF };
    uint64_t one = 0;
    for (unsigned threads = 1; threads <= 2; threads++)
        for (int i = 0; i < 4; i++) {
            const nima_options o = { .threads = threads, .set = SET("scene=bytes"), .no_pin = true };
            run_tuning t = RUN_TUNING_DEFAULT;
            t.dirty = dirt[i];
            const nima_summary s = whole_run(opened_with(&o, &t));
            if (!one) one = s.fingerprint;
            ck_assert_uint_eq(s.events, 40 + 8 + 40 * 120);
            ck_assert_uint_eq(s.fingerprint, one);
        }
}
END_TEST

START_TEST(busy_agent) {                     /* one talks to itself 2000 steps long; the others are not kept waiting a tick */
    nima_run *r = opened(2, SET("scene=busy", "writers=1", "strangers=50", "lookahead=0"));
    advance(r, NIMA_FOREVER);
    const reader *busy = nima_state(r, nima_member(r, reader_behavior, 0), reader_behavior);
    ck_assert_uint_eq(busy->got, 2001);
    for (uint64_t i = 0; i < 50; i++) {
        const stranger *one = nima_state(r, nima_member(r, stranger_behavior, i), stranger_behavior);
        ck_assert_int_eq(one->turns, 60);
    }
    nima_close(r);
}
END_TEST

PITFALLS(
    { "pitfall 8: a mailbox knows its length", length_of_a_mailbox },
    { "pitfall 8: mailboxes give back what a flood took", mailboxes_give_back },
    { "pitfall 10: a busy agent holds up nobody", busy_agent },
    { "pitfall 11: order over several ways, on any layout", ways_on_any_layout },
    { "pitfall 18: ties at equal time by value, whoever else is there", ties_by_value },
    { "pitfall 30: bytes that nobody set decide nothing", unset_bytes })
