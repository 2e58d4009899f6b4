/* test_reference.c: the reference executor against histories worked out by hand from the semantics.
 *
 * One model; its parameter `scene` says what its agents do. Each scene is a function of the agent and a test. */
#include "nima.h"
#include "hash.h"
#include <check.h>
#include <stdlib.h>

typedef enum { ALARMS, PINGPONG, ORDER, SLOTS, PERIOD, SLEEP, HALT, CANCEL, TOPIC, NEAR, BELOW, SPREAD, REPORT,
               QUIET, FAMILY, STRANGER } scene;

NIMA_PARAMS((int64_t, scene, 0, "", "", "what is played"))
NIMA_WORLD((nima_pop, actors))
NIMA_MESSAGE(1, note, (int64_t, value))
NIMA_TOPIC(news)
NIMA_STATE(actor, (int64_t, updates), (int64_t, letters), (int64_t, trail), (nima_id, child), (nima_alarm, alarm))
NIMA_STATE(extra, (int64_t, updates), (int64_t, letters), (int64_t, trail))
NIMA_BEHAVIOR(actor, start, update, stop)
NIMA_BEHAVIOR(extra, start, update)
NIMA_REPORTER(total, sum, actor, "", (double)self->updates)

static nima_id other(nima *me, uint64_t i) { return nima_at(world_of(me)->actors, i); }
static scene now_playing(const nima *me) { return (scene)params_of(me)->scene; }

static void actor_start(nima *me, actor *self) {
    const uint64_t i = nima_index(me);
    switch (now_playing(me)) {
    case ALARMS:
        note_alarm(me, nima_ticks(me, 1), 1);
        note_alarm(me, nima_ticks(me, 1.5), 2);
        note_alarm(me, nima_ticks(me, 3), 3);
        note_alarm(me, nima_ticks(me, 21), 4);
        break;
    case PINGPONG: if (i == 0) note_send(me, other(me, 1), 0, 9999); break;
    case ORDER:
        if (i == 2) note_send(me, other(me, 0), 5, 4), note_send(me, other(me, 0), 5, 5);
        if (i == 1) note_send(me, other(me, 0), 5, 2), note_send(me, other(me, 0), 5, 3);
        if (i == 0) note_alarm(me, 5, 1);
        break;
    case SLOTS:
        if (i == 0) nima_stop(me);
        if (i == 1) {
            self->child = extra_spawn(me, 0, NULL);
            note_send(me, other(me, 0), 1, 0);   /* dead by then */
            note_send(me, self->child, 1, 0);
        }
        break;
    case PERIOD:
        if (i == 0) note_alarm(me, 5, 0);
        break;
    case SLEEP: nima_keep_awake(me, false); break;
    case HALT:
        note_alarm(me, 10, 0);
        if (i == 1) note_alarm(me, 11, 0), note_alarm(me, 13, 0);   /* a later halt, too late an alarm */
        break;
    case CANCEL:
        self->alarm = note_alarm(me, 100, 0);
        note_alarm(me, 7, 0);
        break;
    case TOPIC:
        if (i == 0) nima_subscribe(me, news, 3);
        if (i == 1) note_publish(me, news, 3, 0, 8), note_publish(me, news, 4, 50, 8);
        break;
    case NEAR: if (i == 0) note_send(me, other(me, 1), 0, 1), note_send(me, other(me, 2), 10, 1); break;
    case BELOW: if (i == 0) note_alarm(me, 3, 0); break;
    case SPREAD: if (i == 0) for (int k = 0; k < 4; k++) extra_spawn_far(me, 10, NULL); break;
    case REPORT: note_alarm(me, 4, 0); break;
    case QUIET: break;
    case FAMILY: extra_spawn(me, 10, NULL); break;
    case STRANGER: extra_spawn_far(me, 10, NULL); break;
    }
}

static void actor_update(nima *me, actor *self) {
    self->updates++;
    NIMA_EACH(me, m) {
        const int64_t value = note_in(m)->value;
        self->letters++;
        if (now_playing(me) != PINGPONG) self->trail = self->trail * 10 + value;
        else if (value) note_send(me, m->sender, 0, value - 1);
    }
    switch (now_playing(me)) {
    case PERIOD: if (nima_now(me) == 5 && nima_step(me) == 0) extra_spawn(me, 0, NULL), extra_spawn(me, 5, NULL); break;
    case HALT: nima_halt(me, "enough"); break;
    case CANCEL:
        self->trail = nima_cancel(me, self->alarm) ? 1 : 0;
        if (nima_cancel(me, self->alarm)) self->trail = 99;
        if (nima_move(me, self->alarm, 1).check) self->trail = 98;
        break;
    case BELOW: note_send(me, other(me, 1), 9, 1); break;
    case REPORT:
        self->trail = self->trail * 10 + (int64_t)nima_reported(me, total);
        if (nima_now(me) < 20) note_alarm(me, 4, 0);
        break;
    default: break;
    }
}

static void actor_stop(nima *me, actor *self) { self->letters += nima_next(me) != NULL; }
static void extra_start(nima *me, extra *self) {
    self->trail = nima_now(me) * 10 + nima_step(me);
    if (now_playing(me) == FAMILY || now_playing(me) == STRANGER) note_send(me, nima_parent(me), 9, 7);
}
static void extra_update(nima *me, extra *self) {
    self->updates++;
    while (nima_next(me)) self->letters++;
}

static void setup(nima_setup *s) {
    const scene which = (scene)params_of(s)->scene;
    const uint64_t counts[] = { [ALARMS] = 1, [PINGPONG] = 2, [ORDER] = 3, [SLOTS] = 3, [PERIOD] = 1, [SLEEP] = 1,
                                [HALT] = 2, [CANCEL] = 1, [TOPIC] = 2, [NEAR] = 4, [BELOW] = 2, [SPREAD] = 3,
                                [REPORT] = 1, [QUIET] = 1, [FAMILY] = 1, [STRANGER] = 1 };
    setup_world(s)->actors = actor_populate(s, counts[which], which == NEAR ? 2 : 0);
    if (which == NEAR || which == BELOW || which == SPREAD || which >= FAMILY) nima_lookahead(s, 10);
    if (which == HALT) nima_lookahead(s, 2);
    if (which == ORDER || which == SPREAD) nima_shards(s, 3);
    if (which == PERIOD || which == SLEEP) nima_period(s, actor_behavior, 5);
    if (which == PERIOD) nima_period(s, extra_behavior, 5);
    if (which == REPORT) nima_sample(s, 5), nima_lookahead(s, 3);
}

NIMA_MODEL(.name = "scenes", .help = "hand-worked histories", .setup = setup)

/* ---- playing --------------------------------------------------------------------------------------------------- */
static nima_run *open_scene(scene which) {
    char text[32];
    snprintf(text, sizeof text, "scene=%d", (int)which);
    const char *const set[] = { text, NULL };
    const nima_options options = { .set = set };
    nima_run *run;
    ck_assert_int_eq(nima_open(&run, &nima_model_, &options), NIMA_OK);
    return run;
}

static nima_run *play(scene which, nima_time until) {
    nima_run *run = open_scene(which);
    ck_assert_int_eq(nima_run_to(run, until), NIMA_OK);
    return run;
}

static nima_summary look(nima_run *run) {
    nima_summary s;
    ck_assert_int_eq(nima_look(run, &s), NIMA_OK);
    return s;
}

static const actor *member(const nima_run *run, uint64_t i) {
    return nima_state(run, nima_member(run, actor_behavior, i), actor_behavior);
}

START_TEST(alarms) {
    const nima_time second = 1000000;
    nima_run *run = play(ALARMS, 2 * second);
    ck_assert_int_eq(look(run).virtual_time, 2 * second);
    ck_assert_int_eq(member(run, 0)->trail, 12);
    for (int leg = 2; leg <= 10; leg++) {
        ck_assert_int_eq(nima_run_to(run, 2 * leg * second), NIMA_OK);
        ck_assert_int_eq(look(run).virtual_time, 2 * leg * second);
        ck_assert(!look(run).exhausted);
    }
    ck_assert_int_eq(nima_run_to(run, 22 * second), NIMA_OK);
    ck_assert_int_eq(look(run).virtual_time, 21 * second);
    ck_assert_int_eq(member(run, 0)->trail, 1234);
    ck_assert(look(run).exhausted);
    nima_close(run);
}
END_TEST

START_TEST(pingpong) {
    nima_run *run = play(PINGPONG, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 0)->updates, 5000);
    ck_assert_int_eq(member(run, 1)->updates, 5000);
    ck_assert_int_eq(look(run).virtual_time, 0);
    ck_assert_uint_eq(look(run).events, 10002);
    nima_close(run);
}
END_TEST

START_TEST(order_is_sender_then_sequence) {
    nima_run *run = play(ORDER, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 0)->trail, 12345);
    ck_assert_int_eq(member(run, 0)->updates, 1);
    ck_assert_uint_eq(nima_member(run, actor_behavior, 2).bits, (uint64_t)2 << 44 | 1 << 20);
    nima_close(run);
}
END_TEST

START_TEST(slot_is_free_in_the_same_step) {
    nima_run *run = play(SLOTS, NIMA_FOREVER);
    const nima_id child = member(run, 1)->child;
    ck_assert_uint_eq(child.bits, 2 << 20 | 0);
    const extra *e = nima_state(run, child, extra_behavior);
    ck_assert_int_eq(e->letters, 1);
    ck_assert_int_eq(e->trail, 1);           /* started at (0, 1) */
    ck_assert_uint_eq(look(run).dead_letters, 1);
    ck_assert_ptr_null(member(run, 0));
    nima_close(run);
}
END_TEST

START_TEST(period_and_births) {
    nima_run *run = play(PERIOD, 20);
    /* actor: 0 5 10 15; extra born at (5, 1): 10 15; extra born at (10, 0): 10 15 */
    ck_assert_int_eq(member(run, 0)->updates, 4);
    ck_assert_uint_eq(look(run).events, 3 + 4 + 4);
    ck_assert_int_eq(look(run).virtual_time, 20);
    nima_close(run);
}
END_TEST

START_TEST(sleep_acts_from_the_next_due_time) {
    nima_run *run = play(SLEEP, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 0)->updates, 1);
    ck_assert_int_eq(look(run).virtual_time, 0);
    nima_close(run);
}
END_TEST

START_TEST(halt_is_an_end) {
    nima_run *run = play(HALT, NIMA_FOREVER);
    ck_assert_int_eq(look(run).virtual_time, 12);
    ck_assert(look(run).halted);
    ck_assert_int_eq(nima_run_to(run, 100), NIMA_OK);
    ck_assert_int_eq(look(run).virtual_time, 12);
    ck_assert_int_eq(member(run, 1)->updates, 2);
    nima_close(run);
}
END_TEST

START_TEST(cancelled_alarm_leaves_no_trace) {
    nima_run *run = play(CANCEL, NIMA_FOREVER);
    ck_assert_int_eq(look(run).virtual_time, 7);
    ck_assert_int_eq(member(run, 0)->trail, 1);
    nima_close(run);
}
END_TEST

START_TEST(topic_reaches_subscribers) {
    nima_run *run = play(TOPIC, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 0)->trail, 8);
    ck_assert_int_eq(member(run, 1)->letters, 0);
    ck_assert_uint_eq(look(run).dead_letters, 0);
    ck_assert_int_eq(look(run).virtual_time, 50);   /* the unheard publication */
    nima_close(run);
}
END_TEST

START_TEST(near_and_exactly_lookahead) {
    nima_run *run = play(NEAR, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 1)->letters, 1);
    ck_assert_int_eq(member(run, 2)->letters, 1);
    ck_assert_int_eq(look(run).virtual_time, 10);
    nima_close(run);
}
END_TEST

START_TEST(child_joins_the_group) {
    nima_run *run = play(FAMILY, NIMA_FOREVER);
    ck_assert_int_eq(member(run, 0)->trail, 7);
    ck_assert_int_eq(look(run).virtual_time, 19);
    nima_close(run);
}
END_TEST

START_TEST(child_from_elsewhere_is_a_group_by_itself) {
    nima_run *run = open_scene(STRANGER);
    ck_assert_int_eq(nima_run_to(run, NIMA_FOREVER), NIMA_E_MODEL);
    ck_assert_ptr_nonnull(strstr(nima_error_detail(run), "extra#100001 at tick 10"));
    nima_close(run);
}
END_TEST

START_TEST(below_lookahead_is_an_error) {
    nima_run *run = open_scene(BELOW);
    ck_assert_int_eq(nima_run_to(run, NIMA_FOREVER), NIMA_E_MODEL);
    ck_assert_ptr_nonnull(strstr(nima_error_detail(run), "actor[0]"));
    ck_assert_ptr_nonnull(strstr(nima_error_detail(run), "tick 3"));
    ck_assert_ptr_nonnull(strstr(nima_error_detail(run), "type 1"));
    nima_close(run);
}
END_TEST

START_TEST(spread_goes_round) {
    nima_run *run = play(SPREAD, NIMA_FOREVER);
    const uint64_t shards[] = { 1, 2, 0, 1 }, slots[] = { 1, 1, 1, 2 };   /* from shard 0: 1, 2, home, 1 again */
    for (int k = 0; k < 4; k++) {
        const nima_id child = { shards[k] << 44 | 1 << 20 | slots[k] };
        const extra *e = nima_state(run, child, extra_behavior);
        ck_assert_ptr_nonnull(e);
        ck_assert_int_eq(e->trail, 100);
    }
    ck_assert_uint_eq(look(run).agents, 7);
    nima_close(run);
}
END_TEST

START_TEST(report_is_old_enough) {
    nima_run *run = play(REPORT, NIMA_FOREVER);
    /* updates at 4 8 12 16 20 read the rows at 0 5 5 10 15; each digit follows the 0 of the message */
    ck_assert_int_eq(member(run, 0)->trail, 1010203);
    nima_close(run);
}
END_TEST

START_TEST(fingerprint_of_one_quiet_agent) {
    nima_run *run = play(QUIET, NIMA_FOREVER);
    uint64_t h = hash_mum((1 << 20) ^ HASH_K0, 0 ^ HASH_K1);
    h = hash_mum(h, HASH_K2);
    h = hash_mum(h, HASH_K3);
    h = hash_mum(h, HASH_K4);
    for (int word = 0; word < 4 + 3; word++) h = hash_mum(h, HASH_K2);
    ck_assert_uint_eq(look(run).fingerprint, hash_mum(h ^ HASH_K3, HASH_K4));
    nima_close(run);
}
END_TEST

START_TEST(post_arrives_with_sender_nobody) {
    nima_run *run = play(QUIET, 10);
    const note n = { 6 };
    ck_assert_int_eq(nima_post(run, nima_member(run, actor_behavior, 0), 9, 1, &n, sizeof n), NIMA_E_USAGE);
    ck_assert_int_eq(nima_post(run, nima_member(run, actor_behavior, 0), 12, 1, &n, sizeof n), NIMA_OK);
    ck_assert_int_eq(nima_run_to(run, 20), NIMA_OK);
    ck_assert_int_eq(member(run, 0)->trail, 6);
    ck_assert_int_eq(look(run).virtual_time, 12);
    nima_close(run);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reference");
    TCase *c = tcase_create("scenes");
    tcase_add_test(c, alarms);
    tcase_add_test(c, pingpong);
    tcase_add_test(c, order_is_sender_then_sequence);
    tcase_add_test(c, slot_is_free_in_the_same_step);
    tcase_add_test(c, period_and_births);
    tcase_add_test(c, sleep_acts_from_the_next_due_time);
    tcase_add_test(c, halt_is_an_end);
    tcase_add_test(c, cancelled_alarm_leaves_no_trace);
    tcase_add_test(c, topic_reaches_subscribers);
    tcase_add_test(c, near_and_exactly_lookahead);
    tcase_add_test(c, child_joins_the_group);
    tcase_add_test(c, child_from_elsewhere_is_a_group_by_itself);
    tcase_add_test(c, below_lookahead_is_an_error);
    tcase_add_test(c, spread_goes_round);
    tcase_add_test(c, report_is_old_enough);
    tcase_add_test(c, fingerprint_of_one_quiet_agent);
    tcase_add_test(c, post_arrives_with_sender_nobody);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
