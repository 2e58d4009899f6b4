/* feed.c: see feed.h. */
#include "monitor/feed.h"
#include "publish.h"
#include "store/number.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { EVERY_MS = 100, RATE_OVER = 10, LINGER_MS = 200, QUEUE_BYTES = 1 << 16 };
enum { OPEN_MS = 300 };                      /* at least, for those who wait for a short run */
static const double LOAD_CHANGE = 0.01;      /* a load that changed by less in all its values is not sent */

typedef struct { double at_s, ticks; uint64_t events, windows, inline_windows; } sample;
typedef struct { double rate, inline_share; uint64_t events, windows; } load;

struct feed {
    /* constant after feed_begin */
    publisher *publisher; double opened_s;
    const nima_run *run;
    const feed_given *given;
    pthread_t thread; bool has_thread;
    /* the feed's thread; before and after its life the driving one */
    publish_map map, inner;
    sample past[RATE_OVER]; unsigned observed;   /* the latest, in turn */
    load sent;
    char *sending;                           /* QUEUE_BYTES, like `queue`: they are exchanged */
    /* shared, under the lock, which is held for copies of one line only */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool ending;
    char *queue; size_t queued;              /* lines, each with its NUL */
    uint64_t dropped;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Who watches cannot be harmed by what is not sent: the counter or the next message tells. */
static void send(feed *f, const char *topic, publish_keep keep) {
    if (publish_send(f->publisher, topic, &f->map, keep, NULL)) {}
}

/* ---- log ---- */
static void on_log(void *arg, const char *line) {
    feed *f = arg;
    const size_t bytes = strlen(line) + 1;
    pthread_mutex_lock(&f->lock);
    if (bytes <= QUEUE_BYTES - f->queued) {
        memcpy(f->queue + f->queued, line, bytes);
        f->queued += bytes;
    } else f->dropped++;
    pthread_mutex_unlock(&f->lock);
}

static void send_log(feed *f) {
    pthread_mutex_lock(&f->lock);
    char *lines = f->queue;
    const size_t bytes = f->queued;
    const uint64_t dropped = f->dropped;
    f->queue = f->sending;
    f->queued = 0;
    pthread_mutex_unlock(&f->lock);
    f->sending = lines;
    for (size_t at = 0; at < bytes; at += strlen(lines + at) + 1) {
        publish_text(&f->map, "line", lines + at);
        publish_uint(&f->map, "dropped", dropped);
        send(f, "log/0", PUBLISH_STREAM);
    }
}

/* ---- clock and load ---- */
static void send_clock(feed *f, const run_progress *at, double speed) {
    publish_int(&f->map, "time", at->time);
    if (at->until != NIMA_FOREVER) publish_int(&f->map, "until", at->until);
    publish_double(&f->map, "speed", speed);
    publish_double(&f->map, "wall_s", at->wall_s);
    publish_bool(&f->map, "running", at->running);
    send(f, "clock", PUBLISH_KEEP);
}

static bool changed(double before, double now) { return fabs(now - before) > LOAD_CHANGE * fabs(before); }

static void send_load(feed *f, const load *now, bool always) {
    const load *sent = &f->sent;
    if (!always && !changed(sent->rate, now->rate) && !changed(sent->inline_share, now->inline_share) &&
        !changed((double)sent->events, (double)now->events) &&
        !changed((double)sent->windows, (double)now->windows)) return;
    f->sent = *now;
    publish_uint(&f->map, "events", now->events);
    publish_double(&f->map, "events_per_s", now->rate);
    publish_uint(&f->map, "windows", now->windows);
    publish_double(&f->map, "inline_share", now->inline_share);
    send(f, "load/0", PUBLISH_KEEP);
}

/* Rates are over the last second: a run may take that long for a window, and then goes on by leaps. */
static void observe(feed *f, bool always) {
    run_progress at;
    run_progress_read(f->run, &at);
    const sample now = { .at_s = now_s(), .ticks = (double)at.time, .events = at.events, .windows = at.windows,
                         .inline_windows = at.inline_windows };
    const sample *from = &f->past[f->observed < RATE_OVER ? 0 : f->observed % RATE_OVER];
    const double wall_s = fmax(now.at_s - from->at_s, 1e-6), windows = (double)(now.windows - from->windows);
    send_clock(f, &at, (now.ticks - from->ticks) / run_ticks_per_unit(f->run) / wall_s);
    const load l = { .rate = rint((double)(now.events - from->events) / wall_s), .events = now.events,
                     .windows = now.windows,
                     .inline_share = windows > 0 ? (double)(now.inline_windows - from->inline_windows) / windows : 0 };
    send_load(f, &l, always);
    f->past[f->observed++ % RATE_OVER] = now;
}

/* ---- run ---- */
static void put_parameters(feed *f) {
    char text[4096];
    const char *name;
    for (size_t i = 0; run_param_text(f->run, i, &name, text, sizeof text); i++) publish_text(&f->inner, name, text);
    publish_inner(&f->map, "parameters", &f->inner);
}

static void put_hash(publish_map *m, const char *name, uint64_t hash) {
    char text[NUMBER_ROOM];
    number_hex(hash, text);
    publish_text(m, name, text);
}

static void put_outcome(feed *f, const feed_outcome *o) {
    const size_t count = run_result_count(f->run);
    publish_text(&f->map, "status", o->status);
    publish_int(&f->map, "exit", o->exit);
    if (*o->message) publish_text(&f->map, "error", o->message);
    publish_uint(&f->map, "agents", o->summary.agents);
    publish_uint(&f->map, "events", o->summary.events);
    publish_int(&f->map, "virtual_time", o->summary.virtual_time);
    publish_double(&f->map, "wall_s", o->summary.wall_s);
    if (o->fingerprint) put_hash(&f->map, "fingerprint", o->summary.fingerprint);
    for (size_t i = 0; i < count; i++) {
        run_result_kind kind;
        double value;
        uint64_t hash;
        const char *name = run_result(f->run, i, &kind, &value, &hash);
        if (kind == RUN_RESULT_HASH) put_hash(&f->inner, name, hash);
        else publish_double(&f->inner, name, value);
    }
    publish_inner(&f->map, "results", &f->inner);
}

/* What the run is; and at its end also what came of it, so that the last message tells all. */
static void send_run(feed *f, const feed_outcome *o) {
    publish_text(&f->map, "state", o ? "end" : "start");
    publish_text(&f->map, "model", run_model(f->run)->name);
    publish_uint(&f->map, "seed", f->given->seed);
    publish_uint(&f->map, "threads", run_threads(f->run));
    publish_uint(&f->map, "dispatchers", f->given->dispatchers);
    publish_text(&f->map, "out", f->given->folder);
    publish_text(&f->map, "unit", run_unit(f->run));
    publish_double(&f->map, "ticks_per_unit", run_ticks_per_unit(f->run));
    put_parameters(f);
    if (o) put_outcome(f, o);
    send(f, "run", PUBLISH_KEEP);
}

/* ---- life ---- */
static void *watch(void *arg) {
    feed *f = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (bool ending = false; !ending;) {
        next.tv_nsec += EVERY_MS * 1000000L;
        if (next.tv_nsec >= 1000000000L) { next.tv_nsec -= 1000000000L; next.tv_sec++; }
        pthread_mutex_lock(&f->lock);
        while (!f->ending && !pthread_cond_clockwait(&f->ended, &f->lock, CLOCK_MONOTONIC, &next)) {}
        ending = f->ending;
        pthread_mutex_unlock(&f->lock);
        send_log(f);
        observe(f, ending);
    }
    return NULL;
}

static void release(feed *f) {
    publish_close(f->publisher, LINGER_MS);
    publish_map_fini(&f->map);
    publish_map_fini(&f->inner);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->ended);
    free(f->queue);
    free(f->sending);
    free(f);
}

bool feed_is_address(const char *url) {
    static const char *const kinds[] = { "tcp://", "ipc:///", "ws://" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(url, kinds[i], strlen(kinds[i])) && url[strlen(kinds[i])]) return true;
    return false;
}

feed *feed_open(const char *const *urls, unsigned url_count, run_tuning *tuning, char *error, size_t room) {
    feed *f = calloc(1, sizeof *f);
    if (!f) { snprintf(error, room, "no memory"); return NULL; }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->ended, NULL);
    publish_map_init(&f->map);
    publish_map_init(&f->inner);
    f->queue = malloc(QUEUE_BYTES);
    f->sending = malloc(QUEUE_BYTES);
    transport_fault fault = { "no memory" };
    if (!f->queue || !f->sending ||
        publish_open(&f->publisher, &(publish_options){ .urls = urls, .url_count = url_count }, &fault)) {
        snprintf(error, room, "%s", fault.text);
        release(f);
        return NULL;
    }
    f->opened_s = now_s();
    tuning->on_log = on_log;
    tuning->on_log_arg = f;
    return f;
}

bool feed_begin(feed *f, const nima_run *run, const feed_given *given) {
    sigset_t all, before;
    f->run = run;
    f->given = given;
    f->past[f->observed++] = (sample){ .at_s = now_s() };
    send_run(f, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);     /* Ctrl-C is the driving thread's */
    f->has_thread = pthread_create(&f->thread, NULL, watch, f) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return f->has_thread;
}

void feed_end(feed *f, const feed_outcome *o) {
    if (f->has_thread) {
        pthread_mutex_lock(&f->lock);
        f->ending = true;
        pthread_cond_signal(&f->ended);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    if (o) {
        send_run(f, o);
        const double left_s = f->opened_s + OPEN_MS / 1e3 - now_s();
        if (left_s > 0) nanosleep(&(struct timespec){ .tv_nsec = (long)(left_s * 1e9) }, NULL);
    }
    release(f);
}
