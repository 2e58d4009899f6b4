/* An epidemic. Network: every day a case may infect each of its contacts, and a health office has contacts closed while
 * there are many cases. Mixing: everyone meets anyone at random times, the textbook's Markov process. */
#include "nima.h"

enum health { SUSCEPTIBLE, INFECTED, RECOVERED };

NIMA_PARAMS(
    (nima_text, contact, "network", "network|mixing", "", "fixed contacts and daily steps, or anyone at any time"),
    (int64_t, people, 100000, "1..", "", "people"),
    (int64_t, cases, 20, "0..", "", "first cases"),
    (nima_file, contacts, "", "", "", "network: a list of pairs; without it, random contacts"),
    (double, degree, 10, "0..", "", "network: mean number of contacts; mixing: people met in a day"),
    (double, transmission, 0.03, "0..1", "", "chance that a contact infects, in a day or a meeting"),
    (double, recovery, 0.1, "0..1", "1/day", "chance or rate to recover"),
    (double, threshold, 0.02, "0..1", "", "network: share of cases from which on the office closes contacts"),
    (double, closure, 0.5, "0..1", "", "network: by how much closing lowers the chance"))
NIMA_WORLD((bool, mixing), (nima_graph, graph), (nima_pop, people))
NIMA_MESSAGE(1, order, (bool, closed))
NIMA_SIGNAL(2, expose)
NIMA_SIGNAL(3, recover)
NIMA_TOPIC(orders)
NIMA_STATE(person, (enum health, health), (bool, closed))

static void infect_in_meetings(nima *me) {
    const params *p = params_of(me);
    nima_rng *random = nima_random(me);
    double ill = nima_exponential(random, 1 / p->recovery), mean = 1 / (p->degree * p->transmission);
    for (double t = nima_exponential(random, mean); t < ill; t += nima_exponential(random, mean))
        expose_send(me, nima_at(world_of(me)->people, nima_below(random, (uint64_t)p->people)), nima_ticks(me, t));
    recover_alarm(me, nima_ticks(me, ill));
}

static void infect_contacts(nima *me, person *self) {
    const nima_graph *graph = &world_of(me)->graph;
    double chance = params_of(me)->transmission * (self->closed ? 1 - params_of(me)->closure : 1);
    uint64_t end = graph->first[nima_index(me) + 1];
    for (uint64_t i = graph->first[nima_index(me)]; i < end; i++)
        if (nima_chance(nima_random(me), chance))
            expose_send(me, nima_at(world_of(me)->people, graph->to[i]), nima_ticks(me, 1));
}

static void fall_ill(nima *me, person *self) {
    self->health = INFECTED;
    if (world_of(me)->mixing) infect_in_meetings(me);
    else nima_keep_awake(me, true);
}

static void get_well(nima *me, person *self) {
    self->health = RECOVERED;
    if (!world_of(me)->mixing) nima_keep_awake(me, false);
}

static void person_start(nima *me, person *self) {
    if (!world_of(me)->mixing) {
        nima_keep_awake(me, false);
        nima_subscribe(me, orders, 0);
    }
    if (nima_index(me) < (uint64_t)params_of(me)->cases) fall_ill(me, self);
}

static void person_update(nima *me, person *self) {
    bool day = !world_of(me)->mixing && self->health == INFECTED, exposed = false;
    NIMA_EACH(me, m) {
        if (order_in(m)) self->closed = order_in(m)->closed;
        else if (recover_in(m)) get_well(me, self);
        else exposed = true;
    }
    if (day && nima_chance(nima_random(me), params_of(me)->recovery)) get_well(me, self);
    else if (day) infect_contacts(me, self);
    else if (exposed && self->health == SUSCEPTIBLE) fall_ill(me, self);
}

NIMA_BEHAVIOR(person, start, update)
NIMA_REPORTER(susceptible, sum, person, "", self->health == SUSCEPTIBLE)
NIMA_REPORTER(infected, sum, person, "", self->health == INFECTED)
NIMA_REPORTER(recovered, sum, person, "", self->health == RECOVERED)

NIMA_STATE(office, (bool, closed))
static void office_update(nima *me, office *self) {
    bool closed = nima_reported(me, infected) > params_of(me)->threshold * (double)params_of(me)->people;
    if (closed == self->closed) return;
    self->closed = closed;
    order_publish(me, orders, 0, nima_ticks(me, 1), closed);
}
NIMA_BEHAVIOR(office, update)

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    world *w = setup_world(s);
    nima_time day = nima_setup_ticks(s, 1);
    w->mixing = strcmp(p->contact, "mixing") == 0;
    w->people = person_populate(s, (uint64_t)p->people, 0);
    if (!w->mixing) {
        w->graph = *p->contacts.path ? nima_graph_read(s, "contacts", (uint64_t)p->people)
                                     : nima_graph_random(s, (uint64_t)p->people, p->degree, 1);
        office_populate(s, 1, 0);
        nima_period(s, person_behavior, day);
        nima_period(s, office_behavior, day);
        nima_lookahead(s, day);
    }
    nima_sample(s, day);
    nima_until(s, 1000 * day);
}

static bool done(nima_view *v) { return nima_last(v, infected) == 0; }
static void finish(nima_view *v) {
    nima_result(v, "attack_rate", nima_last(v, recovered) / (double)params_of(v)->people);
    nima_result(v, "days", nima_view_units(v, nima_view_now(v)));
}

NIMA_MODEL(.name = "sir", .help = "an epidemic on a network, or in a mixing crowd", .unit = "day",
           .ticks_per_unit = 1e6, .setup = setup, .done = done, .finish = finish)
