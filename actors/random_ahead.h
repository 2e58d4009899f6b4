/* random_ahead.h: Philox blocks of four streams at once, in the vector unit where there is one: for agents about to run. */
#ifndef NIMA_RANDOM_AHEAD_H
#define NIMA_RANDOM_AHEAD_H
#include <stdint.h>

enum { RANDOM_LANES = 4 };
void random_blocks(uint64_t key, const uint64_t stream[RANDOM_LANES], const uint64_t block[RANDOM_LANES], uint32_t out[RANDOM_LANES][4]);
#endif
