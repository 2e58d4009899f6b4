/* request.c: see request.h. */
#include "cli/request.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/time_text.h"
#include <stdlib.h>

void request_init(request *r, const char *verb) {
    *r = (request){ .verb = verb, .tuning = RUN_TUNING_DEFAULT, .until = NIMA_FOREVER };
    r->set = calloc(1, sizeof *r->set);
}
void request_fini(request *r) { free(r->set); }

static int add_parameter(request *r, const char *value) {
    if (!strchr(value, '=') || *value == '=') return cli_usage(r->verb, "-p %s: expected name=value", value);
    const char **grown = realloc(r->set, (r->set_count + 2) * sizeof *grown);
    if (!grown) { cli_say("no memory"); return EXIT_MEMORY; }
    r->set = grown;
    r->set[r->set_count++] = value;
    r->set[r->set_count] = NULL;
    return EXIT_GOOD;
}

int request_option(request *r, int option, const char *value) {
    uint64_t n;
    switch (option) {
    case 'p': return add_parameter(r, value);
    case REQUEST_SEED:
        if (!cli_uint(value, &r->options.seed))
            return cli_usage(r->verb, "--seed %s: expected 0 to 18446744073709551615", value);
        return EXIT_GOOD;
    case REQUEST_THREADS:
        if (!cli_uint(value, &n) || n < 1 || n > 4096)
            return cli_usage(r->verb, "--threads %s: expected 1 to 4096", value);
        r->options.threads = (unsigned)n;
        return EXIT_GOOD;
    case REQUEST_UNTIL: r->until_text = value; return EXIT_GOOD;
    case REQUEST_WARMUP: r->warmup_text = value; return EXIT_GOOD;
    case REQUEST_NO_PIN: r->options.no_pin = true; return EXIT_GOOD;
    case REQUEST_QUIET: r->quiet = true; return EXIT_GOOD;
    case REQUEST_DEAD:
        if (!strcmp(value, "count")) r->tuning.dead_letters = RUN_DEAD_COUNT;
        else if (!strcmp(value, "log")) r->tuning.dead_letters = RUN_DEAD_LOG;
        else if (!strcmp(value, "fail")) r->tuning.dead_letters = RUN_DEAD_FAIL;
        else return cli_usage(r->verb, "--dead-letters %s: expected count, log or fail", value);
        return EXIT_GOOD;
    default: return -1;
    }
}

bool request_time(const request *r, const char *option, const char *text, nima_time *t) {
    char error[300];
    if (time_parse(text, r->model, t, error, sizeof error)) return true;
    cli_usage(r->verb, "%s %s", option, error);
    return false;
}

int request_load(request *r) {
    int code;
    r->model = model_find(r->name, r->quiet, r->path, &code);
    if (!r->model) return code;
    if (r->until_text && !request_time(r, "--until", r->until_text, &r->until)) return EXIT_USAGE;
    if (r->warmup_text && !request_time(r, "--warmup", r->warmup_text, &r->tuning.warmup)) return EXIT_USAGE;
    return EXIT_GOOD;
}

int request_open(request *r, nima_run **run) {
    r->options.set = r->set;
    const nima_err code = run_open(run, r->model, &r->options, &r->tuning);
    if (!code) return EXIT_GOOD;
    cli_say("%s: %s", r->name, nima_error_detail(NULL));
    if (code == NIMA_E_PARAM) fprintf(stderr, "`nima run %s --help` lists the parameters\n", r->name);
    return (int)cli_exit_of(code);
}

static void two_words(char *line, size_t room, const char *option, const char *value) {
    cli_quote(line, room, option);
    cli_quote(line, room, value);
}

void request_words(const request *r, char *line, size_t room) {
    static const char *const policies[] = { "count", "log", "fail" };
    char number[32];
    for (size_t i = 0; i < r->set_count; i++) two_words(line, room, "-p", r->set[i]);
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->options.seed);
    two_words(line, room, "--seed", number);
    if (r->until_text) two_words(line, room, "--until", r->until_text);
    if (r->warmup_text) two_words(line, room, "--warmup", r->warmup_text);
    if (r->tuning.dead_letters != RUN_DEAD_COUNT)
        two_words(line, room, "--dead-letters", policies[r->tuning.dead_letters]);
}
