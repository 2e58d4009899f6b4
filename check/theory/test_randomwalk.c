/* The random walk: in turn it gives the original's walks exactly, and its actors agree with it in distribution. */
#include "../../examples/randomwalk/sequential.h"
#include "theory.h"

typedef struct {
    unsigned seed, size, walkers, neighborhood, max_steps;
    bool wraps;
    uint64_t steps, black, boundary, neighbor, touched, max;
    uint32_t first[5];                       /* the first walkers' steps, as far as they are known */
} row;

static const row table[] = {
    { 123, 20, 100, 4, 5000, false, 1962, 43, 55, 42, 3, 0, { 47, 28, 38, 30, 18 } },
    { 123, 40, 100, 4, 5000, false, 14100, 31, 68, 30, 2, 0, { 0 } },
    { 42, 10, 3, 4, 10000, false, 66, 2, 2, 1, 0, 0, { 15, 37, 14 } },
    { 42, 50, 20, 4, 10000, false, 4311, 2, 19, 1, 0, 0, { 0 } },
    { 7, 30, 60, 8, 10000, false, 3182, 18, 43, 17, 0, 0, { 0 } },
    { 1, 20, 50, 4, 10000, true, 5631, 50, 0, 49, 1, 0, { 0 } },
    { 1, 30, 300, 8, 10000, true, 4189, 270, 0, 269, 31, 0, { 0 } },
    { 1, 100, 50, 4, 300, true, 14697, 3, 0, 2, 0, 48, { 0 } } };
enum { ROWS = sizeof table / sizeof *table };

static theory walk_run(const row *r, const char *order, uint64_t seed) {
    char text[4][40];
    snprintf(text[0], sizeof *text, "size=%u", r->size);
    snprintf(text[1], sizeof *text, "walkers=%u", r->walkers);
    snprintf(text[2], sizeof *text, "neighborhood=%u", r->neighborhood);
    snprintf(text[3], sizeof *text, "max_steps=%u", r->max_steps);
    return theory_run("randomwalk", seed, SET(text[0], text[1], text[2], text[3], order,
                                              r->wraps ? "boundary=wrap" : "boundary=terminate"));
}

START_TEST(oracle) {
    for (int i = 0; i < ROWS; i++) {
        const row *r = &table[i];
        theory t = walk_run(r, "order=sequential", r->seed);
        const struct { const char *name; uint64_t expected; } results[] = {
            { "steps_total", r->steps }, { "black", r->black }, { "boundary", r->boundary },
            { "neighbor", r->neighbor }, { "touched", r->touched }, { "max", r->max } };
        for (size_t k = 0; k < sizeof results / sizeof *results; k++)
            ck_assert_msg(theory_result(&t, results[k].name) == (double)results[k].expected,
                          "row %d: %s is %g, not %llu", i, results[k].name,
                          theory_result(&t, results[k].name), (unsigned long long)results[k].expected);
        theory_close(&t);
    }
}
END_TEST

static sequential *game(const row *r) {
    sequential *s = calloc(1, sizeof *s);
    ck_assert(s);
    s->size = r->size;
    s->walkers = r->walkers;
    s->neighborhood = r->neighborhood;
    s->max_steps = r->max_steps;
    s->wraps = r->wraps;
    s->grid = calloc((size_t)(r->size + 2) * (r->size + 2), 1);
    s->at = calloc(r->walkers, sizeof *s->at);
    s->who = calloc(r->walkers, sizeof *s->who);
    s->walks = calloc(r->walkers, sizeof *s->walks);
    s->fresh = calloc(r->walkers, sizeof *s->fresh);
    sequential_begin(s, r->seed);
    return s;
}

static void game_over(sequential *s) {
    free(s->grid);
    free(s->at);
    free(s->who);
    free(s->walks);
    free(s->fresh);
    free(s);
}

START_TEST(first_walkers) {
    for (int i = 0; i < ROWS; i++) {
        sequential *s = game(&table[i]);
        while (s->walking > 0) sequential_round(s);
        for (int k = 0; k < 5 && table[i].first[k] > 0; k++) ck_assert_uint_eq(s->walks[k].steps, table[i].first[k]);
        game_over(s);
    }
}
END_TEST

START_TEST(twister_of_mt19937) {             /* published outputs 1 and 10,000 of the generator seeded with 5489 */
    twister t = { .next = TWISTER_WORDS };
    t.state[0] = 5489;
    for (uint32_t i = 1; i < TWISTER_WORDS; i++) t.state[i] = 1812433253 * (t.state[i - 1] ^ t.state[i - 1] >> 30) + i;
    twister_refill(&t);
    ck_assert_uint_eq(t.output[0], 3499211612u);
    for (uint32_t i = TWISTER_WORDS; i < 10000; i += TWISTER_WORDS) twister_refill(&t);
    ck_assert_uint_eq(t.output[(10000 - 1) % TWISTER_WORDS], 4123659995u);   /* the standard's own check value */
}
END_TEST

typedef struct { double black, steps; } outcome;

static outcome walk_outcome(const row *r, const char *order, uint64_t seed) {
    theory t = walk_run(r, order, seed);
    outcome o = { theory_result(&t, "black"), theory_result(&t, "steps_total") };
    theory_close(&t);
    return o;
}

/* The actors' rules on bare arrays: in a round all step, and see what was black before it. Coordinates may leave a
 * torus and come back: rows and columns are taken modulo the size. */
static outcome bare_outcome(const row *r, uint64_t seed) {
    unsigned n = r->size, row[1000], column[1000];
    bool black[60][60] = { { false } }, fresh[60][60] = { { false } }, ended[1000] = { false };
    unsigned short state[3] = { (unsigned short)seed, 7, 11 };
    outcome o = { 1, 0 };
    black[(n - 1) / 2][(n - 1) / 2] = true;
    for (unsigned w = 0; w < r->walkers; w++)
        do {
            row[w] = (unsigned)nrand48(state) / 7 % n;
            column[w] = (unsigned)nrand48(state) / 7 % n;
        } while (black[row[w]][column[w]]);
    for (unsigned round = 0; round < r->max_steps; round++) {
        for (unsigned w = 0; w < r->walkers; w++) {
            if (ended[w]) continue;
            unsigned direction = (unsigned)nrand48(state) / 7 % r->neighborhood;
            unsigned to_row = row[w] + (unsigned)walk_down[direction] + n;
            unsigned to_column = column[w] + (unsigned)walk_right[direction] + n;
            bool off = to_row < n || to_row >= 2 * n || to_column < n || to_column >= 2 * n;
            if ((ended[w] = off && !r->wraps)) continue;
            row[w] = to_row % n;
            column[w] = to_column % n;
            o.steps++;
            if ((ended[w] = black[row[w]][column[w]])) continue;
            for (unsigned d = 0; d < r->neighborhood && !ended[w]; d++) {
                to_row = row[w] + (unsigned)walk_down[d] + n;
                to_column = column[w] + (unsigned)walk_right[d] + n;
                off = to_row < n || to_row >= 2 * n || to_column < n || to_column >= 2 * n;
                ended[w] = (r->wraps || !off) && black[to_row % n][to_column % n];
            }
            if (ended[w]) fresh[row[w]][column[w]] = true;
        }
        for (unsigned i = 0; i < n * n; i++) {
            o.black += fresh[i / n][i % n] && !black[i / n][i % n];
            black[i / n][i % n] |= fresh[i / n][i % n];
        }
    }
    return o;
}

/* Means over seeds, at four times the sd of their difference. `order` NULL: on bare arrays. */
static void agree(const row *r, const char *order) {
    enum { SEEDS = 60 };
    double sums[2][2] = { { 0 } }, squares[2][2] = { { 0 } };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        outcome o[2] = { walk_outcome(r, "order=actors", seed),
                         order ? walk_outcome(r, order, seed + 1000) : bare_outcome(r, seed) };
        for (int side = 0; side < 2; side++) {
            const double values[2] = { o[side].black, o[side].steps };
            for (int k = 0; k < 2; k++) {
                sums[side][k] += values[k] / SEEDS;
                squares[side][k] += values[k] * values[k] / SEEDS;
            }
        }
    }
    for (int k = 0; k < 2; k++) {
        double variance = squares[0][k] - sums[0][k] * sums[0][k] + squares[1][k] - sums[1][k] * sums[1][k];
        double sd = sqrt(variance / (SEEDS - 1));
        ck_assert_msg(fabs(sums[0][k] - sums[1][k]) <= 4 * sd, "mean %s over seeds 1 to %d: %g, of the other %g, "
                      "sd of the difference %g", k ? "steps" : "black", SEEDS, sums[0][k], sums[1][k], sd);
    }
}

static const row dense_4 = { .size = 40, .walkers = 600, .neighborhood = 4, .max_steps = 2000 };
static const row dense_8 = { .size = 30, .walkers = 200, .neighborhood = 8, .max_steps = 200, .wraps = true };
static const row sparse_4 = { .size = 50, .walkers = 60, .neighborhood = 4, .max_steps = 5000 };
static const row sparse_8 = { .size = 40, .walkers = 40, .neighborhood = 8, .max_steps = 300, .wraps = true };

START_TEST(actors_rules) {
    agree(&dense_4, NULL);
    agree(&dense_8, NULL);
    agree(&sparse_4, NULL);
}
END_TEST

START_TEST(actors_and_turns) {               /* where few walk, it hardly matters who sees a pixel one step sooner */
    agree(&sparse_4, "order=sequential");
    agree(&sparse_8, "order=sequential");
}
END_TEST

START_TEST(actors_add_up) {                  /* ends are all walkers; each black pixel is one's last, or the seed */
    const row r = { .size = 60, .walkers = 2000, .neighborhood = 4, .max_steps = 300, .wraps = true };
    theory t = walk_run(&r, "order=actors", 5);
    double ends = theory_result(&t, "boundary") + theory_result(&t, "neighbor") + theory_result(&t, "touched");
    ck_assert_double_eq(ends + theory_result(&t, "max"), 2000);
    ck_assert_double_eq(theory_result(&t, "boundary"), 0);
    ck_assert_double_le(theory_result(&t, "black"), theory_result(&t, "neighbor") + 1);
    ck_assert_double_gt(theory_result(&t, "black"), theory_result(&t, "neighbor") * 0.9);
    theory_close(&t);
}
END_TEST

THEORY(
    { "theory: randomwalk in turn gives the oracle's table (exact)", oracle },
    { "theory: randomwalk in turn gives each walker's steps (exact)", first_walkers },
    { "theory: the Mersenne twister of randomwalk (exact)", twister_of_mt19937 },
    { "theory: randomwalk's actors do as their rules on bare arrays", actors_rules },
    { "theory: randomwalk's actors agree with walkers in turn", actors_and_turns },
    { "theory: the ends of randomwalk's actors add up", actors_add_up })
