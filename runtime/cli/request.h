/* request.h: the options that say which run is meant, shared by run, show, verify and sweep, and how they become a run.
 */
#ifndef NIMA_REQUEST_H
#define NIMA_REQUEST_H
#include "run.h"
#include <getopt.h>
#include <limits.h>

enum { REQUEST_SEED = 256, REQUEST_UNTIL, REQUEST_THREADS, REQUEST_WARMUP, REQUEST_NO_PIN, REQUEST_DEAD, REQUEST_QUIET,
       REQUEST_OWN };                        /* a verb's own options begin here */
#define REQUEST_LONG \
    { "param", required_argument, NULL, 'p' }, { "seed", required_argument, NULL, REQUEST_SEED }, \
    { "until", required_argument, NULL, REQUEST_UNTIL }, { "threads", required_argument, NULL, REQUEST_THREADS }, \
    { "warmup", required_argument, NULL, REQUEST_WARMUP }, { "no-pin", no_argument, NULL, REQUEST_NO_PIN }, \
    { "dead-letters", required_argument, NULL, REQUEST_DEAD }, { "quiet", no_argument, NULL, REQUEST_QUIET }

typedef struct {
    const char *verb, *name;                 /* of the model, as given */
    char path[PATH_MAX];                     /* of its shared object */
    const nima_model *model;
    const char **set; size_t set_count;      /* "name=value", NULL-terminated */
    const char *until_text, *warmup_text;
    nima_options options;
    run_tuning tuning;
    nima_time until;                         /* NIMA_FOREVER: the model's own */
    bool quiet;
} request;

void request_init(request *, const char *verb);
/* One option that getopt_long returned. -1: not one of these; else an exit code, EXIT_GOOD to go on. */
int request_option(request *, int option, const char *value);
/* Finds the model and reads what depends on it. Returns an exit code. */
int request_load(request *);
/* Opens the run, says why if it cannot. Returns an exit code. */
int request_open(request *, nima_run **);
bool request_time(const request *, const char *option, const char *text, nima_time *);   /* false: said why */
void request_fini(request *);
/* Options as words that give the same run: "-p a=1 --seed 3 ..." appended to line. */
void request_words(const request *, char *line, size_t room);
#endif
