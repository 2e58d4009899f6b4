/* verify.c: `nima verify`: the same run on several layouts. If histories differ, single conditions are changed one at a
 * time against a plain run, in which nothing varies; the first that makes a difference is the cause, and shows it most
 * plainly. */
#include "cli/cli.h"
#include "cli/verify.h"
#include <stdlib.h>

enum { TRIES = 3 };
static const struct option long_options[] = { REQUEST_LONG, { NULL, 0, NULL, 0 } };

static const layout plain = { 1, 0, -1, true, false, 0 };
typedef struct { layout layout; blame cause; } condition;
static const condition conditions[] = {      /* in this order: each is only tried when those before make no difference */
    { { 1, 0, -1, true, true, 0 }, BLAME_CLOCK },
    { { 1, 0, 0xA5, true, false, 0 }, BLAME_MEMORY },
    { { 1, 0, 0x3C, true, false, 0 }, BLAME_MEMORY },
    { { 1, 0, -1, false, false, 0 }, BLAME_ADDRESS },
    { { 1, 0, -1, false, true, 0 }, BLAME_ADDRESS },
    { { 1, 1, -1, true, false, 0 }, BLAME_SHARED },
    { { 1, 2, -1, true, false, 0 }, BLAME_SHARED } };

static int run_one(const request *r, const layout *l, history *h) {
    const int code = layout_run(r, l, false, 0, h);
    char text[200];
    if (code || r->quiet) return code;
    layout_text(l, text, sizeof text);
    printf("  %016llx  %6.2f s  %s\n", (unsigned long long)h->head.fingerprint, h->head.wall_s, text);
    if (h->head.error) printf("                    it fails: %s\n", h->head.detail);
    fflush(stdout);
    return code;
}

static bool same_outcome(const history *a, const history *b) {
    return a->head.error == b->head.error && (a->head.error ? !strcmp(a->head.detail, b->head.detail)
                                                             : a->head.fingerprint == b->head.fingerprint);
}

/* The first place where runs on two layouts differ. Again and again, since a race may come out differently. */
static int locate(const request *r, const layout *one, const layout *other) {
    nima_time from = 0;
    for (int i = 0; i < TRIES; i++) {
        history a, b;
        history_difference d;
        int code = layout_run(r, one, true, from, &a);
        if (code) return code;
        code = layout_run(r, other, true, from, &b);
        if (code) { history_free(&a); return code; }
        const history_verdict v = history_compare(&a, &b, &d);
        if (v == HISTORY_RECORD_AGAIN) from = d.again;
        if (v == HISTORY_DIFFER || v == HISTORY_RESULT) blame_place(r->model, &d);
        history_free(&a);
        history_free(&b);
        if (v == HISTORY_DIFFER || v == HISTORY_RESULT) return EXIT_GOOD;
    }
    if (from) printf("they differ from time %lld on, but never twice at the same place\n", (long long)from);
    else puts("recorded, they were equal every time: the difference comes and goes");
    return EXIT_GOOD;
}

static int explain(const request *r, const layout *suspect) {
    history a, b;
    puts("histories differ; changing one condition at a time:");
    int code = run_one(r, &plain, &a);
    if (code) return code;
    layout other = *suspect;
    blame cause = BLAME_UNKNOWN;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions && cause == BLAME_UNKNOWN && !code; i++) {
        code = run_one(r, &conditions[i].layout, &b);
        if (code) break;
        if (!same_outcome(&a, &b)) { other = conditions[i].layout; cause = conditions[i].cause; }
        history_free(&b);
    }
    history_free(&a);
    if (!code && cause == BLAME_UNKNOWN && suspect->dispatchers) cause = BLAME_PROCESS;
    if (!code && cause != BLAME_PROCESS) code = locate(r, &plain, &other);
    if (!code) { blame_cause(cause); code = EXIT_DIFFERS; }
    return code;
}

static int verify(const request *r) {
    const unsigned most = r->options.threads ? r->options.threads : 7;
    const layout layouts[] = { { 1, 0, -1, true, false, 0 },
                               { most < 2 ? most : 2, 1, 0xA5, false, false, 0 },
                               { most < 4 ? most : 4, 2, -1, false, false, 0 },
                               { most, 3, -1, false, false, 0 },
                               { 1, 4, -1, false, false, 2 } };
    history first, h;
    int code = run_one(r, &layouts[0], &first);
    if (code) return code;
    for (size_t i = 1; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].dispatchers > first.head.shards) break;   /* nothing to share; told below */
        code = run_one(r, &layouts[i], &h);
        if (code) break;
        const bool same = same_outcome(&first, &h);
        history_free(&h);
        if (!same) { code = explain(r, &layouts[i]); break; }
    }
    if (!code && first.head.error) {
        printf("it fails alike on all layouts: %s\n", first.head.detail);
        code = (int)cli_exit_of(first.head.error);
    } else if (!code) {
        printf("all histories are equal: fingerprint %016llx\n", (unsigned long long)first.head.fingerprint);
        if (first.head.shards == 1)
            puts("all agents are in one shard here, so no two run at once: verify also with more agents, or "
                 "nima_shards in setup");
    }
    history_free(&first);
    return code;
}

int verify_main(int argc, char **argv) {
    request r;
    request_init(&r, "verify");
    int code = EXIT_GOOD;
    for (int option; !code && (option = getopt_long(argc, argv, ":p:", long_options, NULL)) != -1;) {
        code = request_option(&r, option, optarg);
        if (code < 0) code = cli_bad_option("verify", argv, option);
    }
    if (!code && optind + 1 != argc)
        code = cli_usage("verify", optind == argc ? "which model?" : "one model at a time: %s", argv[argc - 1]);
    if (!code) {
        r.name = argv[optind];
        code = request_load(&r);
    }
    if (!code) code = verify(&r);
    request_fini(&r);
    return code;
}
