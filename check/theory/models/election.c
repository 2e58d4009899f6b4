/* Chang-Roberts election on many rings: each node sends its number around, and passes on only what is larger. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, rings, 1000, "1..", "", "rings"),
    (int64_t, nodes, 20, "1..", "", "nodes of a ring"))
NIMA_WORLD((nima_pop, nodes))
NIMA_MESSAGE(1, candidate, (uint64_t, number))
NIMA_STATE(node, (uint64_t, number), (int64_t, sent), (int64_t, elected))

static void pass_on(nima *me, node *self, uint64_t number) {
    uint64_t nodes = (uint64_t)params_of(me)->nodes, ring = nima_index(me) / nodes;
    candidate_send(me, nima_at(world_of(me)->nodes, ring * nodes + (nima_index(me) + 1) % nodes), 1, number);
    self->sent++;
}

static void node_start(nima *me, node *self) {
    self->number = nima_below(nima_random(me), UINT64_MAX);
    pass_on(me, self, self->number);
}

static void node_update(nima *me, node *self) {
    NIMA_EACH(me, m) {
        uint64_t number = candidate_in(m)->number;
        if (number > self->number) pass_on(me, self, number);
        else self->elected += number == self->number;
    }
}

NIMA_BEHAVIOR(node, start, update)

static void setup(nima_setup *s) {
    setup_world(s)->nodes = node_populate(s, (uint64_t)(params_of(s)->rings * params_of(s)->nodes), 0);
    nima_lookahead(s, 1);
}

static void finish(nima_view *v) {
    double rings = (double)params_of(v)->rings, sum = 0, squares = 0, elected = 0;
    for (int64_t ring = 0; ring < params_of(v)->rings; ring++) {
        int64_t sent = 0;
        for (int64_t i = 0; i < params_of(v)->nodes; i++) {
            const node *n = node_at(v, nima_at(world_of(v)->nodes, (uint64_t)(ring * params_of(v)->nodes + i)));
            sent += n->sent;
            elected += (double)n->elected;
        }
        sum += (double)sent;
        squares += (double)(sent * sent);
    }
    nima_result(v, "messages", sum / rings);
    nima_result(v, "messages_variance", squares / rings - sum / rings * (sum / rings));
    nima_result(v, "elected", elected);
}

NIMA_MODEL(.name = "election", .help = "election on rings", .unit = "tick", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
