/* history.c: see history.h. */
#include "cli/history.h"
#include "hash.h"
#include <stdlib.h>

typedef struct { history kept; const nima_run *run; uint64_t room; } recorder;   /* what history_new gives */
static recorder *of(history *h) { return (recorder *)(void *)h; }

static uint64_t hash_bytes(uint64_t h, const void *from, size_t bytes) {
    const char *at = from;
    while (bytes) {
        uint64_t word = 0;
        const size_t n = bytes < 8 ? bytes : 8;
        memcpy(&word, at, n);
        h = hash_mum(h ^ word, HASH_K2 ^ bytes);
        at += n;
        bytes -= n;
    }
    return h;
}

static uint64_t hash_state(const nima_behavior *b, const void *state) {
    uint64_t h = HASH_K0;
    for (uint32_t i = 0; i < b->field_count; i++)
        if (b->fields[i].type != NIMA_POINTER && b->fields[i].type != NIMA_TEXT)
            h = hash_bytes(h, (const char *)state + b->fields[i].offset, b->fields[i].bytes);
    return h;
}

history *history_new(nima_time from) {
    recorder *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->kept.head.from = from;
    return &r->kept;
}
void history_of_run(history *h, nima_run *run) { of(h)->run = run; }

/* ---- recording ---- */
static uint64_t *bucket(history_head *h, nima_time time) {
    while ((uint64_t)time >> h->shift >= HISTORY_BUCKETS) {
        for (int i = 0; i < HISTORY_BUCKETS / 2; i++) h->buckets[i] = h->buckets[2 * i] + h->buckets[2 * i + 1];
        memset(h->buckets + HISTORY_BUCKETS / 2, 0, sizeof h->buckets / 2);
        h->shift++;
    }
    return &h->buckets[(uint64_t)time >> h->shift];
}

static history_record *add(recorder *r, nima_time time) {
    history *h = &r->kept;
    if (time < h->head.from || (h->head.is_cut && time >= h->head.cut)) return NULL;
    if (h->head.records == r->room) {
        const uint64_t room = 2 * r->room + 1024;
        history_record *grown = room <= 2 * HISTORY_RECORDS ? realloc(h->records, room * sizeof *grown) : NULL;
        if (!grown) {                        /* complete only before the earliest that is left out */
            h->head.is_cut = true;
            h->head.cut = time;
            return NULL;
        }
        h->records = grown;
        r->room = room;
    }
    history_record *one = &h->records[h->head.records++];
    memset(one, 0, sizeof *one);
    one->time = time;
    return one;
}

static void add_agent(recorder *r, nima_time time, uint32_t step, nima_id id, uint64_t hash, uint64_t draws) {
    history_record *one = add(r, time);
    if (!one) return;
    one->step = step;
    one->agent = id;
    one->hash = hash;
    one->draws = draws;
    run_agent_name(r->run, id, one->name, sizeof one->name);
}

static void add_mail(recorder *r, const run_delivery *d, uint32_t index) {
    const nima_mail *m = d->mail[index];
    history_record *one = add(r, d->time);
    if (!one) return;
    *one = (history_record){.time = d->time,
                            .step = d->step,
                            .index = index + 1,
                            .agent = d->agent,
                            .sender = m->sender,
                            .sequence = m->sequence,
                            .type = m->type,
                            .bytes = m->bytes};
    one->hash = hash_bytes(HASH_K1, nima_payload(m), m->bytes);
    memcpy(one->payload, nima_payload(m), m->bytes < HISTORY_PAYLOAD ? m->bytes : HISTORY_PAYLOAD);
    run_agent_name(r->run, d->agent, one->name, sizeof one->name);
    if (nima_is_nobody(m->sender)) snprintf(one->sender_name, sizeof one->sender_name, "outside");
    else run_agent_name(r->run, m->sender, one->sender_name, sizeof one->sender_name);
}

void history_delivery(void *arg, const run_delivery *d) {
    recorder *r = of(arg);
    const uint64_t state =
        d->starts ? 0 : hash_state(d->behavior, d->state); /* a start may find anything outside the fields */
    uint64_t h = hash_mum(d->agent.bits ^ HASH_K0, (uint64_t)d->time ^ HASH_K1);
    h = hash_mum(h ^ d->chain, d->step ^ HASH_K2);
    h = hash_mum(h ^ state, d->stream.draws ^ HASH_K3);
    *bucket(&r->kept.head, d->time) += h;
    add_agent(r, d->time, d->step, d->agent, state, d->stream.draws);
    for (uint64_t i = 0; i < d->mail_count; i++) add_mail(r, d, (uint32_t)i);
}

static void at_end(nima_id id, const nima_behavior *b, const void *state, void *arg) {
    recorder *r = arg;
    const uint64_t hash = hash_state(b, state);
    r->kept.head.final += hash_mum(id.bits ^ HASH_K4, hash ^ HASH_K0);
    add_agent(r, HISTORY_END, 0, id, hash, 0);
}

static int by_place(const void *a, const void *b) {
    const history_record *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->agent.bits != y->agent.bits) return x->agent.bits < y->agent.bits ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void history_end(history *h, nima_run *run, nima_err error) {
    nima_summary s;
    h->head.error = error;
    if (error) snprintf(h->head.detail, sizeof h->head.detail, "%s", nima_error_detail(run));
    if (nima_look(run, &s)) {}               /* the error is known */
    h->head.fingerprint = s.fingerprint;
    h->head.shards = s.shards;
    h->head.wall_s = s.wall_s;
    run_each(run, at_end, of(h));
    for (size_t i = 0; i < run_result_count(run) && i < HISTORY_RESULTS; i++) {
        run_result_kind kind;
        double value;
        uint64_t bits;
        const char *name = run_result(run, i, &kind, &value, &bits);
        if (kind == RUN_RESULT_MEASURED) continue;
        if (kind == RUN_RESULT_VALUE) memcpy(&bits, &value, sizeof bits);
        snprintf(h->head.results[h->head.result_count].name, sizeof h->head.results[0].name, "%s", name);
        h->head.results[h->head.result_count++].bits = bits;
    }
    qsort(h->records, h->head.records, sizeof *h->records, by_place);
    while (h->head.is_cut && h->head.records && h->records[h->head.records - 1].time >= h->head.cut) h->head.records--;
}

bool history_write(history *h, const char *path) {
    FILE *f = fopen(path, "we");
    if (!f) return false;
    const bool good = fwrite(&h->head, sizeof h->head, 1, f) == 1
        && fwrite(h->records, sizeof *h->records, h->head.records, f) == h->head.records;
    return fclose(f) == 0 && good;
}

bool history_read(history *h, const char *path) {
    *h = (history){ .records = NULL };
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool good = fread(&h->head, sizeof h->head, 1, f) == 1;
    h->records = good ? malloc(h->head.records * sizeof *h->records + 1) : NULL;
    good = h->records && fread(h->records, sizeof *h->records, h->head.records, f) == h->head.records;
    fclose(f);
    return good;
}
void history_free(history *h) { free(h->records); }

/* ---- comparing ---- */
static bool same(const history_record *a, const history_record *b) {
    return a->hash == b->hash && a->draws == b->draws && a->sender.bits == b->sender.bits && a->sequence == b->sequence
        && a->type == b->type && a->bytes == b->bytes;
}

static const history_record *at(const history *h, uint64_t i, const history *other) { /* NULL: beyond what both hold */
    if (i >= h->head.records || (other->head.is_cut && h->records[i].time >= other->head.cut)) return NULL;
    return &h->records[i];
}
static history_verdict compare_records(const history *a, const history *b, history_difference *d) {
    uint64_t i = 0, j = 0;
    for (;;) {
        const history_record *x = at(a, i, b), *y = at(b, j, a);
        if (!x && !y) return HISTORY_EQUAL;
        const int order = !x ? 1 : !y ? -1 : by_place(x, y);
        if (order == 0 && same(x, y)) { i++; j++; continue; }
        d->a = order <= 0 ? x : NULL;
        d->b = order >= 0 ? y : NULL;
        /* one more or less message: told by the message, which stands behind the agent's own record */
        if (order && !(order < 0 ? x : y)->index) {
            const history *h = order < 0 ? a : b;
            const uint64_t k = order < 0 ? i + 1 : j + 1;
            const history_record *mail = k < h->head.records ? &h->records[k] : NULL;
            if (mail && mail->index == 1) { if (order < 0) d->a = mail; else d->b = mail; }
        }
        return HISTORY_DIFFER;
    }
}

static nima_time first_bucket(const history_head *a,
                              const history_head *b) { /* where the hashes first differ; or FOREVER */
    const history_head *fine = a->shift <= b->shift ? a : b, *coarse = fine == a ? b : a;
    const uint32_t by = coarse->shift - fine->shift;
    for (uint64_t i = 0; i < HISTORY_BUCKETS; i++) {
        uint64_t sum = 0;
        for (uint64_t k = i << by; k < (i + 1) << by && k < HISTORY_BUCKETS; k++) sum += fine->buckets[k];
        if (sum != coarse->buckets[i]) return (nima_time)(i << coarse->shift);
    }
    return NIMA_FOREVER;
}

history_verdict history_compare(const history *a, const history *b, history_difference *d) {
    *d = (history_difference){ .a = NULL };
    const history_verdict verdict = compare_records(a, b, d);
    if (verdict != HISTORY_EQUAL) return verdict;
    d->again = first_bucket(&a->head, &b->head);
    if (d->again == NIMA_FOREVER && a->head.final != b->head.final) d->again = HISTORY_END;
    if (d->again != NIMA_FOREVER) return HISTORY_RECORD_AGAIN;
    for (uint32_t i = 0; i < a->head.result_count || i < b->head.result_count; i++) {
        const char *x = i < a->head.result_count ? a->head.results[i].name : "",
                   *y = i < b->head.result_count ? b->head.results[i].name : "";
        if (!strcmp(x, y) && a->head.results[i].bits == b->head.results[i].bits) continue;
        snprintf(d->result, sizeof d->result, "%s", *x ? x : y);
        return HISTORY_RESULT;
    }
    return HISTORY_EQUAL;
}
