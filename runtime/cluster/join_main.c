/* join_main.c: nima-node --join: the process that watches the dispatchers of one host. See node.h, and hosts.c for what
 * it is told.
 *
 * A dispatcher dies with this process (PR_SET_PDEATHSIG), and this process ends when its input does: when the leader
 * ends, dies, or can no longer be reached. On the leader's own host it also ends a leader that was stopped, since
 * nobody else could. */
#include "cluster/node.h"
#include "cluster/probe.h"
#include "run.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { CHILDREN_MAX = 64, FILE_MAX_BYTES = 1 << 30, GATHER_MS = 250 };
typedef struct { pid_t pid; uint32_t number; int words; char text[600]; size_t bytes; int status; bool ended; } child;

static struct {
    char folder[PATH_MAX / 2]; bool own_folder, removed;     /* own: made here */
    FILE *run, *links;
    uint32_t first, count, lost_ms;          /* lost_ms: on the leader's host */
    child children[CHILDREN_MAX];
} node;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

static void remove_folder(void) {
    if (*node.folder && !node.removed) hosts_remove_folder(node.folder);
    node.removed = true;
}

static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const char *format, ...) {
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say("refused %s", text);
    if (node.own_folder) remove_folder();
    exit(1);
}

/* ---- being told ---- */
static FILE *create(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.200s", node.folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) refuse("%s: %s", path, strerror(errno));
    return f;
}

static void take_file(const char *text) {
    char name[128];
    unsigned long long bytes, hash;
    if (sscanf(text, "%100s %llu %llx", name, &bytes, &hash) != 3 || strchr(name, '/') || *name == '.' ||
        bytes > FILE_MAX_BYTES)
        refuse("a file that is not understood");
    char *data = malloc(bytes + 1);
    if (!data || fread(data, 1, bytes, stdin) != bytes) refuse("file %s: %s", name, data ? "cut short" : "no memory");
    if (XXH3_64bits(data, bytes) != hash) refuse("file %s has arrived altered", name);
    char file_name[160];
    snprintf(file_name, sizeof file_name, "file-%s", name);
    FILE *f = create(file_name);
    const bool written = fwrite(data, 1, bytes, f) == bytes, closed = fclose(f) == 0;
    if (!written || !closed) refuse("file %s cannot be kept: %s", name, strerror(errno));
    free(data);
    if (!strcmp(name, "model")) fprintf(node.run, "model %s/%s\n", node.folder, file_name);
    else fprintf(node.run, "set %s=%s/%s\n", name, node.folder, file_name);
}

static void take_first_line(const char *line) {
    char version[64];
    int abi;
    if (sscanf(line, "nima-join 1 %63s %d", version, &abi) != 2) refuse("what came is no description of a run");
    if (strcmp(version, NIMA_VERSION) || abi != NIMA_ABI)
        refuse("here is nima %s (interface %d), the authority has %s (%d)", NIMA_VERSION, NIMA_ABI, version, abi);
}

static void check_probe(const char *text) {
    unsigned long long theirs;
    int any;
    if (sscanf(text, "%llx %d", &theirs, &any) != 2) refuse("a probe that is not understood");
    if (theirs != cluster_probe() && !any)
        refuse("this host computes differently from the authority (probe %016llx, there %016llx): its results would "
               "differ",
               (unsigned long long)cluster_probe(), theirs);
}

static void make_folder(void) {
    if (!*node.folder) {
        const char *base = getenv("XDG_RUNTIME_DIR");
        snprintf(node.folder, sizeof node.folder, "%.60s/nima-XXXXXX",
                 base && *base && strlen(base) < 60 && !access(base, W_OK) ? base : "/tmp");
        if (!mkdtemp(node.folder)) { const int e = errno; node.folder[0] = 0; refuse("no folder: %s", strerror(e)); }
        node.own_folder = true;
    }
    node.run = create("run");
    node.links = create("links");
}

static bool take_line(char *line) {          /* false: the end */
    if (!strncmp(line, "folder ", 7)) snprintf(node.folder, sizeof node.folder, "%s", line + 7);
    else if (!strncmp(line, "lost ", 5)) node.lost_ms = (uint32_t)strtoul(line + 5, NULL, 10);
    else if (!strncmp(line, "probe ", 6)) check_probe(line + 6);
    else if (!strncmp(line, "start ", 6)) {
        if (sscanf(line, "start %u %u", &node.first, &node.count) != 2 || node.count > CHILDREN_MAX)
            refuse("a start that is not understood");
    } else if (!strcmp(line, "end")) return false;
    else {
        if (!node.run) make_folder();
        if (*line == '+') fprintf(node.run, "%s\n", line + 1);
        else if (*line == '@') fprintf(node.links, "%s\n", line + 1);
        else if (!strncmp(line, "file ", 5)) take_file(line + 5);
        else if (!strncmp(line, "key ", 4)) {
            FILE *f = create("key");
            fprintf(f, "%s\n", line + 4);
            if (fclose(f)) refuse("no room for the key");
            explicit_bzero(line, strlen(line));
        } else refuse("a line that is not understood: %.40s", line);
    }
    return true;
}

static void read_description(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    bool first = true, more = true;
    while (more && (n = getline(&line, &room, stdin)) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (first) take_first_line(line);
        else more = take_line(line);
        first = false;
    }
    free(line);
    if (more) { remove_folder(); exit(1); }                  /* the leader has ended */
    if (!node.run) refuse("a run without a description");
    const bool run_closed = fclose(node.run) == 0, links_closed = fclose(node.links) == 0;
    if (!run_closed || !links_closed) refuse("%s: %s", node.folder, strerror(errno));
}

/* ---- dispatchers ---- */
static void start(child *c, uint32_t number) {
    char text[16], parent[16];
    int words[2];
    *c = (child){ .number = number, .words = -1 };
    if (pipe2(words, O_CLOEXEC)) refuse("pipe: %s", strerror(errno));
    snprintf(text, sizeof text, "%u", number);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    char *const args[] = {
        (char *)(uintptr_t) "nima-node", (char *)(uintptr_t) "--dispatcher", node.folder, text, parent, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    if (words[1] == NODE_WORDS_FD) fcntl(words[1], F_SETFD, 0);
    else posix_spawn_file_actions_adddup2(&actions, words[1], NODE_WORDS_FD);
    const int e = posix_spawn(&c->pid, "/proc/self/exe", &actions, NULL, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(words[1]);
    if (e) refuse("dispatcher %u could not be started: %s", number, strerror(e));
    c->words = words[0];
    fcntl(words[0], F_SETFL, O_NONBLOCK);
}

static void listen_to(child *c) {
    ssize_t n;
    while (c->words >= 0 && (n = read(c->words, c->text + c->bytes, sizeof c->text - 1 - c->bytes)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        c->bytes += (size_t)n;
        if (c->bytes == sizeof c->text - 1) break;
    }
    if (c->words >= 0) close(c->words);
    c->words = -1;
}

static uint32_t reap(void) {                 /* how many still run */
    uint32_t running = 0;
    for (uint32_t i = 0; i < node.count; i++) {
        child *c = &node.children[i];
        if (!c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid) { c->ended = true; listen_to(c); }
        running += !c->ended;
    }
    return running;
}

static void kill_all(void) {
    for (uint32_t i = 0; i < node.count; i++) if (!node.children[i].ended) kill(node.children[i].pid, SIGKILL);
    for (uint32_t i = 0; i < node.count; i++) if (!node.children[i].ended) waitpid(node.children[i].pid, NULL, 0);
}

static int weight(const child *c) {          /* of what it tells about the cause; 0: nothing is wrong */
    if (!c->ended || (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0)) return 0;
    return WIFSIGNALED(c->status) ? 3 : WEXITSTATUS(c->status) == NODE_EXIT_LINK ? 1 : 2;
}

static const child *culprit(void) {
    const child *worst = NULL;
    for (uint32_t i = 0; i < node.count; i++)
        if (weight(&node.children[i]) > (worst ? weight(worst) : 0)) worst = &node.children[i];
    return worst;
}

static void tell(const child *c) {
    if (WIFSIGNALED(c->status))
        say("ended dispatcher %u (process %d) was killed by signal %d (%s)", c->number, (int)c->pid,
            WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
    else say("ended %s", c->bytes ? c->text : "a dispatcher has ended without a word");
}

static bool parent_stopped(pid_t parent) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)parent);
    FILE *f = fopen(path, "re");
    if (f && !fgets(line, sizeof line, f)) line[0] = 0;
    if (f) fclose(f);
    const char *end = strrchr(line, ')');
    return end && end[1] == ' ' && end[2] == 'T';
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* It cannot end itself, nor say why; everybody else has lost it, or soon will. */
static void end_stopped(pid_t leader) {
    if (!node.lost_ms || !parent_stopped(leader) || getppid() != leader) return;
    dprintf(NODE_ERRORS_FD, "nima: dispatcher 0 (process %d) was stopped by a signal: the run is ended\n", (int)leader);
    kill(leader, SIGKILL);
}

static void watch_leader(pid_t leader, int64_t *stopped_since) {
    if (!node.lost_ms || !parent_stopped(leader)) { *stopped_since = 0; return; }
    if (!*stopped_since) *stopped_since = now_ms();
    if (now_ms() - *stopped_since >= node.lost_ms) end_stopped(leader);
}

static void drop_input(void) {               /* only "up" comes */
    char text[64];
    const ssize_t n = read(0, text, sizeof text);
    if (n > 0) { remove_folder(); return; }
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    kill_all();
    remove_folder();
    exit(0);
}

int join_main(void) {
    const pid_t leader = getppid();
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    fcntl(NODE_ERRORS_FD, F_SETFD, FD_CLOEXEC);
    read_description();
    for (uint32_t i = 0; i < node.count; i++) start(&node.children[i], node.first + i);
    say("ready");
    int64_t stopped_since = 0;
    bool closing = false;
    for (uint32_t running = 1; running;) {
        struct pollfd fds[CHILDREN_MAX + 1] = { { 0, POLLIN, 0 } };
        nfds_t n = 1;
        for (uint32_t i = 0; i < node.count; i++)
            if (node.children[i].words >= 0) fds[n++] = (struct pollfd){node.children[i].words, POLLIN, 0};
        poll(fds, n, closing ? 2 : 500);
        if (fds[0].revents) drop_input();
        for (uint32_t i = 0; i < node.count; i++) listen_to(&node.children[i]);
        running = reap() + (node.count == 0);
        closing = false;                     /* one has closed its words, and will be reaped in a moment */
        for (uint32_t i = 0; i < node.count; i++) closing |= node.children[i].words < 0 && !node.children[i].ended;
        const child *c = culprit();
        for (int i = 0; c && i < GATHER_MS && weight(c) < 3; i += 10) { /* the first to end need not be the cause */
            usleep(10000);
            reap();
            c = culprit();
        }
        if (c) {
            tell(c);
            end_stopped(leader);
            kill_all();
            remove_folder();
            return 1;
        }
        watch_leader(leader, &stopped_since);
    }
    remove_folder();
    return 0;
}
