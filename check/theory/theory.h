/* theory.h: what the tests against theory share: a table of situations for ctest, runs of a model by its name, their
 * results and agents' fields, and the comparison at four standard deviations, whose failure names the seed.
 *
 * Whatever fails ends the test: no function here returns an error. */
#ifndef THEORY_H
#define THEORY_H
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include "nima.h"

typedef struct { const char *name; const TTest *test; } situation;
int theory_main(const situation *all, size_t count, const char *only);   /* of one name, or all */

/* The end of each program: one line of the table a situation, which CMakeLists.txt reads. */
#define THEORY(...) \
    int main(int count, char **arguments) { \
        const situation table_[] = { __VA_ARGS__ }; \
        return theory_main(table_, sizeof table_ / sizeof *table_, count > 1 ? arguments[1] : NULL); }

typedef struct { const nima_model *model; nima_run *run; uint64_t seed; } theory;
#define SET(...) ((const char *const[]){ __VA_ARGS__, NULL })    /* "name=value", ... */

/* threads 0: one per core */
theory theory_open(const char *model, uint64_t seed, unsigned threads, const char *const *set);
nima_summary theory_to(theory *, nima_time until);           /* runs on; how it stands then */
void theory_finish(theory *);
double theory_result(const theory *, const char *name);      /* of a finished run */
const nima_behavior *theory_behavior(const theory *, const char *name);
double theory_field(const theory *, const nima_behavior *, uint64_t index, const char *field);   /* NaN: not alive */
theory theory_run(const char *model, uint64_t seed, const char *const *set);   /* to its end, on 1 thread; finished */
void theory_close(theory *);

void theory_compare(const theory *, const char *what, double value, double expected, double sd);

#endif
