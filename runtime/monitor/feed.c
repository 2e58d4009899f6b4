/* feed.c: see feed.h. */
#include "monitor/feed_private.h"
#include "store/number.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { EVERY_MS = 100, LINGER_MS = 200, QUEUE_BYTES = 1 << 16 };
enum { OPEN_MS = 300 };                      /* at least, for those who wait for a short run */
static const double STILL_S = 1;             /* between two clocks of a run that stands still */

double feed_now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Who watches cannot be harmed by what is not sent: the counter or the next message tells. */
void feed_send(feed *f, const char *topic, publish_keep keep) {
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
        feed_send(f, "log/0", PUBLISH_STREAM);
    }
}

/* ---- clock ---- */
/* Rates are over the last second: a run may take that long for a window, and then goes on by leaps. */
static void send_clock(feed *f, bool always) {
    run_progress at;
    run_progress_read(f->run, &at);
    const double now = feed_now_s();
    const bool still = at.paused && f->clock_sent.paused && at.time == f->clock_sent.time;
    if (still && !always && now - f->clock_s < STILL_S) return;
    f->past[f->observed % FEED_RATE_OVER] = (feed_moment){ now, at };
    const feed_moment *from = &f->past[f->observed < FEED_RATE_OVER ? 0 : (f->observed + 1) % FEED_RATE_OVER];
    const double over_s = fmax(now - from->at_s, 1e-6), windows = (double)(at.windows - from->at.windows);
    publish_int(&f->map, "time", at.time);
    if (at.until != NIMA_FOREVER) publish_int(&f->map, "until", at.until);
    publish_double(&f->map, "speed", still ? 0 : (double)(at.time - from->at.time) / run_ticks_per_unit(f->run) / over_s);
    publish_double(&f->map, "wall_s", at.wall_s);
    publish_bool(&f->map, "running", at.running);
    publish_bool(&f->map, "paused", at.paused);
    publish_double(&f->map, "lag_s", at.lag_s);
    publish_uint(&f->map, "events", at.events);
    publish_double(&f->map, "events_per_s", still ? 0 : rint((double)(at.events - from->at.events) / over_s));
    publish_uint(&f->map, "windows", at.windows);
    publish_double(&f->map, "inline_share", windows > 0 ? (double)(at.inline_windows - from->at.inline_windows) / windows : 0);
    feed_send(f, "clock", PUBLISH_KEEP);
    f->clock_s = now;
    f->clock_sent = at;
}

static void observe(feed *f, bool always) {
    send_clock(f, always);
    feed_load_send(f, always);
    feed_show_send(f);
    f->observed++;
}

/* ---- run ---- */
static void put_parameters(feed *f) {
    char text[4096];
    const char *name;
    for (size_t i = 0; run_param_text(f->run, i, &name, text, sizeof text); i++) publish_text(&f->inner, name, text);
    publish_inner(&f->map, "parameters", &f->inner);
}

static void put_reporters(feed *f) {         /* their units */
    run_reporter_info info;
    for (uint32_t i = 0; run_reporter(f->run, i, &info); i++) publish_text(&f->inner, info.name, info.unit ? info.unit : "");
    publish_inner(&f->map, "reporters", &f->inner);
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
    put_reporters(f);
    publish_bool(&f->map, "control", f->web != NULL);
    if (o) put_outcome(f, o);
    feed_send(f, "run", PUBLISH_KEEP);
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
    web_close(f->web);
    feed_load_fini(f);
    feed_show_fini(f);
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

bool feed_is_web_address(const char *address) { return web_is_address(address); }

static bool open_sockets(feed *f, const feed_options *o, char *error, size_t room) {
    const char *urls[PUBLISH_URLS_MAX];
    unsigned count = 0;
    transport_fault fault;
    for (; count < o->url_count && count < PUBLISH_URLS_MAX; count++) urls[count] = o->urls[count];
    if (o->web_address && !(f->web = web_open(o->web_address, error, room))) return false;
    if (f->web && count < PUBLISH_URLS_MAX) urls[count++] = web_publish_url(f->web);
    if (count == o->url_count + (f->web != NULL)) {
        if (!publish_open(&f->publisher, &(publish_options){ .urls = urls, .url_count = count }, &fault)) return true;
        snprintf(error, room, "%s", fault.text);
    } else snprintf(error, room, "more than %d addresses", PUBLISH_URLS_MAX);
    return false;
}

feed *feed_open(const feed_options *o, run_tuning *tuning, char *error, size_t room) {
    feed *f = calloc(1, sizeof *f);
    if (!f) { snprintf(error, room, "no memory"); return NULL; }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->ended, NULL);
    publish_map_init(&f->map);
    publish_map_init(&f->inner);
    f->load_change = o->load_change;
    f->queue = malloc(QUEUE_BYTES);
    f->sending = malloc(QUEUE_BYTES);
    snprintf(error, room, "no memory");
    if (!f->queue || !f->sending || !open_sockets(f, o, error, room)) {
        release(f);
        return NULL;
    }
    f->opened_s = feed_now_s();
    tuning->watcher = (run_watcher){ .arg = f, .log = on_log };
    feed_show_take(&tuning->watcher);
    return f;
}

bool feed_page(const feed *f, char *url, size_t room) {
    if (f->web) web_show_url(f->web, url, room);
    return f->web != NULL;
}

bool feed_begin(feed *f, nima_run *run, const feed_given *given) {
    sigset_t all, before;
    f->run = run;
    f->given = given;
    if (!feed_load_begin(f) || !feed_show_begin(f)) return false;
    if (f->web) web_control(f->web, run);
    f->past[f->observed++] = (feed_moment){ .at_s = feed_now_s() };
    send_run(f, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);     /* Ctrl-C is the driving thread's */
    f->has_thread = pthread_create(&f->thread, NULL, watch, f) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return f->has_thread;
}

void feed_end(feed *f, const feed_outcome *o) {
    if (f->web) web_control(f->web, NULL);
    if (f->has_thread) {
        pthread_mutex_lock(&f->lock);
        f->ending = true;
        pthread_cond_signal(&f->ended);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    if (o) {
        send_run(f, o);
        const double left_s = f->opened_s + OPEN_MS / 1e3 - feed_now_s();
        if (left_s > 0) nanosleep(&(struct timespec){ .tv_nsec = (long)(left_s * 1e9) }, NULL);
    }
    release(f);
}
