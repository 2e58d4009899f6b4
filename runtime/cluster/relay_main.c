/* relay_main.c: nima-node --join ADDRESS --key FILE, started by hand where nobody can log in by ssh: what the authority
 * would say through ssh comes over a sealed link instead. The link needs NNG's threads, and starting dispatchers needs
 * a process without them, so there are two: a child that takes part in the run (join_main.c), and this one, which
 * passes on what is said. Each ends with the other. */
#include "cluster/node.h"
#include "link.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONNECT_MS = 600000, DRAIN_MS = 500 };

static bool write_all(int fd, const char *at, size_t bytes) {
    while (bytes) {
        const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) { at += n; bytes -= (size_t)n; }
    }
    return true;
}

static bool from_link(link_end *link, int fd, const char *name) {    /* false: it has ended */
    link_frame f;
    wire_message m;
    transport_fault fault;
    for (;;) {
        const transport_err err = link_receive(link, &f, &fault);
        if (err == TRANSPORT_EMPTY) return true;
        if (err) {
            if (err != TRANSPORT_CLOSED) fprintf(stderr, "nima-node: %s\n", fault.text);
            return false;
        }
        const bool good = !wire_decode(&m, f.data, f.bytes, name, &fault) && m.kind == WIRE_CONTROL
                          && write_all(fd, m.control.blob.at, m.control.blob.bytes);
        link_discard(&f);
        if (!good) return false;
    }
}

static bool from_child(link_end *link, int fd) {
    char text[4096];
    transport_fault fault;
    const ssize_t n = read(fd, text, sizeof text);
    if (n <= 0) return n < 0 && errno == EINTR;
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .blob = { text, (uint32_t)n } } };
    return link_send_message(link, &m, &fault) == TRANSPORT_OK;
}

static int relay(const char *address, const seal_key *key, int fd) {
    link_end *link;
    transport_fault fault;
    const link_options o = { .url = address, .self = "node", .key = key, .connect_ms = CONNECT_MS, .hello_ms = 1500 };
    transport_err err = link_dial(&link, &o, &fault);
    if (!err) err = link_wait(link, &fault);
    if (err) { fprintf(stderr, "nima-node: %s\n", fault.text); return 1; }
    for (bool going = true; going;) {
        struct pollfd fds[2] = { { link_fd(link), POLLIN, 0 }, { fd, POLLIN, 0 } };
        poll(fds, 2, 500);
        going = from_link(link, fd, address);
        if (going && fds[1].revents) going = from_child(link, fd);
    }
    close(fd);                               /* the child ends all it has started */
    return link_close(link, DRAIN_MS, &fault) ? 1 : 0;
}

int relay_main(const char *address, const char *key_file) {
    seal_key key;
    transport_fault fault;
    int ends[2], status = 0;
    if (!seal_start() || seal_key_read(&key, key_file, &fault)) {
        fprintf(stderr, "nima-node: %s\n", fault.text);
        return 2;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) { perror("nima-node: socketpair"); return 1; }
    const pid_t child = fork();
    if (child < 0) { perror("nima-node: fork"); return 1; }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        seal_key_wipe(&key);
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        exit(join_main());
    }
    close(ends[1]);
    const int code = relay(address, &key, ends[0]);
    seal_key_wipe(&key);
    waitpid(child, &status, 0);
    return code ? code : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
