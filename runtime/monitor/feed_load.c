/* feed_load.c: topics load/0, load/1 ...: how busy each dispatcher and its workers are, over the last second. A load is
 * sent only if one of its values has changed by more than a share of it, and is kept for those who come later. */
#include "monitor/feed_private.h"
#include <math.h>
#include <stdlib.h>

enum { OF_EVENTS, OF_RATE, OF_CPU, OF_MEMORY, OF_NET, OF_WORKERS, WORKER_RATE = 0, WORKER_BUSY, WORKER_CPU, WORKER_VALUES };

static uint32_t value_count(uint32_t workers) { return OF_WORKERS + workers * WORKER_VALUES; }

static bool make_room(feed_load *l, uint32_t workers) {
    if (workers <= l->room) return true;
    for (int i = 0; i < FEED_RATE_OVER; i++) {
        run_worker_load *grown = realloc(l->looks[i].workers, workers * sizeof *grown);
        if (!grown) return false;
        memset(grown + l->room, 0, (workers - l->room) * sizeof *grown);
        l->looks[i].workers = grown;
    }
    double **arrays[] = { &l->now, &l->sent };
    for (int i = 0; i < 2; i++) {
        double *grown = realloc(*arrays[i], value_count(workers) * sizeof *grown);
        if (!grown) return false;
        *arrays[i] = grown;
    }
    l->any_sent = false;
    l->room = workers;
    return true;
}

bool feed_load_begin(feed *f) {
    f->dispatchers = run_dispatchers(f->run);
    f->loads = calloc(f->dispatchers, sizeof *f->loads);
    return f->loads != NULL;
}

void feed_load_fini(feed *f) {
    for (unsigned d = 0; f->loads && d < f->dispatchers; d++) {
        for (int i = 0; i < FEED_RATE_OVER; i++) free(f->loads[d].looks[i].workers);
        free(f->loads[d].now);
        free(f->loads[d].sent);
    }
    free(f->loads);
}

static double share(double now, double before, double over_s) {     /* to a hundredth: less is noise */
    return now > before ? rint((now - before) / over_s * 100) / 100 : 0;
}
static double rate(uint64_t now, uint64_t before, double over_s) {
    return now > before ? rint((double)(now - before) / over_s) : 0;
}

static void measure(feed_load *l, const feed_look *now, const feed_look *from) {
    const double over_s = fmax(now->at_s - from->at_s, 1e-6);
    double *v = l->now, rates = 0, events = 0;
    for (uint32_t w = 0; w < now->of.workers; w++) {
        double *one = v + OF_WORKERS + w * WORKER_VALUES;
        one[WORKER_RATE] = rate(now->workers[w].events, from->workers[w].events, over_s);
        one[WORKER_BUSY] = share(now->workers[w].busy_s, from->workers[w].busy_s, over_s);
        one[WORKER_CPU] = share(now->workers[w].cpu_s, from->workers[w].cpu_s, over_s);
        rates += one[WORKER_RATE];
        events += (double)now->workers[w].events;
    }
    v[OF_EVENTS] = events;
    v[OF_RATE] = rates;
    v[OF_CPU] = share(now->of.cpu_s, from->of.cpu_s, over_s);
    v[OF_MEMORY] = (double)now->of.memory;
    v[OF_NET] = rint(now->of.net_s * 1e5) / 1e2;             /* ms */
}

static bool changed(const feed *f, const feed_load *l, uint32_t count) {
    if (!l->any_sent) return true;
    for (uint32_t i = 0; i < count; i++)
        if (fabs(l->now[i] - l->sent[i]) > f->load_change * fabs(l->sent[i])) return true;
    return false;
}

static void put_column(feed *f, const char *name, const double *first, uint32_t workers) {
    double column[256];
    const uint32_t count = workers < 256 ? workers : 256;
    for (uint32_t w = 0; w < count; w++) column[w] = first[w * WORKER_VALUES];
    publish_doubles(&f->map, name, column, count);
}

static void put_places(feed *f, const feed_look *now) {
    double core[256], region[256];
    const uint32_t count = now->of.workers < 256 ? now->of.workers : 256;
    for (uint32_t w = 0; w < count; w++) {
        core[w] = now->workers[w].core;
        region[w] = now->workers[w].region;
    }
    publish_doubles(&f->map, "worker_core", core, count);
    publish_doubles(&f->map, "worker_region", region, count);
}

static void send_one(feed *f, unsigned d, const feed_look *now) {
    const feed_load *l = &f->loads[d];
    const double *v = l->now;
    char topic[24];
    snprintf(topic, sizeof topic, "load/%u", d);
    publish_text(&f->map, "node", now->of.node);
    publish_uint(&f->map, "workers", now->of.workers);
    publish_uint(&f->map, "events", (uint64_t)v[OF_EVENTS]);
    publish_double(&f->map, "events_per_s", v[OF_RATE]);
    publish_double(&f->map, "cpu", v[OF_CPU]);
    publish_uint(&f->map, "memory", (uint64_t)v[OF_MEMORY]);
    if (d) publish_double(&f->map, "net_ms", v[OF_NET]);
    put_column(f, "worker_events_per_s", v + OF_WORKERS + WORKER_RATE, now->of.workers);
    put_column(f, "worker_busy", v + OF_WORKERS + WORKER_BUSY, now->of.workers);
    put_column(f, "worker_cpu", v + OF_WORKERS + WORKER_CPU, now->of.workers);
    put_places(f, now);
    feed_send(f, topic, PUBLISH_KEEP);
}

void feed_load_send(feed *f, bool always) {
    for (unsigned d = 0; d < f->dispatchers; d++) {
        feed_load *l = &f->loads[d];
        run_dispatcher_load of;
        run_load_read(f->run, d, &of, l->looks[0].workers, 0);
        if (!of.workers || !make_room(l, of.workers)) continue;         /* it has not told yet */
        feed_look *now = &l->looks[f->observed % FEED_RATE_OVER];
        const feed_look *from = &l->looks[f->observed < FEED_RATE_OVER ? 0 : (f->observed + 1) % FEED_RATE_OVER];
        run_load_read(f->run, d, &now->of, now->workers, l->room);
        now->at_s = feed_now_s();
        if (now->of.workers > l->room) continue;
        measure(l, now, from->at_s > 0 ? from : now);
        const uint32_t count = value_count(now->of.workers);
        if (!always && !changed(f, l, count)) continue;
        memcpy(l->sent, l->now, count * sizeof *l->now);
        l->any_sent = true;
        send_one(f, d, now);
    }
}
