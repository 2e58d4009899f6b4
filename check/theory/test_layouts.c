/* Every example: the same history on 1, 2, 4 and 7 threads, and in two legs; no mail goes unread. */
#include "theory.h"

static nima_summary history(const char *model, const char *const *set, unsigned threads, nima_time leg,
                            nima_time until) {
    theory t = theory_open(model, 42, threads, set);
    if (leg > 0) theory_to(&t, leg);
    theory_to(&t, until);
    theory_finish(&t);
    nima_summary s;
    ck_assert_int_eq(nima_look(t.run, &s), NIMA_OK);
    theory_close(&t);
    return s;
}

static void same(const char *model, nima_time leg, nima_time until, const char *const *set) {
    nima_summary one = history(model, set, 1, 0, until);
    ck_assert_uint_gt(one.events, 0);
    ck_assert_uint_eq(one.unread + one.dead_letters, 0);
    for (unsigned layout = 0; layout < 4; layout++) {
        unsigned threads = (unsigned[]){ 2, 4, 7, 2 }[layout];
        nima_summary other = history(model, set, threads, layout == 3 ? leg : 0, until);
        ck_assert_msg(other.fingerprint == one.fingerprint && other.events == one.events,
                      "%s on %u threads%s: %llu events, fingerprint %016llx; on one %llu, %016llx", model, threads,
                      layout == 3 ? " in two legs" : "", (unsigned long long)other.events,
                      (unsigned long long)other.fingerprint, (unsigned long long)one.events,
                      (unsigned long long)one.fingerprint);
    }
}

#define LAYOUT(name, model, leg, until, ...) \
    START_TEST(name) { same(model, leg, until, SET(__VA_ARGS__)); } END_TEST

LAYOUT(phold, "phold", 1234567, 3000000, "agents=5000", "events=2", "remote=0.9")
LAYOUT(phold_near, "phold", 1234567, 2000000, "agents=300", "lookahead=0")
LAYOUT(pingpong, "pingpong", 0, NIMA_FOREVER, "messages=20000")
LAYOUT(ring, "pingpong", 0, NIMA_FOREVER, "messages=20000", "variant=ring")
LAYOUT(tokens, "pingpong", 0, NIMA_FOREVER, "messages=100000", "variant=tokens")
LAYOUT(counting, "pingpong", 0, NIMA_FOREVER, "messages=100000", "variant=counting")
LAYOUT(all_to_all, "pingpong", 0, NIMA_FOREVER, "messages=100000", "variant=all")
LAYOUT(many_to_one, "pingpong", 0, NIMA_FOREVER, "messages=100000", "variant=many")
LAYOUT(mm1, "mm1", 1000000, 2000000000, "patience=5")
LAYOUT(sir, "sir", 30000000, NIMA_FOREVER, "people=20000")
LAYOUT(sir_mixing, "sir", 30000000, NIMA_FOREVER, "people=2000", "contact=mixing")
LAYOUT(wealth, "wealth", 10, NIMA_FOREVER, "people=9000")
LAYOUT(trade, "wealth", 1000000, 20000000, "people=1000", "order=asynchronous")
LAYOUT(tasep, "tasep", 1000000, 200000000, "sites=100")
LAYOUT(life, "life", 10, 200, "size=100", "pattern=random")
LAYOUT(conveyor, "conveyor", 100000, 3000000, "lines=200")
LAYOUT(actors, "randomwalk", 10, NIMA_FOREVER, "size=100", "walkers=6000", "max_steps=300")
LAYOUT(in_turn, "randomwalk", 10, NIMA_FOREVER, "size=40", "walkers=100", "order=sequential")
LAYOUT(create, "create", 3, NIMA_FOREVER, "agents=30000", "batch=1000")
LAYOUT(heavy, "heavy", 10, NIMA_FOREVER, "rounds=100")

THEORY(
    { "layout: phold", phold },
    { "layout: phold without lookahead", phold_near },
    { "layout: pingpong", pingpong },
    { "layout: pingpong (ring)", ring },
    { "layout: pingpong (tokens)", tokens },
    { "layout: pingpong (counting)", counting },
    { "layout: pingpong (all)", all_to_all },
    { "layout: pingpong (many)", many_to_one },
    { "layout: mm1", mm1 },
    { "layout: sir", sir },
    { "layout: sir (mixing)", sir_mixing },
    { "layout: wealth", wealth },
    { "layout: wealth (asynchronous)", trade },
    { "layout: tasep", tasep },
    { "layout: life", life },
    { "layout: conveyor", conveyor },
    { "layout: randomwalk", actors },
    { "layout: randomwalk (sequential)", in_turn },
    { "layout: create", create },
    { "layout: heavy", heavy })
