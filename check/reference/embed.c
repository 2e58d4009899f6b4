/* embed.c: the library that embeds a run, and the loop that runs it. */
#include "reference.h"
#include "parameters.h"
#include <dlfcn.h>
#include <stdlib.h>

static char open_error[1024];

const char *nima_error_detail(const nima_run *run) { return run ? run->error : open_error; }

nima_err nima_load(const char *path, const nima_model **model) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *model = library ? dlsym(library, "nima_model_") : NULL;
    if (*model) return NIMA_OK;
    snprintf(open_error, sizeof open_error, "%s: %s", path, dlerror());
    return NIMA_E_LOAD;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */
static nima_err set_parameters(nima_run *run, const nima_options *o) {
    const nima_struct *declared = run->parts.params;
    if (!declared) return NIMA_OK;
    run->params = ref_zeroed(declared->bytes);
    nima_err e = parameters_check(declared, run->error, sizeof run->error);
    if (!e) e = parameters_set(declared, o->set, run->params, &run->texts, run->error, sizeof run->error);
    const char *wrong = !e && run->model->check ? run->model->check(&(nima_setup){ run->params, NULL }) : NULL;
    if (!wrong) return e;
    snprintf(run->error, sizeof run->error, "%s", wrong);
    return NIMA_E_PARAM;
}

/* Does a part of the work that ref_fail may leave. */
static __attribute__((noinline)) nima_err attempt(nima_run *run, void (*part)(nima_run *, nima_time), nima_time until) {
    if (!setjmp(run->escape)) part(run, until);
    return run->failed;
}

static void set_up(nima_run *run, nima_time unused) {
    (void)unused;
    ref_setup s = { { run->params, run->world }, run };
    run->model->setup(&s.setup);
    for (size_t i = 0; i < run->parts.reporter_count; i++) {
        const nima_reporter *r = run->parts.reporters[i];
        run->row_values += r->reduce == NIMA_HISTOGRAM ? r->bins : 1;
    }
    ref_layout(run);
}

nima_err nima_open(nima_run **opened, const nima_model *model, const nima_options *options) {
    const nima_options none = { 0 }, *o = options ? options : &none;
    nima_run *run = ref_zeroed(sizeof *run);
    *opened = NULL;
    run->model = model;
    ref_parts_init(&run->parts, model);
    run->seed = o->seed;
    run->fingerprint = !o->no_fingerprint;
    run->record_sent = o->record_sent;
    run->until = run->halt = NIMA_FOREVER;
    run->step_bound = 1000000;
    run->periods = ref_zeroed(run->parts.behavior_count * sizeof *run->periods);
    run->world = ref_zeroed(run->parts.world ? run->parts.world->bytes : 0);
    nima_err e = model->abi == NIMA_ABI ? set_parameters(run, o) : NIMA_E_LOAD;
    if (!e) e = attempt(run, set_up, 0);
    if (e) {
        snprintf(open_error, sizeof open_error, "%s", run->error);
        nima_close(run);
    } else *opened = run;
    return e;
}

/* ---- running --------------------------------------------------------------------------------------------------- */
static void forget_sent(nima_run *run) {
    for (; run->sent_count; run->sent_count--) free(run->sent[run->sent_count - 1].mail);
}

/* The leg is over: the rows that are still due, and the virtual time. */
static void close_leg(nima_run *run, nima_time until) {
    if (ref_queue_head(run)) {
        ref_rows_until(run, until);
        run->virtual_time = ref_end(run, until);
    } else {
        if (run->happened) ref_rows_until(run, run->last + 1);
        run->virtual_time = run->last;
    }
    if (run->halt != NIMA_FOREVER && run->halt <= until) run->halted = true;
    const nima_time end = ref_end(run, until), done = run->happened ? run->last + 1 : 0;
    run->frontier = end == NIMA_FOREVER || end < done ? done : end;
}

/* The head, if it is to be executed before `until`, with all rows taken that are complete before it. */
static const ref_entry *next_before(nima_run *run, nima_time until) {
    const ref_entry *head = ref_queue_head(run);
    if (!head || head->time >= ref_end(run, until)) return NULL;
    ref_rows_until(run, head->time);
    return head->time < ref_end(run, until) ? head : NULL;
}

static int by_sender(const void *a, const void *b) {
    const ref_sent *x = a, *y = b;
    if (x->now != y->now) return x->now < y->now ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->mail->sender.bits != y->mail->sender.bits) return x->mail->sender.bits < y->mail->sender.bits ? -1 : 1;
    return x->mail->sequence < y->mail->sequence ? -1 : 1;
}

static void sort_sent(nima_run *run) {
    if (run->sent_count) qsort(run->sent, run->sent_count, sizeof *run->sent, by_sender);
}

static bool is_over(const nima_run *run) { return run->halted || run->failed; }

static nima_err begin_leg(nima_run *run) {
    forget_sent(run);
    if (run->failed) return run->failed;
    return run->finished ? NIMA_E_USAGE : NIMA_OK;
}

static void run_leg(nima_run *run, nima_time until) {
    while (next_before(run, until)) ref_execute(run);
    close_leg(run, until);
}

nima_err nima_run_to(nima_run *run, nima_time until) {
    const nima_err e = begin_leg(run);
    if (e || is_over(run)) return e;
    if (until == NIMA_FOREVER) until = run->until;
    if (until < run->frontier) return NIMA_OK;
    const nima_err failed = attempt(run, run_leg, until);
    sort_sent(run);
    return failed;
}

static void run_one(nima_run *run, nima_time until) {
    if (!next_before(run, until)) {
        close_leg(run, until);
        return;
    }
    ref_execute(run);
    const ref_entry *head = ref_queue_head(run);
    if (!head || head->time > run->last) ref_rows_until(run, run->last + 1);
    run->virtual_time = run->last;
    run->frontier = run->last + 1;
}

nima_err nima_run_step(nima_run *run) {
    const nima_err e = begin_leg(run);
    if (e || is_over(run)) return e;
    const nima_err failed = attempt(run, run_one, run->until);
    sort_sent(run);
    return failed;
}

nima_err nima_post(nima_run *run, nima_id to, nima_time at, uint32_t type, const void *payload, uint32_t bytes) {
    if (run->failed) return run->failed;
    if (!ref_generation_of(to) || ref_shard_of(to) >= run->shard_count || at < run->frontier || at == NIMA_FOREVER
        || type == 0 || type > 65535 || bytes > NIMA_PAYLOAD_MAX || is_over(run) || run->finished) {
        snprintf(run->error, sizeof run->error, "post of type %u to %016llX at %lld", type,
                 (unsigned long long)to.bits, (long long)at);
        return NIMA_E_USAGE;
    }
    ref_entry *e = ref_zeroed(sizeof *e);
    e->kind = ENTRY_MAIL;
    e->time = at;
    e->receiver = to;
    e->sequence = run->posts++;
    e->mail = ref_mail_new(at, (nima_id){ 0 }, e->sequence, type, payload, bytes);
    ref_queue_push(run, e);
    return NIMA_OK;
}

/* ---- looking --------------------------------------------------------------------------------------------------- */
size_t nima_sent_count(const nima_run *run) { return run->sent_count; }

const nima_mail *nima_sent(const nima_run *run, size_t i, nima_id *to) {
    if (i >= run->sent_count) return NULL;
    *to = run->sent[i].to;
    return run->sent[i].mail;
}

nima_err nima_look(nima_run *run, nima_summary *s) {
    *s = (nima_summary){ .agents = run->alive, .events = run->events, .dead_letters = run->dead_letters,
                         .unread = run->unread, .results = run->result_count, .virtual_time = run->virtual_time,
                         .fingerprint = run->fingerprint ? ref_fingerprint(run) : 0, .threads = 1,
                         .shards = run->shard_count, .halted = run->halted, .exhausted = !ref_queue_head(run) };
    return run->failed;
}

nima_err nima_finish(nima_run *run) {
    if (run->failed || run->finished) return run->failed;
    run->finished = true;
    ref_view v = { { run->params, run->world }, run, run->virtual_time, true };
    if (run->model->finish) run->model->finish(&v.view);
    return NIMA_OK;
}

void nima_close(nima_run *run) {
    if (!run) return;
    forget_sent(run);
    for (; run->taken_count; run->taken_count--) ref_entry_free(run->taken[run->taken_count - 1]);
    while (run->queue.count) ref_entry_free(ref_queue_pop(run));
    for (uint32_t s = 0; run->shards && s < run->shard_count; s++) {
        ref_shard *shard = run->shards + s;
        for (size_t i = 0; i < shard->slot_count; i++)
            if (shard->slots[i].agent) ref_agent_free(shard->slots[i].agent);
        free(shard->slots);
        free(shard->free);
        free(shard->tallies);
        free(shard->levels);
    }
    for (size_t p = 0; p < run->population_count; p++) {
        free(run->populations[p]->first);
        free(run->populations[p]->base);
        free(run->populations[p]);
    }
    for (nima_gset *next, *g = run->gsets; g; g = next) {
        next = g->next;
        free(g->seen);
        free(g);
    }
    for (ref_shared *next, *b = run->shared; b; b = next) {
        next = b->next;
        free(b);
    }
    for (size_t i = 0; i < run->row_count; i++) free(run->rows[i].values);
    for (size_t i = 0; i < run->result_count; i++) free(run->results[i].name);
    ref_parts_fini(&run->parts);
    void *const owned[] = { run->sent, run->taken, run->mail, run->queue.heap, run->shards, run->populations, run->rows,
                            run->results, run->periods, run->world, run->params, run->texts, run };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
