/* random_ahead.c: see random_ahead.h; the same integers as random_block in random.h. */
#include "random_ahead.h"
#include "random.h"

static void blocks_plain(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], random_lanes *out) {
    for (int i = 0; i < RANDOM_LANES; i++) {
        uint32_t one[4];
        random_block(key, stream[i], block[i], one);
        for (int w = 0; w < 4; w++) out->word[w][i] = one[w];
    }
}
static void (*blocks)(uint64_t, const uint64_t *, const uint64_t *, random_lanes *) = blocks_plain;

void random_blocks(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], random_lanes *out) { blocks(key, stream, block, out); }

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx2"))) static void blocks_avx2(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], random_lanes *out) {
    const __m256i low = _mm256_set1_epi64x(0xFFFFFFFF), m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
    __m256i c0 = _mm256_loadu_si256((const void *)block), c2 = _mm256_loadu_si256((const void *)stream);
    __m256i c1 = _mm256_srli_epi64(c0, 32), c3 = _mm256_srli_epi64(c2, 32);   /* mul_epu32 reads the low halves only */
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const __m256i p = _mm256_mul_epu32(c0, m0), q = _mm256_mul_epu32(c2, m1);
        c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(q, 32), c1), _mm256_set1_epi64x(k0));
        c1 = q;
        c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p, 32), c3), _mm256_set1_epi64x(k1));
        c3 = p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const __m256i words[4] = { c0, c1, c2, c3 };
    for (int w = 0; w < 4; w++) _mm256_storeu_si256((void *)out->word[w], _mm256_and_si256(words[w], low));
}

__attribute__((constructor)) static void choose(void) {
    if (__builtin_cpu_supports("avx2")) blocks = blocks_avx2;
}
#endif
