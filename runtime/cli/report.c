/* report.c: see report.h. */
#include "cli/report.h"
#include "cli/cli.h"
#include "cli/time_text.h"
#include "cluster/cluster.h"
#include "monitor/progress.h"
#include "store/number.h"
#include <stdlib.h>

static void results(const nima_run *run, FILE *to) {
    const size_t count = run_result_count(run);
    int width = 0;
    for (size_t i = 0; i < count; i++) {
        run_result_kind kind;
        double value;
        uint64_t hash;
        const int n = (int)strlen(run_result(run, i, &kind, &value, &hash));
        if (n > width) width = n;
    }
    for (size_t i = 0; i < count; i++) {
        run_result_kind kind;
        double value;
        uint64_t hash;
        char text[NUMBER_ROOM];
        const char *name = run_result(run, i, &kind, &value, &hash);
        if (kind == RUN_RESULT_HASH) number_hex(hash, text);
        else number_double(value, text);
        fprintf(to, "  %-*s  %s\n", width, name, text);
    }
}

/* "dead letters: 12 (order 10, tick 2)" */
static void by_type(const run_record *r, const char *what, uint64_t total, uint64_t (*of)(const nima_run *, uint32_t),
                    FILE *to) {
    if (!total) return;
    fprintf(to, "%s: %llu (", what, (unsigned long long)total);
    const char *comma = "";
    for (nima_part *const *p = r->request->model->parts; p < r->request->model->parts_end; p++) {
        if (!*p || (*p)->kind != NIMA_PART_MESSAGE) continue;
        const uint32_t type = ((const nima_message *)(const void *)*p)->type;
        const uint64_t n = of(r->run, type);
        if (!n) continue;
        fprintf(to, "%s%s %llu", comma, (*p)->name, (unsigned long long)n);
        comma = ", ";
    }
    fputs(")\n", to);
}

void report_summary(const run_record *r, FILE *to) {
    const nima_summary *s = &r->summary;
    char when[64], rate[32], events[32];
    time_write(s->virtual_time, r->request->model, when, sizeof when);
    progress_rate(s->wall_s > 0 ? (double)s->events / s->wall_s : 0, rate, sizeof rate);
    progress_rate((double)s->events, events, sizeof events);
    fprintf(to, "%s, seed %llu: %s at %s\n", r->request->model->name, (unsigned long long)r->request->options.seed,
            folder_status(r), when);
    if (!*r->message) results(r->run, to);
    fprintf(to, "%llu agents, %s events in %.3g s, %s events/s on %u worker%s\n", (unsigned long long)s->agents, events,
            s->wall_s, rate, s->threads, s->threads == 1 ? "" : "s");
    char split[400];
    cluster_summary(r->run, split, sizeof split);
    if (*split) fprintf(to, "%u dispatchers: %s\n", r->request->tuning.dispatchers, split);
    by_type(r, "dead letters", s->dead_letters, run_dead_letters_of, to);
    by_type(r, "left unread", s->unread, run_unread_of, to);
    if (!r->request->options.no_fingerprint) fprintf(to, "fingerprint %016llx\n", (unsigned long long)s->fingerprint);
    fprintf(to, "%s\n", r->folder);
}

/* A failure's text says "... AGENT at time T, step S": where --break would stop. */
static bool place(const char *message, char *at, size_t room) {
    const char *time_at = strstr(message, " at time ");
    long long t;
    unsigned step;
    if (!time_at || sscanf(time_at, " at time %lld, step %u", &t, &step) != 2) return false;
    const char *from = time_at;
    while (from > message && from[-1] != ' ') from--;
    if (!memchr(from, '[', (size_t)(time_at - from)) && !memchr(from, '#', (size_t)(time_at - from))) return false;
    return (size_t)snprintf(at, room, "%.*s@%lldtick:%u", (int)(time_at - from), from, t, step) < room;
}

void report_failure(const run_record *r) {
    char at[200], line[8192] = "nima run";
    cli_say("%s: %s", r->request->model->name, r->message);
    if (!place(r->message, at, sizeof at)) return;
    cli_quote(line, sizeof line, r->request->name);
    request_words(r->request, line, sizeof line);
    cli_quote(line, sizeof line, "--break");
    cli_quote(line, sizeof line, at);
    fprintf(stderr, "to stop there in gdb:\n  %s\n", line);
}
