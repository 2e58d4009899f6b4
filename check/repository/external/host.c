/* host.c: a program outside this repository that embeds a run: loads a model, runs it to its end and prints the result
 * "visits" and the fingerprint. */
#include <inttypes.h>
#include <nima.h>

static int complain(const nima_run *run, nima_err err) {
    const char *detail = nima_error_detail(run);
    fprintf(stderr, "%s: %s\n", nima_error_text(err), detail ? detail : "");
    return 1;
}

int main(int argc, char **argv) {
    const nima_model *model;
    nima_run *run;
    nima_summary end;
    nima_err err;
    if (argc != 2) return 2;
    if ((err = nima_load(argv[1], &model)) != NIMA_OK) return complain(NULL, err);
    const nima_options options = { .seed = 7, .set = (const char *const[]){ "hops=1000", NULL } };
    if ((err = nima_open(&run, model, &options)) != NIMA_OK) return complain(NULL, err);
    if ((err = nima_run_to(run, NIMA_FOREVER)) != NIMA_OK) return complain(run, err);
    if ((err = nima_finish(run)) != NIMA_OK || (err = nima_look(run, &end)) != NIMA_OK) return complain(run, err);
    printf("visits %.0f fingerprint %016" PRIx64 "\n", nima_value(run, "visits"), end.fingerprint);
    nima_close(run);
    return 0;
}
