/* The library that embeds a run: parameters as texts, posting, single steps, what was sent, reading of agents.
 * Model: servers answer orders, after a delay, to the counter they belong to. */
#include "nima.h"

NIMA_PARAMS((int64_t, servers, 6, "1..", "", "servers"),
            (int64_t, shards, 3, "1..", "", "shards"),
            (int32_t, narrow, 5, "", "", "does not hold 4294967297"),
            (uint32_t, unsigned_narrow, 5, "", "", "nor does this"),
            (int64_t, wide, 5, "", "", "this does"),
            (uint64_t, widest, 5, "", "", "18446744073709551615"),
            (uint8_t, byte, 5, "", "", "255 at most"),
            (double, real, 0.5, "0..1", "", "in a range"),
            (nima_text, word, "a", "a|b", "", "one of two"))
NIMA_WORLD((nima_pop, server), (nima_pop, counter))
NIMA_MESSAGE(1, order, (int64_t, what))
NIMA_MESSAGE(2, answer, (int64_t, what))
NIMA_BYTES(3, blob)
NIMA_TOPIC(board)
NIMA_STATE(server, (int64_t, orders), (int64_t, last), (nima_id, from), (uint64_t, bytes))
NIMA_STATE(counter, (int64_t, answers), (int64_t, sum))
NIMA_BEHAVIOR(server, start, update)
NIMA_BEHAVIOR(counter, update)

static void server_start(nima *me, server *self) { (void)self; nima_subscribe(me, board, 1); }
static void server_update(nima *me, server *self) {
    NIMA_EACH(me, m) {
        const order *o = order_in(m);
        self->from = m->sender;
        if (!o) { self->bytes += m->bytes; continue; }
        self->orders++;
        self->last = o->what;
        if (o->what < 0) continue;
        answer_send(me, nima_at(world_of(me)->counter, 0), 2, o->what);
        order_alarm(me, 5, -1);
        if (o->what == 7) order_publish(me, board, 1, 3, -2);
    }
}
static void counter_update(nima *me, counter *self) {
    NIMA_EACH(me, m) {
        self->answers++;
        self->sum = self->sum * 10 + answer_in(m)->what;
    }
}
static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->server = server_populate(s, (uint64_t)p->servers, 0);
    setup_world(s)->counter = counter_populate(s, 1, 0);
    nima_shards(s, (uint32_t)p->shards);
    nima_lookahead(s, 2);
}
static void finish(nima_view *v) {
    const params *p = (const params *)v->params;
    nima_result(v, "narrow", p->narrow);
    nima_result(v, "wide", (double)p->wide);
    nima_result(v, "widest", p->widest == UINT64_MAX);
}
NIMA_MODEL(.name = "embed", .help = "servers", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .finish = finish)

#include "pitfall.h"

static const server *server_of(nima_run *r, uint64_t i) {
    return nima_state(r, nima_member(r, server_behavior, i), server_behavior);
}
static void post(nima_run *r, uint64_t to, nima_time at, int64_t what) {
    const nima_err code = nima_post(r, nima_member(r, server_behavior, to), at, order_type, &what, sizeof what);
    ck_assert_msg(code == NIMA_OK, "%s: %s", nima_error_text(code), nima_error_detail(r));
}

/* ---- parameters ---- */
static void refused(const char *set, const char *why) {
    nima_run *r;
    const nima_options o = { .threads = 1, .set = SET(set) };
    const nima_err code = nima_open(&r, &nima_model_, &o);
    ck_assert_msg(code == NIMA_E_PARAM, "%s: %s", set, nima_error_text(code));
    ck_assert_ptr_null(r);
    ck_assert_names(nima_error_detail(NULL), why);
}

START_TEST(large_numbers) {
    refused("narrow=4294967297", "narrow");
    refused("narrow=-2147483649", "narrow");
    refused("unsigned_narrow=4294967297", "unsigned_narrow");
    refused("unsigned_narrow=-1", "unsigned_narrow");
    refused("byte=256", "byte");
    refused("wide=9223372036854775808", "wide");
    refused("widest=18446744073709551616", "widest");
    refused("wide=5x", "wide");
    refused("wide=", "wide");
    refused("real=1.5", "real");
    refused("real=nan", "real");
    refused("word=c", "word");
    refused("nothing=1", "nothing");
    nima_run *r = opened(1, SET("wide=4294967297", "widest=18446744073709551615", "narrow=-2147483648"));
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_double_eq(nima_value(r, "wide"), 4294967297.0);
    ck_assert_double_eq(nima_value(r, "widest"), 1);
    ck_assert_double_eq(nima_value(r, "narrow"), -2147483648.0);
    nima_close(r);
}
END_TEST

/* ---- posting ---- */
START_TEST(posts_arrive) {
    for (unsigned threads = 1; threads <= 2; threads++) {
        nima_run *r = opened(threads, NULL);
        post(r, 5, 10, 1);
        post(r, 5, 10, 2);                   /* in order of posting */
        post(r, 0, 0, 3);                    /* at 0, beside the start */
        advance(r, 10);
        ck_assert_int_eq(server_of(r, 0)->orders, 2);            /* and its alarm of 5 */
        ck_assert_int_eq(server_of(r, 5)->orders, 0);
        advance(r, 11);
        ck_assert_int_eq(server_of(r, 5)->orders, 2);
        ck_assert_int_eq(server_of(r, 5)->last, 2);
        ck_assert(nima_is_nobody(server_of(r, 5)->from));
        post(r, 3, 11, 4);                   /* what is due now is not over yet */
        advance(r, NIMA_FOREVER);
        const counter *c = nima_state(r, nima_member(r, counter_behavior, 0), counter_behavior);
        ck_assert_int_eq(c->sum, 3124);      /* answers of one time by sequence */
        ck_assert_int_eq(look(r).virtual_time, 16);
        ck_assert(look(r).exhausted);
        post(r, 1, 100, 5);                  /* a new beginning after everything is done */
        advance(r, NIMA_FOREVER);
        ck_assert_int_eq(c->sum, 31245);
        ck_assert_int_eq(look(r).virtual_time, 105);
        nima_close(r);
    }
}
END_TEST

START_TEST(posts_refused) {
    nima_run *r = opened(1, NULL);
    static char large[70000];
    const nima_id one = nima_member(r, server_behavior, 0);
    advance(r, 10);
    post(r, 0, 20, 1);
    advance(r, 20);
    ck_assert_int_eq(nima_post(r, one, 19, order_type, NULL, 0), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, one, 30, 0, NULL, 0), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, one, 30, 65536, NULL, 0), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, one, 30, blob_type, large, 65537), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, (nima_id){ 0 }, 30, blob_type, NULL, 0), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, (nima_id){ one.bits | (uint64_t)500 << 44 }, 30, blob_type, NULL, 0), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(r, one, 30, blob_type, large, 65536), NIMA_OK);
    ck_assert_int_eq(nima_post(r, one, 30, blob_type, large, 1), NIMA_OK);
    advance(r, NIMA_FOREVER);                /* refused posts left the run as it was */
    ck_assert_uint_eq(server_of(r, 0)->bytes, 65537);
    ck_assert_int_eq(nima_post(r, one, 30, order_type, NULL, 0), NIMA_E_USAGE);      /* 30 is over */
    nima_close(r);
}
END_TEST

/* ---- sent ---- */
typedef struct { nima_time time; uint64_t to, sender, sequence, type; int64_t what; } sent_one;
static size_t sent_of(nima_run *r, sent_one *all) {
    for (size_t i = 0; i < nima_sent_count(r); i++) {
        nima_id to;
        const nima_mail *m = nima_sent(r, i, &to);
        int64_t what;
        ck_assert_uint_eq(m->bytes, sizeof what);
        memcpy(&what, nima_payload(m), sizeof what);
        all[i] = (sent_one){ m->time, to.bits, m->sender.bits, m->sequence, m->type, what };
    }
    return nima_sent_count(r);
}

START_TEST(what_was_sent) {
    static sent_one first[100], all[100];
    for (unsigned threads = 1; threads <= 3; threads++)
        for (uint64_t order = 0; order < 3; order++) {
            const nima_options o = { .threads = threads, .record_sent = true, .no_pin = true };
            run_tuning t = RUN_TUNING_DEFAULT;
            t.shard_order = order;
            nima_run *r = opened_with(&o, &t);
            for (int64_t i = 5; i >= 0; i--) post(r, (uint64_t)i, 10 + i % 2, i);
            post(r, 2, 12, 7);
            advance(r, 10);
            ck_assert_uint_eq(nima_sent_count(r), 0);
            advance(r, 12);                  /* six servers: an answer and an alarm each */
            const size_t count = sent_of(r, all);
            ck_assert_uint_eq(count, 12);
            if (threads == 1 && order == 0) memcpy(first, all, sizeof first);
            for (size_t i = 0; i < count; i++)
                ck_assert_msg(!memcmp(&all[i], &first[i], sizeof *all), "%u threads, order %llu: message %zu is another", threads,
                              (unsigned long long)order, i);
            advance(r, 13);                  /* an answer, an alarm, a publication, from one */
            ck_assert_uint_eq(sent_of(r, all), 3);
            ck_assert_int_eq(all[0].what, 7);
            ck_assert_uint_eq(all[0].to, nima_member(r, counter_behavior, 0).bits);
            ck_assert_uint_eq(all[1].to, nima_member(r, server_behavior, 2).bits);
            ck_assert_uint_eq(all[2].to, 0); /* to all who hear it */
            ck_assert_int_eq(all[2].time, 15);
            nima_close(r);
        }
    for (int i = 0; i < 6; i++) {            /* first all of time 10, by sender; the answer before the alarm */
        ck_assert_int_eq(first[i].time, i % 2 ? 15 : 12);
        ck_assert_int_eq(first[6 + i].time, i % 2 ? 16 : 13);
        ck_assert_uint_eq(first[i].sequence, (uint64_t)i % 2);
        if (i) ck_assert_uint_le(first[i - 1].sender, first[i].sender);
    }
}
END_TEST

START_TEST(recording_changes_nothing) {
    uint64_t prints[2];
    for (int record = 0; record < 2; record++) {
        const nima_options o = { .threads = 2, .record_sent = record, .no_pin = true };
        const run_tuning t = RUN_TUNING_DEFAULT;
        nima_run *r = opened_with(&o, &t);
        for (int64_t i = 0; i < 6; i++) post(r, (uint64_t)i, 10 + i % 2, i + 3);
        prints[record] = whole_run(r).fingerprint;
    }
    ck_assert_uint_eq(prints[0], prints[1]);
}
END_TEST

/* ---- steps and looks ---- */
START_TEST(one_step_at_a_time) {
    nima_run *r = opened(2, NULL);
    post(r, 2, 10, 7);
    static const nima_time at[] = { 0, 10, 12, 13, 15, 15 };     /* start; order; answer; publication; alarm; nothing */
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(nima_run_step(r), NIMA_OK);
        ck_assert_int_eq(look(r).virtual_time, at[i]);
    }
    ck_assert(look(r).exhausted);
    nima_close(r);
}
END_TEST

START_TEST(looking_changes_nothing) {
    uint64_t prints[2];
    for (int looks = 0; looks < 2; looks++) {
        nima_run *r = opened(2, NULL);
        for (int64_t i = 0; i < 6; i++) post(r, (uint64_t)i, 10 + i, i);
        for (nima_time t = 0; t < 20; t++) {
            advance(r, t);
            if (!looks) continue;
            const uint64_t print = look(r).fingerprint;
            ck_assert_uint_eq(look(r).fingerprint, print);
            ck_assert_ptr_null(nima_state(r, nima_member(r, server_behavior, 0), counter_behavior));
        }
        prints[looks] = whole_run(r).fingerprint;
    }
    ck_assert_uint_eq(prints[0], prints[1]);
}
END_TEST

START_TEST(usage_errors_end_nothing) {
    nima_run *r = opened(1, NULL);
    post(r, 0, 10, 1);
    ck_assert_int_eq(nima_run_to(r, -1), NIMA_E_USAGE);
    advance(r, NIMA_FOREVER);
    ck_assert_int_eq(server_of(r, 0)->orders, 2);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_uint_eq(look(r).results, 3);
    ck_assert(nima_value(r, "no such result") != nima_value(r, "no such result"));   /* NaN */
    nima_close(r);
    nima_close(NULL);
}
END_TEST

PITFALLS(
    { "pitfall 31: 4294967297 is not 1", large_numbers },
    { "embed: posts arrive in order, at 0, now and after the end", posts_arrive },
    { "embed: posts refused leave the run as it was", posts_refused },
    { "embed: what was sent, in one order on any threads", what_was_sent },
    { "embed: recording changes nothing", recording_changes_nothing },
    { "embed: one step at a time", one_step_at_a_time },
    { "embed: looking changes nothing", looking_changes_nothing },
    { "embed: wrong use ends nothing", usage_errors_end_nothing })
