/* Mail without delay: all happens at time 0, in one step after the other. */
#include "nima.h"

NIMA_PARAMS(
    (nima_text, variant, "pingpong", "pingpong|ring|tokens|counting|all|many", "",
     "2 agents; 503 in a ring with one token or 503; 1,000 messages an update to a counter; 120 all to all with 10 "
     "tokens each; 100 senders to a counter, 10 an update"),
    (int64_t, messages, 1000000, "0..4000000000", "", "messages in all"))
NIMA_WORLD((bool, scatter), (uint64_t, tokens), (uint64_t, batch), (nima_pop, players), (nima_pop, counter),
           (nima_pop, senders))
NIMA_MESSAGE(1, token, (uint64_t, left))                         /* how often it is still to be sent */

static uint64_t share(const nima *me, uint64_t part, uint64_t parts) {   /* of all messages, in equal parts */
    uint64_t all = (uint64_t)params_of(me)->messages;
    return all / parts + (part < all % parts);
}

/* Passes tokens on, to its neighbor or to anyone. */
NIMA_STATE(player, (uint64_t, heard))
static void pass_on(nima *me, uint64_t left) {
    if (left == 0) return;
    nima_pop players = world_of(me)->players;
    uint64_t to = nima_index(me) + 1 == players.count ? 0 : nima_index(me) + 1;
    if (world_of(me)->scatter) to = nima_below(nima_random(me), players.count);
    token_send(me, nima_at(players, to), 0, left - 1);
}
static void player_start(nima *me, player *self) {
    (void)self;
    uint64_t tokens = world_of(me)->tokens, players = world_of(me)->players.count;
    for (uint64_t i = nima_index(me); i < tokens; i += players) pass_on(me, share(me, i, tokens));
}
static void player_update(nima *me, player *self) {
    NIMA_EACH(me, m) {
        self->heard++;
        pass_on(me, token_in(m)->left);
    }
}
NIMA_BEHAVIOR(player, start, update)

NIMA_STATE(counter, (uint64_t, heard), (uint64_t, sum))
static void counter_update(nima *me, counter *self) {
    NIMA_EACH(me, m) {
        self->heard++;
        self->sum += token_in(m)->left;
    }
}
NIMA_BEHAVIOR(counter, update)

/* Sends a batch to the counter, and a message to itself for the next batch. */
NIMA_STATE(sender, (uint64_t, heard), (uint64_t, left))
static void send_batch(nima *me, sender *self) {
    uint64_t batch = world_of(me)->batch;
    nima_id counter = nima_at(world_of(me)->counter, 0);
    if (self->left > 0) token_send(me, nima_self(me), 0, self->left--);
    for (; batch > 0 && self->left > 0; batch--) token_send(me, counter, 0, self->left--);
}
static void sender_start(nima *me, sender *self) {
    self->left = share(me, nima_index(me), world_of(me)->senders.count);
    send_batch(me, self);
}
static void sender_update(nima *me, sender *self) {
    for (; nima_next(me); self->heard++) send_batch(me, self);
}
NIMA_BEHAVIOR(sender, start, update)

NIMA_REPORTER(played, sum, player, "", self->heard)
NIMA_REPORTER(counted, sum, counter, "", self->heard)
NIMA_REPORTER(sent, sum, sender, "", self->heard)

static void setup(nima_setup *s) {
    static const struct { const char *variant; uint64_t players, tokens, senders, batch; } loads[] = {
        { "pingpong", 2, 1, 0, 0 }, { "ring", 503, 1, 0, 0 }, { "tokens", 503, 503, 0, 0 },
        { "counting", 0, 0, 1, 1000 }, { "all", 120, 1200, 0, 0 }, { "many", 0, 0, 100, 10 } };
    world *w = setup_world(s);
    size_t i = 0;
    while (strcmp(loads[i].variant, params_of(s)->variant) != 0) i++;
    w->tokens = loads[i].tokens;
    w->batch = loads[i].batch;
    w->scatter = loads[i].tokens > loads[i].players;
    if (loads[i].players > 0) w->players = player_populate(s, loads[i].players, 0);
    if (loads[i].senders > 0) w->senders = sender_populate(s, loads[i].senders, 0);
    if (loads[i].senders > 0) w->counter = counter_populate(s, 1, 0);
    nima_step_bound(s, UINT32_MAX);
    nima_sample(s, 1);
}

static void finish(nima_view *v) {
    nima_result(v, "messages", nima_last(v, played) + nima_last(v, counted) + nima_last(v, sent));
}

NIMA_MODEL(.name = "pingpong", .help = "mail without delay", .unit = "tick", .ticks_per_unit = 1, .setup = setup,
           .finish = finish)
