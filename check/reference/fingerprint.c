/* fingerprint.c: the chains of docs/formats.md, "Fingerprint". */
#include "reference.h"

uint64_t ref_bits(double x) {
    const double canonical = x != x ? __builtin_nan("") : x;
    uint64_t bits;
    memcpy(&bits, &canonical, sizeof bits);
    return bits;
}

/* Up to 8 bytes as a little-endian word, zero-extended. */
static uint64_t word(const unsigned char *p, size_t bytes) {
    uint64_t w = 0;
    for (size_t i = 0; i < bytes && i < 8; i++) w |= (uint64_t)p[i] << 8 * i;
    return w;
}

uint64_t ref_chain_begin(const ref_agent *a, nima_time time, uint32_t step) {
    const uint64_t what = (uint64_t)a->behavior->index << 32 | step;
    return hash_mum(hash_mum(a->id.bits ^ HASH_K0, what ^ HASH_K1) ^ (uint64_t)time, HASH_K2);
}

uint64_t ref_chain_mail(uint64_t h, const nima_mail *m, uint32_t step) {
    const size_t bytes = m->bytes;
    const unsigned char *p = nima_payload(m);
    h = hash_mum(h ^ (uint64_t)m->time, m->sender.bits ^ HASH_K0);
    h = hash_mum(h ^ ((uint64_t)m->sequence << 16 | m->type), ((uint64_t)step << 32 | bytes) ^ HASH_K1);
    for (size_t i = 0; i < bytes; i += 16)
        h = hash_mum(h ^ word(p + i, bytes - i), (i + 8 < bytes ? word(p + i + 8, bytes - i - 8) : 0) ^ HASH_K2);
    return h;
}

static bool is_pointer(nima_type t) { return t == NIMA_POINTER || t == NIMA_TEXT || t == NIMA_FILE; }

uint64_t ref_chain_end(const ref_agent *a, nima_time time) {
    uint64_t h = hash_mum(a->chain ^ a->random.draws, a->sends ^ HASH_K3);
    h = hash_mum(h ^ (uint64_t)time, HASH_K4);
    for (uint32_t f = 0; f < a->behavior->field_count; f++) {
        const nima_field *field = a->behavior->fields + f;
        const unsigned char *p = (const unsigned char *)a->state + field->offset;
        if (is_pointer(field->type)) continue;
        for (size_t i = 0; i < field->bytes; i += 8) h = hash_mum(h ^ word(p + i, field->bytes - i), HASH_K2);
    }
    return h;
}

uint64_t ref_fingerprint(const nima_run *run) {
    uint64_t sum = run->stopped_chains;
    for (uint32_t s = 0; s < run->shard_count; s++)
        for (size_t i = 0; i < run->shards[s].slot_count; i++) {
            const ref_agent *a = run->shards[s].slots[i].agent;
            if (a && a->alive) sum += ref_chain_end(a, run->virtual_time);
        }
    return hash_mum(sum ^ HASH_K3, run->row_chain ^ HASH_K4);
}
