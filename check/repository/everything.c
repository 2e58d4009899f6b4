/* everything.c: a model that uses each macro and each kind of call of nima.h once, for the compilers' sake: header.sh
 * compiles it as C17 and C++20 with two compilers. It is never run. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, agents, 2, "1..", "", "agents"),
    (uint32_t, tokens, 1, "0..9", "", "tokens"),
    (double, mean, 1.5, "0..", "s", "mean delay"),
    (float, share, 0.5f, "0..1", "", "a share"),
    (bool, fast, false, "", "", "in a hurry"),
    (nima_text, variant, "ring", "ring|star", "", "who sends to whom"),
    (nima_file, contacts, "", "", "", "an edge list"))
NIMA_WORLD((nima_pop, cell), (nima_graph, graph), (const double *, column), (nima_gset *, seen), (nima_rng, weather))
NIMA_MESSAGE(1, order, (uint8_t, kind), (double, amount), (nima_id, from))
NIMA_SIGNAL(2, bell)
NIMA_BYTES(3, blob)
NIMA_TOPIC(news)
NIMA_TALLY(waits, "s")
NIMA_LEVEL(queue, "")
enum mood { CALM, BUSY };
NIMA_STATE(cell, (int64_t, count), (enum mood, mood), (bool, open), (nima_id, friend_id), (double *, list), (nima_alarm, due))
NIMA_STATELESS(spark)
NIMA_BEHAVIOR(cell, start, update, stop)
NIMA_BEHAVIOR(spark, start)

static void cell_start(nima *me, cell *self) {
    nima_subscribe(me, news, nima_index(me));
    NIMA_RESIZE(me, self->list, 8);
    self->due = bell_alarm(me, nima_ticks(me, params_of(me)->mean));
    self->due = nima_move(me, self->due, 2);
    nima_keep_awake(me, params_of(me)->fast);
}
static void cell_update(nima *me, cell *self) {
    cell blank;
    memset(&blank, 0, sizeof blank);
    nima_shuffle_mail(me);
    NIMA_EACH(me, m) {
        const order *o = order_in(m);
        if (o) order_send(me, o->from, 1, o->kind, o->amount, nima_self(me));
        if (bell_in(m)) bell_publish(me, news, 7, 1);
        uint32_t bytes;
        if (blob_in(m, &bytes)) blob_send(me, m->sender, 1, nima_payload(m), bytes);
    }
    if (nima_chance(nima_random(me), 0.5)) spark_spawn(me, 0, NULL);
    cell_spawn_far(me, 1, &blank);
    cell_spawn_in(me, 0, 1, &blank);
    nima_tally(me, waits, nima_units(me, nima_now(me)));
    nima_level(me, queue, (double)nima_mail_left(me));
    nima_rng common = nima_stream(me, "weather");
    if (nima_below(&common, 6) == 5) nima_halt(me, "six");
    if (!nima_cancel(me, self->due)) nima_log(me, NIMA_DEBUG, "too late in %d", (int)self->mood);
    nima_unsubscribe(me, news, 0);
}
static void cell_stop(nima *me, cell *self) { NIMA_RESIZE(me, self->list, 0); }
static void spark_start(nima *me, spark *self) {
    (void)self;
    if (nima_is_nobody(nima_parent(me))) nima_fail(me, "a spark of %s", "nobody");
    nima_stop(me);
}
NIMA_REPORTER(open, count, cell, "", self->open)
NIMA_REPORTER(total, sum, cell, "items", self->count)
NIMA_BINS(counts, cell, "items", 0, 10, 5, self->count)

static const char *check(const nima_setup *s) {
    return params_of(s)->mean > 0 ? NULL : "mean must be above 0";
}
static void setup(nima_setup *s) {
    const uint64_t n = (uint64_t)params_of(s)->agents;
    setup_world(s)->cell = cell_populate(s, n, 2);
    setup_world(s)->graph = nima_graph_random(s, n, 3, 1);
    setup_world(s)->seen = nima_gset_new(s, n);
    nima_gset_share(s, setup_world(s)->seen, NIMA_GSET_TIMED);
    setup_world(s)->weather = nima_setup_stream(s, "weather");
    nima_lookahead(s, 1);
    nima_period(s, cell_behavior, nima_setup_ticks(s, 1));
    nima_sample(s, nima_setup_ticks(s, 1));
    nima_until(s, nima_setup_ticks(s, 10));
}
static bool done(nima_view *v) { return nima_last(v, total) > 1e6; }
static void finish(nima_view *v) {
    const cell *first = cell_at(v, nima_at(world_of(v)->cell, 0));
    nima_result(v, "first", first ? NIMA_CAST_(double, first->count) : 0);
}
NIMA_MODEL(.name = "everything", .help = "each macro once", .unit = "s", .ticks_per_unit = 1000, .setup = setup,
           .check = check, .done = done, .finish = finish)
