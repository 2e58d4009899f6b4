/* authority.c: see authority.h. Counts of batches lie in two dense arrays, one entry a dispatcher of the run: `sent` grows
 * with the reports of the window that is open, `awaited` is what its grants carry, and was `sent` of the one before. */
#include "authority.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

enum { NAMED_AT_MOST = 3 };

struct authority {
    /* constant */
    uint32_t children, dispatchers, first, count;   /* the range it stands for itself */
    authority_child *child;
    /* of the open window */
    authority_grant grant;
    uint64_t opened_us;
    uint32_t missing;
    bool *reported;
    authority_report sum;                    /* of the reports so far */
    uint32_t *sent, *awaited;
    batch_count *list;                       /* scratch of what is handed out */
    /* over the run */
    uint64_t windows, events, wall_us, busy_us, exchange_us;
};

static nima_err refuse(char *error, size_t room, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static nima_err refuse(char *error, size_t room, const char *name, const char *format, ...) {
    const int length = snprintf(error, room, "%s: ", name);
    va_list list;
    va_start(list, format);
    if (length >= 0 && (size_t)length < room) vsnprintf(error + length, room - (size_t)length, format, list);
    va_end(list);
    return NIMA_E_LINK;
}

static void *zeros(size_t count, size_t bytes) {
    void *p = calloc(count, bytes);
    if (p == NULL) abort();                  /* a few words a dispatcher, once a run */
    return p;
}

static void begin_reports(authority *a) {
    a->missing = a->children;
    memset(a->reported, 0, a->children * sizeof *a->reported);
    a->sum = (authority_report){ .window = a->grant.window, .net = MOMENT_NEVER,
                                 .halt_at = a->sum.halt_at, .last_event = a->sum.last_event };
}

authority *authority_new(const authority_child *child, uint32_t children, uint32_t dispatchers, uint64_t now_us) {
    authority *a = zeros(1, sizeof *a);
    a->children = children;
    a->dispatchers = dispatchers;
    a->child = zeros(children, sizeof *a->child);
    a->reported = zeros(children, sizeof *a->reported);
    a->sent = zeros(dispatchers, sizeof *a->sent);
    a->awaited = zeros(dispatchers, sizeof *a->awaited);
    a->list = zeros(dispatchers, sizeof *a->list);
    a->first = child[0].first;
    for (uint32_t i = 0; i < children; i++) {
        assert(child[i].first == a->first + a->count && child[i].count > 0);
        a->child[i] = child[i];
        a->count += child[i].count;
    }
    assert(a->first + a->count <= dispatchers);
    a->grant.order = AUTHORITY_REST;
    a->sum.halt_at = NIMA_FOREVER;
    a->sum.last_event = -1;
    a->opened_us = now_us;
    begin_reports(a);
    return a;
}

void authority_free(authority *a) {
    if (a == NULL) return;
    free(a->child);
    free(a->reported);
    free(a->sent);
    free(a->awaited);
    free(a->list);
    free(a);
}

/* ---- reports ---- */
static bool within(const authority_child *c, uint32_t dispatcher) { return dispatcher - c->first < c->count; }

static nima_err check_report(const authority *a, uint32_t child, const authority_report *r, char *error, size_t room) {
    const authority_child *c = &a->child[child];
    if (r->window != a->grant.window)
        return refuse(error, room, c->name, "reports window %" PRIu64 " while %" PRIu64 " is granted", r->window,
                      a->grant.window);
    if (a->reported[child]) return refuse(error, room, c->name, "reports window %" PRIu64 " twice", r->window);
    if (moment_before(r->net, a->grant.until) && r->net.time < r->halt_at)      /* beyond its halt it may have left things undone */
        return refuse(error, room, c->name, "reports an event at %" PRId64 " (step %" PRIu32 ") in window %" PRIu64
                      ", which ends at %" PRId64 " (step %" PRIu32 ")", r->net.time, r->net.step, r->window,
                      a->grant.until.time, a->grant.until.step);
    for (uint32_t i = 0; i < r->sent_count; i++) {
        const batch_count *s = &r->sent[i];
        const bool ascending = i == 0 || s->dispatcher > r->sent[i - 1].dispatcher;
        if (s->dispatcher >= a->dispatchers || within(c, s->dispatcher) || !ascending)
            return refuse(error, room, c->name, "reports batches sent to dispatcher %" PRIu32, s->dispatcher);
        if (s->batches > UINT32_MAX - a->sent[s->dispatcher])
            return refuse(error, room, c->name, "reports %" PRIu32 " batches sent to dispatcher %" PRIu32, s->batches,
                          s->dispatcher);
    }
    return NIMA_OK;
}

static void add_report(authority *a, const authority_report *r) {
    authority_report *sum = &a->sum;
    sum->net = moment_least(sum->net, r->net);
    if (r->halt_at < sum->halt_at) sum->halt_at = r->halt_at;
    if (r->last_event > sum->last_event) sum->last_event = r->last_event;
    sum->pending |= r->pending;
    sum->events += r->events;
    sum->busy_us += r->busy_us;
    sum->exchange_us += r->exchange_us;
    for (uint32_t i = 0; i < r->sent_count; i++) a->sent[r->sent[i].dispatcher] += r->sent[i].batches;
}

nima_err authority_take(authority *a, uint32_t child, const authority_report *r, uint64_t now_us, char *error,
                        size_t room) {
    assert(child < a->children);
    const nima_err wrong = check_report(a, child, r, error, room);
    if (wrong != NIMA_OK) return wrong;
    add_report(a, r);
    a->reported[child] = true;
    if (--a->missing == 0 && a->grant.order == AUTHORITY_RUN) {
        a->windows++;
        a->events += a->sum.events;
        a->wall_us += now_us - a->opened_us;
        a->busy_us += a->sum.busy_us;
        a->exchange_us += a->sum.exchange_us;
    }
    return NIMA_OK;
}

bool authority_complete(const authority *a) { return a->missing == 0; }

/* The entries of counts that are not zero, from `first` on, behind those already in the list. */
static uint32_t append_counts(authority *a, const uint32_t *counts, uint32_t first, uint32_t count, uint32_t length) {
    for (uint32_t d = first; d < first + count; d++)
        if (counts[d] > 0) a->list[length++] = (batch_count){ d, counts[d] };
    return length;
}

void authority_reduce(authority *a, authority_report *r) {
    assert(a->missing == 0);
    const uint32_t end = a->first + a->count;
    uint32_t length = append_counts(a, a->sent, 0, a->first, 0);
    length = append_counts(a, a->sent, end, a->dispatchers - end, length);
    *r = a->sum;
    r->sent = a->list;
    r->sent_count = length;
}

/* ---- windows ---- */
void authority_plan_rest(const authority *a, authority_grant *g) {
    assert(a->missing == 0);
    *g = (authority_grant){ .window = a->grant.window + 1, .order = AUTHORITY_REST,
                            .from = a->sum.net, .until = a->grant.until };
}

bool authority_plan(const authority *a, const authority_limits *l, authority_grant *g) {
    authority_plan_rest(a, g);
    const nima_time limit = l->until < a->sum.halt_at ? l->until : a->sum.halt_at, from = g->from.time;
    if (from >= limit) return false;
    g->order = AUTHORITY_RUN;
    if (l->lookahead == 0) {
        g->until = (moment){ from, g->from.step + 1 };
        return true;
    }
    const nima_time span = l->span < l->lookahead ? l->span : l->lookahead;
    nima_time until = span < limit - from ? from + span : limit;
    if (l->sample >= from && l->sample < until - 1) until = l->sample + 1;
    g->until = (moment){ until, 0 };
    return true;
}

nima_err authority_open(authority *a, const authority_grant *g, uint64_t now_us, char *error, size_t room) {
    assert(a->missing == 0);
    if (g->window != a->grant.window + 1)
        return refuse(error, room, "authority", "grants window %" PRIu64 " after %" PRIu64, g->window, a->grant.window);
    const bool runs = g->order == AUTHORITY_RUN && moment_before(g->from, g->until);
    const bool rests = g->order == AUTHORITY_REST && !moment_before(g->until, a->grant.until) &&
                       !moment_before(a->grant.until, g->until);
    if ((!runs && !rests) || (runs && moment_before(g->from, a->grant.until)) || moment_before(a->sum.net, g->from))
        return refuse(error, room, "authority", "grants a window from %" PRId64 " (step %" PRIu32 ") until %" PRId64
                      " (step %" PRIu32 ")", g->from.time, g->from.step, g->until.time, g->until.step);
    for (uint32_t i = 0; i < g->awaited_count; i++)
        if (g->awaited[i].dispatcher - a->first >= a->count)
            return refuse(error, room, "authority", "grants to dispatcher %" PRIu32, g->awaited[i].dispatcher);
    uint32_t *swap = a->awaited;             /* what those below sent each other, and what comes from outside */
    a->awaited = a->sent;
    a->sent = swap;
    for (uint32_t i = 0; i < g->awaited_count; i++) a->awaited[g->awaited[i].dispatcher] += g->awaited[i].batches;
    memset(a->sent, 0, a->dispatchers * sizeof *a->sent);
    a->grant = *g;
    a->grant.awaited = NULL;
    a->grant.awaited_count = 0;
    a->opened_us = now_us;
    begin_reports(a);
    return NIMA_OK;
}

void authority_grant_to(authority *a, uint32_t child, authority_grant *g) {
    assert(child < a->children);
    *g = a->grant;
    g->awaited_count = append_counts(a, a->awaited, a->child[child].first, a->child[child].count, 0);
    g->awaited = a->list;
}

void authority_post(authority *a, moment at) {
    assert(a->missing == 0);
    a->sum.net = moment_least(a->sum.net, at);
    a->grant.until = moment_least(a->grant.until, at);
}

/* ---- what is said about it ---- */
static void append_text(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append_text(char *text, size_t room, const char *format, ...) {
    const size_t length = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, room - length, format, list);
    va_end(list);
}

uint32_t authority_watch(const authority *a, uint64_t now_us, uint64_t deadline_us, char *text, size_t room) {
    text[0] = '\0';
    if (a->missing == 0 || now_us - a->opened_us < deadline_us) return 0;
    uint32_t named = 0;
    for (uint32_t i = 0; i < a->children && named < NAMED_AT_MOST; i++)
        if (!a->reported[i]) append_text(text, room, "%s%s", named++ > 0 ? ", " : "", a->child[i].name);
    if (a->missing > named) append_text(text, room, " and %" PRIu32 " more", a->missing - named);
    append_text(text, room, " %s not reported ", a->missing == 1 ? "has" : "have");
    if (a->grant.window == 0) append_text(text, room, "set-up");
    else append_text(text, room, "window %" PRIu64, a->grant.window);
    append_text(text, room, " for %.1f s", (double)(now_us - a->opened_us) * 1e-6);
    return a->missing;
}

void authority_summary(const authority *a, nima_time lookahead, char *text, size_t room) {
    text[0] = '\0';
    if (a->windows == 0 || a->wall_us == 0) {
        append_text(text, room, "no window was run");
        return;
    }
    const double windows = (double)a->windows, wall = (double)a->wall_us * a->count;
    const double busy = (double)a->busy_us / wall, exchange = (double)a->exchange_us / wall;
    const double clock = busy + exchange < 1 ? 1 - busy - exchange : 0;
    append_text(text, room, "%" PRIu64 " windows of %.1f events and %.0f us on average; %.0f %% of the time computing, "
                "%.0f %% exchanging events, %.0f %% for the clock", a->windows, (double)a->events / windows,
                (double)a->wall_us / windows, 100 * busy, 100 * exchange, 100 * clock);
    if (busy < 0.5)
        append_text(text, room, "; a window holds too little work for %" PRIu32 " dispatchers: fewer of them, or a "
                    "lookahead above %" PRId64 " ticks, would pay", a->count, lookahead);
}
