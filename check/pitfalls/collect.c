/* What a run collects does not pile up: rows, tallies, levels and the log go out as they come. Model: agents with a period
 * change a number at each beat. */
#include "nima.h"

NIMA_PARAMS((int64_t, agents, 2000, "1..", "", "agents"),
            (int64_t, beats, 2000, "1..", "", "beats"),
            (int64_t, sample, 1, "1..", "tick", "period of rows"),
            (int64_t, lines, 5, "0..", "", "agents that log at each beat"))
NIMA_STATE(beater, (int64_t, number), (uint64_t, read))
NIMA_BEHAVIOR(beater, update)
NIMA_REPORTER(total, sum, beater, "", (double)self->number)
NIMA_REPORTER(mean, mean, beater, "", (double)self->number)
NIMA_REPORTER(odd, count, beater, "", self->number % 2 != 0)
NIMA_BINS(numbers, beater, "", 0, 100, 20, (double)(self->number % 100))
NIMA_TALLY(observed, "")
NIMA_LEVEL(level, "")

static void beater_update(nima *me, beater *self) {
    const int64_t t = nima_now(me);
    if (nima_reported(me, total) != (t ? (double)(params_of(me)->agents * t) : 0)) nima_fail(me, "the row of %lld is wrong", (long long)t - 1);
    self->number++;
    nima_tally(me, observed, (double)t);
    nima_level(me, level, (double)(self->number % 3));
    if (nima_index(me) < (uint64_t)params_of(me)->lines) nima_log(me, NIMA_INFO, "number %lld", (long long)self->number);
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    beater_populate(s, (uint64_t)p->agents, 0);
    nima_period(s, beater_behavior, 1);
    nima_sample(s, p->sample);
    nima_until(s, p->beats);
}
static void finish(nima_view *v) {
    nima_result(v, "observed", nima_tally_mean(v, observed));
    nima_result(v, "observations", (double)nima_tally_count(v, observed));
    nima_result(v, "last", nima_last(v, total));
    nima_result(v, "level", nima_level_mean(v, level));
}
NIMA_MODEL(.name = "collect", .help = "beaters", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .finish = finish)

#include "pitfall.h"

static long lines_of(const char *folder, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s is missing", path);
    long lines = 0;
    for (int c; (c = getc(f)) != EOF;) lines += c == '\n';
    fclose(f);
    return lines;
}

START_TEST(memory_is_flat) {
    char folder[] = "/tmp/nima-collect-XXXXXX", command[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const nima_options o = { .threads = 2, .out = folder, .no_pin = true };
    const run_tuning t = RUN_TUNING_DEFAULT;
    nima_run *r = opened_with(&o, &t);
    advance(r, 100);
    const long before = resident_kib();
    advance(r, NIMA_FOREVER);
    const long after = resident_kib();
    ck_assert_flat(before, after, 256);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    ck_assert_double_eq_tol(nima_value(r, "observed"), 1999 / 2.0, 1e-9);
    ck_assert_double_eq(nima_value(r, "observations"), 2000.0 * 2000);
    ck_assert_double_eq(nima_value(r, "last"), 2000.0 * 2000);
    nima_close(r);
    ck_assert_int_eq(lines_of(folder, "model.csv"), 1 + 2000);
    ck_assert_int_eq(lines_of(folder, "agents.csv"), 1 + 2000);
    ck_assert_int_ge(lines_of(folder, "log.txt"), 5 * 2000);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(rows_go_out_at_once) {            /* what was sampled is on disk when a leg ends */
    char folder[] = "/tmp/nima-collect-XXXXXX", command[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const nima_options o = { .threads = 1, .out = folder, .no_pin = true };
    const run_tuning t = RUN_TUNING_DEFAULT;
    nima_run *r = opened_with(&o, &t);
    for (nima_time leg = 1; leg < 50; leg += 7) {
        advance(r, leg);
        ck_assert_int_eq(lines_of(folder, "model.csv"), 1 + leg);
    }
    nima_close(r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(equal_on_threads) {
    const char *const *set = SET("beats=50");
    const nima_summary one = whole_run(opened(1, set));
    ck_assert_uint_eq(one.events, 2000 + 2000 * 50);
    for (unsigned threads = 2; threads <= 4; threads++) ck_assert_uint_eq(whole_run(opened(threads, set)).fingerprint, one.fingerprint);
}
END_TEST

PITFALLS(
    { "pitfall 19: collected data do not pile up", memory_is_flat },
    { "pitfall 19: rows are on disk when a leg ends", rows_go_out_at_once },
    { "pitfall 14: what is collected is equal on any threads", equal_on_threads })
