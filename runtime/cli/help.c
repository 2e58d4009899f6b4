/* help.c: the table of verbs with their texts; `nima help [VERB]`, `nima help exit-codes`, `nima version`. */
#include "cli/cli.h"
#include "cli/model.h"

static const char run_help[] =
    "MODEL is a name (of a file in this folder, or of a model that came with nima, see below), a shared object, or a C or\n"
    "C++ file, which is compiled; the command is shown, the result is kept in ~/.cache/nima.\n"
    "\n"
    "  -p NAME=VALUE          a parameter of the model; `nima run MODEL --help` lists them\n"
    "  --seed N               seed of all random numbers; 0\n"
    "  --until T              end of virtual time; the model's own\n"
    "  --warmup T             tallies and levels begin here; 0\n"
    "  --threads N            workers; one a core\n"
    "  --no-pin               do not bind workers to cores\n"
    "  --dispatchers N        processes on this machine that share the run, each with its own workers; 1\n"
    "  --cluster FILE         hosts that share the run\n"
    "  --speed X              units of virtual time per second of wall time; as fast as it goes\n"
    "  --publish URL          lets others watch: tcp://HOST:PORT, ipc:///PATH or ws://HOST:PORT/PATH; may be repeated\n"
    "  --web [HOST:PORT]      serves a page that shows the run live, with pause, resume and stop; 127.0.0.1:6462\n"
    "  --load-change PERCENT  loads that changed by less are not published; 1\n"
    "  --out DIR              the run folder, new or empty; runs/<model>-<time>-s<seed>\n"
    "  --log LEVEL            what is kept in log.txt: error, warning, info or debug; info\n"
    "  --dead-letters WHAT    mail for agents that are no more: count, log or fail; count\n"
    "  --fingerprint          compute and print the fingerprint of the run's history\n"
    "  --json                 the last line on standard output is the outcome as one JSON object\n"
    "  --quiet                no progress, no summary\n"
    "  --trace FILTER         decoded messages as lines of JSON in the run folder's trace.jsonl; FILTER is `all`,\n"
    "                         or behaviors, messages and agents (person[17]), separated by commas\n"
    "  --break AGENT@T[:STEP] stop in gdb before that agent's first update at or after T: 'person[17]@3.5'\n"
    "\n"
    "T is a whole number of ticks, or has a unit (30day, 1.5h, 200tick), or a point (3.5): then it is in the model's unit.\n"
    "Ctrl-C once ends the run at the next moment and keeps its results; twice ends at once.\n";
static const char new_help[] =
    "Makes a folder NAME with a model (NAME.c), a unit test of it (test_NAME.c), a Makefile and a README. Then\n"
    "  nima run NAME\n"
    "  make -C NAME test\n";
static const char sweep_help[] =
    "  --grid 'NAME=A,B,C'    values of a parameter; or NAME=FIRST:LAST:STEP; several grids are combined\n"
    "  --replicates R         runs of each scenario; 10\n"
    "  --seed N               replicate r of every scenario has seed N + r - 1: scenarios share random numbers; 1\n"
    "  --jobs J               runs at a time; as many as fit the cores\n"
    "  --threads N            workers of each run; 1\n"
    "  --out DIR              the sweep's folder, sweeps/<model>; the same command again resumes an interrupted sweep\n"
    "  -p, --until, --warmup, --dead-letters, --quiet   as for run, the same in all scenarios\n"
    "\n"
    "DIR/table.csv: for each scenario and result n, mean, sd, half-width of the 95 % interval (Student), and the\n"
    "paired difference to the first scenario. DIR/runs.csv: each result of each run. DIR/runs/: the run folders.\n";
static const char verify_help[] =
    "Runs the model with 1, 2, 4 and 7 workers and on 2 dispatchers, shards taken in different orders, fresh memory filled\n"
    "with a byte, addresses laid out anew, each in a process of its own, and compares the histories. If two differ, it names\n"
    "the first agent, time, step and message at which they do, and the likely cause.\n"
    "\n"
    "  -p, --seed, --until, --warmup, --quiet   as for run\n"
    "  --threads N            workers at most; 7\n";
static const char show_help[] =
    "  nima show RUN-FOLDER 'person[17]'             as it was at the end, from agents.csv\n"
    "  nima show RUN-FOLDER 'person[17]' --at T      runs the same model again, up to T\n"
    "  nima show MODEL 'person[17]' [--at T]         runs the model, up to T\n"
    "  -p, --seed, --threads, --warmup               as for run\n";
static const char watch_help[] =
    "Prints what a run with --publish URL tells, one line of JSON a message: topic, counter, missed (if messages before it\n"
    "were lost), and the message's own values. TOPIC is a topic or the beginning of some: clock, load/, log/, run; all.\n"
    "Waits for the run if it has not begun; ends when the run does, or by Ctrl-C. docs/monitoring.md has the topics.\n";
static const char doctor_help[] =
    "Tells what this machine has: cores, NUMA regions, huge pages, limits, core files, compiler, debugger, GPU,\n"
    "libraries; and for what is missing, which Debian package brings it. Exit code 1 if something needed is missing.\n";

static const char cluster_help[] =
    "Asks each host that FILE names what it has (cores, memory, version, arithmetic, clock), whether it can listen at its address and\n"
    "reach the authority; prints a table, and what is wrong on which host. Exit code 1 if something is. docs/cluster.md has the settings.\n";

const cli_verb cli_verbs[] = {
    { "run", "MODEL [OPTIONS]", "runs a model", run_main, run_help },
    { "new", "NAME", "writes a model that builds and runs as it is, and a test of it", new_main, new_help },
    { "sweep", "MODEL [OPTIONS]", "runs a model over grids of parameters and many seeds", sweep_main, sweep_help },
    { "verify", "MODEL [OPTIONS]", "checks that a model has the same history on any layout", verify_main, verify_help },
    { "show", "RUN-OR-MODEL AGENT [--at T]", "an agent's fields", show_main, show_help },
    { "watch", "URL [TOPIC]", "what a run publishes, as lines of JSON", watch_main, watch_help },
    { "doctor", "", "what this machine has and what is missing", doctor_main, doctor_help },
    { "cluster", "check FILE", "whether the hosts of a configuration could share a run", cluster_main, cluster_help },
    { "help", "[VERB | exit-codes]", "this text, or more on one verb", help_main, NULL },
    { "version", "", "the version", version_main, NULL },
    { NULL, NULL, NULL, NULL, NULL } };

#define EXIT_LINE(name, code, text) printf("%4d  %s\n", code, text);

int help_main(int argc, char **argv) {
    const char *topic = argc > 1 ? argv[1] : "";
    if (argc > 2) return cli_usage("", "help on one thing at a time");
    if (!strcmp(topic, "exit-codes")) { CLI_EXITS(EXIT_LINE) return EXIT_GOOD; }
    for (const cli_verb *v = cli_verbs; v->name && *topic; v++) {
        if (strcmp(v->name, topic)) continue;
        printf("nima %s %s\n  %s\n%s%s", v->name, v->arguments, v->line, v->help ? "\n" : "", v->help ? v->help : "");
        if (v->main == run_main) {
            fputs("\nmodels that came with nima:", stdout);
            model_list(stdout);
            putchar('\n');
        }
        return EXIT_GOOD;
    }
    if (*topic && strcmp(topic, "help")) return cli_usage("", "no help on %s", topic);
    puts("nima VERB ...: agent models on all cores, with the same result on any number of them\n");
    for (const cli_verb *v = cli_verbs; v->name; v++) printf("  %-8s %-28s %s\n", v->name, v->arguments, v->line);
    puts("\nnima help VERB tells more, nima help exit-codes lists the exit codes.");
    return EXIT_GOOD;
}

int version_main(int argc, char **argv) {
    if (argc > 1 && argv[1][0] != '-') return cli_usage("", "version takes no argument");
    printf("nima %s (nima.h version %d)\n", NIMA_VERSION, NIMA_ABI);
    return EXIT_GOOD;
}
