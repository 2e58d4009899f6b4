/* Streams and what takes a fixed number of draws: Philox by its published answers, the rules by injected draws.
 * test_random_distributions.c compares what comes out with theory. */
#include "random.h"
#include "statistics.h"

static nima_rng stream(uint64_t n) { return (nima_rng){ .key = 0x0123456789ABCDEF, .stream = n }; }

/* A stream whose next draws are these; what follows is Philox. */
static nima_rng injected(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return (nima_rng){ .block_end = 4, .block = { a, b, c, d } };
}

static void ck_block(uint64_t key, uint64_t stream, uint64_t block, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t out[4];
    random_block(key, stream, block, out);
    ck_assert_uint_eq(out[0], a);
    ck_assert_uint_eq(out[1], b);
    ck_assert_uint_eq(out[2], c);
    ck_assert_uint_eq(out[3], d);
}

/* The three vectors that are published with Random123, kat_vectors, philox4x32 10. */
START_TEST(known_answers) {
    ck_block(0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    ck_block(~0ull, ~0ull, ~0ull, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    ck_block(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
             0x24126ea1);
}
END_TEST

START_TEST(draw_is_word_of_block) {
    nima_rng r = stream(5);
    for (uint64_t n = 0; n < 100; n++) {
        uint32_t block[4];
        random_block(r.key, r.stream, n >> 2, block);
        ck_assert_uint_eq(nima_bits32(&r), block[n & 3]);
        ck_assert_uint_eq(r.draws, n + 1);
    }
}
END_TEST

static double sample(nima_rng *r, int kind) {
    switch (kind) {
    case 0: return nima_bits32(r);
    case 1: return nima_uniform(r);
    case 2: return (double)nima_below(r, 1000);
    case 3: return (double)nima_below(r, (uint64_t)1 << 50);
    case 4: return nima_chance(r, 0.3);
    case 5: return nima_exponential(r, 2);
    case 6: return nima_normal(r, -1, 3);
    case 7: return nima_gamma(r, 0.4, 1);
    case 8: return (double)nima_poisson(r, 3);
    case 9: return (double)nima_poisson(r, 55);
    case 10: return (double)nima_binomial(r, 30, 0.1);
    case 11: return (double)nima_binomial(r, 300, 0.7);
    default: return (double)nima_geometric(r, 0.01);
    }
}
enum { KINDS = 13 };

/* An agent's stream is stored as (stream, draws) and taken up again anywhere: the block at hand must not matter. */
START_TEST(same_without_the_cached_block) {
    for (uint32_t offset = 0; offset < 4; offset++) {
        nima_rng kept = stream(9);
        kept.draws = offset;
        for (int i = 0; i < 20000; i++) {
            nima_rng fresh = { .key = kept.key, .stream = kept.stream, .draws = kept.draws };
            const double a = sample(&kept, i % KINDS), b = sample(&fresh, i % KINDS);
            ck_assert_msg(a == b, "kind %d, draw %lu", i % KINDS, (unsigned long)kept.draws);
            ck_assert_uint_eq(kept.draws, fresh.draws);
        }
    }
}
END_TEST

START_TEST(uniform_is_two_draws_high_first) {
    nima_rng r = injected(0xFFFFFFFF, 0xFFFFFFFF, 0x80000000, 0x00000800);
    ck_assert(nima_uniform(&r) == 1 - 0x1p-53);
    ck_assert(nima_uniform(&r) == 0.5 + 0x1p-53);
    ck_assert_uint_eq(r.draws, 4);
    r = injected(0, 0x7FF, 0, 0);
    ck_assert(nima_uniform(&r) == 0);
}
END_TEST

START_TEST(below_rejects_what_would_be_uneven) {
    const uint64_t n = (uint64_t)3 << 30;    /* 2^32 % n = 2^30: a quarter of all draws is rejected */
    nima_rng r = injected(0, 0x80000000, 3, 7);
    ck_assert_uint_eq(nima_below(&r, n), 2); /* the low part of the product is 0, 0, 2^30 */
    ck_assert_uint_eq(r.draws, 3);
    r = injected(5, 5, 0xFFFFFFFF, 5);
    ck_assert_uint_eq(nima_below(&r, 1), 0);
    ck_assert_uint_eq(r.draws, 1);
    r = injected(0xFFFFFFFF, 0xFFFFFFFF, 1, 0);
    ck_assert_uint_eq(nima_below(&r, UINT32_MAX), UINT32_MAX - 1);
    ck_assert_uint_eq(r.draws, 1);
    r = injected(0xFFFFFFFF, 0xFFFFFFFF, 1, 0);
    ck_assert_uint_eq(nima_below(&r, (uint64_t)1 << 32), UINT32_MAX);   /* two draws from 2^32 on */
    ck_assert_uint_eq(r.draws, 2);
    r = injected(0x80000000, 0, 0, 3);       /* 2^64 % n = 2^62; the low part is 0, 2^62 */
    ck_assert_uint_eq(nima_below(&r, (uint64_t)3 << 62), 2);
    ck_assert_uint_eq(r.draws, 4);
}
END_TEST

START_TEST(below_is_even) {
    nima_rng r = stream(11);
    double thirds[3] = { 0 }, thirds_wide[3] = { 0 };
    enum { N = 300000 };
    for (int i = 0; i < N; i++) {            /* taking a remainder would give 1/2, 1/4, 1/4 */
        thirds[nima_below(&r, (uint64_t)3 << 30) >> 30]++;
        thirds_wide[nima_below(&r, (uint64_t)3 << 62) >> 62]++;
    }
    for (int i = 0; i < 3; i++) {
        ck_mean(thirds[i], N, 1.0 / 3, sqrt(2.0) / 3, "third, 32 bits");
        ck_mean(thirds_wide[i], N, 1.0 / 3, sqrt(2.0) / 3, "third, 64 bits");
    }
    for (uint64_t n = 2; n < 200; n = n * 3 / 2 + 1) {
        double seen[200] = { 0 };
        chi_square c = { 0 };
        for (int i = 0; i < 40000; i++) seen[nima_below(&r, n)]++;
        for (uint64_t i = 0; i < n; i++) chi_square_add(&c, seen[i], 40000.0 / (double)n);
        ck_chi_square(&c, "below");
    }
}
END_TEST

START_TEST(chance_at_its_edges) {
    nima_rng r = injected(0, 0, 0, 0);
    ck_assert(!nima_chance(&r, 0) && !nima_chance(&r, -1) && !nima_chance(&r, NAN));
    ck_assert(nima_chance(&r, 1) && nima_chance(&r, 2) && nima_chance(&r, INFINITY));
    ck_assert_uint_eq(r.draws, 6);           /* one each, though it decides nothing */
    const double p = 1000.25 * 0x1p-32;      /* a < 1000, or a = 1000 and b < 2^30 */
    r = injected(999, 1001, 1000, 0x3FFFFFFF);
    ck_assert(nima_chance(&r, p));
    ck_assert_uint_eq(r.draws, 1);
    ck_assert(!nima_chance(&r, p));
    ck_assert_uint_eq(r.draws, 2);
    ck_assert(nima_chance(&r, p));
    ck_assert_uint_eq(r.draws, 4);
    r = injected(1000, 0x40000000, 0, 0);
    ck_assert(!nima_chance(&r, p));
    r = injected(0, 0, 0, 1);
    ck_assert(nima_chance(&r, 0x1p-64));     /* two zero draws */
    ck_assert(!nima_chance(&r, 0x1p-1000));
    r = injected(0xFFFFFFFF, 0xFFFFF7FF, 0xFFFFFFFF, 0xFFFFF800);
    ck_assert(nima_chance(&r, 1 - 0x1p-53)); /* the rest is 1 - 2^-21 */
    ck_assert(!nima_chance(&r, 1 - 0x1p-53));
    ck_assert_uint_eq(r.draws, 4);
}
END_TEST

START_TEST(draws_are_as_documented) {
    nima_rng r = stream(12);
    enum { N = 100000 };
    uint64_t two = 0, two_normal = 0;
    for (int i = 0; i < N; i++) {
        uint64_t before = r.draws;
        nima_exponential(&r, 1);
        ck_assert_uint_eq((r.draws - before) % 4, 2);
        two += r.draws - before == 2;
        before = r.draws;
        nima_normal(&r, 0, 1);
        ck_assert_uint_eq((r.draws - before) % 4, 2);
        two_normal += r.draws - before == 2;
        before = r.draws;
        nima_poisson(&r, 9.9);
        ck_assert_uint_eq(r.draws - before, 2);
        nima_binomial(&r, 1000000, 9e-6);
        ck_assert_uint_eq(r.draws - before, 4);
        before = r.draws;
        nima_poisson(&r, 10);
        ck_assert_uint_eq((r.draws - before) % 4, 0);
        before = r.draws;
        nima_binomial(&r, 100, 0.5);
        ck_assert_uint_eq((r.draws - before) % 4, 0);
    }
    ck_assert_msg((double)two > 0.975 * N && (double)two_normal > 0.975 * N, "%lu, %lu of %d", (unsigned long)two,
                  (unsigned long)two_normal, N);
}
END_TEST

START_TEST(arguments_out_of_range) {
    nima_rng r = stream(13);
    ck_assert(nima_gamma(&r, 0, 1) == 0 && nima_gamma(&r, NAN, 1) == 0);
    ck_assert(nima_poisson(&r, -1) == 0 && nima_poisson(&r, NAN) == 0 && nima_poisson(&r, INFINITY) == UINT64_MAX);
    ck_assert(nima_binomial(&r, 5, 0) == 0 && nima_binomial(&r, 5, 1) == 5 && nima_binomial(&r, 0, 0.5) == 0);
    ck_assert(nima_binomial(&r, 5, NAN) == 0 && nima_binomial(&r, 5, 2) == 5);
    ck_assert(nima_geometric(&r, 1) == 0 && nima_geometric(&r, 0) == UINT64_MAX);
    ck_assert_uint_eq(r.draws, 0);
    for (int i = 0; i < 1000; i++) {
        ck_assert_uint_le(nima_binomial(&r, UINT64_MAX, 1 - 0x1p-53), UINT64_MAX);
        ck_assert(fabs((double)nima_binomial(&r, UINT64_MAX, 0.5) - 0x1p63) < 0x1p34);
        ck_assert_uint_gt(nima_geometric(&r, 1e-300), (uint64_t)1 << 60);
        ck_assert_uint_le(nima_binomial(&r, 21, 0.5), 21);
    }
}
END_TEST

/* Neighbours in every direction: streams, keys, draws. */
START_TEST(streams_are_independent) {
    enum { N = 200000 };
    double products[4] = { 0 }, cells[4096] = { 0 };
    for (uint64_t i = 0; i < N; i++) {
        nima_rng a = stream(i), b = stream(i + 1), c = stream(i), far = stream(i + ((uint64_t)1 << 48));
        c.key++;
        const double x = nima_uniform(&a) - 0.5, y = nima_uniform(&b) - 0.5;
        products[0] += x * y;
        products[1] += x * (nima_uniform(&c) - 0.5);
        products[2] += x * (nima_uniform(&far) - 0.5);
        products[3] += x * (nima_uniform(&a) - 0.5);
        cells[(int)((x + 0.5) * 64) * 64 + (int)((y + 0.5) * 64)]++;
    }
    for (int i = 0; i < 4; i++) ck_mean(products[i], N, 0, 1.0 / 12, "product of neighbours");
    chi_square c = { 0 };
    for (int i = 0; i < 4096; i++) chi_square_add(&c, cells[i], N / 4096.0);
    ck_chi_square(&c, "first draws of two streams");
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "random: published vectors of Philox4x32-10", known_answers },
        { "random: draw n is word n % 4 of block n / 4", draw_is_word_of_block },
        { "random: a stream taken up anywhere", same_without_the_cached_block },
        { "random: uniform (two draws, high first)", uniform_is_two_draws_high_first },
        { "random: below rejects", below_rejects_what_would_be_uneven },
        { "random: below is even", below_is_even },
        { "random: chance at its edges", chance_at_its_edges },
        { "random: draws are as documented", draws_are_as_documented },
        { "random: arguments out of range", arguments_out_of_range },
        { "random: streams are independent", streams_are_independent },
    };
    return run_units("random", tests, sizeof tests / sizeof *tests);
}
