/* random_ahead.c: see random_ahead.h; the same integers as random_block in random.h. */
#include "random_ahead.h"
#include "random.h"

static void blocks_plain(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], uint32_t out[RANDOM_LANES][4]) {
    for (int i = 0; i < RANDOM_LANES; i++) random_block(key, stream[i], block[i], out[i]);
}
static void (*blocks)(uint64_t, const uint64_t *, const uint64_t *, uint32_t (*)[4]) = blocks_plain;

void random_blocks(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], uint32_t out[RANDOM_LANES][4]) {
    blocks(key, stream, block, out);
}

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx2"))) static void blocks_avx2(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES],
                                                        uint32_t out[RANDOM_LANES][4]) {
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
    const __m256i first = _mm256_or_si256(_mm256_and_si256(c0, low), _mm256_slli_epi64(c1, 32));    /* words 0 and 1 of each stream */
    const __m256i second = _mm256_or_si256(_mm256_and_si256(c2, low), _mm256_slli_epi64(c3, 32));
    const __m256i even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
    _mm256_storeu_si256((void *)out[0], _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((void *)out[2], _mm256_permute2x128_si256(even, odd, 0x31));
}

__attribute__((constructor)) static void choose(void) {
    if (__builtin_cpu_supports("avx2")) blocks = blocks_avx2;
}
#endif
