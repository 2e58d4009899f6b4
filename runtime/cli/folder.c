/* folder.c: see folder.h. */
#include "cli/folder.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/model.h"
#include "cli/time_text.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

static bool holds_something(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return errno != ENOENT;
    bool some = false;
    for (const struct dirent *e; (e = readdir(d));) some = some || (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."));
    closedir(d);
    return some;
}

int folder_claim(const char *out, const char *model, uint64_t seed, char path[PATH_MAX], bool *made) {
    *made = false;
    if (out) {
        if (snprintf(path, PATH_MAX, "%s", out) >= PATH_MAX) return cli_usage("run", "--out: the path is too long");
        if (holds_something(out)) return cli_usage("run", "--out %s: not an empty or new folder", out);
        return EXIT_GOOD;
    }
    const time_t now = time(NULL);
    struct tm local;
    char stamp[32], suffix[16] = "";
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    if (mkdir("runs", 0777) && errno != EEXIST) {
        cli_say("runs: %s; --out names another place", strerror(errno));
        return EXIT_SYSTEM;
    }
    for (int i = 2; i < 10000; i++) {
        snprintf(path, PATH_MAX, "runs/%.100s-%s-s%llu%s", model, stamp, (unsigned long long)seed, suffix);
        if (!mkdir(path, 0777)) { *made = true; return EXIT_GOOD; }
        if (errno != EEXIST) break;
        snprintf(suffix, sizeof suffix, "-%d", i);
    }
    cli_say("%s: %s", path, strerror(errno));
    return EXIT_SYSTEM;
}

void folder_remove(const char *path) {
    DIR *d = opendir(path);
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d));) if (e->d_type != DT_DIR) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

const char *folder_status(const run_record *r) {
    if (r->exit == -1) return "running";
    return r->error == NIMA_OK ? "ok" : r->error == NIMA_E_HALTED ? "interrupted" : "failed";
}

static void write_results(json *j, const nima_run *run) {
    json_open(j, "results", '{');
    const size_t count = run_result_count(run);
    for (size_t i = 0; i < count; i++) {
        run_result_kind kind;
        double value;
        uint64_t hash;
        const char *name = run_result(run, i, &kind, &value, &hash);
        if (kind == RUN_RESULT_HASH) json_hex(j, name, hash);
        else json_number(j, name, value);
    }
    json_close(j, '}');
}

static double events_per_s(const run_record *r) {
    return r->summary.wall_s > 0 ? rint((double)r->summary.events / r->summary.wall_s) : 0;
}

static void write_outcome(json *j, const run_record *r) {
    const nima_summary *s = &r->summary;
    json_uint(j, "threads", s->threads);
    json_uint(j, "dispatchers", r->request->tuning.dispatchers ? r->request->tuning.dispatchers : 1);
    json_uint(j, "shards", s->shards);
    json_uint(j, "agents", s->agents);
    json_uint(j, "events", s->events);
    json_int(j, "virtual_time", s->virtual_time);
    json_text(j, "unit", time_unit(r->request->model));
    json_number(j, "ticks_per_unit", time_ticks_per_unit(r->request->model));
    json_number(j, "wall_s", rint(s->wall_s * 1e6) / 1e6);
    json_number(j, "events_per_s", events_per_s(r));
    json_uint(j, "births", r->counters.births);
    json_uint(j, "deaths", r->counters.deaths);
    json_uint(j, "dead_letters", s->dead_letters);
    json_uint(j, "unread", s->unread);
    json_uint(j, "windows", r->counters.windows);
    json_bool(j, "reproducible", run_reproducible(r->run, 0));
    if (r->request->options.no_fingerprint) json_null(j, "fingerprint");
    else json_hex(j, "fingerprint", s->fingerprint);
}

void folder_line(const run_record *r, FILE *to) {
    json j = { .to = to };
    json_open(&j, NULL, '{');
    json_text(&j, "model", r->request->model->name);
    json_uint(&j, "seed", r->request->options.seed);
    write_outcome(&j, r);
    json_text(&j, "status", folder_status(r));
    json_int(&j, "exit", r->exit);
    if (*r->message) json_text(&j, "error", r->message);
    if (r->folder) json_text(&j, "out", r->folder);
    write_results(&j, r->run);
    json_close(&j, '}');
    fflush(to);
}

static void write_time(json *j, const char *key, time_t t) {
    char text[64];
    struct tm local;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&t, &local));
    json_text(j, key, text);
}

bool folder_hash_file(const char *path, uint64_t *hash) {
    static char block[1 << 16];
    FILE *f = fopen(path, "re");
    XXH3_state_t *state = f ? XXH3_createState() : NULL;
    if (!state) { if (f) fclose(f); return false; }
    XXH3_64bits_reset(state);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) XXH3_64bits_update(state, block, n);
    *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return fclose(f) == 0;
}

static bool is_file(const nima_model *m, const char *parameter) {
    const nima_struct *d = model_parameters(m);
    for (uint32_t i = 0; d && i < d->field_count; i++)
        if (d->fields[i].type == NIMA_FILE && !strcmp(d->fields[i].name, parameter)) return true;
    return false;
}

static void write_parameters(json *j, const run_record *r) {
    char text[4096];
    const char *name;
    uint64_t hash;
    json_open(j, "parameters", '{');
    for (size_t i = 0; run_param_text(r->run, i, &name, text, sizeof text); i++) json_text(j, name, text);
    json_close(j, '}');
    json_open(j, "inputs", '{');             /* of file parameters: a hash of the content */
    for (size_t i = 0; run_param_text(r->run, i, &name, text, sizeof text); i++)
        if (is_file(r->request->model, name) && *text && folder_hash_file(text, &hash)) json_hex(j, name, hash);
    json_close(j, '}');
}

static void write_host(json *j) {
    struct utsname u;
    uname(&u);
    json_open(j, "host", '{');
    json_text(j, "name", u.nodename);
    json_text(j, "system", u.sysname);
    json_text(j, "release", u.release);
    json_text(j, "machine", u.machine);
    json_int(j, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    json_close(j, '}');
}

bool folder_record(const run_record *r) {
    char path[PATH_MAX + 32], unfinished[PATH_MAX + 40];
    uint64_t hash;
    snprintf(path, sizeof path, "%s/run.json", r->folder);
    snprintf(unfinished, sizeof unfinished, "%s.part", path);
    FILE *f = fopen(unfinished, "we");
    if (!f) { cli_say("%s: %s", unfinished, strerror(errno)); return false; }
    json j = { .to = f, .pretty = true };
    json_open(&j, NULL, '{');
    json_text(&j, "nima", NIMA_VERSION);
    json_int(&j, "abi", NIMA_ABI);
    json_text(&j, "compiler", __VERSION__);
    json_text(&j, "model", r->request->model->name);
    json_text(&j, "model_file", r->request->path);
    if (folder_hash_file(r->request->path, &hash)) json_hex(&j, "model_hash", hash);
    json_text(&j, "command", r->command);
    json_uint(&j, "seed", r->request->options.seed);
    if (r->until == NIMA_FOREVER) json_null(&j, "until");
    else json_int(&j, "until", r->until);
    json_int(&j, "warmup", r->request->tuning.warmup);
    write_parameters(&j, r);
    write_host(&j);
    write_time(&j, "started", r->started);
    json_text(&j, "status", folder_status(r));
    if (r->exit != -1) {
        write_time(&j, "ended", time(NULL));
        json_int(&j, "exit", r->exit);
        if (*r->message) json_text(&j, "error", r->message);
        write_outcome(&j, r);
        write_results(&j, r->run);
    }
    json_close(&j, '}');
    const bool written = !ferror(f), closed = fclose(f) == 0;
    if (written && closed && !rename(unfinished, path)) return true;
    cli_say("%s: %s", path, strerror(errno));
    return false;
}
