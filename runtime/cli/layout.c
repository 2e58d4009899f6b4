/* layout.c: one run of verify in a process of its own: the asking side, and `nima _layout`, the process. */
#include "cli/cli.h"
#include "cli/verify.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAYOUT_ORDER = REQUEST_OWN, LAYOUT_DIRTY, LAYOUT_RECORD, LAYOUT_DISPATCHERS };
static const struct option long_options[] = { REQUEST_LONG, { "order", required_argument, NULL, LAYOUT_ORDER },
    { "dirty", required_argument, NULL, LAYOUT_DIRTY }, { "record", required_argument, NULL, LAYOUT_RECORD },
    { "dispatchers", required_argument, NULL, LAYOUT_DISPATCHERS }, { NULL, 0, NULL, 0 } };

void layout_text(const layout *l, char *text, size_t room) {
    char memory[40] = "as it comes", processes[40] = "";
    if (l->dirty >= 0) snprintf(memory, sizeof memory, "filled with %02x", (unsigned)l->dirty);
    if (l->dispatchers) snprintf(processes, sizeof processes, "%u dispatchers of ", l->dispatchers);
    snprintf(text, room, "%s%u worker%s, shard order %llu, memory %s, addresses %s%s", processes, l->threads,
             l->threads == 1 ? "" : "s", (unsigned long long)l->order, memory, l->fixed ? "fixed" : "anew",
             l->again ? ", once more" : "");
}

/* ---- the process ---- */
static int run_layout(request *r, const char *file, bool record, history *h) {
    nima_run *run;
    if (record) {
        r->tuning.on_delivery = history_delivery;
        r->tuning.on_delivery_arg = h;
    }
    const int code = request_open(r, &run);
    if (code) return code;
    if (!run_reproducible(run, 2)) {
        nima_close(run);
        return cli_usage("verify", "%s: with these parameters it shares a set that is not timed, so no two layouts need be alike",
                         r->model->name);
    }
    history_of_run(h, run);
    nima_err error = nima_run_to(run, r->until);
    if (!error) error = nima_finish(run);
    history_end(h, run, error);
    const bool written = history_write(h, file);
    nima_close(run);
    return written ? EXIT_GOOD : EXIT_SYSTEM;
}

int layout_main(int argc, char **argv) {
    request r;
    nima_time from = 0;
    bool record = false;
    request_init(&r, "verify");
    int code = EXIT_GOOD;
    for (int option; !code && (option = getopt_long(argc, argv, ":p:", long_options, NULL)) != -1;) {
        if (option == LAYOUT_ORDER) r.tuning.shard_order = strtoull(optarg, NULL, 10);
        else if (option == LAYOUT_DIRTY) r.tuning.dirty = atoi(optarg);
        else if (option == LAYOUT_DISPATCHERS) r.tuning.dispatchers = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == LAYOUT_RECORD) { record = true; from = strtoll(optarg, NULL, 10); }
        else if ((code = request_option(&r, option, optarg)) < 0) code = cli_bad_option("verify", argv, option);
    }
    if (!code && optind + 2 != argc) code = cli_usage("verify", "_layout is for verify itself");
    if (!code) {
        r.name = argv[optind];
        code = request_load(&r);
    }
    history *h = code ? NULL : history_new(from);
    if (!code) code = h ? run_layout(&r, argv[optind + 1], record, h) : EXIT_MEMORY;
    if (h) { history_free(h); free(h); }
    request_fini(&r);
    return code;
}

/* ---- the asking side ---- */
static noreturn void become_layout(const request *r, const layout *l, const char *record, const char *file,
                                   const char *path) {
    char threads[32], order[32], dirty[32], seed[32], perturb[32], dispatchers[32];
    snprintf(threads, sizeof threads, "%u", l->threads);
    snprintf(order, sizeof order, "%llu", (unsigned long long)l->order);
    snprintf(dirty, sizeof dirty, "%d", l->dirty);
    snprintf(dispatchers, sizeof dispatchers, "%u", l->dispatchers);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->options.seed);
    snprintf(perturb, sizeof perturb, "%03d", l->dirty >= 0 ? l->dirty : 0);   /* same length: same addresses */
    const char **words = calloc(32 + 2 * r->set_count, sizeof *words);
    const char *fixed[] = { "nima", "_layout", path, file, "--threads", threads, "--order", order, "--dirty", dirty,
                            "--dispatchers", dispatchers, "--seed", seed };
    size_t n = 0;
    if (!words) _exit(EXIT_MEMORY);
    for (; n < sizeof fixed / sizeof *fixed; n++) words[n] = fixed[n];
    if (record) { words[n++] = "--record"; words[n++] = record; }
    if (r->until_text) { words[n++] = "--until"; words[n++] = r->until_text; }
    if (r->warmup_text) { words[n++] = "--warmup"; words[n++] = r->warmup_text; }
    for (size_t i = 0; i < r->set_count; i++) { words[n++] = "-p"; words[n++] = r->set[i]; }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    setenv("MALLOC_PERTURB_", perturb, 1);
    if (l->fixed) personality(ADDR_NO_RANDOMIZE);
    execv(cli_self(), (char **)(uintptr_t)words);
    _exit(EXIT_SYSTEM);
}

int layout_run(const request *r, const layout *l, bool record, nima_time from, history *h) {
    char file[] = "/tmp/nima-verify-XXXXXX", from_text[32];
    const int fd = mkstemp(file);
    if (fd < 0) { cli_say("%s: %s", file, strerror(errno)); return EXIT_SYSTEM; }
    close(fd);
    snprintf(from_text, sizeof from_text, "%lld", (long long)from);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) become_layout(r, l, record ? from_text : NULL, file, r->path);
    int status = 0, code = EXIT_GOOD;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        cli_say("a process could not be started: %s", strerror(errno));
        code = EXIT_SYSTEM;
    } else if (WIFSIGNALED(status)) {
        char text[200];
        layout_text(l, text, sizeof text);
        cli_say("the process with %s ended by signal %d", text, WTERMSIG(status));
        code = EXIT_CRASH;
    } else
        code = WEXITSTATUS(status);
    if (!code && !history_read(h, file)) { cli_say("%s: not what a run writes", file); code = EXIT_SYSTEM; }
    unlink(file);
    return code;
}
