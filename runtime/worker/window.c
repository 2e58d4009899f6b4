/* window.c: the window loop: the whole life of a run on one page.
 *
 * A window is [from, until): from is the earliest event anywhere, until at most one lookahead later. Each shard, under its ticket, first
 * files what the last window's workers sent it, then runs everything before `until`; what it sends goes to this window's lists (two
 * sets, used in turn), which are read in the next. So there is one barrier a window, at the end of team_phase. With lookahead 0 and
 * several shards a window is one (time, step). With one shard nobody else can send: a window is as long as we like. */
#include "cluster/cluster.h"
#include "state.h"
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PARALLEL_US = 15, INLINE_US = 6, LONG_US = 50000, SHORT_US = 5000 };
static const double SHOW_S = 0.05;           /* a longer sleep is worth a picture before it */

/* Worker r->threads is the other dispatchers. */
chunk_list *window_list(const nima_run *r, unsigned parity, unsigned worker, bool later) {
    return r->lists + ((size_t)(parity * (r->threads + 1) + worker) * 2 + later) * r->engine.shards;
}

static void file_arrivals(nima_run *r, context *c, shard *h) {
    bool any = false;
    for (unsigned w = 0; w < r->threads + (r->cluster != NULL); w++) {
        chunk_list *zero = &window_list(r, !r->parity, w, false)[h->number], *later = &window_list(r, !r->parity, w, true)[h->number];
        if (!zero->head && !later->head) continue;
        shard_file(h, c, r->from, r->from_step, zero, later);
        any = true;
    }
    if (any) shard_refresh_net(h);
}

static bool due_now(const nima_run *r, const shard *h) {
    return r->step_mode ? h->net == r->net && h->net_step == r->net_step : h->net < r->until;
}

static void keep_earlier(nima_time *time, uint32_t *step, nima_time other, uint32_t other_step) {
    if (other > *time || (other == *time && other_step >= *step)) return;
    *time = other;
    *step = other_step;
}

static void run_shard(void *arg, unsigned worker, uint32_t item) {
    nima_run *r = arg;
    context *c = &r->contexts[worker];
    shard *h = &r->shards[r->own_from + (r->order ? r->order[item] : item)];
    const uint64_t before = h->events;
    if (sigsetjmp(c->escape, 0) == 0) {
        file_arrivals(r, c, h);
        if (due_now(r, h)) {
            if (r->step_mode) shard_run_step(h, c, r->net, r->net_step);
            else shard_run(h, c, r->until);
        }
    } else context_forget_step(c);
    _Atomic uint64_t *ran = &r->counts[worker].ran;
    atomic_store_explicit(ran, atomic_load_explicit(ran, memory_order_relaxed) + h->events - before, memory_order_relaxed);
    keep_earlier(&c->earliest, &c->earliest_step, h->net, h->net_step);
}

/* One window over the shards of this process; afterwards net is what they hold and have sent. */
static void own_window(nima_run *r) {
    const unsigned threads = r->threads;
    for (unsigned w = 0; w < threads; w++) {
        context *c = &r->contexts[w];
        c->zero = window_list(r, r->parity, w, false);
        c->me.own.later = window_list(r, r->parity, w, true);
        c->earliest = c->me.own.earliest_sent = NIMA_FOREVER;
        c->earliest_step = 0;
        c->sent_zero = false;
        c->halt_at = r->halt_at;
    }
    const uint64_t begin = team_clock();
    const bool parallel = r->parallel && threads > 1;
    const uint32_t own = r->own_to - r->own_from;
    if (parallel) team_phase(r->team, run_shard, r, own);
    else team_alone(r->team, run_shard, r, own);
    const double us = (double)(team_clock() - begin) / team_clock_per_us();
    r->from = r->net;
    r->from_step = r->net_step;
    r->net = NIMA_FOREVER;
    r->net_step = 0;
    for (unsigned w = 0; w < threads; w++) {
        const context *c = &r->contexts[w];
        if (c->halt_at < r->halt_at) {
            r->halt_at = c->halt_at;
            memcpy(r->halt_why, c->halt_why, sizeof r->halt_why);
        }
        keep_earlier(&r->net, &r->net_step, c->earliest, c->earliest_step);
        keep_earlier(&r->net, &r->net_step, c->me.own.earliest_sent, 0);
        if (c->sent_zero) keep_earlier(&r->net, &r->net_step, r->from, r->from_step + 1);
    }
    r->parity ^= 1;
    r->windows++;
    r->inline_windows += !parallel;
    if (parallel ? us * 2 < INLINE_US : us > PARALLEL_US) r->parallel = !parallel;
    if (us > LONG_US && r->span > 1) r->span /= 2;
    else if (us < SHORT_US && r->span < NIMA_FOREVER / 4) r->span *= 2;
    r->window_us = us;
}

static void window(nima_run *r) {
    if (r->cluster) cluster_begin_window(r);
    if (!r->failed) own_window(r);
    if (r->cluster && !r->failed) cluster_end_window(r);
    failure_collect(r);
}

/* What a single step did: nothing, if there was only what does not count: alarms cancelled or orphaned, sweeps of nobody. */
static nima_time step_begins(nima_run *r) {
    const nima_time last = window_last_event(r);
    for (uint32_t s = r->own_from; s < r->own_to; s++) r->shards[s].last_event = -1;
    return last;
}

static void step_ends(nima_run *r, nima_time last) {
    r->stepped = window_last_event(r) >= 0;
    if (r->own_to > r->own_from && r->shards[r->own_from].last_event < last) r->shards[r->own_from].last_event = last;
}

void window_follow(nima_run *r, nima_time from, uint32_t from_step, nima_time until, bool one_step) {
    r->net = from;
    r->net_step = from_step;
    r->until = until;
    r->step_mode = one_step;
    const nima_time last = one_step ? step_begins(r) : -1;
    own_window(r);
    if (one_step) step_ends(r, last);
}

/* ---- pacing, pausing, stopping ---- */
void run_request(nima_run *r, run_wish wish) {
    atomic_store(&r->wish, (uint32_t)wish);
    syscall(SYS_futex, &r->wish, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool run_request_if(nima_run *r, run_wish now, run_wish then) {
    uint32_t expected = (uint32_t)now;
    if (!atomic_compare_exchange_strong(&r->wish, &expected, (uint32_t)then)) return false;
    syscall(SYS_futex, &r->wish, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return true;
}

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_unless(nima_run *r, uint32_t wish, double seconds) {
    struct timespec t = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };
    syscall(SYS_futex, &r->wish, FUTEX_WAIT_PRIVATE, wish, seconds < 1e6 ? &t : NULL, NULL, 0);
}

/* Returns when the window at `at` may run; true: stop. */
static bool wait_for_leave(nima_run *r, nima_time at) {
    uint32_t wish = atomic_load_explicit(&r->wish, memory_order_acquire);
    if (__builtin_expect(wish == RUN_GO && r->tuning.speed <= 0, 1)) return false;
    for (;; wish = atomic_load_explicit(&r->wish, memory_order_acquire)) {
        if (wish == RUN_STOP) return true;
        if (wish == RUN_PAUSE) {
            window_publish(r);
            show_model(r, true);
            const double from = wall();
            sleep_unless(r, wish, 1e9);
            r->pace_wall += wall() - from;   /* time stood still */
            continue;
        }
        if (r->tuning.speed <= 0) return false;
        if (r->pace_wall == 0) { r->pace_wall = wall(); r->pace_from = at; }
        const double due = r->pace_wall + (double)(at - r->pace_from) / r->engine.ticks_per_unit / r->tuning.speed;
        const double left = due - wall();
        atomic_store_explicit(&r->shown_lag, left < 0 ? -left : 0, memory_order_relaxed);
        if (left <= 0) return false;
        window_publish(r);
        show_model(r, left > SHOW_S);
        sleep_unless(r, wish, left);
    }
}

static uint64_t events_so_far(const nima_run *r) {
    if (r->cluster) return cluster_events(r);
    uint64_t n = 0;
    for (uint32_t s = r->own_from; s < r->own_to; s++) n += r->shards[s].events;
    return n;
}

void window_publish(nima_run *r) {
    atomic_store_explicit(&r->shown_time, r->from, memory_order_relaxed);
    atomic_store_explicit(&r->shown_events, events_so_far(r), memory_order_relaxed);
    atomic_store_explicit(&r->shown_windows, r->windows, memory_order_relaxed);
    atomic_store_explicit(&r->shown_inline, r->inline_windows, memory_order_relaxed);
    atomic_store_explicit(&r->shown_wall, r->wall_s + (r->wall_from ? (double)(team_clock() - r->wall_from) / team_clock_per_us() * 1e-6 : 0),
                          memory_order_relaxed);
}

/* ---- the loop ---- */
nima_time window_last_event(const nima_run *r) {
    nima_time t = -1;
    for (uint32_t s = r->own_from; s < r->own_to; s++) if (r->shards[s].last_event > t) t = r->shards[s].last_event;
    return t;
}

bool window_pending(nima_run *r) {
    for (uint32_t s = r->own_from; s < r->own_to; s++) if (shard_pending(&r->shards[s], &r->engine)) return true;
    for (unsigned w = 0; w < r->threads + (r->cluster != NULL); w++)
        for (uint32_t s = 0; s < r->engine.shards; s++)       /* what was sent in the last window; alarms never are */
            if (window_list(r, !r->parity, w, false)[s].head || window_list(r, !r->parity, w, true)[s].head) return true;
    return false;
}

/* Rows of all sample times before `end` at which everything is done, given that the next event is not before r->net. Once nothing is
 * pending, only up to the last event. */
static void samples(nima_run *r, nima_time end) {
    while (r->engine.sample && !r->failed && r->next_sample < end && r->next_sample < r->net && r->next_sample < r->halt_at) {
        const nima_time tick = r->next_sample;
        if (!sample_gather(r, tick)) return;
        r->next_sample = tick > NIMA_FOREVER - r->engine.sample ? NIMA_FOREVER : tick + r->engine.sample;
        sample_row(r, tick);
    }
}

static nima_time window_end(const nima_run *r, nima_time limit) {
    const engine *e = &r->engine;
    nima_time end = limit;
    const nima_time span = e->shards == 1 ? r->span : r->span < e->lookahead ? r->span : e->lookahead;
    if (span < end - r->net) end = r->net + span;
    if (e->shards > 1) {                     /* on the grid of lookaheads, on which queues cut time too */
        const nima_time grid = r->net / e->lookahead;
        if (grid < NIMA_FOREVER / e->lookahead - 1 && (grid + 1) * e->lookahead < end) end = (grid + 1) * e->lookahead;
    }
    if (e->sample && r->next_sample < end - 1) end = r->next_sample + 1;
    return end > r->net ? end : r->net + 1;
}

static nima_time end_of(const nima_run *r, nima_time until) { return until < r->halt_at ? until : r->halt_at; }

static nima_err leave(nima_run *r, nima_time until, bool stopped) {
    nima_time last;
    bool pending;
    last = window_last_event(r);
    pending = window_pending(r);
    if (r->cluster && !r->failed) cluster_status(r, &last, &pending);
    r->last_event = last;
    r->exhausted = !pending;
    r->reached = until != NIMA_FOREVER && !stopped ? until : r->exhausted ? last + 1 : r->from;
    r->frontier = until != NIMA_FOREVER && !stopped ? until : r->from + (r->windows > 0);
    if (r->frontier <= last) r->frontier = last + 1;
    r->now = !stopped && until != NIMA_FOREVER && pending ? until : last < 0 ? 0 : last;
    if (stopped && r->net != NIMA_FOREVER && r->from > r->now) r->now = r->from;
    sample_logs(r);
    window_publish(r);
    if (!r->failed) show_model(r, true);
    atomic_store(&r->shown_running, false);
    r->wall_s += (double)(team_clock() - r->wall_from) / team_clock_per_us() * 1e-6;
    r->wall_from = 0;
    if (r->store && !r->failed && store_flush(r->store)) failure_set(r, NIMA_E_SYSTEM, "%s", store_error(r->store));
    return r->failed ? r->failure.code : stopped ? NIMA_E_HALTED : NIMA_OK;
}

nima_err window_advance(nima_run *r, nima_time until) {
    if (r->failed) return r->failure.code;
    if (until <= r->reached) return NIMA_OK;
    r->asked = until;
    r->wall_from = team_clock();
    atomic_store(&r->shown_until, until);
    atomic_store(&r->shown_running, true);
    r->step_mode = !r->engine.local_steps;
    for (uint64_t shown = team_clock();;) {
        samples(r, end_of(r, until));
        const nima_time end = end_of(r, until);
        if (r->failed || r->net >= end) break;
        if (wait_for_leave(r, r->net)) return leave(r, end, true);
        r->until = r->step_mode ? r->net + 1 : window_end(r, end);
        window(r);
        if (r->failed) break;
        for (unsigned w = 0; w < r->threads; w++) if (r->contexts[w].line_count) { sample_logs(r); break; }
        if (team_clock() - shown > (uint64_t)(20000 * team_clock_per_us())) {
            window_publish(r);
            show_model(r, false);
            shown = team_clock();
        }
    }
    return leave(r, end_of(r, until), false);
}

bool window_more_steps(const nima_run *r) {
    for (unsigned w = 0; w < r->threads; w++) if (r->contexts[w].sent_zero) return true;
    for (uint32_t s = r->own_from; s < r->own_to; s++)
        if (r->shards[s].net == r->from && shard_steps(&r->shards[s], &r->engine)) return true;
    return false;
}

/* One (time, step): whether anything was there, and whether its time has another. */
static void one_step(nima_run *r, bool *any, bool *more) {
    const nima_time last = step_begins(r);
    window(r);
    step_ends(r, last);
    *any = r->stepped;
    *more = window_more_steps(r);
    if (r->cluster && !r->failed) cluster_step(r, any, more);
}

nima_err window_step(nima_run *r) {
    if (r->failed) return r->failure.code;
    const nima_time end = end_of(r, r->default_until);
    r->wall_from = team_clock();
    r->step_mode = true;
    bool more = true, any;
    for (bool stepped = false; !stepped && !r->failed;) {
        samples(r, end);
        if (r->net >= end_of(r, end)) return window_advance(r, end_of(r, end));
        if (!r->failed) one_step(r, &stepped, &more);
    }
    while (!r->failed && r->net == r->from && !more) one_step(r, &any, &more);
    samples(r, r->from < end ? r->from + 1 : end);            /* rows up to this time, if that was all of it */
    return leave(r, NIMA_FOREVER, false);
}
