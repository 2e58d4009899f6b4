/* publish_test.c: what publish.h promises, seen by NNG's own sub socket and by strangers. Clients that nobody here
 * wrote are in subscribers.sh, which starts `publish_test feed SECONDS URL...`. */
#include "publish.h"
#include "wiretap.h"
#include <dirent.h>
#include <fcntl.h>
#include <msgpack.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <sys/un.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };                      /* freed memory is kept for a while, and what NNG loses is reported */
#else
enum { SANITIZED = 0 };
#endif

static log_book book = {.lock = PTHREAD_MUTEX_INITIALIZER};
static char directory[] = "/tmp/nima-publish-XXXXXX", urls[3][128];

static publisher *open_all(uint32_t buffer_messages) {
    static const char *list[3];
    publisher *p;
    transport_fault fault = {""};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(urls[0], sizeof urls[0], "ipc://%s/p", directory);
    snprintf(urls[1], sizeof urls[1], "tcp://127.0.0.1:%d", free_port());
    snprintf(urls[2], sizeof urls[2], "ws://127.0.0.1:%d/publish", free_port());
    for (int i = 0; i < 3; i++) list[i] = urls[i];
    const publish_options o = {
        .urls = list, .url_count = 3, .buffer_messages = buffer_messages, .log = log_into, .log_arg = &book};
    ck_assert_msg(publish_open(&p, &o, &fault) == TRANSPORT_OK, "%s", fault.text);
    return p;
}

static void finish(publisher *p) {
    char path[128];
    const double begin = now_s();
    publish_close(p, 0);
    ck_assert_msg(now_s() - begin < 2.5, "closing took %.1f s", now_s() - begin);
    snprintf(path, sizeof path, "%s/p", directory);
    unlink(path);
    rmdir(directory);
}

/* Subscribes before it connects, as one should. Receives by polling: finite time-outs of NNG's sub socket crash. */
static nng_socket subscribe(const char *url, const char *prefix) {
    nng_socket s;
    ck_assert_int_eq(nng_sub0_open(&s), 0);
    ck_assert_int_eq(nng_socket_set(s, NNG_OPT_SUB_SUBSCRIBE, prefix, strlen(prefix)), 0);
    ck_assert_int_eq(nng_socket_set_int(s, NNG_OPT_RECVBUF, 8192), 0);
    ck_assert_int_eq(nng_dial(s, url, NULL, 0), 0);
    return s;
}

typedef struct { char topic[128]; uint64_t counter; int64_t tick; } seen;

/* The next message within the time; false: none. Decoded with msgpack-c's own unpacker. */
static bool receive(nng_socket s, seen *out, int timeout_ms) {
    const double until = now_s() + timeout_ms / 1000.0;
    nng_msg *m;
    int fd;
    ck_assert_int_eq(nng_socket_get_int(s, NNG_OPT_RECVFD, &fd), 0);
    while (nng_recvmsg(s, &m, NNG_FLAG_NONBLOCK) != 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (now_s() >= until) return false;
        (void)poll(&wait, 1, 10);
    }
    const char *at = nng_msg_body(m);
    const size_t bytes = nng_msg_len(m), name = strnlen(at, bytes);
    msgpack_unpacked object;
    msgpack_unpacked_init(&object);
    ck_assert(name < bytes && name < sizeof out->topic);
    memcpy(out->topic, at, name + 1);
    size_t used = 0;
    ck_assert_int_eq((int)msgpack_unpack_next(&object, at + name + 1, bytes - name - 1, &used), MSGPACK_UNPACK_SUCCESS);
    ck_assert_uint_eq(used, bytes - name - 1);
    const msgpack_object *pair = object.data.via.array.ptr;
    ck_assert(object.data.type == MSGPACK_OBJECT_ARRAY && object.data.via.array.size == 2 &&
              pair[1].type == MSGPACK_OBJECT_MAP);
    out->counter = pair[0].via.u64;
    out->tick = pair[1].via.map.size ? pair[1].via.map.ptr[0].val.via.i64 : -1;
    msgpack_unpacked_destroy(&object);
    nng_msg_free(m);
    return true;
}

static void send_tick(publisher *p, const char *topic, int64_t tick, publish_keep keep, size_t bytes) {
    static const uint8_t filling[1 << 16];
    publish_map m;
    transport_fault fault = {""};
    publish_map_init(&m);
    publish_int(&m, "tick", tick);
    if (bytes) publish_bin(&m, "filling", filling, bytes);
    ck_assert_msg(publish_send(p, topic, &m, keep, &fault) == TRANSPORT_OK, "%s", fault.text);
    publish_map_fini(&m);
}

START_TEST(counts_each_topic) {
    publisher *p = open_all(0);
    nng_socket s = subscribe(urls[_i], "");
    seen got;
    sleep_ms(150);
    for (int i = 0; i < 50; i++) {
        send_tick(p, "clock", 100 + i, PUBLISH_STREAM, 0);
        if (i % 10 == 0) send_tick(p, "load/a", i, PUBLISH_STREAM, 0);
    }
    uint64_t clock = 0, load = 0;
    while (clock + load < 55) {
        ck_assert(receive(s, &got, 2000));
        const bool is_clock = strcmp(got.topic, "clock") == 0;
        if (is_clock) ck_assert_int_eq(got.tick, 100 + (int64_t)clock);
        ck_assert_uint_eq(got.counter, is_clock ? ++clock : ++load);
    }
    ck_assert_uint_eq(publish_subscribers(p), 1);
    nng_close(s);
    finish(p);
}
END_TEST

START_TEST(late_subscriber) {                /* the last value of what is kept, with its old counter, within 100 ms */
    publisher *p = open_all(0);
    seen got;
    for (int i = 0; i < 7; i++) send_tick(p, "run", i, PUBLISH_KEEP, 0);
    for (int i = 0; i < 3; i++) send_tick(p, "load/x", i, PUBLISH_KEEP, 0);
    send_tick(p, "stream", 1, PUBLISH_STREAM, 0);
    for (int round = 0; round < 3; round++) {
        nng_socket s = subscribe(urls[_i], "");
        const double begin = now_s();
        uint64_t run = 0, load = 0;
        while (!run || !load) {
            ck_assert_msg(receive(s, &got, 2000), "nothing came");
            ck_assert_str_ne(got.topic, "stream");
            if (strcmp(got.topic, "run") == 0) run = got.counter;
            else load = got.counter;
        }
        ck_assert_msg(now_s() - begin < 0.1, "after %.3f s", now_s() - begin);
        ck_assert_uint_eq(run, 7);
        ck_assert_uint_eq(load, 3);
        nng_close(s);
    }
    finish(p);
}
END_TEST

START_TEST(prefix) {
    publisher *p = open_all(0);
    nng_socket s = subscribe(urls[_i], "load/");
    seen got;
    sleep_ms(150);
    send_tick(p, "loads", 1, PUBLISH_STREAM, 0);
    send_tick(p, "load/b", 2, PUBLISH_STREAM, 0);
    ck_assert(receive(s, &got, 2000));
    ck_assert_str_eq(got.topic, "load/b");
    nng_close(s);
    finish(p);
}
END_TEST

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

START_TEST(dead_subscriber) {                /* greets and never reads: sending takes no longer, memory has a bound */
    publisher *p = open_all(64);
    static const uint8_t greeting[8] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};
    int port;
    ck_assert_int_eq(sscanf(urls[1], "tcp://127.0.0.1:%d", &port), 1);
    const int dead = stranger_connect(port);
    stranger_send(dead, greeting, sizeof greeting);
    nng_socket s = subscribe(urls[1], "end");
    sleep_ms(150);
    const long before = resident_kib();
    double slowest = 0;
    for (int i = 0; i < 5000; i++) {
        const double begin = now_s();
        send_tick(p, "stream", i, PUBLISH_STREAM, 20000);
        if (now_s() - begin > slowest) slowest = now_s() - begin;
        if (i % 32 == 31) sleep_ms(2);
    }
    ck_assert_msg(slowest < 1, "one send took %.3f s", slowest);
    if (!SANITIZED) ck_assert_msg(resident_kib() - before < 40000, "%ld KiB more", resident_kib() - before);
    seen got;
    for (int i = 0; i < 20; i++) {
        send_tick(p, "end", i, PUBLISH_STREAM, 0);
        sleep_ms(5);
    }
    ck_assert(receive(s, &got, 2000));       /* the other still hears */
    close(dead);
    nng_close(s);
    finish(p);
}
END_TEST

static int count_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* Connects to url number i, as NNG does or as a port scanner does. */
static void visit(int i, bool greets) {
    static const uint8_t greeting[8] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};
    uint8_t answer[8];
    int fd, port;
    if (i == 0) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        snprintf(to.sun_path, sizeof to.sun_path, "%s/p", directory);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    } else {
        ck_assert_int_eq(sscanf(strrchr(urls[i], ':'), ":%d", &port), 1);
        fd = stranger_connect(port);
    }
    if (greets) {
        stranger_send(fd, greeting, sizeof greeting);
        if (i != 2) ck_assert(read_all(fd, answer, sizeof answer)); /* over ws this was no greeting, and is refused */
    }
    close(fd);
}

static void expect_to_hear(publisher *p, const char *url) {
    nng_socket s = subscribe(url, "");
    seen got = {.counter = 0};
    for (int i = 0; i < 40 && !got.counter; i++) {
        send_tick(p, "clock", i, PUBLISH_STREAM, 0);
        (void)receive(s, &got, 50);
    }
    ck_assert_msg(got.counter, "%s", book.text);
    nng_close(s);
}

START_TEST(come_and_go) {                    /* a thousand clients: nothing is left behind */
    publisher *p = open_all(0);
    int before = 0;
    for (int i = 0; i < 1000; i++) {
        visit(_i, true);
        if (i == 100) { sleep_ms(200); before = count_descriptors(); }
    }
    expect_to_hear(p, urls[_i]);
    sleep_ms(200);
    ck_assert_int_le(count_descriptors(), before + 2);
    finish(p);
}
END_TEST

START_TEST(scanned) { /* clients that say nothing; the ipc listener dies of them, and is made anew */
    if (_i == 0 && SANITIZED) return;        /* NNG loses memory with the listener */
    publisher *p = open_all(0);
    for (int i = 0; i < 20; i++) visit(_i, false);
    sleep_ms(2500);
    expect_to_hear(p, urls[_i]);
    ck_assert_int_eq(logged(&book, "made anew"), _i == 0);
    finish(p);
}
END_TEST

START_TEST(web_pages) {                      /* a page from elsewhere gets nothing; ours and programs do */
    publisher *p = open_all(0);
    int port;
    ck_assert_int_eq(sscanf(urls[2], "ws://127.0.0.1:%d", &port), 1);
    for (int i = 0; i < 3; i++) {
        char request[600], origin[100] = "", reply[4096];
        if (i == 0) snprintf(origin, sizeof origin, "Origin: http://evil.example\r\n");
        if (i == 1) snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%d\r\n", port);
        snprintf(request, sizeof request,
                 "GET /publish HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n%s"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Protocol: pub.sp.nanomsg.org\r\n\r\n",
                 port, origin);
        const int fd = stranger_connect(port);
        stranger_send(fd, request, strlen(request));
        ck_assert_int_gt(recv(fd, reply, sizeof reply, 0), 0);
        sleep_ms(100);
        for (int n = 0; n < 10; n++) send_tick(p, "clock", n, PUBLISH_STREAM, 0);
        ssize_t got = recv(fd, reply, sizeof reply, 0);
        const bool heard = got > 0 && memmem(reply, (size_t)got, "clock", 5) != NULL;
        ck_assert_int_eq(heard, i != 0);
        close(fd);
    }
    ck_assert_msg(logged(&book, "evil.example"), "%s", book.text);
    finish(p);
}
END_TEST

START_TEST(limits) {
    publisher *p = open_all(0), *other;
    transport_fault fault = {""};
    publish_map m;
    static const uint8_t large[1 << 20];
    const char *taken[] = {urls[1]}, *nonsense[] = {"nonsense"};
    const publish_options wrong[] = {{.urls = taken, .url_count = 1}, {.urls = nonsense, .url_count = 1}};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(publish_open(&other, &wrong[i], &fault), TRANSPORT_ADDRESS);
        ck_assert_msg(strstr(fault.text, wrong[i].urls[0]), "%s", fault.text);
    }
    publish_map_init(&m);
    ck_assert_int_eq(publish_send(p, "", &m, PUBLISH_KEEP, &fault), TRANSPORT_OVERSIZED);
    for (int i = 0; i < PUBLISH_TOPICS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        ck_assert(publish_send(p, name, &m, PUBLISH_KEEP, &fault) == TRANSPORT_OK);
    }
    ck_assert_int_eq(publish_send(p, "one more", &m, PUBLISH_KEEP, &fault), TRANSPORT_FULL);
    for (int i = 0; i < 400; i++) publish_bin(&m, "x", fault.text, 1);
    for (int i = 0; i < 40; i++) publish_bin(&m, "filling", large, sizeof large);
    ck_assert_int_eq(publish_send(p, "t1", &m, PUBLISH_KEEP, &fault), TRANSPORT_OVERSIZED);
    publish_int(&m, "tick", 1);
    ck_assert(publish_send(p, "t1", &m, PUBLISH_KEEP, &fault) == TRANSPORT_OK);     /* usable again */
    publish_map_fini(&m);
    finish(p);
}
END_TEST

/* For subscribers.sh: `run` once and kept, `clock` every 5 ms, `load/a` every 20th time. */
static int feed(double seconds, const char *const *list, int count) {
    publisher *p;
    transport_fault fault;
    const publish_options o = {.urls = list, .url_count = (uint32_t)count};
    if (publish_open(&p, &o, &fault) != TRANSPORT_OK) { puts(fault.text); return EXIT_FAILURE; }
    publish_map m;
    publish_map_init(&m);
    publish_text(&m, "model", "example");
    publish_uint(&m, "seed", UINT64_MAX);
    publish_double(&m, "speed", 2.5);
    publish_bool(&m, "running", true);
    publish_doubles(&m, "values", (double[]){1, -2.25}, 2);
    publish_bin(&m, "picture", "\0\1\2", 3);
    publish_int(&m, "offset", -3);
    if (publish_send(p, "run", &m, PUBLISH_KEEP, &fault) != TRANSPORT_OK) return EXIT_FAILURE;
    const double until = now_s() + seconds;
    for (int64_t i = 0; now_s() < until; i++) {
        publish_int(&m, "tick", i * 10);
        if (publish_send(p, "clock", &m, PUBLISH_KEEP, &fault) != TRANSPORT_OK) return EXIT_FAILURE;
        publish_double(&m, "cpu", 0.5);
        if (i % 20 == 0 && publish_send(p, "load/a", &m, PUBLISH_STREAM, &fault) != TRANSPORT_OK) return EXIT_FAILURE;
        publish_map_clear(&m);
        sleep_ms(5);
    }
    publish_map_fini(&m);
    publish_close(p, 100);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "feed") == 0) return feed(atof(argv[2]), (const char *const *)argv + 3, argc - 3);
    Suite *suite = suite_create("publish");
#define ADD(test, loops) suite_add(suite, #test, test, loops)
    ADD(counts_each_topic, 3);
    ADD(late_subscriber, 3);
    ADD(prefix, 3);
    ADD(dead_subscriber, 1);
    ADD(come_and_go, 3);
    ADD(scanned, 3);
    ADD(web_pages, 1);
    ADD(limits, 1);
    return suite_run(suite, 1);
}
