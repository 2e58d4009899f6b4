/* load.c: followers tell the leader their load ten times a second, behind a report; whoever watches the run reads it
 * there. Like all parts of a result these are plain structs of the same build. */
#include "cluster/private.h"
#include <stdlib.h>

enum { TELL_EVERY_US = 100000 };

void loads_init(cluster *k) {
    pthread_mutex_init(&k->loads.lock, NULL);
    k->loads.at = calloc(k->count, sizeof *k->loads.at);
}

void loads_fini(cluster *k) {
    for (uint32_t d = 0; k->loads.at && d < k->count; d++) free(k->loads.at[d].workers);
    free(k->loads.at);
    pthread_mutex_destroy(&k->loads.lock);
}

void loads_send(nima_run *r) {
    cluster *k = r->cluster;
    const uint64_t now = cluster_now_us();
    const size_t head = sizeof(run_dispatcher_load), bytes = head + r->threads * sizeof(run_worker_load);
    if (now - k->load_us < TELL_EVERY_US) return;
    k->load_us = now;
    char *blob = malloc(bytes);
    if (!blob) return;                       /* nobody's result depends on it */
    run_dispatcher_load of;
    load_own(r, &of, (run_worker_load *)(void *)(blob + head), r->threads);
    memcpy(blob, &of, head);
    const wire_message m = { .kind = WIRE_RESULT, .result = { .part = PART_LOAD, .blob = { blob, (uint32_t)bytes } } };
    cluster_send(r, 0, &m);
    free(blob);
}

void loads_take(nima_run *r, uint32_t from, const wire_result *m) {
    one_load *l = &r->cluster->loads.at[from];
    const size_t head = sizeof l->of, bytes = m->blob.bytes - head;
    run_dispatcher_load of;
    if (m->blob.bytes < head || bytes % sizeof *l->workers || bytes / sizeof *l->workers > UINT16_MAX) {
        cluster_fail(r, "a load that is none");
        return;
    }
    memcpy(&of, m->blob.at, head);
    of.workers = (uint32_t)(bytes / sizeof *l->workers);
    of.node[sizeof of.node - 1] = 0;
    pthread_mutex_lock(&r->cluster->loads.lock);
    of.net_s = l->of.net_s;
    run_worker_load *grown = of.workers > l->known ? realloc(l->workers, bytes) : l->workers;
    if (grown) {
        l->workers = grown;
        if (of.workers > l->known) l->known = of.workers;
        memcpy(l->workers, (const char *)m->blob.at + head, bytes);
        l->of = of;
    }
    pthread_mutex_unlock(&r->cluster->loads.lock);
}

void loads_net(nima_run *r, uint32_t from, uint64_t compute_ns) {
    cluster *k = r->cluster;
    const double took_s = (double)(cluster_now_us() - k->granted_us) * 1e-6 - (double)compute_ns * 1e-9;
    pthread_mutex_lock(&k->loads.lock);
    k->loads.at[from].of.net_s = took_s > 0 ? took_s : 0;
    pthread_mutex_unlock(&k->loads.lock);
}

uint32_t cluster_count(const nima_run *r) { return r->cluster->count; }

void cluster_load(const nima_run *r, unsigned dispatcher, run_dispatcher_load *of, run_worker_load *workers, uint32_t room) {
    cluster *k = r->cluster;
    pthread_mutex_lock(&k->loads.lock);
    const one_load *l = &k->loads.at[dispatcher];
    *of = l->of;
    if (of->workers) memcpy(workers, l->workers, (of->workers < room ? of->workers : room) * sizeof *workers);
    pthread_mutex_unlock(&k->loads.lock);
}
