/* random_driver.c: runs random models and prints one line for each: what every executor and layout must agree on.
 *
 * It is linked twice, with the engine and with the reference, and knows neither. What it posts from outside, and where
 * a leg ends, follows from the number of the case alone. */
#include "random_case.h"
#include <stdlib.h>

extern const nima_model nima_model_;

typedef struct {
    uint64_t first, count;
    unsigned threads, legs;
    bool steps, trace;                       /* a part of the way step by step */
} task;

static uint64_t mixed(uint64_t number, uint64_t salt) {
    uint64_t h = (number + 1) * 0x9E3779B97F4A7C15u ^ salt * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ h >> 31) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 30;
}

/* Some messages, most of them to agents that are there from the beginning. */
static nima_err post_some(nima_run *run, uint64_t number, nima_time scale) {
    const uint64_t count = mixed(number, 1) % 3 ? 0 : mixed(number, 2) % 8;
    nima_err e = NIMA_OK;
    for (uint64_t i = 0; i < count && !e; i++) {
        const nima_id to = { mixed(number, 10 + i) % 3 << 44 | 1 << 20 | mixed(number, 20 + i) % 12 };
        const uint64_t word = mixed(number, 30 + i);
        const nima_time at = scale * (nima_time)(mixed(number, 40 + i) % 100);
        e = nima_post(run, to, at, 300, &word, 1 + (uint32_t)(word % 8));
        if (e == NIMA_E_USAGE) e = NIMA_OK;  /* a shard that this case does not have */
    }
    return e;
}

/* The end of the last leg; of half of the cases what the model declares, or until nothing is left. */
static nima_time end_of(uint64_t number, nima_time scale) {
    return mixed(number, 3) % 2 ? NIMA_FOREVER : 1 + scale * (nima_time)(mixed(number, 4) % 250);
}

/* What a step did: its time, and what was sent in it. */
static nima_err print_step(nima_run *run) {
    nima_summary s = { 0 };
    const nima_err e = nima_look(run, &s);
    uint64_t hash = 0;
    for (size_t i = 0; i < nima_sent_count(run); i++) {
        nima_id to;
        const nima_mail *m = nima_sent(run, i, &to);
        hash = mixed(hash ^ to.bits, (uint64_t)m->time);
        hash = mixed(hash ^ m->sender.bits, (uint64_t)m->sequence << 16 | m->type);
    }
    if (!e) printf("  step: time %lld events %llu fingerprint %016llX sent %zu %016llX\n", (long long)s.virtual_time,
                   (unsigned long long)s.events, (unsigned long long)s.fingerprint, nima_sent_count(run),
                   (unsigned long long)hash);
    return e;
}

static nima_err run_legs(nima_run *run, uint64_t number, const task *t) {
    random_case c;
    random_case_draw(&c, number);
    const nima_time end = end_of(number, c.scale);
    const nima_time whole = end != NIMA_FOREVER ? end : c.until ? c.until : 150 * c.scale;
    nima_err e = post_some(run, number, c.scale);
    for (uint64_t i = 0; t->steps && !e && i < mixed(number, 5) % 40; i++) {
        e = nima_run_step(run);
        if (!e) e = print_step(run);
    }
    for (unsigned leg = 1; leg < t->legs && !e; leg++)
        e = nima_run_to(run, (nima_time)(mixed(number, 6 + leg) % (uint64_t)whole));
    return e ? e : nima_run_to(run, end);
}

static void print_summary(nima_run *run, uint64_t number) {
    static const char *const count_names[] = { "events", "agents", "dead", "unread", "shards", "results", "halted",
                                               "exhausted" };
    static const char *const names[] = { "end", "drawn_count", "drawn_mean", "drawn_sd", "waits_sd", "load", "crowd",
                                         "zebra_x", "measured" };
    nima_summary s;
    nima_err e = nima_finish(run);
    if (!e) e = nima_look(run, &s);
    if (e) {
        printf("%llu: %s in finish\n", (unsigned long long)number, nima_error_text(e));
        return;
    }
    const uint64_t counts[] = { s.events, s.agents, s.dead_letters, s.unread, s.shards, s.results,
                                s.halted, s.exhausted };
    printf("%llu: fingerprint %016llX time %lld", (unsigned long long)number, (unsigned long long)s.fingerprint,
           (long long)s.virtual_time);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        printf(" %s %llu", count_names[i], (unsigned long long)counts[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const double x = nima_value(run, names[i]);
        if (x == x) printf(" %s %a", names[i], x);
        else printf(" %s NaN", names[i]);
    }
    printf("\n");
}

static void run_case(uint64_t number, const task *t) {
    char name[64], trace[16];
    snprintf(name, sizeof name, "number=%llu", (unsigned long long)number);
    snprintf(trace, sizeof trace, "trace=%s", t->trace ? "true" : "false");
    const char *const set[] = { name, trace, NULL };
    const nima_options options = { .seed = number, .threads = t->threads, .set = set, .record_sent = t->steps,
                                   .no_pin = true };
    nima_run *run;
    nima_err e = nima_open(&run, &nima_model_, &options);
    if (e) {
        printf("%llu: not opened: %s\n", (unsigned long long)number, nima_error_detail(NULL));
        return;
    }
    e = run_legs(run, number, t);
    if (e) {
        printf("%llu: %s\n", (unsigned long long)number, nima_error_text(e));
        if (t->trace) fprintf(stderr, "%s\n", nima_error_detail(run));
    } else print_summary(run, number);
    nima_close(run);
}

int main(int count, char **arguments) {
    task t = { .first = 1, .count = 200, .threads = 1, .legs = 1 };
    for (int i = 1; i < count; i++) {
        const char *a = arguments[i], *value = i + 1 < count ? arguments[i + 1] : "";
        if (!strcmp(a, "--steps")) t.steps = true;
        else if (!strcmp(a, "--trace")) t.trace = true;
        else if (!strcmp(a, "--first")) t.first = strtoull(value, NULL, 10), i++;
        else if (!strcmp(a, "--count")) t.count = strtoull(value, NULL, 10), i++;
        else if (!strcmp(a, "--threads")) t.threads = (unsigned)strtoul(value, NULL, 10), i++;
        else if (!strcmp(a, "--legs")) t.legs = (unsigned)strtoul(value, NULL, 10), i++;
        else {
            fprintf(stderr, "random models: [--first N] [--count N] [--threads N] [--legs N] [--steps] [--trace]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);        /* a crash leaves the cases before it */
    for (uint64_t i = 0; i < t.count; i++) run_case(t.first + i, &t);
    return 0;
}
