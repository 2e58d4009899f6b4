/* sweep_run.c: the runs of a sweep, each in a process of its own, `jobs` at a time. A run works in a folder s1-r1.part,
 * which gets its name when the run has ended well: what bears its name is finished and is never done again. */
#include "cli/sweep.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/time_text.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct { pid_t pid; size_t scenario; uint64_t replicate; FILE *errors; double started; } job;

static volatile sig_atomic_t interrupted;
static void on_interrupt(int number) { interrupted = number; }

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_finished(const sweep *s, size_t scenario, uint64_t replicate) {
    char path[PATH_MAX];
    sweep_folder(s, scenario, replicate, "", path);
    return !access(path, F_OK);
}

/* "a=1, b=2, seed 3" */
static void describe(const sweep *s, const job *j, char *text, size_t room) {
    size_t at = 0;
    for (size_t g = 0; g < s->grid_count && at < room; g++)
        at += (size_t)snprintf(text + at, room - at, "%s=%s, ", s->grids[g].name,
                               grid_value(s->grids, s->grid_count, g, j->scenario));
    if (at < room) snprintf(text + at, room - at, "seed %llu", (unsigned long long)sweep_seed(s, j->replicate));
}

static noreturn void become_run(const sweep *s, const job *j) {
    char folder[PATH_MAX], seed[32], threads[32];
    const request *r = &s->request;
    const size_t most = 32 + 2 * (r->set_count + s->grid_count);
    char **words = calloc(most, sizeof *words);
    size_t n = 0;
    sweep_folder(s, j->scenario, j->replicate, ".part", folder);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)sweep_seed(s, j->replicate));
    snprintf(threads, sizeof threads, "%u", r->options.threads);
    static const char *const policies[] = { "count", "log", "fail" };
    const char *fixed[] = {
        "nima", "run",       r->path, "--quiet", "--fingerprint", "--no-pin",       "--seed",
        seed,   "--threads", threads, "--out",   folder,          "--dead-letters", policies[r->tuning.dead_letters]};
    if (!words) _exit(EXIT_MEMORY);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) words[n++] = (char *)(uintptr_t)fixed[i];
    if (r->until_text) { words[n++] = (char *)(uintptr_t)"--until"; words[n++] = (char *)(uintptr_t)r->until_text; }
    if (r->warmup_text) { words[n++] = (char *)(uintptr_t)"--warmup"; words[n++] = (char *)(uintptr_t)r->warmup_text; }
    for (size_t i = 0; i < r->set_count; i++) {
        words[n++] = (char *)(uintptr_t) "-p";
        words[n++] = (char *)(uintptr_t)r->set[i];
    }
    for (size_t g = 0; g < s->grid_count; g++) {
        words[n++] = (char *)(uintptr_t)"-p";
        if (asprintf(&words[n++], "%s=%s", s->grids[g].name, grid_value(s->grids, s->grid_count, g, j->scenario)) < 0)
            _exit(EXIT_MEMORY);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(fileno(j->errors), 2);
    execv(cli_self(), words);
    _exit(EXIT_SYSTEM);
}

static int start(const sweep *s, job *j) {
    char folder[PATH_MAX];
    sweep_folder(s, j->scenario, j->replicate, ".part", folder);
    folder_remove(folder);
    j->errors = tmpfile();
    j->started = now_s();
    fflush(NULL);
    j->pid = j->errors ? fork() : -1;
    if (j->pid == 0) become_run(s, j);
    if (j->pid > 0) return EXIT_GOOD;
    cli_say("a run could not be started: %s", strerror(errno));
    if (j->errors) fclose(j->errors);
    return EXIT_SYSTEM;
}

/* What a run that failed had to say. */
static void pass_on(FILE *errors) {
    char line[2000];
    rewind(errors);
    while (fgets(line, sizeof line, errors)) fputs(line, stderr);
}

/* EXIT_GOOD: the run is finished. */
static int finish(const sweep *s, const job *j, int status, bool stopping) {
    char part[PATH_MAX], whole[PATH_MAX], text[2000];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    sweep_folder(s, j->scenario, j->replicate, ".part", part);
    sweep_folder(s, j->scenario, j->replicate, "", whole);
    if (!code && rename(part, whole)) { cli_say("%s: %s", whole, strerror(errno)); code = EXIT_SYSTEM; }
    if (code && !stopping) {
        describe(s, j, text, sizeof text);
        cli_say("run with %s failed, exit code %d:", text, code);
        pass_on(j->errors);
    }
    fclose(j->errors);
    return code;
}

static void tell(const sweep *s, const job *j, uint64_t done, uint64_t all, double since) {
    char text[2000];
    if (s->request.quiet) return;
    if (isatty(2)) {
        fprintf(stderr, "\r\033[K%llu of %llu runs, %.0f s left", (unsigned long long)done, (unsigned long long)all,
                done ? since / (double)done * (double)(all - done) : 0);
        if (done == all) fputc('\n', stderr);
        return;
    }
    describe(s, j, text, sizeof text);
    cli_say("%llu of %llu: %s, %.2f s", (unsigned long long)done, (unsigned long long)all, text, now_s() - j->started);
}

static void stop_all(const job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++) if (jobs[i].pid > 0) kill(jobs[i].pid, SIGTERM);
}

typedef struct { sweep *s; job *jobs; uint64_t at, all, todo, done; int code; double began; } pool;

/* Starts the next unfinished run in a free place; false: there is none. Replicates run slowest, so that an early look
 * at the table sees all scenarios. */
static bool start_next(pool *p, job *free_job) {
    for (; p->at < p->all; p->at++) {
        *free_job = (job){ .scenario = (size_t)(p->at % p->s->scenarios), .replicate = p->at / p->s->scenarios };
        if (is_finished(p->s, free_job->scenario, free_job->replicate)) continue;
        p->at++;
        const int code = start(p->s, free_job);
        if (code) p->code = code;
        return code == EXIT_GOOD;
    }
    return false;
}

static void reap(pool *p) {
    int status;
    const pid_t pid = wait(&status);
    for (uint64_t i = 0; i < p->s->jobs && pid > 0; i++) {
        job *j = &p->jobs[i];
        if (j->pid != pid) continue;
        j->pid = 0;
        const int code = finish(p->s, j, status, interrupted || p->code);
        if (code == EXIT_USAGE || code == EXIT_LOAD) p->code = code;      /* no other would do better */
        else if (code && !p->code) p->s->failed++;
        else if (code) {}                    /* stopped by us */
        else tell(p->s, j, ++p->done, p->todo, now_s() - p->began);
        return;
    }
}

int sweep_run(sweep *s) {
    pool p = { .s = s, .jobs = calloc(s->jobs, sizeof *p.jobs), .all = s->scenarios * s->replicates, .began = now_s() };
    if (!p.jobs) { cli_say("no memory"); return EXIT_MEMORY; }
    for (uint64_t i = 0; i < p.all; i++) p.todo += !is_finished(s, (size_t)(i % s->scenarios), i / s->scenarios);
    if (!s->request.quiet)
        printf("%zu scenarios, %llu replicates with seeds %llu to %llu; %llu runs are finished, %llu to do, %llu at a "
               "time\n",
               s->scenarios, (unsigned long long)s->replicates, (unsigned long long)sweep_seed(s, 0),
               (unsigned long long)sweep_seed(s, s->replicates - 1), (unsigned long long)(p.all - p.todo),
               (unsigned long long)p.todo, (unsigned long long)s->jobs);
    const struct sigaction a = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    for (bool told = false;;) {
        uint64_t busy = 0;
        for (uint64_t i = 0; i < s->jobs; i++) {
            if (!p.jobs[i].pid && !interrupted && !p.code && !start_next(&p, &p.jobs[i])) p.jobs[i].pid = 0;
            busy += p.jobs[i].pid > 0;
        }
        if ((interrupted || p.code) && !told) { stop_all(p.jobs, s->jobs); told = true; }
        if (!busy) break;
        reap(&p);
    }
    free(p.jobs);
    if (interrupted) {
        cli_say("interrupted; the same command again goes on where this stopped");
        return 128 + interrupted;
    }
    if (s->failed) cli_say("%llu runs failed and are missing from the table", (unsigned long long)s->failed);
    return p.code ? p.code : s->failed ? EXIT_DIFFERS : EXIT_GOOD;
}
