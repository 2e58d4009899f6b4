/* random_case.c: draws the shape of a random model. Sizes are small, so that thousands of cases run in a minute. */
#include "random_case.h"

static uint32_t below(nima_rng *r, uint32_t n) { return (uint32_t)nima_below(r, n); }
static bool percent(nima_rng *r, uint32_t p) { return below(r, 100) < p; }

static void draw_populations(random_case *c, nima_rng *r) {
    const bool grouped = percent(r, 60);
    const uint32_t most = percent(r, 80) ? 12 : 40;
    c->populations = 1 + below(r, CASE_POPULATIONS);
    for (uint32_t p = 0; p < c->populations; p++) {
        c->population[p].kind = below(r, CASE_KINDS);
        c->population[p].count = percent(r, 5) ? 0 : 1 + below(r, most);
        c->population[p].per_group = grouped && percent(r, 70) ? 1 + below(r, 6) : 0;
    }
}

static void draw_weights(random_case *c, nima_rng *r) {
    for (int a = 0; a < ACTS; a++) c->weight[a] = percent(r, 40) ? 0 : 1 + below(r, 8);
    if (percent(r, 80)) c->weight[ACT_SEND] += 14;
    if (percent(r, 60)) c->weight[ACT_ALARM] += 10;
    if (c->weight[ACT_STOP] > 3) c->weight[ACT_STOP] = 3;
    c->weight[ACT_DRAW] += 1;
    c->weight[ACT_HALT] = percent(r, 10) ? 1 + below(r, 6) : 0;
    c->weight[ACT_BREAK] = percent(r, 10);
}

/* Thousands of agents that do little: more than one word of all that is counted in words, and a crowd at one time. */
static void draw_crowd(random_case *c, nima_rng *r) {
    for (uint32_t p = 0; p < c->populations; p++) c->population[p].count = 1 + below(r, 5000);
    c->weight[ACT_PUBLISH] = 0;              /* thousands would hear thousands */
    if (percent(r, 40)) {                    /* most of their mail arrives at nearly the same time */
        c->population[0].count = 20000;
        c->weight[ACT_SEND] += 30;
        c->zero = 0;
        c->lookahead = 12 * c->scale;
    }
    c->fuel = 2 + below(r, 5);
    c->until = 20 * c->scale;
    c->tired = true;
    if (c->sample) c->sample = 7 * c->scale;
    if (c->shards > 2) c->shards = below(r, 3);
}

/* Few agents that do much, with much time in between. */
static void draw_long(random_case *c, nima_rng *r) {
    c->populations = 1;
    c->population[0].kind = below(r, 2);
    c->population[0].count = 1 + below(r, 3);
    c->shards = 1;
    c->until = 0;
    memset(c->period, 0, sizeof c->period);
    if (c->sample) c->sample = 50 * c->scale;
    c->weight[ACT_STOP] = c->weight[ACT_SPAWN] = c->weight[ACT_SPAWN_FAR] = c->weight[ACT_SPAWN_IN] = 0;
    c->fuel = 2000;
    c->acts = 1;
    c->beat = 1 + below(r, 200);
}

void random_case_draw(random_case *c, uint64_t number) {
    nima_rng stream = { .key = number, .stream = UINT64_MAX }, *r = &stream;
    memset(c, 0, sizeof *c);
    draw_populations(c, r);
    draw_weights(c, r);
    c->scale = percent(r, 85) ? 1 : percent(r, 50) ? 1000 : INT64_C(1) << 40;
    c->shards = percent(r, 10) ? 0 : percent(r, 97) ? 1 + below(r, 9) : 1 + below(r, 300);
    c->lookahead = c->scale * (percent(r, 40) ? 0 : percent(r, 40) ? 1 : 1 + below(r, 12));
    c->sample = c->scale * (percent(r, 35) ? 0 : 1 + below(r, 15));
    c->until = c->scale * (percent(r, 50) ? 0 : 1 + below(r, 300));
    for (int k = 0; k < CASE_KINDS; k++)
        c->period[k] = c->scale * (percent(r, 60) ? 0 : 1 + below(r, percent(r, 50) ? 4 : 25));
    if (!c->until) c->period[CASE_KINDS - 1] = 0;   /* without update, it never sleeps */
    c->tired = !c->until || percent(r, 30);
    c->step_bound = percent(r, 5) ? 2 + below(r, 6) : 0;
    c->fuel = 2 + below(r, percent(r, 80) ? 40 : 150);
    c->zero = below(r, 80);
    c->longest = 1 + below(r, percent(r, 80) ? 20 : 200);
    c->shuffled = percent(r, 50) ? 0 : below(r, 100);
    c->lazy = percent(r, 50) ? 0 : below(r, 60);
    c->payload = percent(r, 30) ? 16 : 300;
    c->done_at = c->sample && percent(r, 15) ? c->scale * (1 + below(r, 150)) : 0;
    c->seeded = percent(r, 50) ? 0 : (uint64_t)nima_bits32(r) << 32 | nima_bits32(r);
    c->acts = 5;
    c->keys = percent(r, 90) ? 3 : 100;
    if (percent(r, 1)) draw_crowd(c, r);
    else if (percent(r, 3)) draw_long(c, r);
    for (int a = 0; a < ACTS; a++) c->weights += c->weight[a];
}
