/* sets.c: the final merge of replicated sets. Each follower tells the hashes of its replicas. Where one differs from the
 * leader's, all tell their bits, the leader merges them and sends back those of the union; then all hashes are equal, or
 * the run fails. By then no batch is in flight, so replicas of timed and eventual sets are equal at once. */
#include "cluster/private.h"
#include <stdlib.h>

enum { PIECE = 16384 };
typedef struct { uint64_t bit; nima_time seen; } timed_bit;

/* Calls `piece` with some of the set's bits, until all were told. */
static void tell_bits(nima_run *r, uint32_t number, void (*piece)(nima_run *, uint32_t number, const timed_bit *, uint32_t count)) {
    const nima_gset *g = r->gsets[number];
    timed_bit *list = malloc(PIECE * sizeof *list);
    if (!list) { cluster_fail(r, "no memory to merge a set"); return; }
    uint32_t count = 0;
    for (uint64_t bit = 0; bit < g->bits && !r->failed; bit++) {
        if (!gset_maps(g, bit)) continue;
        list[count++] = (timed_bit){ bit, atomic_load_explicit(&g->seen[bit], memory_order_relaxed) };
        if (count == PIECE) { piece(r, number, list, count); count = 0; }
    }
    if (count && !r->failed) piece(r, number, list, count);
    free(list);
}

static void take_bits(nima_run *r, uint64_t number, const wire_blob *blob) {
    for (size_t at = 0; at < blob->bytes; at += sizeof(timed_bit)) {
        timed_bit b;
        nima_time was;
        if (blob->bytes - at >= sizeof b) memcpy(&b, (const char *)blob->at + at, sizeof b);
        if (blob->bytes - at < sizeof b || number >= r->gset_count || b.bit >= r->gsets[number]->bits) {
            cluster_fail(r, "bits of no set");
            return;
        }
        gset_lower(r->gsets[number], b.bit, b.seen, &was);
    }
}

static void tell(nima_run *r, uint32_t part, uint64_t number, const void *at, size_t bytes) {
    const wire_message m = { .kind = WIRE_RESULT, .result = { .part = part, .number = number, .blob = { at, (uint32_t)bytes } } };
    cluster_send(r, 0, &m);
}

/* ---- follower ---- */
void sets_send_hashes(nima_run *r) {
    for (uint32_t i = 0; i < r->gset_count; i++) {
        const uint64_t told[2] = { gset_hash(r->gsets[i]), i ? 0 : r->broadcasts };
        tell(r, PART_SET_HASHES, i, told, sizeof told);
    }
}

static void bits_to_leader(nima_run *r, uint32_t number, const timed_bit *list, uint32_t count) {
    tell(r, PART_SET_BITS, number, list, count * sizeof *list);
}
void sets_send_bits(nima_run *r) { for (uint32_t i = 0; i < r->gset_count; i++) tell_bits(r, i, bits_to_leader); }
void sets_take_merged(nima_run *r, const wire_control *m) { take_bits(r, (uint64_t)m->number, &m->blob); }

/* ---- leader ---- */
void sets_take_hashes(nima_run *r, const wire_result *m) {
    uint64_t told[2];
    if (m->number >= r->gset_count || m->blob.bytes != sizeof told || !r->cluster->set_differs) {
        cluster_fail(r, "the hash of no set");
        return;
    }
    memcpy(told, m->blob.at, sizeof told);
    r->cluster->set_differs[m->number] |= told[0] != gset_hash(r->gsets[m->number]);
    r->cluster->others_broadcasts += told[1];
}
void sets_take_bits(nima_run *r, const wire_result *m) { take_bits(r, m->number, &m->blob); }

static void bits_to_followers(nima_run *r, uint32_t number, const timed_bit *list, uint32_t count) {
    const wire_message m = { .kind = WIRE_CONTROL, .control = { .operation = OPERATION_SET_TAKE, .number = number,
                             .blob = { list, (uint32_t)(count * sizeof *list) } } };
    for (uint32_t d = 1; d < r->cluster->count && !r->failed; d++) cluster_send(r, d, &m);
}

/* The number of the first set of which a replica differs; gset_count: none. */
static uint32_t differing(nima_run *r) {
    cluster *k = r->cluster;
    memset(k->set_differs, 0, r->gset_count * sizeof *k->set_differs);
    k->others_broadcasts = 0;
    cluster_ask(r, OPERATION_SET_HASHES);   /* the answers fill set_differs */
    for (uint32_t i = 0; i < r->gset_count && !r->failed; i++) if (k->set_differs[i]) return i;
    return r->gset_count;
}

void cluster_merge(nima_run *r) {
    cluster *k = r->cluster;
    if (!r->gset_count || !(k->set_differs = calloc(r->gset_count, sizeof *k->set_differs))) {
        if (r->gset_count) cluster_fail(r, "no memory to merge sets");
        return;
    }
    if (differing(r) < r->gset_count) {
        for (uint32_t i = 0; i < r->gset_count; i++)
            if (k->set_differs[i] && r->gsets[i]->mode == NIMA_GSET_TIMED) cluster_fail(r, "replicas of timed set %u differ", i);
        if (!r->failed) cluster_ask(r, OPERATION_SET_BITS);
        for (uint32_t i = 0; i < r->gset_count && !r->failed; i++) tell_bits(r, i, bits_to_followers);
        const uint32_t still = r->failed ? r->gset_count : differing(r);
        if (still < r->gset_count) cluster_fail(r, "replicas of set %u differ after they were merged", still);
    }
    r->broadcasts += k->others_broadcasts;
    free(k->set_differs);
    k->set_differs = NULL;
}
