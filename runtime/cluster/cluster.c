/* cluster.c: the life of a dispatcher among others: start, windows under the clock, end. See cluster.h. */
#include "cluster/private.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_MS = 2000 };

/* ---- links ---- */
static void on_link_log(void *arg, link_level level, const char *text) {
    (void)arg;
    if (level >= LINK_WARNING) fprintf(stderr, "nima: %s\n", text);
}

static nima_err open_links(nima_run *r, const uint8_t run_id[16], char *error, size_t room) {
    cluster *k = r->cluster;
    transport_fault fault;
    for (uint32_t d = 0; d < k->count; d++) {
        if (d == k->self) continue;
        char url[160];
        const uint32_t low = d < k->self ? d : k->self, high = d < k->self ? k->self : d;
        snprintf(url, sizeof url, "ipc://%s/%u-%u", k->folder, low, high);
        link_options o = { .url = url, .self = k->names[k->self], .peer = k->names[d], .role = k->self, .connect_ms = 30000, .lost_ms = 4000,
                           .log = on_link_log };
        memcpy(o.run_id, run_id, 16);
        const transport_err e = k->self < d ? link_listen(&k->links[d], &o, &fault) : link_dial(&k->links[d], &o, &fault);
        if (e) { snprintf(error, room, "%s", fault.text); return NIMA_E_LINK; }
    }
    for (uint32_t d = 0; d < k->count; d++)
        if (k->links[d] && link_wait(k->links[d], &fault)) { snprintf(error, room, "%s", fault.text); return NIMA_E_LINK; }
    return NIMA_OK;
}

/* ---- followers of this machine: nima-node --dispatcher FOLDER NUMBER ---- */
static void find_node(char *path, size_t room) {
    char self[PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) self[n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    snprintf(path, room, "%s/nima-node", self);
    if (access(path, X_OK) == 0) return;
    Dl_info where;
    if (dladdr((const void *)(uintptr_t)cluster_open, &where) && where.dli_fname) {
        char *library = realpath(where.dli_fname, NULL);
        char *end = library ? strrchr(library, '/') : NULL;
        if (end) {
            *end = 0;
            snprintf(path, room, "%s/../bin/nima-node", library);
        }
        free(library);
        if (access(path, X_OK) == 0) return;
    }
    snprintf(path, room, "nima-node");
}

static nima_err write_spec(nima_run *r, const nima_options *o, const uint8_t run_id[16], char *error, size_t room) {
    char path[160];
    Dl_info where;
    if (!dladdr(r->model, &where) || !where.dli_fname) { snprintf(error, room, "the model is in no file of its own"); return NIMA_E_LOAD; }
    char *model = realpath(where.dli_fname, NULL);
    snprintf(path, sizeof path, "%s/run", r->cluster->folder);
    FILE *f = fopen(path, "wx");
    if (!f || !model) {
        snprintf(error, room, "%s: %s", f ? where.dli_fname : path, strerror(errno));
        if (f) fclose(f);
        free(model);
        return NIMA_E_SYSTEM;
    }
    const run_tuning *t = &r->tuning;
    fprintf(f, "model %s\nseed %llu\nthreads %u\ndispatchers %u\nfingerprint %d\npin %d\ndirty %d\nlog_level %d\ndead_letters %d\n", model,
            (unsigned long long)o->seed, r->threads, r->cluster->count, !o->no_fingerprint, !o->no_pin, t->dirty, t->log_level, (int)t->dead_letters);
    fprintf(f, "warmup %lld\nshard_order %llu\nmemory_limit %llu\nrun_id ", (long long)t->warmup, (unsigned long long)t->shard_order,
            (unsigned long long)t->memory_limit);
    for (int i = 0; i < 16; i++) fprintf(f, "%02x", run_id[i]);
    fputc('\n', f);
    for (const char *const *s = o->set; s && *s; s++) fprintf(f, "set %s\n", *s);
    free(model);
    if (fclose(f)) { snprintf(error, room, "%s: %s", path, strerror(errno)); return NIMA_E_SYSTEM; }
    return NIMA_OK;
}

static nima_err start_followers(nima_run *r, const nima_options *o, uint8_t run_id[16], char *error, size_t room) {
    cluster *k = r->cluster;
    const char *base = getenv("XDG_RUNTIME_DIR");
    snprintf(k->folder, sizeof k->folder, "%.70s/nima-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(k->folder)) { snprintf(error, room, "%s: %s", k->folder, strerror(errno)); k->folder[0] = 0; return NIMA_E_SYSTEM; }
    randombytes_buf(run_id, 16);
    const nima_err code = write_spec(r, o, run_id, error, room);
    if (code) return code;
    char node[PATH_MAX + 32];
    find_node(node, sizeof node);
    for (uint32_t d = 1; d < k->count; d++) {
        char number[16];
        snprintf(number, sizeof number, "%u", d);
        char *const args[] = { node, (char *)(uintptr_t)"--dispatcher", k->folder, number, NULL };
        const int e = posix_spawnp(&k->children[d], node, NULL, NULL, args, environ);
        if (e) {
            k->children[d] = 0;
            snprintf(error, room, "%s could not be started: %s", node, strerror(e));
            return NIMA_E_SYSTEM;
        }
    }
    return NIMA_OK;
}

/* ---- the clock ---- */
static bool report(nima_run *r) {            /* of the window that was run; window 0: of set-up */
    cluster *k = r->cluster;
    const wire_net net = { .window = k->arrivals.window, .earliest = { r->net, r->net_step }, .halt_time = r->halt_at,
                           .compute_ns = (uint64_t)(r->window_us * 1000), .exchange_ns = k->exchange_us * 1000,
                           .sent = { k->sent, k->count } };
    if (k->self) {
        const wire_message m = { .kind = WIRE_NET, .net = net };
        cluster_send(r, 0, &m);
        return !r->failed;
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < k->count; d++) if (k->sent[d]) k->report_counts[count++] = (batch_count){ d, k->sent[d] };
    const authority_report own = { .window = net.window, .net = { r->net, r->net_step }, .halt_at = r->halt_at, .last_event = -1,
                                   .busy_us = (uint64_t)r->window_us, .exchange_us = k->exchange_us, .sent = k->report_counts, .sent_count = count };
    char error[300];
    if (authority_take(k->authority, 0, &own, cluster_now_us(), error, sizeof error)) cluster_fail(r, "%s", error);
    while (!r->failed && !authority_complete(k->authority)) cluster_pump(r, true);
    if (r->failed) return false;
    authority_report all;
    authority_reduce(k->authority, &all);
    r->net = all.net.time;
    r->net_step = all.net.step;
    if (all.halt_at < r->halt_at) r->halt_at = all.halt_at;
    return true;
}

static bool await_batches(nima_run *r, const authority_grant *g) {
    cluster *k = r->cluster;
    const uint64_t begin = cluster_now_us();
    for (bool started = false; !r->failed; cluster_pump(r, true)) {
        if (arrivals_start(&k->arrivals, g, &started)) cluster_fail(r, "%s: more events arrived than were sent", k->names[k->self]);
        if (started) break;
        if (k->ended) return false;
    }
    k->exchange_us = cluster_now_us() - begin;
    return !r->failed;
}

void cluster_begin_window(nima_run *r) {
    cluster *k = r->cluster;
    k->collected = false;
    const authority_grant plan = { .window = k->arrivals.window + 1, .order = AUTHORITY_RUN, .from = { r->net, r->net_step },
                                   .until = r->step_mode ? (moment){ r->net, r->net_step + 1 } : (moment){ r->until, 0 } };
    char error[300];
    if (authority_open(k->authority, &plan, cluster_now_us(), error, sizeof error)) { cluster_fail(r, "%s", error); return; }
    for (uint32_t d = 1; d < k->count && !r->failed; d++) {
        authority_grant g;
        authority_grant_to(k->authority, d, &g);
        uint32_t expected = g.awaited_count ? g.awaited[0].batches : 0;
        const wire_message m = { .kind = WIRE_GRANT, .grant = { .window = g.window, .from = { g.from.time, g.from.step },
                                 .until = { g.until.time, g.until.step }, .expected = { &expected, 1 } } };
        cluster_send(r, d, &m);
    }
    authority_grant own;
    authority_grant_to(k->authority, 0, &own);
    await_batches(r, &own);
}

static void tell_failure(nima_run *r) {      /* follower: before its report */
    for (unsigned w = 0; w < r->threads; w++) {
        const context *c = &r->contexts[w];
        if (!c->failed) continue;
        const wire_message m = { .kind = WIRE_FAIL, .fail = { .code = c->failure.code, .at = { c->failure.time, c->failure.step },
                                 .agent = c->failure.agent.bits, .cause = wire_text_of(c->failure.text) } };
        cluster_send(r, 0, &m);
    }
}

void cluster_end_window(nima_run *r) {
    cluster *k = r->cluster;
    cluster_send_events(r);
    if (k->self) {
        gather_send_log(r);
        tell_failure(r);
    }
    if (!r->failed) report(r);
}

/* ---- leader: questions to all ---- */
static void ask(nima_run *r, uint32_t operation) {
    cluster *k = r->cluster;
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = operation } };
    k->parts_missing = k->count - 1;
    for (uint32_t d = 1; d < k->count && !r->failed; d++) cluster_send(r, d, &m);
    while (!r->failed && k->parts_missing) cluster_pump(r, true);
}


void cluster_row(nima_run *r, const double *row) {
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_ROW,
                             .blob = { row, (uint32_t)(r->engine.row_values * sizeof *row) } } };
    for (uint32_t d = 1; d < r->cluster->count && !r->failed; d++) cluster_send(r, d, &m);
}

static void ask_status(nima_run *r, uint32_t operation, nima_time *last_event, bool *pending) {
    cluster *k = r->cluster;
    k->last_event = *last_event;
    k->pending = *pending;
    ask(r, operation);
    *last_event = k->last_event;
    *pending = k->pending;
}
void cluster_sample(nima_run *r, nima_time *last_event, bool *pending) { ask_status(r, OPERATION_SAMPLE, last_event, pending); }
void cluster_status(nima_run *r, nima_time *last_event, bool *pending) { ask_status(r, OPERATION_STATUS, last_event, pending); }

void cluster_collect(nima_run *r) {
    cluster *k = r->cluster;
    if (k->collected) return;
    k->collected = true;
    uint64_t **others[] = { &r->others_dead, &r->others_unread };
    for (int i = 0; i < 2; i++) if (*others[i]) memset(*others[i], 0, 65536 * sizeof **others[i]);
    if (sigsetjmp(r->contexts[0].escape, 0)) return;         /* out of memory: noted */
    ask(r, OPERATION_COLLECT);
}

void cluster_summary(const nima_run *r, char *text, size_t room) {
    text[0] = 0;
    if (r->cluster && r->cluster->authority) authority_summary(r->cluster->authority, r->engine.lookahead, text, room);
}

/* ---- follower ---- */
nima_err cluster_follow(nima_run *r) {
    cluster *k = r->cluster;
    while (!r->failed && !k->ended) {
        cluster_pump(r, true);
        if (k->granted) {
            const authority_grant g = k->grant;
            k->granted = false;
            if (!await_batches(r, &g)) break;
            window_follow(r, g.from.time, g.from.step, g.until.step ? g.until.time + 1 : g.until.time);
            cluster_end_window(r);
        } else if (k->operation) {
            const uint32_t operation = k->operation;
            k->operation = 0;
            if (operation == OPERATION_SAMPLE) gather_send_sums(r);
            if (operation == OPERATION_SAMPLE || operation == OPERATION_STATUS) gather_send_status(r);
            else if (operation == OPERATION_COLLECT) gather_send_all(r);
            else if (operation == OPERATION_ROW) continue;
            else break;                      /* the end */
            gather_done(r);
        }
    }
    return r->failed ? r->failure.code : NIMA_OK;
}

/* ---- life ---- */
nima_err cluster_open(nima_run *r, const nima_options *o, char *error, size_t room) {
    const uint32_t count = r->tuning.dispatchers;
    if (count > 63) { snprintf(error, room, "%u dispatchers; on one machine 63 at most", count); return NIMA_E_USAGE; }
    if (r->tuning.on_delivery) { snprintf(error, room, "tracing and stopping at an agent need one dispatcher"); return NIMA_E_USAGE; }
    if (sodium_init() < 0) { snprintf(error, room, "libsodium does not start"); return NIMA_E_SYSTEM; }
    cluster *k = r->cluster = calloc(1, sizeof *k);
    if (!k) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    k->self = r->tuning.dispatcher;
    k->count = count;
    k->crowded = r->threads * count >= team_cores();
    k->links = calloc(count, sizeof *k->links);
    k->names = calloc(count, sizeof *k->names);
    k->batches = calloc(count, sizeof *k->batches);
    k->sent = calloc(count, sizeof *k->sent);
    k->report_counts = calloc(count, sizeof *k->report_counts);
    k->children = calloc(count, sizeof *k->children);
    if (!k->links || !k->names || !k->batches || !k->sent || !k->report_counts || !k->children) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    authority_child children[64];
    for (uint32_t d = 0; d < count; d++) {
        snprintf(k->names[d], sizeof k->names[d], "dispatcher-%u", d);
        children[d] = (authority_child){ k->names[d], d, 1 };
        if (d != k->self && wire_batch_init(&k->batches[d], WIRE_BATCH_BYTES)) { snprintf(error, room, "no memory for batches"); return NIMA_E_MEMORY; }
    }
    uint8_t run_id[16];
    nima_err code = NIMA_OK;
    if (k->self == 0) code = start_followers(r, o, run_id, error, room);
    else {
        snprintf(k->folder, sizeof k->folder, "%s", r->tuning.dispatcher_folder);
        memcpy(run_id, r->tuning.run_id, 16);
    }
    if (!code) code = open_links(r, run_id, error, room);
    if (code) return code;
    if (k->self == 0) k->authority = authority_new(children, count, count, cluster_now_us());
    if (k->self == 0 && !k->authority) { snprintf(error, room, "no memory for the clock"); return NIMA_E_MEMORY; }
    if (!report(r)) { snprintf(error, room, "%s", r->failure.text); return r->failure.code; }
    return NIMA_OK;
}

static void end_children(cluster *k) {
    const uint64_t begin = cluster_now_us();
    for (uint32_t d = 1; d < k->count; d++) {
        if (!k->children[d]) continue;
        while (waitpid(k->children[d], NULL, WNOHANG) == 0) {
            if (cluster_now_us() - begin > END_MS * 1000) kill(k->children[d], SIGKILL);
            usleep(1000);
        }
    }
}

void cluster_close(nima_run *r) {
    cluster *k = r->cluster;
    if (k->self == 0)
        for (uint32_t d = 1; d < k->count; d++) {
            const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_END } };
            transport_fault fault;
            if (k->links && k->links[d] && link_is_up(k->links[d]) && link_send_message(k->links[d], &m, &fault)) kill(k->children[d], SIGTERM);
            else if (k->children && k->children[d] && !(k->links && k->links[d] && link_is_up(k->links[d]))) kill(k->children[d], SIGTERM);
        }
    for (uint32_t d = 0; k->links && d < k->count; d++) {
        transport_fault fault;
        if (k->links[d] && link_close(k->links[d], r->failed ? 0 : 500, &fault) != TRANSPORT_OK) {}   /* the run is over either way */
    }
    if (k->self == 0 && k->children) end_children(k);
    if (k->self == 0 && k->folder[0]) {
        char path[160];
        snprintf(path, sizeof path, "%s/run", k->folder);
        unlink(path);
        rmdir(k->folder);
    }
    for (uint32_t d = 0; k->batches && d < k->count; d++) if (k->batches[d].memory) wire_batch_fini(&k->batches[d]);
    authority_free(k->authority);
    free(k->links);
    free(k->names);
    free(k->batches);
    free(k->sent);
    free(k->report_counts);
    free(k->children);
    free(k);
    r->cluster = NULL;
}
