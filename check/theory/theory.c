/* Runs of models by name for the tests against theory; see theory.h. */
#include <fcntl.h>
#include <unistd.h>
#include "theory.h"

int theory_main(const situation *all, size_t count, const char *only) {
    Suite *suite = suite_create("theory");
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, all[i].name) != 0) continue;
        TCase *one = tcase_create(all[i].name);
        tcase_set_timeout(one, 280);
        tcase_add_test(one, all[i].test);
        suite_add_tcase(suite, one);
        chosen++;
    }
    if (chosen == 0) {
        fprintf(stderr, "no such situation\n");
        return 2;
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}

static void must(nima_err code, const nima_run *run, const char *what) {
    ck_assert_msg(code == NIMA_OK, "%s: %s: %s", what, nima_error_text(code), nima_error_detail(run));
}

theory theory_open(const char *model, uint64_t seed, unsigned threads, const char *const *set) {
    theory t = { .seed = seed };
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", THEORY_EXAMPLES, model);
    FILE *there = fopen(path, "r");
    if (there) fclose(there);
    else snprintf(path, sizeof path, "%s/%s.so", THEORY_MODELS, model);
    must(nima_load(path, &t.model), NULL, path);
    const nima_options options = { .seed = seed, .threads = threads, .set = set, .no_pin = true };
    must(nima_open(&t.run, t.model, &options), NULL, model);
    return t;
}

nima_summary theory_to(theory *t, nima_time until) {
    nima_summary summary;
    must(nima_run_to(t->run, until), t->run, t->model->name);
    must(nima_look(t->run, &summary), t->run, t->model->name);
    return summary;
}

void theory_finish(theory *t) {               /* what the model prints is not looked at */
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    ck_assert(kept >= 0 && nowhere >= 0);
    dup2(nowhere, STDOUT_FILENO);
    nima_err code = nima_finish(t->run);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(nowhere);
    must(code, t->run, t->model->name);
}

double theory_result(const theory *t, const char *name) {
    double value = nima_value(t->run, name);
    ck_assert_msg(!isnan(value), "%s, seed %llu: no result %s", t->model->name, (unsigned long long)t->seed, name);
    return value;
}

const nima_behavior *theory_behavior(const theory *t, const char *name) {
    for (nima_part *const *part = t->model->parts; part < t->model->parts_end; part++)
        if (*part && (*part)->kind == NIMA_PART_BEHAVIOR && strcmp((*part)->name, name) == 0)
            return (const nima_behavior *)*part;
    ck_abort_msg("%s has no behavior %s", t->model->name, name);
}

double theory_field(const theory *t, const nima_behavior *behavior, uint64_t index, const char *field) {
    const char *state = nima_state(t->run, nima_member(t->run, behavior, index), behavior);
    if (!state) return NAN;
    for (const nima_field *f = behavior->fields; f->name; f++) {
        if (strcmp(f->name, field) != 0) continue;
        int64_t whole = 0;
        double real;
        switch (f->type) {
        case NIMA_DOUBLE:
            memcpy(&real, state + f->offset, sizeof real);
            return real;
        case NIMA_INT: case NIMA_UINT: case NIMA_BOOL:           /* of the tests' models none is negative and short */
            memcpy(&whole, state + f->offset, f->bytes);
            return (double)whole;
        default: break;
        }
    }
    ck_abort_msg("%s has no number %s", behavior->part.name, field);
}

theory theory_run(const char *model, uint64_t seed, const char *const *set) {
    theory t = theory_open(model, seed, 1, set);
    theory_to(&t, NIMA_FOREVER);
    theory_finish(&t);
    return t;
}

void theory_close(theory *t) { nima_close(t->run); }

void theory_compare(const theory *t, const char *what, double value, double expected, double sd) {
    ck_assert_msg(fabs(value - expected) <= 4 * sd, "%s, seed %llu: %s is %.9g, in theory %.9g +- 4 x %.3g",
                  t->model->name, (unsigned long long)t->seed, what, value, expected, sd);
}
