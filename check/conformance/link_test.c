/* link_test.c: what every link must do, over every transport, plain and sealed. Each test runs in a process of its own,
 * forked before NNG is touched. Usage: link_test TRANSPORT */
#include "links.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static transport_kind kind;
static const char *program;
extern char **environ;

START_TEST(comes_up) {
    two_ends e;
    ends_init(&e, kind, _i);
    ends_up(&e);
    ck_assert_str_eq(link_peer(e.listener), "node1");
    ck_assert_str_eq(link_peer(e.dialer), "authority");
    ck_assert_uint_eq(link_peer_role(e.listener), 2);
    ck_assert_uint_eq(link_peer_role(e.dialer), 1);
    ck_assert_int_eq(link_is_sealed(e.dialer), _i == SEALED);
    ck_assert_int_eq(logged(&e.listener_log, "INSECURE"), _i == PLAIN && (kind == TCP || kind == WS));
    ends_fini(&e);
}
END_TEST

START_TEST(both_ways_in_order) { /* sizes from nothing to the limit, both ways at once, through small windows */
    enum { COUNT = 600 };
    static const uint32_t sizes[] = {0, 1, 63, 64, 1000, 65536, 262144, 17};
    two_ends e;
    ends_init(&e, kind, _i);
    e.listener_options.window_frames = e.dialer_options.window_frames = 4;
    ends_up(&e);
    link_end *ends[2] = {e.listener, e.dialer};
    uint64_t sent[2] = {0, 0}, received[2] = {0, 0};
    transport_fault fault = {""};
    const double until = now_s() + 60;
    while (received[0] < COUNT || received[1] < COUNT) {
        for (int i = 0; i < 2; i++) {
            while (sent[i] < COUNT) {
                const transport_err err = send_numbered(ends[i], sent[i], sizes[sent[i] % 8], &fault);
                if (err == TRANSPORT_FULL) break;
                ck_assert_msg(err == TRANSPORT_OK, "%s", fault.text);
                sent[i]++;
            }
            link_frame frame;
            transport_err err;
            while ((err = link_receive(ends[i], &frame, &fault)) == TRANSPORT_OK) {
                expect_numbered(&frame, received[i], sizes[received[i] % 8]);
                received[i]++;
                link_discard(&frame);
            }
            ck_assert_msg(err == TRANSPORT_EMPTY, "%s", fault.text);
        }
        struct pollfd wait[2] = {{.fd = link_fd(ends[0]), .events = POLLIN},
                                 {.fd = link_fd(ends[1]), .events = POLLIN}};
        (void)poll(wait, 2, 100);
        ck_assert_msg(now_s() < until, "%lu and %lu received", received[0], received[1]);
    }
    link_counters c;
    link_count(e.listener, &c);
    ck_assert_uint_eq(c.frames_sent, COUNT);
    ck_assert_uint_eq(c.frames_received, COUNT);
    ends_fini(&e);
}
END_TEST

START_TEST(wakes_exactly) {                  /* the descriptor is readable when there is something, and only then */
    two_ends e;
    ends_init(&e, kind, _i);
    e.listener_options.heartbeat_ms = e.dialer_options.heartbeat_ms = 60000;
    e.listener_options.lost_ms = e.dialer_options.lost_ms = 120000;
    ends_up(&e);
    link_frame frame;
    transport_fault fault = {""};
    sleep_ms(100);
    while (link_receive(e.listener, &frame, &fault) == TRANSPORT_OK) {}
    struct pollfd wait = {.fd = link_fd(e.listener), .events = POLLIN};
    ck_assert_int_eq(poll(&wait, 1, 200), 0);
    for (uint64_t n = 0; n < 200; n++) {
        ck_assert(send_numbered(e.dialer, n, 8, &fault) == TRANSPORT_OK);
        ck_assert_int_eq(poll(&wait, 1, 5000), 1);
        ck_assert_int_eq(next(e.listener, &frame, 1000, &fault), TRANSPORT_OK);
        expect_numbered(&frame, n, 8);
        link_discard(&frame);
        ck_assert_int_eq(link_receive(e.listener, &frame, &fault), TRANSPORT_EMPTY);
    }
    ck_assert_int_eq(poll(&wait, 1, 100), 0);
    ends_fini(&e);
}
END_TEST

START_TEST(wakes_for_room) {                 /* told FULL, the owner sleeps on the descriptor until there is room */
    two_ends e;
    link_frame frame;
    transport_fault fault = {""};
    ends_init(&e, kind, _i);
    e.listener_options.heartbeat_ms = e.dialer_options.heartbeat_ms = 60000;
    e.listener_options.lost_ms = e.dialer_options.lost_ms = 120000;
    ends_up(&e);
    uint64_t sent = 0, received = 0;
    transport_err err;
    sleep_ms(100);
    for (int round = 0; round < 5; round++) {
        while ((err = send_numbered(e.dialer, sent, 100000, &fault)) == TRANSPORT_OK) sent++;
        ck_assert_msg(err == TRANSPORT_FULL, "%s", fault.text);
        if (round & 1) sleep_ms(20);         /* room may come before the owner looks for frames, or after */
        expect_nothing(e.dialer, 0);
        while (received < sent) {
            ck_assert_msg(next(e.listener, &frame, 5000, &fault) == TRANSPORT_OK, "%s", fault.text);
            expect_numbered(&frame, received++, 100000);
            link_discard(&frame);
        }
        struct pollfd wait = {.fd = link_fd(e.dialer), .events = POLLIN};
        ck_assert_int_eq(poll(&wait, 1, 2000), 1);
        expect_nothing(e.dialer, 0);
        expect_nothing(e.dialer, 0);
        ck_assert_int_eq(poll(&wait, 1, 0), 0);                 /* and it does not stay so */
    }
    ends_fini(&e);
}
END_TEST

typedef struct { link_end *end; transport_err err; transport_fault fault; uint64_t received; } reading;

static void *read_to_the_end(void *arg) {
    reading *r = arg;
    link_frame frame;
    while ((r->err = next(r->end, &frame, 10000, &r->fault)) == TRANSPORT_OK) {
        r->received++;
        link_discard(&frame);
    }
    return NULL;
}

START_TEST(close_loses_nothing) {            /* a thousand sends, then close: all arrive, and then CLOSED */
    two_ends e;
    ends_init(&e, kind, _i);
    ends_up(&e);
    reading r = {.end = e.listener};
    pthread_t reader;
    transport_fault fault = {""};
    ck_assert_int_eq(pthread_create(&reader, NULL, read_to_the_end, &r), 0);
    for (uint64_t n = 0; n < 1000;) {
        const transport_err err = send_numbered(e.dialer, n, 5000, &fault);
        ck_assert_msg(err == TRANSPORT_OK || err == TRANSPORT_FULL, "%s", fault.text);
        if (err == TRANSPORT_OK) n++;
        else sleep_ms(1);
    }
    ck_assert_msg(link_close(e.dialer, 10000, &fault) == TRANSPORT_OK, "%s", fault.text);
    e.dialer = NULL;
    pthread_join(reader, NULL);
    ck_assert_uint_eq(r.received, 1000);
    ck_assert_msg(r.err == TRANSPORT_CLOSED, "%s", r.fault.text);
    ck_assert_int_eq(send_numbered(e.listener, 0, 1, &fault), TRANSPORT_CLOSED);
    ck_assert_msg(link_close(e.listener, 2000, &fault) == TRANSPORT_OK, "%s", fault.text);
    e.listener = NULL;
    ends_fini(&e);
}
END_TEST

typedef struct { link_end *end; transport_err err; transport_fault fault; } closing;
static void *close_it(void *arg) {
    closing *c = arg;
    c->err = link_close(c->end, 5000, &c->fault);
    return NULL;
}

START_TEST(both_close_at_once) {
    two_ends e;
    ends_init(&e, kind, _i);
    ends_up(&e);
    closing c = {.end = e.dialer};
    pthread_t thread;
    transport_fault fault = {""};
    const double begin = now_s();
    ck_assert_int_eq(pthread_create(&thread, NULL, close_it, &c), 0);
    ck_assert_msg(link_close(e.listener, 5000, &fault) == TRANSPORT_OK, "%s", fault.text);
    pthread_join(thread, NULL);
    ck_assert_msg(c.err == TRANSPORT_OK, "%s", c.fault.text);
    ck_assert_msg(now_s() - begin < 2, "took %.2f s", now_s() - begin);
    e.listener = e.dialer = NULL;
    ends_fini(&e);
}
END_TEST

START_TEST(idle_stays_up) {                  /* for longer than lost_ms, with nothing to say */
    two_ends e;
    ends_init(&e, kind, _i);
    e.listener_options.lost_ms = e.dialer_options.lost_ms = 700;
    e.listener_options.heartbeat_ms = e.dialer_options.heartbeat_ms = 100;
    ends_up(&e);
    sleep_ms(800);                           /* the owner is busy: heartbeats do not need it */
    const double until = now_s() + 1;
    while (now_s() < until) {
        expect_nothing(e.listener, 100);
        expect_nothing(e.dialer, 1);
    }
    ends_fini(&e);
}
END_TEST

START_TEST(nobody_there) {
    two_ends e;
    ends_init(&e, kind, _i);
    if (kind == TCP) e.dialer_options.url = "tcp://127.0.0.1:1,2";
    e.dialer_options.connect_ms = 400;
    transport_fault fault = {""};
    ck_assert_msg(link_dial(&e.dialer, &e.dialer_options, &fault) == TRANSPORT_OK, "%s", fault.text);
    const double begin = now_s();
    ck_assert_int_eq(link_wait(e.dialer, &fault), TRANSPORT_DEADLINE);
    ck_assert(now_s() - begin < 2);
    ck_assert_msg(strstr(fault.text, "node1") && strstr(fault.text, "authority"), "%s", fault.text);
    ends_fini(&e);
}
END_TEST

START_TEST(slow_reader) { /* holds up the sender, who says so; nothing grows, nothing is lost, nobody is lost */
    enum { BYTES = 200000 };
    two_ends e;
    ends_init(&e, kind, _i);
    e.dialer_options.slow_ms = 300;
    e.dialer_options.window_frames = 8;
    ends_up(&e);
    transport_fault fault = {""};
    uint64_t sent = 0, early = 0;            /* the system's own buffers take many megabytes first */
    const double until = now_s() + 2.5;      /* longer than lost_ms */
    while (now_s() < until) {
        const transport_err err = send_numbered(e.dialer, sent, BYTES, &fault);
        ck_assert_msg(err == TRANSPORT_OK || err == TRANSPORT_FULL, "%s", fault.text);
        if (err == TRANSPORT_OK) sent++;
        else sleep_ms(10);
        if (now_s() < until - 1) early = sent;
        expect_nothing(e.dialer, 0);
    }
    ck_assert_msg(sent == early, "%lu frames were taken in 1.5 s, and %lu more in another", early, sent - early);
    ck_assert_msg(logged(&e.dialer_log, "authority is slow to read"), "%s", e.dialer_log.text);
    link_counters c;
    link_count(e.dialer, &c);
    ck_assert_uint_le(c.waiting_frames, 8 + 4);
    for (uint64_t n = 0; n < sent; n++) {
        link_frame frame;
        ck_assert_msg(next(e.listener, &frame, 5000, &fault) == TRANSPORT_OK, "frame %lu: %s", n, fault.text);
        expect_numbered(&frame, n, BYTES);
        link_discard(&frame);
    }
    ends_fini(&e);
}
END_TEST

START_TEST(too_large) {
    two_ends e;
    ends_init(&e, kind, _i);
    e.listener_options.frame_max = e.dialer_options.frame_max = 65536;
    ends_up(&e);
    link_frame frame;
    transport_fault fault = {""};
    ck_assert_int_eq(link_reserve(e.dialer, 65537, &frame, &fault), TRANSPORT_OVERSIZED);
    ck_assert(link_reserve(e.dialer, 65536, &frame, &fault) == TRANSPORT_OK);
    link_discard(&frame);
    ends_fini(&e);
}
END_TEST

START_TEST(clock_is_compared) {
    two_ends e;
    ends_init(&e, kind, _i);
    e.listener_options.heartbeat_ms = e.dialer_options.heartbeat_ms = 60;
    ends_up(&e);
    link_counters c = {0};
    for (int i = 0; i < 100 && !c.round_trip_ns; i++) {
        expect_nothing(e.dialer, 0);
        expect_nothing(e.listener, 0);
        link_count(e.dialer, &c);
        sleep_ms(10);
    }
    ck_assert_msg(c.round_trip_ns > 0 && c.round_trip_ns < 500000000, "%ld", c.round_trip_ns);
    ck_assert_msg(labs(c.clock_offset_ns) < 500000000, "%ld", c.clock_offset_ns);      /* the same clock */
    ends_fini(&e);
}
END_TEST

/* ---- a peer in a process of its own, to be killed ---- */

static int be_peer(const char *url, const char *digits) {
    seal_key key;
    size_t bytes;
    link_end *l;
    link_frame frame;
    transport_fault fault = {""};
    const bool sealed = digits[0] != '-';
    if (sealed && sodium_hex2bin(key.bytes, 32, digits, strlen(digits), NULL, &bytes, NULL) != 0) return 2;
    const link_options o = {.url = url,
                            .self = "node1",
                            .peer = "authority",
                            .run_id = {7},
                            .key = sealed ? &key : NULL,
                            .seal_private = sealed,
                            .insecure = !sealed,
                            .lost_ms = 1500,
                            .heartbeat_ms = 200};
    if (link_dial(&l, &o, &fault) != TRANSPORT_OK || link_wait(l, &fault) != TRANSPORT_OK) {
        puts(fault.text);
        return 3;
    }
    transport_err err;
    while ((err = next(l, &frame, 20000, &fault)) == TRANSPORT_OK) link_discard(&frame);
    (void)link_close(l, 1000, &fault);
    return err == TRANSPORT_LOST ? 4 : 5;
}

static pid_t spawn_peer(two_ends *e, int way) {
    char digits[65] = "-";
    pid_t pid;
    if (way == SEALED) sodium_bin2hex(digits, sizeof digits, e->key.bytes, 32);
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "peer",
                         (char *)(uintptr_t)e->dialer_options.url, digits, NULL};
    ck_assert_int_eq(posix_spawn(&pid, program, NULL, NULL, arguments, environ), 0);
    return pid;
}

static void peer_ends_by(int signal, int way) {
    two_ends e;
    transport_fault fault = {""};
    link_frame frame;
    ends_init(&e, kind, way);
    ends_listen(&e);
    const pid_t pid = spawn_peer(&e, way);
    ck_assert_msg(link_wait(e.listener, &fault) == TRANSPORT_OK, "%s", fault.text);
    expect_nothing(e.listener, 700);         /* heartbeats keep it alive */
    kill(pid, signal);
    const double begin = now_s();
    ck_assert_int_eq(next(e.listener, &frame, 5000, &fault), TRANSPORT_LOST);
    ck_assert_msg(now_s() - begin < 2.5, "after %.2f s", now_s() - begin);
    ck_assert_msg(strstr(fault.text, "node1") && strstr(fault.text, "authority"), "%s", fault.text);
    ck_assert_int_eq(send_numbered(e.listener, 0, 1, &fault), TRANSPORT_LOST);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ends_fini(&e);
}

START_TEST(peer_killed) { peer_ends_by(SIGKILL, _i); }
END_TEST
START_TEST(peer_stopped) { peer_ends_by(SIGSTOP, _i); }
END_TEST

START_TEST(peer_is_told) { /* the other way: our end goes without a word, the peer gives up by itself */
    two_ends e;
    transport_fault fault = {""};
    int status;
    ends_init(&e, kind, _i);
    ends_listen(&e);
    const pid_t pid = spawn_peer(&e, _i);
    ck_assert_msg(link_wait(e.listener, &fault) == TRANSPORT_OK, "%s", fault.text);
    expect_nothing(e.listener, 300);         /* the peer knows by now that it is up */
    (void)link_close(e.listener, 0, &fault);
    e.listener = NULL;
    waitpid(pid, &status, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 4, "status %x", status);
    ends_fini(&e);
}
END_TEST

int main(int argc, char **argv) {
    program = argv[0];
    if (argc == 4 && strcmp(argv[1], "peer") == 0) return be_peer(argv[2], argv[3]);
    for (kind = INPROC; kind < TRANSPORTS && (argc < 2 || strcmp(argv[1], transport_names[kind]) != 0);) kind++;
    if (kind == TRANSPORTS) return EXIT_FAILURE;
    Suite *suite = suite_create(argv[1]);
#define ADD(test) suite_add(suite, #test, test, WAYS)
    ADD(comes_up);
    ADD(both_ways_in_order);
    ADD(wakes_exactly);
    ADD(wakes_for_room);
    ADD(close_loses_nothing);
    ADD(both_close_at_once);
    ADD(idle_stays_up);
    ADD(nobody_there);
    ADD(slow_reader);
    ADD(too_large);
    ADD(clock_is_compared);
    if (kind != INPROC) {
        ADD(peer_killed);
        ADD(peer_stopped);
        ADD(peer_is_told);
    }
    return suite_run(suite, 1);
}
