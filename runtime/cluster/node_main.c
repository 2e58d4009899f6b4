/* node_main.c: nima-node, the program that runs on each host of a run. `nima-node --join` watches the host's
 * dispatchers (join_main.c); `nima-node --describe` tells what the host has (describe_main.c); `nima-node --dispatcher
 * FOLDER NUMBER PARENT` is one, started by it: the folder (mode 0700) holds the run's description, the run's key and
 * the sockets. A dispatcher ends with the run, or with its parent, whatever becomes of it. */
#include "cluster/node.h"
#include "cluster/cluster.h"
#include "cluster/probe.h"
#include "run.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SETS_MAX = 1024 };
typedef struct { char *model; nima_options options; run_tuning tuning; const char *set[SETS_MAX + 1]; uint32_t sets;
                 unsigned first; } spec;             /* first: number of the first dispatcher of this host */

static bool read_id(const char *text, uint8_t id[16]) {
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        id[i] = (uint8_t)byte;
    }
    return true;
}

static bool read_line(spec *s, char *line) {
    char *value = strchr(line, ' ');
    if (!value) return false;
    *value++ = 0;
    value[strcspn(value, "\n")] = 0;
    const unsigned long long n = strtoull(value, NULL, 10);
    if (!strcmp(line, "model")) return (s->model = strdup(value)) != NULL;
    if (!strcmp(line, "set")) return s->sets < SETS_MAX && (s->set[s->sets++] = strdup(value)) != NULL;
    if (!strcmp(line, "run_id")) return strlen(value) == 32 && read_id(value, s->tuning.run_id);
    if (!strcmp(line, "seed")) s->options.seed = n;
    else if (!strcmp(line, "threads")) s->options.threads = (unsigned)n;
    else if (!strcmp(line, "dispatchers")) s->tuning.dispatchers = (unsigned)n;
    else if (!strcmp(line, "fingerprint")) s->options.no_fingerprint = n == 0;
    else if (!strcmp(line, "pin")) s->options.no_pin = n == 0;
    else if (!strcmp(line, "dirty")) s->tuning.dirty = atoi(value);
    else if (!strcmp(line, "log_level")) s->tuning.log_level = atoi(value);
    else if (!strcmp(line, "dead_letters")) s->tuning.dead_letters = (run_dead_letters)n;
    else if (!strcmp(line, "warmup")) s->tuning.warmup = strtoll(value, NULL, 10);
    else if (!strcmp(line, "shard_order")) s->tuning.shard_order = n;
    else if (!strcmp(line, "memory_limit")) s->tuning.memory_limit = n;
    else if (!strcmp(line, "record_sent")) s->options.record_sent = n != 0;
    else if (!strcmp(line, "here")) s->tuning.here = (unsigned)n;
    else if (!strcmp(line, "before")) s->first = (unsigned)n;
    else return false;
    return true;
}

int dispatcher_main(const char *folder, const char *number, const char *parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  /* a model needs none */
    if (getppid() != (pid_t)strtol(parent, NULL, 10)) return 1;      /* it died before we asked to die with it */
    signal(SIGINT, SIG_IGN);                 /* the leader decides */
    static spec s;
    s.tuning = RUN_TUNING_DEFAULT;
    char path[4096], line[65536];
    snprintf(path, sizeof path, "%s/run", folder);
    FILE *f = fopen(path, "re");
    if (!f) { perror(path); return 1; }
    while (fgets(line, sizeof line, f))
        if (!read_line(&s, line)) { fprintf(stderr, "%s: a line that is not understood: %s\n", path, line); return 1; }
    fclose(f);
    s.options.set = s.set;
    s.tuning.dispatcher = (unsigned)strtoul(number, NULL, 10);
    s.tuning.here_before = s.tuning.dispatcher - s.first;
    s.tuning.dispatcher_folder = folder;
    if (!s.options.threads) {
        const unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
        s.options.threads = s.tuning.here && cores > s.tuning.here ? cores / s.tuning.here : 1;
    }
    const nima_model *model;
    nima_run *run = NULL;
    char why[600] = "";
    nima_err code = nima_load(s.model, &model);
    if (!code) code = run_open(&run, model, &s.options, &s.tuning);
    if (code) snprintf(why, sizeof why, "dispatcher %s: %s", number, nima_error_detail(NULL));
    else code = cluster_follow(run);
    if (code && !*why) snprintf(why, sizeof why, "%s", nima_error_detail(run));
    if (*why) dprintf(NODE_WORDS_FD, "%s", why);
    nima_close(run);
    return code == NIMA_E_LINK ? NODE_EXIT_LINK : code ? 1 : 0;
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "--dispatcher")) return dispatcher_main(argv[2], argv[3], argv[4]);
    if (argc == 2 && !strcmp(argv[1], "--join")) return join_main();
    if (argc == 5 && !strcmp(argv[1], "--join") && !strcmp(argv[3], "--key")) return relay_main(argv[2], argv[4]);
    if (argc == 2 && !strcmp(argv[1], "--describe")) return describe_main();
    fputs("nima-node is started by nima, on other hosts by ssh, and is told what to do on its standard input:\n"
          "  --join      takes part in a run\n"
          "  --describe  tells what this host has, for `nima cluster check`\n"
          "or by hand, where there is no ssh:\n"
          "  --join tcp://HOST:PORT --key FILE   takes part in a run of the authority there, which has the same key\n",
          stderr);
    return 2;
}
