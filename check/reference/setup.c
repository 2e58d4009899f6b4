/* setup.c: what a model declares before time 0. */
#include "reference.h"
#include "input.h"
#include <stdarg.h>
#include <stdlib.h>

static nima_run *run_of(const nima_setup *s) { return ((const ref_setup *)s)->run; }

void nima_setup_fail(nima_setup *s, const char *format, ...) {
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    ref_fail(run_of(s), NIMA_E_MODEL, "setup: %s", what);
}

nima_pop nima_populate(nima_setup *s, const nima_behavior *behavior, uint64_t members, uint64_t per_group) {
    nima_run *run = run_of(s);
    struct nima_layout *l = ref_zeroed(sizeof *l);
    *l = (struct nima_layout){ .run = run, .behavior = behavior, .number = run->population_count, .count = members,
                               .per_group = per_group };
    const size_t count = run->population_count++;
    run->populations = ref_grow(run->populations, &run->population_room, count + 1, sizeof *run->populations);
    run->populations[count] = l;
    return (nima_pop){ members, &l->in_line };
}

void nima_lookahead(nima_setup *s, nima_time t) {
    if (t < 0) nima_setup_fail(s, "lookahead of %lld", (long long)t);
    run_of(s)->lookahead = t;
}

void nima_period(nima_setup *s, const nima_behavior *behavior, nima_time period) {
    if (period < 0) nima_setup_fail(s, "period of %lld", (long long)period);
    run_of(s)->periods[behavior->index] = period;
}

void nima_sample(nima_setup *s, nima_time period) {
    if (period < 0) nima_setup_fail(s, "sampling period of %lld", (long long)period);
    run_of(s)->sample = period;
}

void nima_until(nima_setup *s, nima_time t) { run_of(s)->until = t; }

void nima_shards(nima_setup *s, uint32_t count) {
    if (count > 1u << 20) nima_setup_fail(s, "%u shards", count);
    run_of(s)->shard_count = count;
}

void nima_step_bound(nima_setup *s, uint32_t bound) { run_of(s)->step_bound = bound; }
uint64_t nima_setup_seed(const nima_setup *s) { return run_of(s)->seed; }

static void *shared_of(void *arg, size_t bytes) {
    nima_run *run = arg;
    ref_shared *block = ref_zeroed(sizeof *block + bytes);
    block->next = run->shared;
    run->shared = block;
    return block + 1;
}

void *nima_shared(nima_setup *s, size_t bytes) { return shared_of(run_of(s), bytes); }

static void each_in_turn(void *arg, uint64_t n, void (*each)(uint64_t, void *), void *each_arg) {
    (void)arg;
    for (uint64_t i = 0; i < n; i++) each(i, each_arg);
}

void nima_parallel(nima_setup *s, uint64_t n, void (*each)(uint64_t, void *), void *arg) {
    each_in_turn(s, n, each, arg);
}

/* ---- input ----------------------------------------------------------------------------------------------------- */
static input_host host_of(nima_run *run) { return (input_host){ shared_of, each_in_turn, run }; }

static void check(nima_run *run, nima_err e, const char *error) {
    if (e) ref_fail(run, e, "%s", error);
}

static input_file open_input(nima_setup *s, const char *param) {
    nima_run *run = run_of(s);
    const nima_struct *p = run->parts.params;
    for (uint32_t i = 0; p && i < p->field_count; i++)
        if (p->fields[i].type == NIMA_FILE && !strcmp(p->fields[i].name, param)) {
            const nima_file *file = (const void *)((const char *)run->params + p->fields[i].offset);
            char error[512] = "";
            input_file in;
            check(run, input_open(&in, file->path, error, sizeof error), error);
            return in;
        }
    nima_setup_fail(s, "no parameter %s that names a file", param);
}

const void *nima_input(nima_setup *s, const char *param, size_t *bytes) {
    input_file in = open_input(s, param);
    char *copy = nima_shared(s, in.bytes + 1);
    if (in.bytes) memcpy(copy, in.data, in.bytes);
    *bytes = in.bytes;
    input_close(&in);
    return copy;
}

const double *nima_column(nima_setup *s, const char *param, const char *column, uint64_t *rows) {
    input_file in = open_input(s, param);
    const input_host host = host_of(run_of(s));
    char error[512] = "";
    double *values = NULL;
    const nima_err e = input_column(&in, column, &host, &values, rows, error, sizeof error);
    input_close(&in);
    check(run_of(s), e, error);
    return values;
}

nima_graph nima_graph_read(nima_setup *s, const char *param, uint64_t nodes) {
    input_file in = open_input(s, param);
    const input_host host = host_of(run_of(s));
    char error[512] = "";
    nima_graph g = { 0 };
    const nima_err e = input_edges(&in, nodes, &host, &g, error, sizeof error);
    input_close(&in);
    check(run_of(s), e, error);
    return g;
}

nima_graph nima_graph_random(nima_setup *s, uint64_t nodes, double mean_degree, uint64_t key) {
    const input_host host = host_of(run_of(s));
    char error[512] = "";
    nima_graph g = { 0 };
    const uint64_t seed = run_of(s)->seed;
    check(run_of(s), input_random_graph(seed, key, nodes, mean_degree, &host, &g, error, sizeof error), error);
    return g;
}
