/* hosts.c: the processes of a run, as its leader sees them. On each host one `nima-node --join` starts the dispatchers
 * there and watches them: on this machine a child, on others behind ssh. It reads what it is to do from its standard
 * input:
 *
 *   nima-join 1 VERSION ABI     the first line          +LINE   for the dispatchers: a line of the run's description
 *   key HEX                     of the run              @LINE   likewise: of their links
 *   file NAME BYTES HASH        and then the bytes: the model, or an input file      end
 *   up                          later: all links are up, its folder can go
 *
 * and writes lines to its standard output: `ready`, `refused WHY`, `ended WHY`. When its input ends, it ends all it
 * started. So nothing of a run outlives its leader, and the run's key is on no command line, in no environment. */
#include "cluster/private.h"
#include "cluster/node.h"
#include "cluster/probe.h"
#include "parameters.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum { END_MS = 2000, GRACE_MS = 700, PIECE = 256 << 10 };

static void find_node(char *path, size_t room) {             /* beside this program, or where libnima was installed */
    char self[PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) self[n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    snprintf(path, room, "%s/nima-node", self);
    if (access(path, X_OK) == 0) return;
    Dl_info where;
    if (dladdr((const void *)(uintptr_t)cluster_open, &where) && where.dli_fname) {
        char *library = realpath(where.dli_fname, NULL), *end = library ? strrchr(library, '/') : NULL;
        if (end) {
            *end = 0;
            snprintf(path, room, "%s/../bin/nima-node", library);
        }
        free(library);
        if (access(path, X_OK) == 0) return;
    }
    snprintf(path, room, "nima-node");
}

/* ---- what a host is told ---- */
static bool add_file(FILE *to, const char *name, const char *path, char *error, size_t room) {
    FILE *f = fopen(path, "re");
    char *data = NULL;
    long bytes = -1;
    if (f && fseek(f, 0, SEEK_END) == 0 && (bytes = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
        data = malloc((size_t)bytes + 1);
    const bool read = data && fread(data, 1, (size_t)bytes, f) == (size_t)bytes;
    if (read) {
        fprintf(to, "file %s %ld %016llx\n", name, bytes, (unsigned long long)XXH3_64bits(data, (size_t)bytes));
        fwrite(data, 1, (size_t)bytes, to);
    } else snprintf(error, room, "%s: %s", path, data || !f ? strerror(errno) : "no memory");
    free(data);
    if (f) fclose(f);
    return read;
}

static const nima_field *file_parameter(const nima_run *r, uint32_t i) {     /* NULL: not one, or it names no file */
    const nima_field *f = &r->params_struct->fields[i];
    const nima_file *value = (const nima_file *)(const void *)((const char *)r->params + f->offset);
    return f->type == NIMA_FILE && value->path && *value->path ? f : NULL;
}

static void add_run(const nima_run *r, const nima_options *o, const host_process *p, FILE *to) {
    const run_tuning *t = &r->tuning;
    const cluster *k = r->cluster;
    fprintf(to,
            "+seed %llu\n+threads %u\n+dispatchers %u\n+fingerprint %d\n+pin %d\n+dirty %d\n+log_level "
            "%d\n+dead_letters %d\n+record_sent %d\n",
            (unsigned long long)o->seed, p->host->threads, k->count, !o->no_fingerprint, !o->no_pin, t->dirty,
            t->log_level, (int)t->dead_letters, o->record_sent);
    fprintf(to, "+warmup %lld\n+shard_order %llu\n+memory_limit %llu\n+here %u\n+before %u\n+run_id ",
            (long long)t->warmup, (unsigned long long)t->shard_order, (unsigned long long)t->memory_limit,
            p->host->dispatchers, p == k->processes ? 0 : p->first);
    for (int i = 0; i < 16; i++) fprintf(to, "%02x", k->run_id[i]);
    fputc('\n', to);
    for (const char *const *s = o->set; s && *s; s++) fprintf(to, "+set %s\n", *s);
}

static nima_err describe(nima_run *r, const nima_options *o, host_process *p, char *error, size_t room) {
    cluster *k = r->cluster;
    Dl_info where;
    const bool here = p == k->processes;
    FILE *to = open_memstream(&p->text, &p->bytes);
    char *model = dladdr(r->model, &where) && where.dli_fname ? realpath(where.dli_fname, NULL) : NULL;
    if (!to || !model) {
        snprintf(error, room, model ? "no memory" : "the model is in no file of its own");
        if (to) fclose(to);
        free(model);
        return NIMA_E_LOAD;
    }
    fprintf(to, "nima-join 1 %s %d\nprobe %016llx %d\nstart %u %u\n", NIMA_VERSION, NIMA_ABI,
            (unsigned long long)cluster_probe(), k->config->any_arithmetic, p->first, p->count);
    if (here) fprintf(to, "folder %s\nlost %u\n", k->folder, k->config->lost_ms);
    add_run(r, o, p, to);
    links_describe(k, p->first, p->count, to);
    if (k->has_key) {
        char digits[65];
        sodium_bin2hex(digits, sizeof digits, k->key.bytes, sizeof k->key.bytes);
        fprintf(to, "key %s\n", digits);
        sodium_memzero(digits, sizeof digits);
    }
    bool good = true;
    if (here) fprintf(to, "+model %s\n", model);
    else good = add_file(to, "model", model, error, room);
    for (uint32_t i = 0; good && !here && r->params_struct && i < r->params_struct->field_count; i++) {
        const nima_field *f = file_parameter(r, i);
        if (f)
            good = add_file(to, f->name, ((const nima_file *)(const void *)((const char *)r->params + f->offset))->path,
                            error, room);
    }
    fprintf(to, "end\n");
    free(model);
    if (fclose(to) == 0 && good) return NIMA_OK;
    if (good) snprintf(error, room, "no memory");
    return NIMA_E_SYSTEM;
}

/* ---- starting ---- */
nima_err hosts_spawn(const cluster_config *c, host_process *p, bool here, const char *task, int errors_fd, char *error,
                     size_t room) {
    int in[2], out[2];
    char node[PATH_MAX + 32];
    find_node(node, sizeof node);
    const config_host *h = p->host;
    char *args[20], *at[] = { node, (char *)(uintptr_t)task, NULL };
    memcpy(args, at, sizeof at);
    if (!here) {
        static const char *const options[] = {"ssh", "-T",
                                              "-o",  "BatchMode=yes",
                                              "-o",  "ServerAliveInterval=2",
                                              "-o",  "ServerAliveCountMax=2",
                                              "-o",  "ConnectTimeout=10",
                                              "-o",  "ForwardAgent=no",
                                              "-o",  "ForwardX11=no"};
        int n = 0;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) args[n++] = (char *)(uintptr_t)options[i];
        if (*c->ssh_config) { args[n++] = (char *)(uintptr_t)"-F"; args[n++] = (char *)(uintptr_t)c->ssh_config; }
        args[n++] = (char *)(uintptr_t)h->ssh;
        snprintf(node, sizeof node, "exec %s %s", h->node, task);
        args[n++] = node;
        args[n] = NULL;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in)) {
        snprintf(error, room, "socketpair: %s", strerror(errno));
        return NIMA_E_SYSTEM;
    }
    if (pipe2(out, O_CLOEXEC)) {
        snprintf(error, room, "pipe: %s", strerror(errno));
        close(in[0]);
        close(in[1]);
        return NIMA_E_SYSTEM;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (here) posix_spawn_file_actions_adddup2(&actions, errors_fd, NODE_ERRORS_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);    /* Ctrl-C is the leader's to handle */
    const int e = posix_spawnp(&p->pid, args[0], &actions, &attributes, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    fcntl(p->from, F_SETFL, O_NONBLOCK);
    if (!e) return NIMA_OK;
    p->pid = 0;
    snprintf(error, room, "%s could not be started: %s", args[0], strerror(e));
    return NIMA_E_SYSTEM;
}

static void ended(cluster *k, const host_process *p, const char *why) {
    if (*k->cause) return;
    if (*p->host->name) snprintf(k->cause, sizeof k->cause, "host %s: %s", p->host->name, why);
    else snprintf(k->cause, sizeof k->cause, "%s", why);
}

static void take_line(cluster *k, host_process *p) {
    if (!strcmp(p->line, "ready")) p->ready = true;
    else if (!strncmp(p->line, "refused ", 8)) ended(k, p, p->line + 8);
    else if (!strncmp(p->line, "ended ", 6)) ended(k, p, p->line + 6);
    else ended(k, p, "nima-node said something that is not understood");
}

static void gone(cluster *k, host_process *p) {
    char text[300];
    int status = 0;
    close(p->from);
    p->from = -1;
    if (!p->pid || k->ended) return;
    for (int i = 0; i < 20 && waitpid(p->pid, &status, WNOHANG) == 0; i++) usleep(10000);
    const char *what = p == k->processes ? "nima-node" : "ssh to nima-node";
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s was killed by signal %d (%s)", what, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (p->ready) snprintf(text, sizeof text, "%s has gone (exit status %d)", what, WEXITSTATUS(status));
    else snprintf(text, sizeof text, "%s %s did not start (exit status %d)", what, p->host->ssh, WEXITSTATUS(status));
    ended(k, p, text);
}

static void take_text(cluster *k, host_process *p, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n') {
            p->line[p->line_bytes] = 0;
            p->line_bytes = 0;
            take_line(k, p);
        } else if (p->line_bytes < sizeof p->line - 1) p->line[p->line_bytes++] = text[i];
    }
}

static bool tell(host_process *p, const char *text, size_t bytes) {  /* by hand: over the link */
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .blob = { text, (uint32_t)bytes } } };
    transport_fault fault;
    return link_send_message(p->link, &m, &fault) == TRANSPORT_OK;
}

static void exchange_by_hand(cluster *k, host_process *p) {
    link_frame f;
    wire_message m;
    transport_fault fault;
    transport_err err;
    while ((err = link_receive(p->link, &f, &fault)) == TRANSPORT_OK) {
        if (!wire_decode(&m, f.data, f.bytes, p->host->name, &fault) && m.kind == WIRE_CONTROL)
            take_text(k, p, m.control.blob.at, m.control.blob.bytes);
        link_discard(&f);
    }
    if (err != TRANSPORT_EMPTY && !k->ended) ended(k, p, fault.text);
    while (link_is_up(p->link) && p->sent < p->bytes) {
        const size_t bytes = p->bytes - p->sent < PIECE ? p->bytes - p->sent : PIECE;
        if (!tell(p, p->text + p->sent, bytes)) break;
        p->sent += bytes;
    }
}

static void exchange(cluster *k, host_process *p) {
    char block[1024];
    ssize_t n;
    if (p->link) { exchange_by_hand(k, p); return; }
    while (p->sent < p->bytes && (n = send(p->to, p->text + p->sent, p->bytes - p->sent, MSG_NOSIGNAL)) > 0)
        p->sent += (size_t)n;
    while (p->from >= 0 && (n = read(p->from, block, sizeof block)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        take_text(k, p, block, (size_t)n);
    }
    if (p->from >= 0) gone(k, p);
}

uint32_t hosts_poll(const cluster *k, struct pollfd *fds, uint32_t room) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->process_count; i++) {
        const host_process *p = &k->processes[i];
        if (p->link && n < room) fds[n++] = (struct pollfd){ link_fd(p->link), POLLIN, 0 };
        if (p->from >= 0 && n < room) fds[n++] = (struct pollfd){ p->from, POLLIN, 0 };
        if (p->to >= 0 && p->sent < p->bytes && n < room) fds[n++] = (struct pollfd){ p->to, POLLOUT, 0 };
    }
    return n;
}

bool hosts_read(cluster *k, uint32_t wait_ms) {
    const uint64_t begin = cluster_now_us();
    for (;;) {
        for (uint32_t i = 0; i < k->process_count; i++) exchange(k, &k->processes[i]);
        if (*k->cause) return true;
        const uint64_t passed_ms = (cluster_now_us() - begin) / 1000;
        if (passed_ms >= wait_ms || !k->process_count) return false;
        struct pollfd fds[2 * CONFIG_HOSTS_MAX];
        poll(fds, hosts_poll(k, fds, 2 * CONFIG_HOSTS_MAX), (int)(wait_ms - passed_ms));
    }
}

/* Where nobody can log in: a link for whoever has the key, and a line for the user to type there. */
static nima_err await_hand(cluster *k, host_process *p, int errors_fd, char *error, size_t room) {
    const cluster_config *c = k->config;
    const uint32_t port = c->port + k->count * (k->count - 1) + 2 * (uint32_t)(p - k->processes);
    char url[URL_MAX], name[WIRE_NAME_MAX + 1];
    transport_fault fault;
    snprintf(url, sizeof url, "tcp://%s:%u", c->host[0].address, port);
    snprintf(name, sizeof name, "authority.for.%s", p->host->name);
    const link_options o = {.url = url,
                            .self = name,
                            .key = &k->key,
                            .connect_ms = c->connect_ms,
                            .hello_ms = 1500,
                            .lost_ms = c->lost_ms,
                            .heartbeat_ms = c->heartbeat_ms};
    if (link_listen(&p->link, &o, &fault)) { snprintf(error, room, "%s", fault.text); return NIMA_E_LINK; }
    dprintf(errors_fd, "nima: waiting %u s for host %s; there: nima-node --join %s --key FILE\n", c->connect_ms / 1000,
            p->host->name, url);
    return NIMA_OK;
}

nima_err hosts_start(nima_run *r, const nima_options *o, char *error, size_t room) {
    cluster *k = r->cluster;
    const cluster_config *c = k->config;
    const char *base = getenv("XDG_RUNTIME_DIR");
    snprintf(k->folder, sizeof k->folder, "%.60s/nima-XXXXXX",
             base && *base && strlen(base) < 60 && access(base, W_OK) == 0 ? base : "/tmp");
    if (!mkdtemp(k->folder)) {
        snprintf(error, room, "%s: %s", k->folder, strerror(errno));
        k->folder[0] = 0;
        return NIMA_E_SYSTEM;
    }
    k->processes = calloc(c->hosts, sizeof *k->processes);
    if (!k->processes) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    uint32_t first = 0;
    for (uint32_t i = 0; i < c->hosts; i++) {
        host_process *p = &k->processes[k->process_count++];
        *p = (host_process){.host = &c->host[i], .first = first, .count = c->host[i].dispatchers, .to = -1, .from = -1};
        first += p->count;
        if (i == 0) { p->first++; p->count--; }              /* the first is this process */
        nima_err code = describe(r, o, p, error, room);
        if (!code && i && !*c->host[i].ssh)
            code = await_hand(k, p, r->tuning.errors_fd ? r->tuning.errors_fd : 2, error, room);
        else if (!code)
            code = hosts_spawn(c, p, i == 0, "--join", r->tuning.errors_fd ? r->tuning.errors_fd : 2, error, room);
        if (code) return code;
    }
    const uint64_t begin = cluster_now_us();
    for (bool ready = false; !ready;) {
        if (hosts_read(k, 20)) { snprintf(error, room, "%s", k->cause); return NIMA_E_LINK; }
        ready = true;
        for (uint32_t i = 0; i < k->process_count; i++) {
            const host_process *p = &k->processes[i];
            ready &= p->ready;
            if (p->ready || cluster_now_us() - begin < (uint64_t)c->connect_ms * 1000) continue;
            snprintf(error, room, "host %s: nima-node is not ready after %u ms", p->host->name, c->connect_ms);
            return NIMA_E_LINK;
        }
    }
    return NIMA_OK;
}

void hosts_up(cluster *k) {
    for (uint32_t i = 0; i < k->process_count; i++) {
        host_process *p = &k->processes[i];
        sodium_memzero(p->text, p->bytes);   /* it held the key */
        free(p->text);
        p->text = NULL;
        p->bytes = p->sent = 0;
        if (p->link) { if (!tell(p, "up\n", 3)) {} }
        else if (send(p->to, "up\n", 3, MSG_NOSIGNAL) != 3) {}          /* gone: its output says so */
    }
    if (k->process_count && *k->folder) hosts_remove_folder(k->folder);
    k->folder[0] = 0;
}

/* ---- ending ---- */
static bool wait_for(host_process *p, uint64_t until_us) {
    while (p->pid && waitpid(p->pid, NULL, WNOHANG) == 0) {
        if (cluster_now_us() > until_us) return false;
        usleep(1000);
    }
    p->pid = 0;
    return true;
}

void hosts_end(cluster *k, bool failed) {
    k->ended = true;
    uint64_t until = cluster_now_us() + (failed ? 0 : END_MS * 1000);
    for (uint32_t i = 0; i < k->process_count && !failed; i++)
        if (k->processes[i].count) wait_for(&k->processes[i], until);
    for (uint32_t i = 0; i < k->process_count; i++) {
        transport_fault fault;
        if (k->processes[i].to >= 0) close(k->processes[i].to);
        if (k->processes[i].link && link_close(k->processes[i].link, failed ? 100 : END_MS, &fault)) {
        } /* the run is over either way */
    }
    until = cluster_now_us() + GRACE_MS * 1000;
    for (uint32_t i = 0; i < k->process_count; i++) {
        host_process *p = &k->processes[i];
        if (!wait_for(p, until)) {
            kill(p->pid, SIGKILL);
            wait_for(p, until + 1000000);
        }
        if (p->from >= 0) close(p->from);
        if (p->text) sodium_memzero(p->text, p->bytes);
        free(p->text);
    }
    if (*k->folder && k->self == 0) hosts_remove_folder(k->folder);
    free(k->processes);
    k->processes = NULL;
    k->process_count = 0;
}
