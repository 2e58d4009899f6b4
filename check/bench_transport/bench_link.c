/* bench_link.c: links beside what they are made of, in turn in one run, best and spread of seven rounds.
 *   round trip of 64 bytes: raw NNG pair0 (one thread at each end), our link plain, and sealed
 *   one way, 256 KiB: libsodium alone (sealing, one thread), our link plain, and sealed
 * Both ends are in this process, each with a thread of its own. Usage: bench_link [ipc|tcp|ws|inproc] */
#include "bench.h"
#include "link.h"
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { TRIPS = 2000, SMALL = 64, LARGE = 256 << 10, FRAMES = 2000 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static char urls[8][128], directory[] = "/tmp/nima-bench-XXXXXX";
static const char *scheme = "ipc";

static const char *url_of(int i) {
    static int port = 30000;
    if (port == 30000) port += getpid() % 20000;
    if (strcmp(scheme, "ipc") == 0) snprintf(urls[i], sizeof urls[i], "ipc://%s/%d", directory, i);
    else if (strcmp(scheme, "inproc") == 0) snprintf(urls[i], sizeof urls[i], "inproc://bench%d", i);
    else snprintf(urls[i], sizeof urls[i], "%s://127.0.0.1:%d%s", scheme, port += 2, strcmp(scheme, "ws") ? "" : "/x");
    return urls[i];
}

/* ---- raw NNG: two one-way sockets, as our links have ---- */

typedef struct { nng_socket out, in; } raw_end;

static void *raw_echo(void *arg) {
    raw_end *e = arg;
    for (int i = 0; i < TRIPS; i++) {
        nng_msg *m;
        if (nng_recvmsg(e->in, &m, 0) != 0 || nng_sendmsg(e->out, m, 0) != 0) die("raw", "echo");
    }
    return NULL;
}

static double raw_round_trip_us(raw_end *a, raw_end *b) {
    pthread_t thread;
    pthread_create(&thread, NULL, raw_echo, b);
    const double begin = bench_now();
    for (int i = 0; i < TRIPS; i++) {
        nng_msg *m;
        if (nng_msg_alloc(&m, SMALL) != 0 || nng_sendmsg(a->out, m, 0) != 0 || nng_recvmsg(a->in, &m, 0) != 0)
            die("raw", "trip");
        nng_msg_free(m);
    }
    const double each = (bench_now() - begin) / TRIPS * 1e6;
    pthread_join(thread, NULL);
    return each;
}

static void raw_open(raw_end *a, raw_end *b) {
    const char *up = url_of(0), *down = url_of(1);
    if (nng_pair0_open(&a->out) || nng_pair0_open(&a->in) || nng_pair0_open(&b->out) || nng_pair0_open(&b->in))
        die("raw", "open");
    if (nng_listen(b->in, up, NULL, 0) || nng_listen(b->out, down, NULL, 0) || nng_dial(a->out, up, NULL, 0) ||
        nng_dial(a->in, down, NULL, 0))
        die("raw", "connect");
}

/* ---- our links ---- */

typedef struct { link_end *a, *b; } ends;

static link_frame receive(link_end *l) {
    link_frame frame;
    transport_fault fault;
    for (;;) {
        const transport_err err = link_receive(l, &frame, &fault);
        if (err == TRANSPORT_OK) return frame;
        if (err != TRANSPORT_EMPTY) die("receive", fault.text);
        struct pollfd wait = {.fd = link_fd(l), .events = POLLIN};
        (void)poll(&wait, 1, 1000);
    }
}

static void send_bytes(link_end *l, size_t bytes) {
    static const uint8_t header[] = {0x95, WIRE_VERSION, WIRE_RESULT};
    link_frame frame;
    transport_fault fault;
    if (link_reserve(l, bytes, &frame, &fault) != TRANSPORT_OK) die("reserve", fault.text);
    memcpy(frame.data, header, sizeof header);
    for (transport_err err; (err = link_send(l, &frame, bytes, &fault)) != TRANSPORT_OK;) {
        if (err != TRANSPORT_FULL) die("send", fault.text);
        link_frame none;
        struct pollfd wait = {.fd = link_fd(l), .events = POLLIN};
        (void)poll(&wait, 1, 1000);
        if (link_receive(l, &none, &fault) != TRANSPORT_EMPTY) die("send", "unexpected");
    }
}

static void *link_echo(void *arg) {
    for (int i = 0; i < TRIPS; i++) {
        link_frame frame = receive(arg);
        transport_fault fault;
        const size_t bytes = frame.bytes;
        link_frame answer;
        if (link_reserve(arg, bytes, &answer, &fault) != TRANSPORT_OK) die("echo", fault.text);
        memcpy(answer.data, frame.data, bytes);
        link_discard(&frame);
        if (link_send(arg, &answer, bytes, &fault) != TRANSPORT_OK) die("echo", fault.text);
    }
    return NULL;
}

static double link_round_trip_us(ends *e) {
    pthread_t thread;
    pthread_create(&thread, NULL, link_echo, e->b);
    const double begin = bench_now();
    for (int i = 0; i < TRIPS; i++) {
        send_bytes(e->a, SMALL);
        link_frame frame = receive(e->a);
        link_discard(&frame);
    }
    const double each = (bench_now() - begin) / TRIPS * 1e6;
    pthread_join(thread, NULL);
    return each;
}

static void *link_sink(void *arg) {
    for (int i = 0; i < FRAMES; i++) {
        link_frame frame = receive(arg);
        link_discard(&frame);
    }
    return NULL;
}

static double link_mb_per_s(ends *e) {
    pthread_t thread;
    const double begin = bench_now();
    pthread_create(&thread, NULL, link_sink, e->b);
    for (int i = 0; i < FRAMES; i++) send_bytes(e->a, LARGE);
    pthread_join(thread, NULL);
    return (double)FRAMES * LARGE / 1e6 / (bench_now() - begin);
}

static void link_open(ends *e, const seal_key *key, int url) {
    transport_fault fault;
    link_options o = {
        .url = url_of(url), .self = "b", .peer = "a", .key = key, .seal_private = key != NULL, .insecure = key == NULL};
    if (link_listen(&e->b, &o, &fault) != TRANSPORT_OK) die("listen", fault.text);
    link_options d = o;
    d.url = link_address(e->b);
    d.self = "a";
    d.peer = "b";
    if (link_dial(&e->a, &d, &fault) != TRANSPORT_OK) die("dial", fault.text);
    while (!link_is_up(e->a) || !link_is_up(e->b)) {
        link_frame frame;
        if (link_receive(e->b, &frame, &fault) != TRANSPORT_EMPTY ||
            link_receive(e->a, &frame, &fault) != TRANSPORT_EMPTY)
            die("up", fault.text);
    }
}

/* ---- libsodium alone, on one thread ---- */

static double crypto_mb_per_s(const seal_key *key) {
    static seal_direction direction;
    static uint8_t buffer[LARGE + SEAL_TAG_BYTES];
    const seal_transcript t = {.cipher = seal_choose(seal_ciphers())};
    seal_direction_init(&direction, key, &t, SEAL_UP);
    const double begin = bench_now();
    for (uint64_t i = 1; i <= FRAMES; i++) seal_frame(&direction, i, buffer, LARGE);
    return (double)FRAMES * LARGE / 1e6 / (bench_now() - begin);
}

int main(int argc, char **argv) {
    if (argc > 1) scheme = argv[1];
    seal_key key;
    if (!mkdtemp(directory) || !seal_start()) die("start", directory);
    seal_key_new(&key);
    raw_end raw_a, raw_b;
    ends plain, sealed;
    raw_open(&raw_a, &raw_b);
    link_open(&plain, NULL, 2);
    link_open(&sealed, &key, 3);
    double t[3][BENCH_ROUNDS], w[3][BENCH_ROUNDS];
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        t[0][i] = raw_round_trip_us(&raw_a, &raw_b);
        t[1][i] = link_round_trip_us(&plain);
        t[2][i] = link_round_trip_us(&sealed);
        w[0][i] = crypto_mb_per_s(&key);
        w[1][i] = link_mb_per_s(&plain);
        w[2][i] = link_mb_per_s(&sealed);
    }
    printf("%s, cipher %s\n", scheme,
           seal_choose(seal_ciphers()) == SEAL_AES256GCM ? "AES-256-GCM" : "ChaCha20-Poly1305");
    const double raw = bench_report("round trip 64 B, raw NNG", "us", t[0], 0);
    const double trip = bench_report("round trip 64 B, link plain", "us", t[1], 0);
    const double trip_sealed = bench_report("round trip 64 B, link sealed", "us", t[2], 0);
    const double alone = bench_report("256 KiB, libsodium alone (seal)", "MB/s", w[0], 1);
    const double through = bench_report("256 KiB, link plain", "MB/s", w[1], 1);
    const double through_sealed = bench_report("256 KiB, link sealed", "MB/s", w[2], 1);
    printf("round trip over raw NNG: plain %.2f, sealed %.2f; sealed over the slower of libsodium and plain: %.2f\n",
           trip / raw, trip_sealed / raw, through_sealed / (alone < through ? alone : through));
    (void)link_close(plain.a, 0, NULL);
    (void)link_close(plain.b, 0, NULL);
    (void)link_close(sealed.a, 0, NULL);
    (void)link_close(sealed.b, 0, NULL);
    return EXIT_SUCCESS;
}
