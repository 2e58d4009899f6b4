/* The rules in turn: round by round each walker takes one step, and sees what those before it have blackened. The
 * numbers are those of R's Mersenne twister, so that a seed gives the walks of the original program.
 *
 * The grid has a border of one pixel, so that a step needs no comparison of coordinates, and each pixel knows whether
 * one of its neighbors is black: a step looks at one byte. Needs no engine; memory is the caller's. */
#ifndef SEQUENTIAL_H
#define SEQUENTIAL_H
#include <stdbool.h>
#include <string.h>
#include "walk.h"

enum { TWISTER_WORDS = 624, TWISTER_SHIFT = 397 };
typedef struct { uint32_t state[TWISTER_WORDS], output[TWISTER_WORDS], next; } twister;

static inline void twister_seed(twister *t, uint32_t x) {
    for (int i = 0; i <= 50; i++) x = 69069 * x + 1;             /* 50 to scramble, one that R drops */
    for (int i = 0; i < TWISTER_WORDS; i++) t->state[i] = x = 69069 * x + 1;
    t->next = TWISTER_WORDS;
}

static inline uint32_t twister_mix(uint32_t high, uint32_t low) {
    uint32_t y = (high & 0x80000000) | (low & 0x7fffffff);
    return y >> 1 ^ ((0 - (y & 1)) & 0x9908b0df);
}

static inline void twister_refill(twister *t) {
    uint32_t *s = t->state;
    int i = 0, rest = TWISTER_WORDS - TWISTER_SHIFT;
    for (; i < rest; i++) s[i] = s[i + TWISTER_SHIFT] ^ twister_mix(s[i], s[i + 1]);
    for (; i < TWISTER_WORDS - 1; i++) s[i] = s[i - rest] ^ twister_mix(s[i], s[i + 1]);
    s[i] = s[i - rest] ^ twister_mix(s[i], s[0]);
    for (i = 0; i < TWISTER_WORDS; i++) {
        uint32_t y = s[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680;
        y ^= y << 15 & 0xefc60000;
        t->output[i] = y ^ y >> 18;
    }
    t->next = 0;
}

static inline uint32_t twister_16_bits(twister *t) {             /* floor(u * 65536) */
    if (t->next == TWISTER_WORDS) twister_refill(t);
    return t->output[t->next++] >> 16;
}

static inline uint32_t twister_sample(twister *t, uint32_t n) {  /* R's sample(n), less one */
    int bits = 0;
    while ((n - 1) >> bits > 0) bits++;
    for (;;) {
        uint64_t v = 0;
        for (int k = 0; k <= bits; k += 16) v = v << 16 | twister_16_bits(t);
        v &= ((uint64_t)1 << bits) - 1;
        if (v < n) return (uint32_t)v;
    }
}

typedef struct { uint32_t steps, ending, at; } walk;           /* at: where it ended, but at a boundary */
typedef struct sequential {
    uint32_t size, walkers, neighborhood, max_steps;             /* set by the caller, as are the four arrays */
    bool wraps;
    uint8_t *grid;                                               /* (size + 2)^2, zero */
    uint32_t *at, *who;                                          /* of those that still walk, in order: where, which */
    walk *walks;                                                 /* of all; steps and ending, zero */
    uint32_t walking, rounds, blackened;                         /* blackened: in the last round, listed in `fresh` */
    uint32_t *fresh;                                             /* row * size + column, from 0 */
    int32_t offset[8];
    twister random;
} sequential;

enum { BLACK = 1, NEAR = 2, EDGE = 4 };

static inline uint32_t sequential_inside(const sequential *s, uint32_t at) {   /* from the border to the other side */
    uint32_t width = s->size + 2, row = at / width, column = at % width;
    row = row == 0 ? s->size : row > s->size ? 1 : row;
    column = column == 0 ? s->size : column > s->size ? 1 : column;
    return row * width + column;
}

static inline void sequential_blacken(sequential *s, uint32_t at) {
    s->grid[at] |= BLACK;
    for (uint32_t d = 0; d < s->neighborhood; d++) {
        uint32_t to = at + (uint32_t)s->offset[d];
        if (s->grid[to] & EDGE && s->wraps) to = sequential_inside(s, to);
        s->grid[to] |= NEAR;
    }
}

static inline void sequential_begin(sequential *s, uint32_t seed) {
    uint32_t width = s->size + 2;
    for (int d = 0; d < 8; d++) s->offset[d] = walk_down[d] * (int32_t)width + walk_right[d];
    for (uint32_t i = 0; i < width; i++)
        s->grid[i] = s->grid[(width - 1) * width + i] = s->grid[i * width] = s->grid[i * width + width - 1] = EDGE;
    uint32_t middle = (s->size + 1) / 2;
    sequential_blacken(s, middle * width + middle);
    twister_seed(&s->random, seed);
    for (uint32_t i = 0; i < s->walkers; i++) {
        for (int tries = 0; tries < 1000; tries++) {
            uint32_t row = twister_sample(&s->random, s->size) + 1, column = twister_sample(&s->random, s->size) + 1;
            s->at[i] = row * width + column;
            if (!(s->grid[s->at[i]] & BLACK)) break;
        }
        s->who[i] = i;
    }
    s->walking = s->walkers;
}

static inline void sequential_end(sequential *s, uint32_t walker, uint32_t at, uint32_t steps, enum ending how) {
    s->walks[walker].at = at;
    s->walks[walker].steps = steps;
    s->walks[walker].ending = how;
}

/* What the step of a walker to a pixel with marks means; false: it walks on, at *to. */
static inline bool sequential_ends(sequential *s, uint32_t walker, uint32_t *to) {
    if (s->grid[*to] & EDGE) {
        if (!s->wraps) return sequential_end(s, walker, 0, s->rounds - 1, BOUNDARY), true;
        *to = sequential_inside(s, *to);
    }
    uint8_t marks = s->grid[*to];
    if (marks == 0) return false;
    sequential_end(s, walker, *to, s->rounds, marks & BLACK ? TOUCHED : NEIGHBOR);
    if (marks & BLACK) return true;
    sequential_blacken(s, *to);
    uint32_t width = s->size + 2;
    s->fresh[s->blackened++] = (*to / width - 1) * s->size + *to % width - 1;
    return true;
}

/* One step of each walker that still walks. */
static inline void sequential_round(sequential *s) {
    uint32_t kept = 0, mask = s->neighborhood - 1, last = ++s->rounds == s->max_steps;
    s->blackened = 0;
    for (uint32_t i = 0; i < s->walking; i++) {
        uint32_t walker = s->who[i], to = s->at[i] + (uint32_t)s->offset[twister_16_bits(&s->random) & mask];
        if (__builtin_expect(s->grid[to] != 0, 0) && sequential_ends(s, walker, &to)) continue;
        s->at[kept] = to;
        s->who[kept++] = walker;
    }
    for (uint32_t i = 0; last && i < kept; i++) sequential_end(s, s->who[i], s->at[i], s->max_steps, MAX);
    s->walking = last ? 0 : kept;
}

#endif
