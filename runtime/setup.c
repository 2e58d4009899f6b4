/* setup.c: from a model's description to a world: collects its parts, checks them, runs its `setup`. */
#include "state.h"
#include "parameters.h"
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

_Thread_local char run_open_error[1200];
static _Thread_local sigjmp_buf *setup_escape;
static _Thread_local nima_err setup_code;
static _Thread_local char setup_text[1000];

static int by_name(const void *a, const void *b) {
    return strcmp((*(nima_part *const *)a)->name, (*(nima_part *const *)b)->name);
}
static int by_line(const void *a, const void *b) {
    const nima_part *x = *(nima_part *const *)a, *y = *(nima_part *const *)b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->name, y->name);
}

/* All parts of one kind, sorted; count in *count. */
static void *parts_of(const nima_model *m, nima_part_kind kind, uint32_t *count, int (*compare)(const void *, const void *)) {
    uint32_t n = 0;
    for (nima_part *const *p = m->parts; p < m->parts_end; p++) n += *p && (*p)->kind == kind;
    nima_part **list = calloc(n + 1u, sizeof *list);
    if (!list) return NULL;
    n = 0;
    for (nima_part *const *p = m->parts; p < m->parts_end; p++) if (*p && (*p)->kind == kind) list[n++] = *p;
    qsort(list, n, sizeof *list, compare);
    *count = n;
    return list;
}

static nima_err twice(const nima_part *a, const nima_part *b, const char *what, char *error, size_t room) {
    snprintf(error, room, "%s (line %d) and %s (line %d) have the same %s", a->name, a->line, b->name, b->line, what);
    return NIMA_E_LOAD;
}

nima_err setup_declare(nima_run *r, char *error, size_t room) {
    const nima_model *m = r->model;
    if (m->abi != NIMA_ABI) {
        snprintf(error, room, "the model was compiled for version %u of nima.h, this is version %u: compile it again", m->abi, NIMA_ABI);
        return NIMA_E_LOAD;
    }
    if (!m->name || !m->setup) {
        snprintf(error, room, "the model's NIMA_MODEL gives no %s", m->name ? "setup" : "name");
        return NIMA_E_LOAD;
    }
    engine *e = &r->engine;
    uint32_t structs = 0;
    for (nima_part *const *p = m->parts; p < m->parts_end; p++) {
        if (*p && (*p)->kind == NIMA_PART_PARAMS) { r->params_struct = (const nima_struct *)(const void *)*p; structs++; }
        if (*p && (*p)->kind == NIMA_PART_WORLD) r->world_struct = (const nima_struct *)(const void *)*p;
    }
    r->messages = parts_of(m, NIMA_PART_MESSAGE, &r->message_count, by_line);
    r->behaviors = parts_of(m, NIMA_PART_BEHAVIOR, &e->behavior_count, by_name);
    r->reporters = parts_of(m, NIMA_PART_REPORTER, &e->reporter_count, by_line);
    r->tallies = parts_of(m, NIMA_PART_TALLY, &e->tally_count, by_line);
    r->levels = parts_of(m, NIMA_PART_LEVEL, &e->level_count, by_line);
    r->topics = parts_of(m, NIMA_PART_TOPIC, &r->topic_count, by_name);
    r->message_names = calloc(65536, sizeof *r->message_names);
    r->columns = calloc(e->reporter_count + 1u, sizeof *r->columns);
    r->periods = calloc(e->behavior_count + 1u, sizeof *r->periods);
    if (!r->messages || !r->behaviors || !r->reporters || !r->tallies || !r->levels || !r->topics || !r->message_names || !r->columns
        || !r->periods) {
        snprintf(error, room, "no memory");
        return NIMA_E_MEMORY;
    }
    if (structs > 1) { snprintf(error, room, "NIMA_PARAMS stands more than once"); return NIMA_E_LOAD; }
    for (uint32_t i = 0; i < r->message_count; i++) {
        const nima_message *one = r->messages[i];
        for (uint32_t j = 0; j < i; j++)
            if (r->messages[j]->type == one->type) return twice(&r->messages[j]->part, &one->part, "number", error, room);
        r->message_names[one->type] = one->part.name;
    }
    if (e->behavior_count > 65535) { snprintf(error, room, "more than 65535 behaviors"); return NIMA_E_LOAD; }
    for (uint32_t i = 0; i < e->behavior_count; i++) {
        if (i && !strcmp(r->behaviors[i]->part.name, r->behaviors[i - 1]->part.name))
            return twice(&r->behaviors[i - 1]->part, &r->behaviors[i]->part, "name", error, room);
        r->behaviors[i]->index = i;
    }
    for (uint32_t i = 0; i < r->topic_count; i++) r->topics[i]->index = i;
    for (uint32_t i = 0; i < e->tally_count; i++) r->tallies[i]->index = i;
    for (uint32_t i = 0; i < e->level_count; i++) r->levels[i]->index = i;
    for (uint32_t i = 0; i < e->reporter_count; i++) {
        nima_reporter *one = r->reporters[i];
        one->index = i;
        if (one->reduce == NIMA_HISTOGRAM && !(one->bins > 0 && one->bins <= 65536 && one->high > one->low)) {
            snprintf(error, room, "histogram %s needs 1 to 65536 bins and low < high", one->part.name);
            return NIMA_E_LOAD;
        }
        r->columns[i] = e->row_values;
        e->row_values += one->reduce == NIMA_HISTOGRAM ? one->bins : 1;
    }
    e->behaviors = (const nima_behavior *const *)r->behaviors;
    e->reporters = (const nima_reporter *const *)r->reporters;
    e->columns = r->columns;
    e->periods = r->periods;
    e->message_names = r->message_names;
    e->ticks_per_unit = m->ticks_per_unit > 0 ? m->ticks_per_unit : 1e6;
    return NIMA_OK;
}

/* ---- the world's memory ---- */
void *world_allocate(void *run, size_t bytes) {
    nima_run *r = run;
    const size_t page = 4096, all = (sizeof(world_piece) + bytes + page - 1) / page * page;
    world_piece *p = memory_map(&r->engine.memory, all, all >= MEMORY_HUGE, "the world");
    p->next = r->pieces;
    p->bytes = all;
    r->pieces = p;
    return p->data;
}

static void protect_world(nima_run *r) {
    for (world_piece *p = r->pieces, *next; p; p = next) {
        next = p->next;
        mprotect(p, p->bytes, PROT_READ);
    }
}

/* ---- what setup calls ---- */
static nima_run *of(const nima_setup *s) { return ((const setup_handle *)(const void *)s)->run; }

static void __attribute__((noreturn, format(printf, 2, 3))) stop_setup(nima_err code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(setup_text, sizeof setup_text, format, args);
    va_end(args);
    setup_code = code;
    siglongjmp(*setup_escape, 1);
}

void nima_setup_fail(nima_setup *s, const char *format, ...) {
    (void)s;
    va_list args;
    va_start(args, format);
    vsnprintf(setup_text, sizeof setup_text, format, args);
    va_end(args);
    setup_code = NIMA_E_MODEL;
    siglongjmp(*setup_escape, 1);
}

nima_pop nima_populate(nima_setup *s, const nima_behavior *b, uint64_t count, uint64_t per_group) {
    nima_run *r = of(s);
    engine *e = &r->engine;
    if (e->population_count == 65535) stop_setup(NIMA_E_MODEL, "more than 65535 populations");
    if (count >= (uint64_t)1 << 40) stop_setup(NIMA_E_MODEL, "a population of %llu %s", (unsigned long long)count, b->part.name);
    nima_layout *l = &r->populations[e->population_count];
    *l = (nima_layout){ .behavior = b, .count = count, .per_group = per_group, .number = e->population_count };
    e->population_count++;
    return (nima_pop){ count, &l->in_line };
}

static void time_at_least(const char *call, nima_time t, nima_time least) {
    if (t < least) stop_setup(NIMA_E_MODEL, "%s(%lld): at least %lld", call, (long long)t, (long long)least);
}

void nima_lookahead(nima_setup *s, nima_time t) { time_at_least("nima_lookahead", t, 0); of(s)->engine.lookahead = t; }
void nima_period(nima_setup *s, const nima_behavior *b, nima_time t) { time_at_least("nima_period", t, 1); of(s)->periods[b->index] = t; }
void nima_sample(nima_setup *s, nima_time t) { time_at_least("nima_sample", t, 1); of(s)->engine.sample = t; }
void nima_until(nima_setup *s, nima_time t) { time_at_least("nima_until", t, 0); of(s)->default_until = t; }
void nima_step_bound(nima_setup *s, uint32_t n) { of(s)->engine.step_bound = n < 2 ? 2 : n; }
uint64_t nima_setup_seed(const nima_setup *s) { return of(s)->engine.seed; }
void *nima_shared(nima_setup *s, size_t bytes) { return world_allocate(of(s), bytes); }

void nima_shards(nima_setup *s, uint32_t n) {
    if (n < 1 || n > SHARDS_MAX) stop_setup(NIMA_E_MODEL, "nima_shards(%u): 1 to %d", n, SHARDS_MAX);
    of(s)->shards_wanted = n;
}

nima_time nima_setup_ticks(const nima_setup *s, double units) {
    const double ticks = rint(units * of(s)->engine.ticks_per_unit);
    if (!(ticks > -9.2e18 && ticks < 9.2e18)) stop_setup(NIMA_E_MODEL, "nima_setup_ticks(%g): no time", units);
    return (nima_time)ticks;
}

nima_rng nima_setup_stream(const nima_setup *s, const char *name) {
    return (nima_rng){ .key = of(s)->engine.seed, .stream = (uint64_t)3 << 62 | (hash_text(name) & (~(uint64_t)0 >> 2)) };
}

typedef struct { void (*each)(uint64_t, void *); void *arg; uint64_t n, block; } parallel;
static void parallel_item(void *arg, unsigned worker, uint32_t item) {
    (void)worker;
    const parallel *p = arg;
    const uint64_t from = item * p->block, to = from + p->block < p->n ? from + p->block : p->n;
    for (uint64_t i = from; i < to; i++) p->each(i, p->arg);
}
static void run_parallel(void *run, uint64_t n, void (*each)(uint64_t, void *), void *arg) {
    nima_run *r = run;
    parallel p = { each, arg, n, n / 1024 + 1 };
    team_phase(r->team, parallel_item, &p, (uint32_t)((n + p.block - 1) / p.block));
}
void nima_parallel(nima_setup *s, uint64_t n, void (*each)(uint64_t, void *), void *arg) { run_parallel(of(s), n, each, arg); }

static const input_file *input_of(nima_run *r, const char *param) {
    const nima_struct *d = r->params_struct;
    const nima_field *f = NULL;
    for (uint32_t i = 0; d && i < d->field_count; i++)
        if (!strcmp(d->fields[i].name, param) && d->fields[i].type == NIMA_FILE) f = &d->fields[i];
    if (!f) stop_setup(NIMA_E_MODEL, "no parameter of type nima_file is named %s", param);
    const char *path = ((const nima_file *)(const void *)((const char *)r->params + f->offset))->path;
    if (!path || !*path) stop_setup(NIMA_E_PARAM, "parameter %s names no file", param);
    for (uint32_t i = 0; i < r->input_count; i++) if (!strcmp(r->inputs[i].path, path)) return &r->inputs[i];
    input_file *grown = realloc(r->inputs, (r->input_count + 1u) * sizeof *grown);
    if (!grown) stop_setup(NIMA_E_MEMORY, "no memory");
    r->inputs = grown;
    const nima_err code = input_open(&grown[r->input_count], path, setup_text, sizeof setup_text);
    if (code) stop_setup(code, "%s", strdup(setup_text));
    return &grown[r->input_count++];
}

static input_host host_of(nima_run *r) { return (input_host){ world_allocate, run_parallel, r }; }

const void *nima_input(nima_setup *s, const char *param, size_t *bytes) {
    const input_file *f = input_of(of(s), param);
    *bytes = f->bytes;
    return f->data;
}

static void check_input(nima_err code, const char *error) { if (code) stop_setup(code, "%s", error); }

const double *nima_column(nima_setup *s, const char *param, const char *column, uint64_t *rows) {
    const input_host host = host_of(of(s));
    char error[600];
    double *values = NULL;
    check_input(input_column(input_of(of(s), param), column, &host, &values, rows, error, sizeof error), error);
    return values;
}

nima_graph nima_graph_read(nima_setup *s, const char *param, uint64_t nodes) {
    const input_host host = host_of(of(s));
    char error[600];
    nima_graph g = { 0, NULL, NULL };
    check_input(input_edges(input_of(of(s), param), nodes, &host, &g, error, sizeof error), error);
    return g;
}

nima_graph nima_graph_random(nima_setup *s, uint64_t nodes, double mean_degree, uint64_t key) {
    const input_host host = host_of(of(s));
    char error[600];
    nima_graph g = { 0, NULL, NULL };
    check_input(input_random_graph(of(s)->engine.seed, key, nodes, mean_degree, &host, &g, error, sizeof error), error);
    return g;
}

nima_gset *nima_gset_new(nima_setup *s, uint64_t bits) {
    nima_run *r = of(s);
    nima_gset *g = calloc(1, sizeof *g), **grown = realloc(r->gsets, (r->gset_count + 1u) * sizeof *grown);
    if (grown) r->gsets = grown;
    if (!g || !grown) { free(g); stop_setup(NIMA_E_MEMORY, "no memory for a set"); }
    g->bits = bits;
    g->number = r->gset_count;
    r->gsets[r->gset_count++] = g;           /* from here on it is closed with the run */
    gset_init(g, memory_map(&r->engine.memory, gset_bytes(bits), gset_bytes(bits) >= MEMORY_HUGE, "a set"));
    return g;
}

void nima_gset_seed(nima_setup *s, nima_gset *g, uint64_t bit) {
    (void)s;
    if (bit >= g->bits) stop_setup(NIMA_E_MODEL, "bit %llu of a set of %llu", (unsigned long long)bit, (unsigned long long)g->bits);
    nima_time was;
    gset_lower(g, bit, 0, &was);
}

static void setup_exhausted(void *arg, size_t bytes, const char *what) {
    nima_run *r = arg;
    stop_setup(NIMA_E_MEMORY, "out of memory: %zu bytes for %s, with %llu of %llu bytes in use", bytes, what,
               (unsigned long long)r->engine.memory.used, (unsigned long long)r->engine.memory.limit);
}

nima_err setup_run(nima_run *r, const nima_options *o, char *error, size_t room) {
    engine *e = &r->engine;
    r->params = calloc(1, r->params_struct ? r->params_struct->bytes + 1 : 1);
    r->populations = calloc(65536, sizeof *r->populations);
    if (!r->params || !r->populations) { snprintf(error, room, "no memory"); return NIMA_E_MEMORY; }
    static const nima_field no_fields[] = { { NULL, NIMA_OPAQUE, 0, 0, NULL, NULL, NULL, NULL } };
    static const nima_struct no_params = { { NIMA_PART_PARAMS, 0, "params" }, 0, 0, no_fields };
    const nima_struct *declared = r->params_struct ? r->params_struct : &no_params;
    nima_err code = parameters_check(declared, error, room);
    if (!code) code = parameters_set(declared, o->set, r->params, &r->texts, error, room);
    if (code) return code;
    const char *wrong = r->model->check ? r->model->check(&(nima_setup){ r->params, NULL }) : NULL;
    if (wrong) { snprintf(error, room, "parameters: %s", wrong); return NIMA_E_PARAM; }
    e->seed = o->seed;
    e->step_bound = 1000000;
    r->default_until = NIMA_FOREVER;
    e->memory.exhausted = setup_exhausted;
    e->memory.arg = r;
    sigjmp_buf escape, *outer = setup_escape;
    setup_escape = &escape;
    if (sigsetjmp(escape, 0)) {
        setup_escape = outer;
        snprintf(error, room, "setup: %s", setup_text);
        return setup_code;
    }
    r->world = world_allocate(r, r->world_struct ? r->world_struct->bytes : 8);
    setup_handle s = { { r->params, r->world }, r };
    r->model->setup(&s.head);
    code = layout_build(r, setup_text, sizeof setup_text);
    if (code) stop_setup(code, "%s", strdup(setup_text));
    setup_escape = outer;
    for (uint32_t i = 0; i < r->gset_count; i++) r->gsets[i]->delay = e->lookahead > 1 ? e->lookahead : 1;
    protect_world(r);
    return NIMA_OK;
}

nima_err nima_load(const char *path, const nima_model **model) {
    *model = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) { snprintf(run_open_error, sizeof run_open_error, "%s", dlerror()); return NIMA_E_LOAD; }
    *model = dlsym(library, "nima_model_");
    if (*model) return NIMA_OK;
    snprintf(run_open_error, sizeof run_open_error, "%s: no model in it (NIMA_MODEL is missing)", path);
    return NIMA_E_LOAD;
}
