/* check.c: `nima cluster check`: asks every host of a configuration what it has and whether a run could use it. See
 * cluster.h. */
#include "cluster/private.h"
#include "cluster/probe.h"
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 15000, PINGS = 5 };
typedef struct {
    char version[64];
    int abi, cores, regions;
    unsigned long long probe;
    double gib, offset_ms, round_trip_ms;
    char wrong[300];
} finding;

static bool answer(host_process *p, char *line, size_t room) {       /* one line; false: none came */
    size_t n = 0;
    struct pollfd fd = { p->from, POLLIN, 0 };
    for (char c; n + 1 < room;) {
        const ssize_t got = read(p->from, &c, 1);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (poll(&fd, 1, ANSWER_MS) == 0) return false;
            continue;
        }
        if (got <= 0) return false;
        if (c == '\n') break;
        line[n++] = c;
    }
    line[n] = 0;
    return true;
}

static bool ask(host_process *p, char *line, size_t room, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool ask(host_process *p, char *line, size_t room, const char *format, ...) {
    char text[200];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return send(p->to, text, (size_t)n, MSG_NOSIGNAL) == n && answer(p, line, room);
}

static int64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void ask_clock(host_process *p, finding *f) {
    char line[100];
    long long theirs;
    f->round_trip_ms = 1e300;
    for (int i = 0; i < PINGS; i++) {
        const int64_t begin = wall_ns();
        if (!ask(p, line, sizeof line, "ping\n") || sscanf(line, "pong %lld", &theirs) != 1) return;
        const int64_t end = wall_ns();
        const double trip = (double)(end - begin) * 1e-6;
        if (trip >= f->round_trip_ms) continue;
        f->round_trip_ms = trip;
        f->offset_ms = (double)(theirs - (begin + end) / 2) * 1e-6;
    }
}

static void judge(const cluster_config *c, const config_host *h, host_process *p, const char *meeting, finding *f) {
    char line[200];
    if (sscanf(p->line, "nima %63s %d %llx %d %d %lf", f->version, &f->abi, &f->probe, &f->cores, &f->regions,
               &f->gib) != 6)
        snprintf(f->wrong, sizeof f->wrong, "what answers is no nima-node: %.60s", p->line);
    else if (strcmp(f->version, NIMA_VERSION) || f->abi != NIMA_ABI)
        snprintf(f->wrong, sizeof f->wrong, "nima %s (interface %d), here %s (%d)", f->version, f->abi, NIMA_VERSION,
                 NIMA_ABI);
    else if (f->probe != cluster_probe() && !c->any_arithmetic)
        snprintf(f->wrong, sizeof f->wrong, "it computes differently from the authority");
    else if ((int)(h->threads * h->dispatchers) > f->cores)
        snprintf(f->wrong, sizeof f->wrong, "%u workers on %d cores", h->threads * h->dispatchers, f->cores);
    if (*f->wrong) return;
    ask_clock(p, f);
    if (!ask(p, line, sizeof line, "bind %s %u\n", h->address, p->first ? c->port : 0) || strcmp(line, "good"))
        snprintf(f->wrong, sizeof f->wrong, "it cannot listen at %s, port %u: %.100s", h->address, c->port, line);
    else if (p->first && (!ask(p, line, sizeof line, "reach %s\n", meeting) || strcmp(line, "good")))
        snprintf(f->wrong, sizeof f->wrong, "it cannot reach the authority at %s: %.100s", meeting, line);
}

/* A socket at the authority's address, for the others to reach; -1: none. meeting: its address and port. */
static int open_meeting(const cluster_config *c, char *meeting, size_t room) {
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)c->port) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    snprintf(meeting, room, "%s %u", c->host[0].address, c->port);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (inet_pton(AF_INET, c->host[0].address, &at.sin_addr) == 1 && !bind(fd, (struct sockaddr *)&at, sizeof at) &&
        !listen(fd, 64))
        return fd;
    close(fd);
    return -1;
}

static void inspect(const cluster_config *c, uint32_t i, const char *meeting, finding *f) {
    host_process p = { .host = &c->host[i], .first = i, .to = -1, .from = -1 };
    char error[300];
    if (hosts_spawn(c, &p, i == 0, "--describe", 2, error, sizeof error))
        snprintf(f->wrong, sizeof f->wrong, "%s", error);
    else if (!answer(&p, p.line, sizeof p.line))
        snprintf(f->wrong, sizeof f->wrong, "ssh %s %s gives no answer", c->host[i].ssh, c->host[i].node);
    else judge(c, &c->host[i], &p, meeting, f);
    if (p.to >= 0) close(p.to);
    if (p.from >= 0) close(p.from);
    if (p.pid > 0) { kill(p.pid, SIGTERM); waitpid(p.pid, NULL, 0); }
}

uint32_t cluster_check(const char *path, FILE *to, char *error, size_t room) {
    cluster_config c;
    char meeting[100];
    uint32_t wrong = 0;
    if (cluster_config_read(&c, path, error, room)) return UINT32_MAX;
    const int fd = open_meeting(&c, meeting, sizeof meeting);
    fprintf(to, "%-12s %-16s %5s %4s %10s %8s %9s %11s %10s  %s\n", "host", "address", "cores", "NUMA", "memory",
            "nima", "workers", "clock", "round trip", "");
    for (uint32_t i = 0; i < c.hosts; i++) {
        const config_host *h = &c.host[i];
        finding f = { .round_trip_ms = -1 };
        inspect(&c, i, meeting, &f);
        char workers[32] = "", clock[32] = "", trip[32] = "";
        if (h->threads) snprintf(workers, sizeof workers, "%u x %u", h->dispatchers, h->threads);
        else snprintf(workers, sizeof workers, "%u x all", h->dispatchers);
        if (f.round_trip_ms >= 0 && f.round_trip_ms < 1e9) {
            snprintf(clock, sizeof clock, "%+.2f ms", f.offset_ms);
            snprintf(trip, sizeof trip, "%.2f ms", f.round_trip_ms);
        }
        fprintf(to, "%-12s %-16s %5d %4d %6.1f GiB %8s %9s %11s %10s  %s\n", h->name, h->address, f.cores, f.regions,
                f.gib, *f.version ? f.version : "-", workers, clock, trip, *f.wrong ? "WRONG" : "good");
        if (*f.wrong) fprintf(to, "  host %s: %s\n", h->name, f.wrong);
        wrong += *f.wrong != 0;
    }
    if (fd >= 0) close(fd);
    return wrong;
}
