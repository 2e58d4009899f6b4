/* fingerprint.h: folding of an agent's history into its chain; the formula is documented in docs/formats.md. */
#ifndef NIMA_FINGERPRINT_H
#define NIMA_FINGERPRINT_H
#include "hash.h"
#include "nima.h"
#include <string.h>

static inline uint64_t chain_begin(nima_id id, uint32_t behavior, nima_time time, uint32_t step) {
    const uint64_t h = hash_mum(id.bits ^ HASH_K0, ((uint64_t)behavior << 32 | step) ^ HASH_K1);
    return hash_mum(h ^ (uint64_t)time, HASH_K2);
}

static inline uint64_t word_at(const void *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static inline uint64_t chain_payload(uint64_t h, const nima_mail *m) {   /* padding to 8 bytes is zero in every record */
    const char *p = (const char *)(m + 1);
    uint64_t bytes = m->bytes;
    if (bytes <= 8) return hash_mum(h ^ word_at(p), HASH_K2);
    for (; bytes > 8; bytes = bytes > 16 ? bytes - 16 : 0, p += 16) h = hash_mum(h ^ word_at(p), word_at(p + 8) ^ HASH_K2);
    return bytes ? hash_mum(h ^ word_at(p), HASH_K2) : h;
}

static inline uint64_t chain_mail(uint64_t h, const nima_mail *m, uint32_t step) {
    h = hash_mum(h ^ (uint64_t)m->time, m->sender.bits ^ HASH_K0);
    h = hash_mum(h ^ word_at((const char *)m + 16), ((uint64_t)step << 32 | m->bytes) ^ HASH_K1);   /* [sequence | type] */
    return __builtin_expect(m->bytes == 0, 1) ? h : chain_payload(h, m);
}
#endif
