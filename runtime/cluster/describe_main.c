/* describe_main.c: nima-node --describe: what this host has, and whether it can be reached, line by line. See node.h.
 */
#include "cluster/node.h"
#include "cluster/probe.h"
#include <arpa/inet.h>
#include <errno.h>
#include <hwloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REACH_MS = 3000 };

static void describe(void) {
    hwloc_topology_t t;
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), regions = 1;
    if (!hwloc_topology_init(&t)) {
        if (!hwloc_topology_load(t)) {
            cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
            regions = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
        }
        hwloc_topology_destroy(t);
    }
    const double gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    printf("nima %s %d %016llx %d %d %.1f\n", NIMA_VERSION, NIMA_ABI, (unsigned long long)cluster_probe(), cores,
           regions, gib);
}

static int parse(const char *line, const char *format, struct sockaddr_in *to) {   /* a socket, or -1 with errno */
    char text[64];
    unsigned port;
    *to = (struct sockaddr_in){ .sin_family = AF_INET };
    if (sscanf(line, format, text, &port) != 2 || port > 65535 || inet_pton(AF_INET, text, &to->sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    to->sin_port = htons((uint16_t)port);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int try_bind(const char *line) {      /* 0, or an errno */
    struct sockaddr_in to;
    const int fd = parse(line, "bind %63s %u", &to), on = 1;
    if (fd < 0) return errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const int wrong = bind(fd, (struct sockaddr *)&to, sizeof to) || listen(fd, 1) ? errno : 0;
    close(fd);
    return wrong;
}

static int try_reach(const char *line) {
    struct sockaddr_in to;
    const int fd = parse(line, "reach %63s %u", &to);
    if (fd < 0) return errno;
    int wrong = connect(fd, (struct sockaddr *)&to, sizeof to) ? errno : 0;
    struct pollfd p = { fd, POLLOUT, 0 };
    if (wrong == EINPROGRESS) {
        socklen_t bytes = sizeof wrong;
        if (poll(&p, 1, REACH_MS) <= 0) wrong = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &wrong, &bytes)) wrong = errno;
    }
    close(fd);
    return wrong;
}

int describe_main(void) {
    char line[200];
    describe();
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        const int wrong = !strncmp(line, "bind", 4) ? try_bind(line) : !strncmp(line, "reach", 5) ? try_reach(line) : 0;
        if (!strcmp(line, "ping\n")) printf("pong %lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
        else printf("%s\n", wrong ? strerror(wrong) : "good");
        fflush(stdout);
    }
    return 0;
}
