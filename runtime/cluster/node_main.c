/* node_main.c: nima-node, the program of a dispatcher that follows. `nima-node --dispatcher FOLDER NUMBER` is started by the leader: the
 * folder (mode 0700) holds the run's description and the sockets. It ends with the run, or with its parent, whatever becomes of it. */
#include "cluster/cluster.h"
#include "run.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SETS_MAX = 1024 };
typedef struct { char *model; nima_options options; run_tuning tuning; const char *set[SETS_MAX + 1]; uint32_t sets; } spec;

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
    else return false;
    return true;
}

int main(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], "--dispatcher")) {
        fprintf(stderr, "nima-node is started by nima: nima-node --dispatcher FOLDER NUMBER\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);                 /* the leader decides */
    static spec s;
    s.tuning = RUN_TUNING_DEFAULT;
    char path[4096], line[65536];
    snprintf(path, sizeof path, "%s/run", argv[2]);
    FILE *f = fopen(path, "r");
    if (!f) { perror(path); return 1; }
    while (fgets(line, sizeof line, f))
        if (!read_line(&s, line)) { fprintf(stderr, "%s: a line that is not understood: %s\n", path, line); return 1; }
    fclose(f);
    s.options.set = s.set;
    s.tuning.dispatcher = (unsigned)strtoul(argv[3], NULL, 10);
    s.tuning.dispatcher_folder = argv[2];
    const nima_model *model;
    nima_run *run = NULL;
    nima_err code = nima_load(s.model, &model);
    if (!code) code = run_open(&run, model, &s.options, &s.tuning);
    if (code) { fprintf(stderr, "dispatcher %s: %s\n", argv[3], nima_error_detail(NULL)); return 1; }
    code = cluster_follow(run);
    if (code == NIMA_E_LINK) fprintf(stderr, "dispatcher %s: %s\n", argv[3], nima_error_detail(run));
    nima_close(run);
    return code ? 1 : 0;
}
