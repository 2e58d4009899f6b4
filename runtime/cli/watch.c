/* watch.c: `nima watch`: what a run publishes, one line of JSON a message. It is a subscriber like any other: the run
 * cannot tell it from one, and is not slowed by it. */
#include "cli/cli.h"
#include "cli/unpack.h"
#include <getopt.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOPICS = 4096, TOPIC_MAX = 127, BYTES_MAX = (16 << 20) + 256, BUFFER_MESSAGES = 8192 };
enum { LOOK_MS = 200, REDIAL_MS = 20 };

typedef struct { char name[TOPIC_MAX + 1]; uint64_t counter; } seen;
typedef struct {
    const char *url, *topic;                 /* topic: a prefix */
    nng_socket socket;
    seen *topics; size_t topic_count;
    char *line; size_t line_bytes;           /* the JSON, before it is known to be whole */
} watch;

/* ---- the link ---- */
static _Atomic int losses;                   /* written by NNG's threads */

static void on_loss(nng_pipe pipe, nng_pipe_ev event, void *arg) {
    (void)pipe;
    (void)event;
    (void)arg;
    atomic_fetch_add(&losses, 1);
}

static int subscribe(watch *w) {
    int e = nng_sub0_open(&w->socket);
    if (!e) e = nng_socket_set_int(w->socket, NNG_OPT_RECVBUF, BUFFER_MESSAGES);
    if (!e) e = nng_socket_set_size(w->socket, NNG_OPT_RECVMAXSZ, BYTES_MAX);
    if (!e) e = nng_socket_set_ms(w->socket, NNG_OPT_RECONNMINT, REDIAL_MS);
    if (!e) e = nng_socket_set(w->socket, NNG_OPT_SUB_SUBSCRIBE, w->topic, strlen(w->topic));
    if (!e) e = nng_socket_set(w->socket, NNG_OPT_SUB_SUBSCRIBE, "run", 4);       /* with its NUL: how it ends */
    if (!e) e = nng_pipe_notify(w->socket, NNG_PIPE_EV_REM_POST, on_loss, NULL);
    if (!e) e = nng_dial(w->socket, w->url, NULL, NNG_FLAG_NONBLOCK);
    return e;
}

static void tell_link(const watch *w, int *told) {
    const int lost = atomic_load(&losses);
    if (lost == *told) return;
    *told = lost;
    cli_say("%s: the link is lost; waiting for it, Ctrl-C ends", w->url);
}

/* ---- one message ---- */
static seen *topic_of(watch *w, const char *name) {
    for (size_t i = 0; i < w->topic_count; i++) if (!strcmp(w->topics[i].name, name)) return &w->topics[i];
    if (w->topic_count == TOPICS) return NULL;
    seen *s = &w->topics[w->topic_count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->counter = 0;
    return s;
}

/* The first pair of `run`. */
static bool says_end(const unpack *u) {
    static const char end[] = "\xA5" "state" "\xA3" "end";
    return (size_t)(u->end - u->at) >= sizeof end - 1 && !memcmp(u->at, end, sizeof end - 1);
}

/* topic NUL [counter, value]. `ended`: it is the run's last word. False: not such a message. */
static bool show(watch *w, const uint8_t *message, size_t bytes, bool *ended) {
    const uint8_t *end = memchr(message, 0, bytes < TOPIC_MAX + 1 ? bytes : TOPIC_MAX + 1);
    uint32_t count;
    uint64_t counter;
    if (!end) return false;
    const char *name = (const char *)message;
    unpack u = { .at = end + 1, .end = message + bytes };
    if (!unpack_array(&u, &count) || count != 2 || !unpack_uint(&u, &counter)) return false;
    seen *s = topic_of(w, name);
    const uint64_t before = s ? s->counter : 0;
    if (s && before == counter) return true;                 /* sent again, for others */
    bool last = false;
    FILE *line = open_memstream(&w->line, &w->line_bytes);
    if (!line) return false;
    json j = { .to = line };
    json_open(&j, NULL, '{');
    char *clean = unpack_clean(message, strlen(name));
    json_text(&j, "topic", clean ? clean : "");
    free(clean);
    json_uint(&j, "counter", counter);
    if (before && counter > before + 1) json_uint(&j, "missed", counter - before - 1);
    if (unpack_map(&u, &count)) {
        last = !strcmp(name, "run") && says_end(&u);
        for (uint32_t i = 0; i < count && !u.bad; i++) unpack_pair(&u, &j);
    } else unpack_value(&u, &j, "value");
    json_close(&j, '}');
    const bool whole = fclose(line) == 0 && !u.bad && u.at == u.end;
    if (whole && s) s->counter = counter;
    if (whole && !strncmp(name, w->topic, strlen(w->topic))) { fputs(w->line, stdout); fflush(stdout); }
    *ended = whole && last;
    free(w->line);
    return whole;
}

static int follow(watch *w) {
    int fd, told = 0;
    bool ended = false;
    if (nng_socket_get_int(w->socket, NNG_OPT_RECVFD, &fd)) return EXIT_SYSTEM;
    while (!ended && !ferror(stdout)) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        poll(&wait, 1, LOOK_MS);
        for (nng_msg *m; !ended && !nng_recvmsg(w->socket, &m, NNG_FLAG_NONBLOCK); nng_msg_free(m))
            if (!show(w, nng_msg_body(m), nng_msg_len(m), &ended))
                cli_say("%s: a message of %zu bytes that is none of Nima's", w->url, nng_msg_len(m));
        if (!ended) tell_link(w, &told);
    }
    return ended ? EXIT_GOOD : EXIT_SYSTEM;
}

int watch_main(int argc, char **argv) {
    static const struct option none[] = { { NULL, 0, NULL, 0 } };
    const int option = getopt_long(argc, argv, ":", none, NULL);
    if (option != -1) return cli_bad_option("watch", argv, option);
    if (optind == argc) return cli_usage("watch", "at which address?");
    if (optind + 2 < argc) return cli_usage("watch", "one topic at a time, or the beginning of several");
    watch w = { .url = argv[optind], .topic = optind + 1 < argc ? argv[optind + 1] : "",
                .topics = calloc(TOPICS, sizeof(seen)) };
    if (!w.topics) { cli_say("no memory"); return EXIT_MEMORY; }
    const int e = subscribe(&w);
    if (e) return cli_usage("watch", "%s: %s", w.url, nng_strerror(e));
    const int code = follow(&w);
    _exit(code);                             /* nng_close may not return */
}
