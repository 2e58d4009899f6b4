/* pitfall.h: what the tests of known pitfalls share: a table of situations for ctest, runs that must succeed, and
 * measures of this process. Each program is one model and its situations; the model runs through the embedding API. */
#ifndef PITFALL_H
#define PITFALL_H
#include "run.h"
#include <check.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

typedef struct { const char *name; const TTest *test; } situation;

/* PITFALLS(...) is the program's end: one line of the table a situation, which CMakeLists.txt reads. */
#define PITFALLS(...) \
    int main(int count, char **arguments) { \
        const situation all[] = { __VA_ARGS__ }; \
        return pitfalls_run(all, sizeof all / sizeof *all, count > 1 ? arguments[1] : NULL); }

static inline int pitfalls_run(const situation *all, size_t count, const char *only) {
    Suite *suite = suite_create("pitfalls");
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, all[i].name)) continue;
        TCase *one = tcase_create(all[i].name);
        tcase_set_timeout(one, 100);
        tcase_add_test(one, all[i].test);
        suite_add_tcase(suite, one);
        chosen++;
    }
    if (!chosen) { fprintf(stderr, "no such situation\n"); return 2; }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

/* Repetitions: more in the long form (NIMA_LONG). */
static inline int times(int usual) { return getenv("NIMA_LONG") ? 20 * usual : usual; }

/* "name=value", ... for nima_options.set */
#define SET(...) ((const char *const[]){ __VA_ARGS__, NULL })

static inline nima_run *opened_with(const nima_options *o, const run_tuning *t) {
    nima_run *r;
    const nima_err code = run_open(&r, &nima_model_, o, t);
    ck_assert_msg(code == NIMA_OK, "%s: %s", nima_error_text(code), nima_error_detail(NULL));
    return r;
}

static inline nima_run *opened(unsigned threads, const char *const *set) {
    const nima_options o = { .threads = threads, .set = set, .no_pin = true };
    const run_tuning t = RUN_TUNING_DEFAULT;
    return opened_with(&o, &t);
}

static inline void advance(nima_run *r, nima_time until) {
    const nima_err code = nima_run_to(r, until);
    ck_assert_msg(code == NIMA_OK, "%s: %s", nima_error_text(code), nima_error_detail(r));
}

static inline nima_summary look(nima_run *r) {
    nima_summary s;
    ck_assert_int_eq(nima_look(r, &s), NIMA_OK);
    return s;
}

/* Runs to the end (of the model's own, if it names one) and closes; what it looked like at its end, results included. */
static inline nima_summary whole_run(nima_run *r) {
    advance(r, NIMA_FOREVER);
    ck_assert_int_eq(nima_finish(r), NIMA_OK);
    const nima_summary s = look(r);
    nima_close(r);
    return s;
}

/* The error of a run that must fail, and its text; closes it. */
static inline nima_err failed_run(nima_run *r, char *text, size_t room) {
    const nima_err code = nima_run_to(r, NIMA_FOREVER);
    snprintf(text, room, "%s", nima_error_detail(r));
    nima_summary s;
    ck_assert_int_eq(nima_look(r, &s), code);
    ck_assert_int_eq(nima_run_to(r, NIMA_FOREVER), code);    /* and stays failed */
    ck_assert_int_eq(nima_finish(r), code);
    nima_close(r);
    return code;
}

#define ck_assert_names(text, part) ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not say \"%s\"", text, part)

static inline double wall_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double cpu_s(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static inline long pages_kib(int which) {      /* of this process: 0: mapped, 1: resident */
    long pages[2] = { 0, 0 };
    FILE *f = fopen("/proc/self/statm", "r");
    const int read = f ? fscanf(f, "%ld %ld", &pages[0], &pages[1]) : 0;
    if (f) fclose(f);
    ck_assert_int_eq(read, 2);
    return pages[which] * (sysconf(_SC_PAGESIZE) / 1024);
}
/* No growth between two measures, but for `slack`; sanitizers keep what was freed, so there it tells nothing. */
#define ck_assert_flat(before, after, slack) \
    ck_assert_msg(SANITIZED || (after) < (before) + (slack), "%ld KiB early, %ld KiB late", (long)(before), (long)(after))
static inline long mapped_kib(void) { return pages_kib(0); }
static inline long resident_kib(void) { return pages_kib(1); }
#endif
