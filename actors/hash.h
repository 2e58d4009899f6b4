/* hash.h: the one mixing function behind fingerprints, streams and alarm checks; documented in docs/formats.md. */
#ifndef NIMA_HASH_H
#define NIMA_HASH_H
#include <stdint.h>

#define HASH_K0 0x243F6A8885A308D3u          /* fractional hexadecimal digits of pi */
#define HASH_K1 0x13198A2E03707344u
#define HASH_K2 0xA4093822299F31D0u
#define HASH_K3 0x082EFA98EC4E6C89u
#define HASH_K4 0x452821E638D01377u

static inline uint64_t hash_mum(uint64_t a, uint64_t b) {
    const unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)(p ^ p >> 64);
}

/* FNV-1a of a text, 64 bits. */
static inline uint64_t hash_text(const char *text) {
    uint64_t h = 0xCBF29CE484222325u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return h;
}
#endif
