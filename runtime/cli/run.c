/* run.c: `nima run`: one run from its options to its results; the life of a run is run_once, on one page. */
#include "cli/break.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/folder.h"
#include "cli/model.h"
#include "cli/report.h"
#include "cli/time_text.h"
#include "cli/trace.h"
#include "cluster/config.h"
#include "monitor/feed.h"
#include "parameters.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUN_OUT = REQUEST_OWN, RUN_SPEED, RUN_LOG, RUN_FINGERPRINT, RUN_JSON, RUN_TRACE, RUN_BREAK, RUN_DISPATCHERS,
       RUN_CLUSTER, RUN_PUBLISH, RUN_WEB, RUN_LOAD_CHANGE, RUN_HELP };
enum { PUBLISH_AT_MOST = 16 };
static const struct option long_options[] = { REQUEST_LONG, { "out", required_argument, NULL, RUN_OUT },
    { "speed", required_argument, NULL, RUN_SPEED }, { "log", required_argument, NULL, RUN_LOG },
    { "fingerprint", no_argument, NULL, RUN_FINGERPRINT }, { "json", no_argument, NULL, RUN_JSON },
    { "trace", required_argument, NULL, RUN_TRACE }, { "break", required_argument, NULL, RUN_BREAK },
    { "dispatchers", required_argument, NULL, RUN_DISPATCHERS }, { "cluster", required_argument, NULL, RUN_CLUSTER },
    { "publish", required_argument, NULL, RUN_PUBLISH }, { "web", optional_argument, NULL, RUN_WEB },
    { "load-change", required_argument, NULL, RUN_LOAD_CHANGE },
    { "help", no_argument, NULL, RUN_HELP }, { NULL, 0, NULL, 0 } };

typedef struct {
    request request;
    const char *out, *trace, *break_at, *cluster_file;
    const char *publish[PUBLISH_AT_MOST]; unsigned publish_count;
    const char *web; double load_change;
    bool fingerprint, json, help;
    cluster_config cluster;
    char command[8192];
} run_options;

/* ---- options ---- */
static int speed_option(request *r, const char *value) {
    char *end;
    r->tuning.speed = strtod(value, &end);
    if (end == value || *end || !isfinite(r->tuning.speed) || r->tuning.speed <= 0)
        return cli_usage("run", "--speed %s: expected units of virtual time per second, above 0", value);
    return EXIT_GOOD;
}

static int log_option(request *r, const char *value) {
    static const char *const levels[] = { "error", "warning", "info", "debug" };
    for (int i = 0; i < 4; i++) if (!strcmp(value, levels[i])) { r->tuning.log_level = i; return EXIT_GOOD; }
    return cli_usage("run", "--log %s: expected error, warning, info or debug", value);
}

static int dispatchers_option(request *r, const char *value) {
    uint64_t n;
    if (!cli_uint(value, &n) || n < 1 || n > 63) return cli_usage("run", "--dispatchers %s: expected 1 to 63", value);
    r->tuning.dispatchers = (unsigned)n;
    return EXIT_GOOD;
}

static int publish_option(run_options *o, const char *value) {
    if (!feed_is_address(value))
        return cli_usage("run", "--publish %s: expected tcp://HOST:PORT, ipc:///PATH or ws://HOST:PORT/PATH", value);
    if (o->publish_count == PUBLISH_AT_MOST) return cli_usage("run", "--publish: at most %d times", PUBLISH_AT_MOST);
    o->publish[o->publish_count++] = value;
    return EXIT_GOOD;
}

/* The address may be the next word: then that is an address, as no model's name is. */
static int web_option(run_options *o, char **argv, int argc) {
    o->web = optarg ? optarg : "";
    if (!optarg && optind < argc && *argv[optind] && feed_is_web_address(argv[optind])) o->web = argv[optind++];
    return feed_is_web_address(o->web) ? EXIT_GOOD : cli_usage("run", "--web %s: expected HOST:PORT, :PORT or PORT", o->web);
}

static int load_change_option(run_options *o, const char *value) {
    char *end;
    const double percent = strtod(value, &end);
    if (end == value || *end || !(percent >= 0 && percent <= 100))
        return cli_usage("run", "--load-change %s: expected 0 to 100 percent", value);
    o->load_change = percent / 100;
    return EXIT_GOOD;
}

static int use_cluster(run_options *o) {
    char error[1000];
    if (cluster_config_read(&o->cluster, o->cluster_file, error, sizeof error))
        return cli_usage("run", "--cluster %s", error);
    cluster_config_apply(&o->cluster, &o->request.options, &o->request.tuning);
    return EXIT_GOOD;
}

static int read_options(int argc, char **argv, run_options *o) {
    request *r = &o->request;
    snprintf(o->command, sizeof o->command, "nima");
    for (int i = 0; i < argc; i++) cli_quote(o->command, sizeof o->command, argv[i]);
    for (int option; (option = getopt_long(argc, argv, ":p:", long_options, NULL)) != -1;) {
        int code = request_option(r, option, optarg);
        switch (option) {
        case RUN_OUT: o->out = optarg; code = EXIT_GOOD; break;
        case RUN_SPEED: code = speed_option(r, optarg); break;
        case RUN_LOG: code = log_option(r, optarg); break;
        case RUN_FINGERPRINT: o->fingerprint = true; code = EXIT_GOOD; break;
        case RUN_JSON: o->json = true; code = EXIT_GOOD; break;
        case RUN_TRACE: o->trace = optarg; code = EXIT_GOOD; break;
        case RUN_BREAK: o->break_at = optarg; code = EXIT_GOOD; break;
        case RUN_DISPATCHERS: code = dispatchers_option(r, optarg); break;
        case RUN_PUBLISH: code = publish_option(o, optarg); break;
        case RUN_WEB: code = web_option(o, argv, argc); break;
        case RUN_LOAD_CHANGE: code = load_change_option(o, optarg); break;
        case RUN_HELP: o->help = true; code = EXIT_GOOD; break;
        case RUN_CLUSTER: o->cluster_file = optarg; code = EXIT_GOOD; break;
        default: if (code < 0) return cli_bad_option("run", argv, option);
        }
        if (code) return code;
    }
    if (optind + 1 < argc)
        return cli_usage("run", "one model at a time: %s, and then %s", argv[optind], argv[optind + 1]);
    if (optind == argc && !o->help) return cli_usage("run", "which model?");
    if (o->trace && o->break_at) return cli_usage("run", "--trace and --break: one at a time");
    if (o->cluster_file && r->tuning.dispatchers) return cli_usage("run", "--cluster and --dispatchers: one of them");
    if ((o->trace || o->break_at) && (o->cluster_file || r->tuning.dispatchers > 1))
        return cli_usage("run", "--trace and --break need one dispatcher");
    r->name = argv[optind];
    const unsigned dispatchers = r->tuning.dispatchers, cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (dispatchers > 1 && !r->options.threads) r->options.threads = cores > dispatchers ? cores / dispatchers : 1;
    r->options.no_fingerprint = !o->fingerprint && !o->json;
    return o->cluster_file ? use_cluster(o) : EXIT_GOOD;
}

static void print_parameters(const request *r) {
    const nima_model *m = r->model;
    printf("%s: %s\n\nparameters, each set by -p name=value:\n", m->name, m->help ? m->help : "");
    if (model_parameters(m)) parameters_help(model_parameters(m), stdout);
    else puts("  none");
    printf("\nunit of virtual time: %s, of %g ticks\n`nima help run` lists the options of every run\n", time_unit(m),
           time_ticks_per_unit(m));
}

/* ---- interruption ---- */
static _Atomic(nima_run *) interrupted_run;
static _Atomic int interruptions, interrupted_by = SIGINT;   /* a stop from the live page counts as Ctrl-C */

static void on_interrupt(int number) {
    static const char again[] = "\nnima: ending at the next moment, results are kept; once more ends at once\n";
    nima_run *run = atomic_load(&interrupted_run);
    if (!run || atomic_fetch_add(&interruptions, 1)) _exit(128 + number);
    atomic_store(&interrupted_by, number);
    run_request(run, RUN_STOP);
    if (number == SIGINT && write(2, again, sizeof again - 1) < 0) {}
}

static void watch_interrupts(nima_run *run) {
    struct sigaction a = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
    sigemptyset(&a.sa_mask);
    atomic_store(&interrupted_run, run);
    const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction before;
    for (int i = 0; i < 3; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(numbers[i], &a, NULL);
}

/* ---- one run ---- */
static int exit_code(nima_err error) {
    return error == NIMA_E_HALTED ? 128 + atomic_load(&interrupted_by) : (int)cli_exit_of(error);
}

static void warn_of_crowding(const request *r) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned dispatchers = r->tuning.dispatchers ? r->tuning.dispatchers : 1,
                   workers = r->options.threads * dispatchers;
    if ((long)workers > cores) cli_say("%u workers on %ld cores: they will wait for each other", workers, cores);
}

static nima_err drive(run_options *o, run_record *record, console *c, trace *t) {
    nima_run *run = record->run;
    char log[PATH_MAX + 16];
    snprintf(log, sizeof log, "%s/log.txt", record->folder);
    if (c) console_log(c, log);
    if (c && !o->request.quiet && !o->break_at) console_run(c, run);
    watch_interrupts(run);
    nima_err error = nima_run_to(run, o->request.until);
    if (c) console_run(c, NULL);
    if (error == NIMA_OK || error == NIMA_E_HALTED) {
        const nima_err finished = nima_finish(run);
        if (finished) error = finished;
    }
    if (t) { const nima_err traced = trace_end(t, record->folder); if (!error) error = traced; }
    return error;
}

/* ---- those who watch ---- */
static feed *feed_for(run_options *o, int *code) {
    char text[400];
    const feed_options options = { o->publish, o->publish_count, o->web, o->load_change };
    if (!o->publish_count && !o->web) return NULL;
    feed *f = feed_open(&options, &o->request.tuning, text, sizeof text);
    if (!f) { cli_say("%s", text); *code = EXIT_SYSTEM; }
    else if (feed_page(f, text, sizeof text)) cli_say("live page, with control: %s", text);
    return f;
}

static void feed_outcome_of(feed *f, const run_record *r) {
    const feed_outcome outcome = { .status = folder_status(r), .message = r->message, .exit = r->exit,
                                   .fingerprint = !r->request->options.no_fingerprint, .summary = r->summary };
    feed_end(f, &outcome);
}

static int run_once(run_options *o) {
    request *r = &o->request;
    char folder[PATH_MAX], message[2000] = "";
    bool made;
    nima_run *run = NULL;
    trace *t = NULL;
    feed *f = NULL;
    FILE *out = stdout;
    int code = folder_claim(o->out, r->model->name, r->options.seed, folder, &made);
    if (code) return code;
    r->options.out = folder;
    if (o->trace && !(t = trace_begin(o->trace, r, &code))) goto refused;
    if (o->break_at && (code = break_begin(o->break_at, r)) != EXIT_GOOD) goto refused;
    warn_of_crowding(r);
    f = feed_for(o, &code);
    if (code) goto refused;
    console *c = console_start();
    if (c) r->tuning.errors_fd = console_errors(c);
    code = request_open(r, &run);
    if (!code && t) code = trace_ready(t, run);
    if (!code && o->break_at) code = break_ready(run);
    run_record record = {.request = r,
                         .run = run,
                         .folder = folder,
                         .command = o->command,
                         .started = time(NULL),
                         .exit = -1,
                         .message = message};
    if (!code) {
        record.until = r->until == NIMA_FOREVER ? run_default_until(run) : r->until;
        if (!folder_record(&record)) code = EXIT_SYSTEM;
    }
    feed_given given = { .folder = folder, .seed = r->options.seed,
                         .dispatchers = r->tuning.dispatchers ? r->tuning.dispatchers : 1 };
    if (!code && f && !feed_begin(f, run, &given)) { cli_say("no thread to publish with"); code = EXIT_SYSTEM; }
    if (code) {
        if (c) console_stop(c, &out);
        if (f) feed_end(f, NULL);
        if (run) nima_close(run);
        goto refused;
    }
    record.error = drive(o, &record, c, t);
    record.exit = exit_code(record.error);
    if (record.error && record.error != NIMA_E_HALTED) snprintf(message, sizeof message, "%s", nima_error_detail(run));
    if (nima_look(run, &record.summary)) {}  /* the error is known already */
    run_counters_read(run, &record.counters);
    if (f) feed_outcome_of(f, &record);
    if (c) console_stop(c, &out);
    const bool recorded = folder_record(&record);
    code = record.exit ? record.exit : recorded ? EXIT_GOOD : EXIT_SYSTEM;
    if (*message) report_failure(&record);
    if (!r->quiet) report_summary(&record, out);
    if (o->json) folder_line(&record, out);
    fflush(out);
    if (ferror(out)) code = EXIT_SYSTEM;
    atomic_store(&interrupted_run, NULL);
    nima_close(run);
    if (t) trace_free(t);
    return code;
refused:
    if (made) folder_remove(folder);
    if (t) trace_free(t);
    return code;
}

int run_main(int argc, char **argv) {
    static run_options o = { .load_change = 0.01 };
    request_init(&o.request, "run");
    int code = read_options(argc, argv, &o);
    if (!code && o.help && !o.request.name) {
        char *words[] = { argv[0], argv[0], NULL };
        code = help_main(2, words);
    } else if (!code) {
        code = request_load(&o.request);
        if (!code && o.help) print_parameters(&o.request);
        else if (!code && o.break_at && !break_inside()) {
            code = break_begin(o.break_at, &o.request);
            if (!code) code = break_in_debugger(argv);
        }
        else if (!code) code = run_once(&o);
    }
    request_fini(&o.request);
    return code;
}
