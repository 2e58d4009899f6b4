/* hostile_test.c: what strangers, wrong peers and meddlers on the way can do to a link: be refused and logged, or end
 * it with a named cause. Each test ends with the right peer coming up, or with the error that names both ends. */
#include "wiretap.h"
#include <dirent.h>
#include <fcntl.h>

static int count_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static long virtual_kib(void) {              /* what was asked for, touched or not */
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

/* The owner's part, while strangers are at work. */
static void serve(link_end *l, int ms) {
    link_frame frame;
    transport_fault fault = {""};
    const transport_err err = next(l, &frame, ms, &fault);
    ck_assert_msg(err == TRANSPORT_EMPTY, "%s", fault.text);
}

static void start(two_ends *e, transport_kind kind, int way) {
    ends_init(e, kind, way);
    e->listener_options.hello_ms = e->dialer_options.hello_ms = 300;
    ends_listen(e);
}

START_TEST(port_scanner) {                   /* connects and goes, many times; nothing leaks */
    two_ends e;
    int ports[2];
    start(&e, TCP, _i);
    link_ports(e.listener, ports);
    serve(e.listener, 100);
    const int before = count_descriptors();
    for (int i = 0; i < 200; i++) close(stranger_connect(ports[i & 1]));
    serve(e.listener, 500);
    ck_assert_int_le(count_descriptors(), before + 2);
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(garbage) {
    two_ends e;
    int ports[2];
    uint8_t noise[10000];
    start(&e, TCP, _i);
    link_ports(e.listener, ports);
    for (int i = 0; i < 40; i++) {
        const int fd = stranger_connect(ports[i & 1]);
        randombytes_buf(noise, sizeof noise);
        if (i & 2) memcpy(noise, pair_greeting, 8);             /* the right greeting, then a length of noise */
        stranger_send(fd, noise, sizeof noise);
        serve(e.listener, 10);
        close(fd);
    }
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(length_of_4_gib) {                /* no memory is taken on a stranger's word */
    static const uint8_t lengths[][8] = {{0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 4},
                                         {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
    two_ends e;
    int ports[2];
    start(&e, TCP, _i);
    link_ports(e.listener, ports);
    serve(e.listener, 50);
    const long before = virtual_kib();
    for (int i = 0; i < 8; i++) {
        const int fd = stranger_connect(ports[i & 1]);
        stranger_send(fd, pair_greeting, 8);
        stranger_send(fd, lengths[i / 2], 8);
        stranger_send(fd, lengths, sizeof lengths);
        serve(e.listener, 30);
        ck_assert_int_lt(virtual_kib() - before, 1 << 20);
        close(fd);
    }
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(silent_client) {                  /* speaks NNG, takes both places and says nothing: is thrown out */
    two_ends e;
    int ports[2];
    uint8_t greeting[8];
    start(&e, TCP, _i);
    link_ports(e.listener, ports);
    const int up = stranger_connect(ports[0]), down = stranger_connect(ports[1]);
    stranger_send(up, pair_greeting, 8);
    stranger_send(down, pair_greeting, 8);
    ck_assert(read_all(up, greeting, 8) && read_all(down, greeting, 8));
    ends_up(&e);
    ck_assert_msg(logged(&e.listener_log, "said nothing of use"), "%s", e.listener_log.text);
    close(up);
    close(down);
    ends_fini(&e);
}
END_TEST

START_TEST(nonsense_messages) {              /* speaks NNG, and sends messages that are none of ours */
    static const char *const said[] = {"hello", "\x93\x01\x05\x00", "\0\0\0\0\0\0\0\0\x91\xc0",
                                       "\0\0\0\0\0\0\0\0\x93\x02\x05\x00", "\0\0\0\0\0\0\0\0\x93\x01\x05\x00"};
    static const uint8_t lengths[] = {5, 4, 10, 12, 12};
    two_ends e;
    int ports[2];
    start(&e, TCP, _i);
    link_ports(e.listener, ports);
    for (size_t i = 0; i < sizeof lengths; i++) {
        const int up = stranger_connect(ports[0]);
        const uint8_t length[8] = {0, 0, 0, 0, 0, 0, 0, lengths[i]};
        stranger_send(up, pair_greeting, 8);
        stranger_send(up, length, 8);
        stranger_send(up, said[i], lengths[i]);
        serve(e.listener, 100);
        close(up);
    }
    ck_assert_msg(logged(&e.listener_log, "version") && logged(&e.listener_log, "too short"), "%s",
                  e.listener_log.text);
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(plain_websocket_client) {         /* completes the upgrade as a browser would, then sends text */
    two_ends e;
    char reply[512] = "", request[512];
    int port;
    start(&e, WS, _i);
    ck_assert_int_eq(sscanf(e.url, "ws://127.0.0.1:%d", &port), 1);
    const int fd = stranger_connect(port);
    snprintf(request, sizeof request,
             "GET /link/up HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Protocol: pair.sp.nanomsg.org\r\n\r\n",
             port);
    stranger_send(fd, request, strlen(request));
    ck_assert_int_gt(recv(fd, reply, sizeof reply - 1, 0), 0);
    ck_assert_msg(strstr(reply, "101") != NULL, "%s", reply);
    stranger_send(fd, "\x82\x85\0\0\0\0hello", 11);
    serve(e.listener, 600);
    ck_assert_msg(logged(&e.listener_log, "too short"), "%s", e.listener_log.text);
    stranger_send(fd, "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14);
    ends_up(&e);
    close(fd);
    ends_fini(&e);
}
END_TEST

/* Dials until it has failed, while the listener serves. */
static transport_err fail_to_dial(two_ends *e, transport_fault *fault) {
    link_end *wrong;
    link_frame frame;
    ck_assert_msg(link_dial(&wrong, &e->dialer_options, fault) == TRANSPORT_OK, "%s", fault->text);
    transport_err err = TRANSPORT_EMPTY;
    while (err == TRANSPORT_EMPTY) {
        transport_fault ignored;
        ck_assert_int_eq(link_receive(e->listener, &frame, &ignored), TRANSPORT_EMPTY);
        ck_assert(!link_is_up(wrong));
        err = link_receive(wrong, &frame, fault);
        sleep_ms(5);
    }
    (void)link_close(wrong, 0, NULL);
    return err;
}

START_TEST(wrong_peers) { /* key, run, names: refused at once, logged, and the right one still gets in */
    two_ends e;
    transport_fault fault = {""};
    seal_key other;
    start(&e, TCP, SEALED);
    const link_options right = e.dialer_options;
    const char *expected = "";
    seal_key_new(&other);
    switch (_i) {
    case 0: e.dialer_options.key = &other; expected = "has not this run's key"; break;
    case 1: e.dialer_options.run_id[0] = 99; expected = "belongs to another run"; break;
    case 2: e.dialer_options.peer = "somebody"; expected = "looks for another name"; break;
    case 3: e.dialer_options.self = "node7"; expected = "is not whom this link waits for"; break;
    case 4: e.dialer_options.insecure = true; expected = "comes unsealed"; break;
    }
    const double begin = now_s();
    ck_assert_int_eq(fail_to_dial(&e, &fault), TRANSPORT_REFUSED);
    ck_assert_msg(now_s() - begin < 5, "took %.1f s", now_s() - begin);
    ck_assert_msg(strstr(fault.text, expected), "%s", fault.text);
    ck_assert_msg(logged(&e.listener_log, expected), "%s", e.listener_log.text);
    e.dialer_options = right;
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(false_listener) {                 /* sits at the address without the key, or unsealed: the dialer notices */
    two_ends e;
    transport_fault fault = {""};
    seal_key other;
    seal_key_new(&other);
    ends_init(&e, TCP, SEALED);
    if (_i == 0) e.listener_options.key = &other;
    else e.listener_options.insecure = true;
    ends_listen(&e);
    ck_assert_int_eq(fail_to_dial(&e, &fault), TRANSPORT_REFUSED);
    ends_fini(&e);
}
END_TEST

typedef struct {
    int up_fd, down_fd, ports[2], variant;
    const seal_key *key;
    _Atomic int answered, confirmed;         /* written by its thread, read by the test */
} impostor;

/* Takes HELLO and answers WELCOME, as a true listener would but for one thing. Notes whether a CONFIRM comes. */
static void *pretend(void *arg) {
    impostor *me = arg;
    for (;;) {
        uint8_t greeting[8], length[8], frame[1024], out[1024] = {0};
        const int up = accept(me->up_fd, NULL, NULL), down = accept(me->down_fd, NULL, NULL);
        stranger_send(up, pair_greeting, 8);
        stranger_send(down, pair_greeting, 8);
        if (!read_all(up, greeting, 8) || !read_all(down, greeting, 8) || !read_all(up, length, 8)) goto next;
        const size_t bytes = (size_t)length[6] << 8 | length[7];
        wire_message hello, m = {.kind = WIRE_WELCOME};
        if (bytes < 8 || bytes > sizeof frame || !read_all(up, frame, bytes) ||
            wire_decode(&hello, frame + 8, bytes - 8, "dialer", NULL))
            goto next;
        seal_transcript t;
        memset(&t, 0, sizeof t);
        memcpy(t.run_id, hello.hello.run_id, sizeof t.run_id);
        memcpy(t.nonce_dialer, hello.hello.nonce, sizeof t.nonce_dialer);
        memcpy(t.name_dialer, hello.hello.name.at, hello.hello.name.bytes);
        memcpy(t.name_meant, hello.hello.peer.at, hello.hello.peer.bytes);
        snprintf(t.name_listener, sizeof t.name_listener, "%s", me->variant == 1 ? "somebody" : "authority");
        t.role_dialer = hello.hello.role;
        t.ciphers = hello.hello.ciphers;
        t.cipher = me->variant == 2 ? 0 : SEAL_CHACHA20;
        if (me->variant == 3) t.run_id[0]++;
        m.welcome.name = wire_text_of(t.name_listener);
        m.welcome.cipher = t.cipher;
        memcpy(m.welcome.run_id, t.run_id, sizeof t.run_id);
        memcpy(m.welcome.echo, t.nonce_dialer, sizeof t.nonce_dialer);
        seal_prove(m.welcome.proof, me->key, SEAL_WELCOME, &t);
        const size_t answer = 8 + wire_encode(&m, out + 8, sizeof out - 8);
        const uint8_t answer_length[8] = {0, 0, 0, 0, 0, 0, (uint8_t)(answer >> 8), (uint8_t)answer};
        stranger_send(down, answer_length, 8);
        stranger_send(down, out, answer);
        me->answered++;
        me->confirmed += read_all(up, length, 8);
    next:
        close(up);
        close(down);
    }
    return NULL;
}

START_TEST(
    impostor_answers) { /* without the key, with another name, without a cipher, of another run; last: all right */
    enum { RIGHT = 4 };
    static const transport_err expected[] = {TRANSPORT_FORGED, TRANSPORT_REFUSED, TRANSPORT_FORGED, TRANSPORT_REFUSED,
                                             TRANSPORT_DEADLINE};
    static impostor me;
    static two_ends e;
    seal_key other;
    char url[64];
    pthread_t thread;
    transport_fault fault = {""};
    ends_init(&e, TCP, SEALED);
    seal_key_new(&other);
    me.variant = _i;
    me.key = _i == 0 ? &other : &e.key;
    me.up_fd = stranger_listen(&me.ports[0]);
    me.down_fd = stranger_listen(&me.ports[1]);
    ck_assert_int_eq(pthread_create(&thread, NULL, pretend, &me), 0);
    pthread_detach(thread);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d,%d", me.ports[0], me.ports[1]);
    e.dialer_options.url = url;
    e.dialer_options.connect_ms = _i == RIGHT ? 1500 : 8000;
    ck_assert(link_dial(&e.dialer, &e.dialer_options, &fault) == TRANSPORT_OK);
    const transport_err err = link_wait(e.dialer, &fault);
    ck_assert_msg(err == expected[_i], "%d: %s", err, fault.text);
    ck_assert_int_gt(me.answered, 0);
    ck_assert_int_eq(me.confirmed > 0, _i == RIGHT);            /* nothing more is said to an impostor */
    ends_fini(&e);
}
END_TEST

START_TEST(second_client) {                  /* on a taken link, with the right key: the first does not notice */
    two_ends e;
    link_end *second;
    transport_fault fault = {""};
    start(&e, TCP, _i);
    ends_up(&e);
    e.dialer_options.connect_ms = 800;
    ck_assert(link_dial(&second, &e.dialer_options, &fault) == TRANSPORT_OK);
    ck_assert_int_eq(link_wait(second, &fault), TRANSPORT_DEADLINE);
    (void)link_close(second, 0, NULL);
    for (uint64_t n = 0; n < 50; n++) {
        link_frame frame;
        ck_assert_msg(send_numbered(e.dialer, n, 100, &fault) == TRANSPORT_OK, "%s", fault.text);
        ck_assert_msg(next(e.listener, &frame, 2000, &fault) == TRANSPORT_OK, "%s", fault.text);
        expect_numbered(&frame, n, 100);
        link_discard(&frame);
    }
    ck_assert_msg(logged(&e.listener_log, "another client was turned away"), "%s", e.listener_log.text);
    ends_fini(&e);
}
END_TEST

static const struct { tap_action action; transport_err sealed, plain; } meddling[] = {
    {TAP_PASS, TRANSPORT_OK, TRANSPORT_OK},          {TAP_REPEAT, TRANSPORT_REPLAYED, TRANSPORT_REPLAYED},
    {TAP_DROP, TRANSPORT_GAP, TRANSPORT_GAP},        {TAP_SWAP, TRANSPORT_GAP, TRANSPORT_GAP},
    {TAP_FLIP, TRANSPORT_FORGED, TRANSPORT_OK},      {TAP_INJECT, TRANSPORT_TRUNCATED, TRANSPORT_GAP}};

START_TEST(meddler) {                        /* on the way: frames repeated, dropped, swapped, altered, injected */
    two_ends e;
    static tap up, down;                     /* their threads outlive the test */
    int ports[2];
    char url[64];
    const int way = _i & 1;
    const transport_err expected = way == SEALED ? meddling[_i / 2].sealed : meddling[_i / 2].plain;
    ends_init(&e, TCP, way);
    e.listener_options.hello_ms = e.dialer_options.hello_ms = 8000;     /* a tap serves one connection */
    ends_listen(&e);
    link_ports(e.listener, ports);
    tap_start(&up, ports[0], meddling[_i / 2].action, 5);
    tap_start(&down, ports[1], TAP_PASS, 0);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d,%d", up.port, down.port);
    e.dialer_options.url = url;
    e.dialer_options.heartbeat_ms = 60000;
    e.listener_options.lost_ms = 60000;
    ends_up(&e);
    transport_fault fault = {""};
    link_frame frame;
    uint64_t received = 0;
    transport_err err;
    for (uint64_t n = 0; n < 20; n++) ck_assert(send_numbered(e.dialer, n, 1000, &fault) == TRANSPORT_OK);
    while ((err = next(e.listener, &frame, 1000, &fault)) == TRANSPORT_OK) {
        if (!(way == PLAIN && meddling[_i / 2].action == TAP_FLIP)) expect_numbered(&frame, received, 1000);
        link_discard(&frame);
        received++;
    }
    if (expected == TRANSPORT_OK) {
        ck_assert_msg(received == 20, "%lu: %s", received, fault.text);
    } else {
        ck_assert_msg(err == expected, "%d: %s", err, fault.text);
        ck_assert_msg(strstr(fault.text, "node1") && strstr(fault.text, "authority"), "%s", fault.text);
        ck_assert_uint_le(received, 5);
    }
    ends_fini(&e);
}
END_TEST

START_TEST(replayed_handshake) { /* what a true peer once said, said again to a new listener with the same key */
    two_ends e, again;
    static tap up, down;
    int ports[2];
    char url[64];
    ends_init(&e, TCP, SEALED);
    e.listener_options.hello_ms = e.dialer_options.hello_ms = 8000;
    ends_listen(&e);
    link_ports(e.listener, ports);
    tap_start(&up, ports[0], TAP_PASS, 0);
    tap_start(&down, ports[1], TAP_PASS, 0);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d,%d", up.port, down.port);
    e.dialer_options.url = url;
    ends_up(&e);
    transport_fault fault = {""};
    ck_assert(send_numbered(e.dialer, 1, 100, &fault) == TRANSPORT_OK);
    serve(e.dialer, 200);
    ends_fini(&e);
    ck_assert_int_ge(up.records, 3);                            /* HELLO, CONFIRM, data */
    ends_init(&again, TCP, SEALED);
    again.listener_options.key = &e.key;
    again.listener_options.hello_ms = 500;
    ends_listen(&again);
    link_ports(again.listener, ports);
    static tap replay;
    replay.to = stranger_connect(ports[0]);
    const int other = stranger_connect(ports[1]);
    stranger_send(replay.to, pair_greeting, 8);
    stranger_send(other, pair_greeting, 8);
    for (int i = 0; i < up.records; i++) tap_forward(&replay, up.recorded[i], up.recorded_bytes[i]);
    serve(again.listener, 400);
    ck_assert(!link_is_up(again.listener));
    ck_assert_msg(logged(&again.listener_log, "or an old HELLO"), "%s", again.listener_log.text);
    close(replay.to);
    close(other);
    ends_fini(&again);
}
END_TEST

START_TEST(no_key) {                         /* never silently plain */
    two_ends e;
    transport_fault fault = {""};
    ends_init(&e, _i ? WS : TCP, PLAIN);
    e.listener_options.insecure = false;
    ck_assert_int_eq(link_listen(&e.listener, &e.listener_options, &fault), TRANSPORT_INSECURE);
    ck_assert_ptr_null(e.listener);
    ends_fini(&e);
}
END_TEST

START_TEST(ipc_place) {                      /* a directory for others, and a path that is taken */
    two_ends e;
    link_end *second;
    transport_fault fault = {""};
    ends_init(&e, IPC, PLAIN);
    ck_assert_int_eq(chmod(e.directory, 0755), 0);
    ck_assert_int_eq(link_listen(&second, &e.listener_options, &fault), TRANSPORT_INSECURE);
    ck_assert_int_eq(chmod(e.directory, 0700), 0);
    ends_listen(&e);
    ck_assert_int_eq(link_listen(&second, &e.listener_options, &fault), TRANSPORT_ADDRESS);
    ck_assert_msg(strstr(fault.text, "taken"), "%s", fault.text);
    ends_up(&e);
    ends_fini(&e);
}
END_TEST

START_TEST(ipc_file_replaced) {
    two_ends e;
    char path[128];
    transport_fault fault = {""};
    ends_init(&e, IPC, PLAIN);
    ends_listen(&e);
    snprintf(path, sizeof path, "%s/a.up", e.directory);
    unlink(path);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    ck_assert_int_eq(link_wait(e.listener, &fault), TRANSPORT_ADDRESS);
    ends_fini(&e);
}
END_TEST

START_TEST(addresses) {
    static const char *const urls[] = {"tcp://127.0.0.1",
                                       "tcp://:0",
                                       "tcp://127.0.0.1:70000",
                                       "tcp://127.0.0.1:65535",
                                       "tcp://127.0.0.1:1,x",
                                       "ws://127.0.0.1/x",
                                       "ws://127.0.0.1:0/x",
                                       "ipc://relative/a",
                                       "ipc:///a",
                                       "udp://127.0.0.1:1",
                                       "",
                                       "tcp://203.0.113.9:4000"};
    two_ends e;
    ends_init(&e, TCP, SEALED);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        transport_fault fault = {""};
        e.listener_options.url = urls[i];
        const transport_err err = link_listen(&e.listener, &e.listener_options, &fault);
        ck_assert_msg(err == TRANSPORT_ADDRESS, "%s: %d %s", urls[i], err, fault.text);
        ck_assert_ptr_null(e.listener);
        ck_assert_msg(strstr(fault.text, urls[i]) != NULL, "%s", fault.text);
    }
    ends_fini(&e);
}
END_TEST

START_TEST(binds_nothing_else) {             /* a listener at 127.0.0.1 is not at 127.0.0.2 */
    two_ends e;
    int ports[2];
    start(&e, TCP, SEALED);
    link_ports(e.listener, ports);
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = htons((uint16_t)ports[i]), .sin_addr.s_addr = htonl(0x7F000002)};
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ne(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
        close(fd);
    }
    ends_fini(&e);
}
END_TEST

START_TEST(many_links_leave_nothing) {
    int before = 0;
    for (int i = 0; i < 60; i++) {
        two_ends e;
        transport_fault fault = {""};
        ends_init(&e, _i ? TCP : IPC, SEALED);
        ends_up(&e);
        ck_assert(send_numbered(e.dialer, 0, 10, &fault) == TRANSPORT_OK);
        ends_fini(&e);
        if (i == 10) before = count_descriptors();
    }
    ck_assert_int_le(count_descriptors(), before + 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hostile");
#define ADD(test, loops) suite_add(suite, #test, test, loops)
    ADD(port_scanner, WAYS);
    ADD(garbage, WAYS);
    ADD(length_of_4_gib, WAYS);
    ADD(silent_client, WAYS);
    ADD(nonsense_messages, WAYS);
    ADD(plain_websocket_client, WAYS);
    ADD(wrong_peers, 5);
    ADD(false_listener, 2);
    ADD(impostor_answers, 5);
    ADD(second_client, WAYS);
    ADD(meddler, 2 * (int)(sizeof meddling / sizeof *meddling));
    ADD(replayed_handshake, 1);
    ADD(no_key, 2);
    ADD(ipc_place, 1);
    ADD(ipc_file_replaced, 1);
    ADD(addresses, 1);
    ADD(binds_nothing_else, 1);
    ADD(many_links_leave_nothing, 2);
    return suite_run(suite, 1);
}
