/* feed_show.c: what the model shows, and its reporters: topics picture/NAME, values/NAME and report.
 *
 * The driving thread puts the latest of each into a mailbox and goes on; what it overwrites was never seen by anybody.
 * Of a picture only the pixels that have changed are sent; the whole is kept for those who come later, and sent now and
 * then for those who missed something. */
#include "monitor/feed_private.h"
#include <stdlib.h>

static const double WHOLE_EVERY_S = 2;
static const size_t CHANGED_ONE_IN = 8;      /* more than that, and the whole is smaller */

static bool grow(uint8_t **at, size_t *room, size_t bytes) {
    if (bytes <= *room) return true;
    uint8_t *grown = realloc(*at, bytes);
    if (!grown) return false;
    *at = grown;
    *room = bytes;
    return true;
}

/* ---- the driving thread ---- */
static feed_picture *picture_of(feed *f, const char *name) {
    for (unsigned i = 0; i < f->picture_count; i++) if (!strcmp(f->pictures[i].name, name)) return &f->pictures[i];
    if (f->picture_count == FEED_PICTURES) return NULL;
    feed_picture *p = &f->pictures[f->picture_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

static void on_picture(void *arg, const char *name, uint32_t width, uint32_t height, const uint8_t *shades) {
    feed *f = arg;
    pthread_mutex_lock(&f->lock);
    feed_picture *p = picture_of(f, name);
    if (p && grow(&p->next, &p->next_room, (size_t)width * height)) {
        memcpy(p->next, shades, (size_t)width * height);
        p->width = width;
        p->height = height;
        p->fresh = true;
    }
    pthread_mutex_unlock(&f->lock);
}

static void on_values(void *arg, const char *name, const double *values, uint32_t count) {
    feed *f = arg;
    feed_values *v = NULL;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->value_count && !v; i++) if (!strcmp(f->values[i].name, name)) v = &f->values[i];
    if (!v && f->value_count < FEED_VALUES) {
        v = &f->values[f->value_count++];
        snprintf(v->name, sizeof v->name, "%s", name);
    }
    double *grown = v && count > v->room ? realloc(v->at, count * sizeof *grown) : v ? v->at : NULL;
    if (v && (grown || !count)) {
        if (count > v->room) v->room = count;
        v->at = grown;
        if (count) memcpy(v->at, values, count * sizeof *values);
        v->count = count;
        v->fresh = true;
    }
    pthread_mutex_unlock(&f->lock);
}

static void on_row(void *arg, nima_time time, const double *row) {
    feed *f = arg;
    pthread_mutex_lock(&f->lock);
    if (f->next_row) memcpy(f->next_row, row, f->row_values * sizeof *row);
    f->next_row_time = time;
    f->row_fresh = f->next_row != NULL;
    pthread_mutex_unlock(&f->lock);
}

static bool wants(void *arg) { return publish_subscribers(((feed *)arg)->publisher) > 0; }

void feed_show_take(run_watcher *w) {
    w->picture = on_picture;
    w->values = on_values;
    w->row = on_row;
    w->wants = wants;
}

bool feed_show_begin(feed *f) {
    run_reporter_info info;
    uint32_t values = 0;
    for (uint32_t i = 0; run_reporter(f->run, i, &info); i++) values = info.column + info.count > values ? info.column + info.count : values;
    double *next = calloc(values + 1, sizeof *next);
    f->row = calloc(values + 1, sizeof *f->row);
    pthread_mutex_lock(&f->lock);
    f->next_row = next;
    f->row_values = values;
    pthread_mutex_unlock(&f->lock);
    return next && f->row;
}

void feed_show_fini(feed *f) {
    for (unsigned i = 0; i < f->picture_count; i++) {
        free(f->pictures[i].next);
        free(f->pictures[i].taken);
        free(f->pictures[i].sent);
    }
    for (unsigned i = 0; i < f->value_count; i++) free(f->values[i].at);
    free(f->row);
    free(f->next_row);
}

/* ---- the feed's thread ---- */
static void put_whole(publish_map *to, const feed_picture *p) {
    publish_uint(to, "width", p->sent_width);
    publish_uint(to, "height", p->sent_height);
    publish_bin(to, "pixels", p->sent, (size_t)p->sent_width * p->sent_height);
}

/* Which pixels of `taken` differ from `sent`; SIZE_MAX: too many to list. */
static size_t compare(feed *f, const feed_picture *p, size_t pixels) {
    size_t count = 0;
    for (size_t i = 0; i < pixels; i++) {
        if (p->taken[i] == p->sent[i]) continue;
        if (count == pixels / CHANGED_ONE_IN) return SIZE_MAX;
        f->changed_at[count] = (uint32_t)i;
        f->changed_to[count++] = p->taken[i];
    }
    return count;
}

static void send_picture(feed *f, feed_picture *p, uint32_t width, uint32_t height) {
    char topic[RUN_SHOWN_NAME + 16];
    const size_t pixels = (size_t)width * height;
    const double now = feed_now_s();
    const bool same = width == p->sent_width && height == p->sent_height;
    const size_t changed = same ? compare(f, p, pixels) : SIZE_MAX;
    if (!changed) return;
    if (!grow(&p->sent, &p->sent_room, pixels)) return;
    memcpy(p->sent, p->taken, pixels);
    p->sent_width = width;
    p->sent_height = height;
    snprintf(topic, sizeof topic, "picture/%s", p->name);
    if (changed == SIZE_MAX || now - p->whole_s > WHOLE_EVERY_S) {
        p->whole_s = now;
        put_whole(&f->map, p);
        feed_send(f, topic, PUBLISH_KEEP);
        return;
    }
    publish_bin(&f->map, "at", f->changed_at, changed * sizeof *f->changed_at);
    publish_bin(&f->map, "to", f->changed_to, changed);
    put_whole(&f->inner, p);
    if (publish_change(f->publisher, topic, &f->map, &f->inner, NULL)) {}     /* the next whole one mends it */
}

static void take_picture(feed *f, unsigned i) {
    feed_picture *p = &f->pictures[i];
    pthread_mutex_lock(&f->lock);
    const bool fresh = p->fresh;
    const uint32_t width = p->width, height = p->height;
    if (fresh) {
        uint8_t *at = p->taken;
        const size_t room = p->taken_room;
        p->taken = p->next;
        p->taken_room = p->next_room;
        p->next = at;
        p->next_room = room;
        p->fresh = false;
    }
    pthread_mutex_unlock(&f->lock);
    if (fresh) send_picture(f, p, width, height);
}

static void send_values(feed *f, unsigned i) {
    char topic[RUN_SHOWN_NAME + 16];
    pthread_mutex_lock(&f->lock);
    const bool fresh = f->values[i].fresh;
    if (fresh) publish_doubles(&f->map, "values", f->values[i].at, f->values[i].count);
    f->values[i].fresh = false;
    snprintf(topic, sizeof topic, "values/%s", f->values[i].name);
    pthread_mutex_unlock(&f->lock);
    if (fresh) feed_send(f, topic, PUBLISH_KEEP);
}

static void send_row(feed *f) {
    run_reporter_info info;
    pthread_mutex_lock(&f->lock);
    const bool fresh = f->row_fresh;
    if (fresh) memcpy(f->row, f->next_row, f->row_values * sizeof *f->row);
    f->row_time = f->next_row_time;
    f->row_fresh = false;
    pthread_mutex_unlock(&f->lock);
    if (!fresh) return;
    for (uint32_t i = 0; run_reporter(f->run, i, &info); i++)
        if (info.count == 1) publish_double(&f->inner, info.name, f->row[info.column]);
        else publish_doubles(&f->inner, info.name, f->row + info.column, info.count);
    publish_int(&f->map, "time", f->row_time);
    publish_inner(&f->map, "values", &f->inner);
    feed_send(f, "report", PUBLISH_KEEP);
}

void feed_show_send(feed *f) {
    pthread_mutex_lock(&f->lock);
    const unsigned pictures = f->picture_count, values = f->value_count;
    pthread_mutex_unlock(&f->lock);
    for (unsigned i = 0; i < pictures; i++) take_picture(f, i);
    for (unsigned i = 0; i < values; i++) send_values(f, i);
    send_row(f);
}
