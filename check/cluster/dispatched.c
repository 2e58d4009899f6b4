/* dispatched.c: check/layouts/random_driver.c, with its models run on several dispatchers. There the model is part of
 * the program; other processes need it in a file, which is loaded here in its place. NIMA_DISPATCHERS: how many. */
#include "run.h"
#include <stdlib.h>

static const nima_model in_a_file;
static nima_err open_dispatched(nima_run **run, const nima_model *ignored, const nima_options *options) {
    (void)ignored;
    const char *count = getenv("NIMA_DISPATCHERS");
    const nima_model *model;
    run_tuning tuning = RUN_TUNING_DEFAULT;
    tuning.dispatchers = count ? (unsigned)strtoul(count, NULL, 10) : 1;
    const nima_err code = nima_load(RANDOM_MODEL, &model);
    return code ? code : run_open(run, model, options, &tuning);
}

/* The driver's line has no room for the reason; the test shows it when lines differ. */
static void close_dispatched(nima_run *run) {
    if (*nima_error_detail(run)) fprintf(stderr, "%s\n", nima_error_detail(run));
    nima_close(run);
}

#define nima_close(run) close_dispatched(run)
#define nima_open(run, model, options) open_dispatched(run, &in_a_file, options)
#include "../layouts/random_driver.c"
