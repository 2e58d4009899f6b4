/* show.c: `nima show`: an agent's declared fields, from a run's folder or by running the model up to a time. */
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/request.h"
#include "cli/time_text.h"
#include "store/store.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOW_AT = REQUEST_OWN };
static const struct option long_options[] = {
    REQUEST_LONG, {"at", required_argument, NULL, SHOW_AT}, {NULL, 0, NULL, 0}};

/* ---- from agents.csv ---- */
/* Splits a line of a CSV file in place; returns the number of cells. */
static size_t cells_of(char *line, char **cells, size_t room) {
    size_t n = 0;
    char *from = line, *to = line;
    for (bool more = true; more && n < room; n++) {
        cells[n] = to;
        const bool quoted = *from == '"';
        if (quoted) from++;
        while (*from && (quoted ? *from != '"' || from[1] == '"' : *from != ',' && *from != '\n')) {
            if (quoted && *from == '"') from++;
            *to++ = *from++;
        }
        if (quoted && *from == '"') from++;
        more = *from == ',';
        if (*from) from++;
        *to++ = 0;
    }
    return n;
}

static bool is_named(char **cells, const char *agent) {
    const char *hash = strchr(agent, '#');
    return !strcmp(cells[1], agent) || (hash && strtoull(cells[0], NULL, 16) == strtoull(hash + 1, NULL, 16));
}

static int show_from_table(const char *folder, const char *agent) {
    enum { CELLS = 2048 };
    static char *names[CELLS], *cells[CELLS];
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/agents.csv", folder);
    FILE *f = fopen(path, "re");
    if (!f) {
        cli_say("%s: no such file; the run did not come to its end, --at T runs it again", path);
        return EXIT_USAGE;
    }
    char *head = NULL, *line = NULL;
    size_t head_room = 0, line_room = 0;
    const size_t columns = getline(&head, &head_room, f) > 0 ? cells_of(head, names, CELLS) : 0;
    bool found = false;
    while (!found && columns >= 3 && getline(&line, &line_room, f) > 0)
        found = cells_of(line, cells, CELLS) == columns && is_named(cells, agent);
    if (found) {
        printf("%s at the end, id %s\n", cells[1], cells[0]);
        for (size_t i = 3; i < columns; i++) if (*cells[i]) printf("  %-20s %s\n", names[i], cells[i]);
    } else cli_say("%s: no living agent %s at the end", path, agent);
    free(head);
    free(line);
    fclose(f);
    return found ? EXIT_GOOD : EXIT_USAGE;
}

/* ---- by running ---- */
static void print_state(const nima_behavior *b, const void *state) {
    char text[1024];
    for (uint32_t i = 0; i < b->field_count; i++) {
        const nima_field *f = &b->fields[i];
        if (f->type == NIMA_POINTER) snprintf(text, sizeof text, "(memory of its own)");
        else store_field_text(f, state, text, sizeof text);
        printf("  %-20s %s\n", f->name, text);
    }
    if (!b->field_count) puts("  no declared fields");
}

typedef struct { nima_id id; bool found; } search;
static void look_for(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    search *s = arg;
    if (!nima_same(id, s->id)) return;
    s->found = true;
    print_state(b, state);
}

static int show_by_running(request *r, const char *agent, const char *at) {
    nima_time until = r->until;
    if (at && !request_time(r, "--at", at, &until)) return EXIT_USAGE;
    nima_run *run;
    r->options.no_fingerprint = true;
    int code = request_open(r, &run);
    if (code) return code;
    char error[300], when[64];
    search s = { run_agent_parse(run, agent, error, sizeof error), false };
    nima_summary summary;
    nima_err failed = NIMA_E_USAGE;
    if (nima_is_nobody(s.id)) cli_say("%s", error);
    else if ((failed = nima_run_to(run, until)) || (failed = nima_look(run, &summary)))
        cli_say("%s", nima_error_detail(run));
    else {
        time_write(summary.virtual_time, r->model, when, sizeof when);
        printf("%s at %s (tick %lld), id %016llx\n", agent, when, (long long)summary.virtual_time,
               (unsigned long long)s.id.bits);
        run_each(run, look_for, &s);
        if (!s.found) { fflush(stdout); cli_say("%s is not alive then", agent); failed = NIMA_E_USAGE; }
    }
    nima_close(run);
    return (int)cli_exit_of(failed);
}

/* ---- what a run folder says of its run ---- */
typedef struct { request *request; char *model; int code; } recorded;
static void take_record(void *arg, const char *object, const char *key, const char *text, bool is_string) {
    recorded *r = arg;
    (void)is_string;
    char *copy = NULL;
    if (!*object && !strcmp(key, "model_file")) r->model = strdup(text);
    else if (!*object && !strcmp(key, "seed")) r->code |= request_option(r->request, REQUEST_SEED, text);
    else if (!*object && !strcmp(key, "warmup") && asprintf(&copy, "%s", text) > 0) r->request->warmup_text = copy;
    else if (!strcmp(object, "parameters") && asprintf(&copy, "%s=%s", key, text) > 0)
        r->code |= request_option(r->request, 'p', copy);
}

static bool is_run_folder(const char *path) {
    char record[PATH_MAX + 32];
    snprintf(record, sizeof record, "%.4000s/run.json", path);
    return !access(record, R_OK);
}

int show_main(int argc, char **argv) {
    request r;
    request_init(&r, "show");
    const char *at = NULL;
    int code = EXIT_GOOD;
    for (int option; !code && (option = getopt_long(argc, argv, ":p:", long_options, NULL)) != -1;) {
        if (option == SHOW_AT) { at = optarg; continue; }
        code = request_option(&r, option, optarg);
        if (code < 0) code = cli_bad_option("show", argv, option);
    }
    if (!code && optind + 2 != argc)
        code = cli_usage("show", "expected a run folder or a model, and an agent such as 'person[17]'");
    if (!code && is_run_folder(argv[optind])) {
        if (!at) code = show_from_table(argv[optind], argv[optind + 1]);
        else {
            char path[PATH_MAX + 32];
            snprintf(path, sizeof path, "%.4000s/run.json", argv[optind]);
            recorded record = { .request = &r };
            if (!json_read_file(path, take_record, &record) || !record.model || record.code) {
                cli_say("%s: not the record of a run", path);
                code = EXIT_USAGE;
            } else {
                r.name = record.model;
                r.quiet = true;
                code = request_load(&r);
                if (!code) code = show_by_running(&r, argv[optind + 1], at);
            }
        }
    } else if (!code) {
        r.name = argv[optind];
        code = request_load(&r);
        if (!code) code = show_by_running(&r, argv[optind + 1], at);
    }
    request_fini(&r);
    return code;
}
