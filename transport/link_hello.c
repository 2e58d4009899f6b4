/* link_hello.c: who is there. HELLO (dialer, up), WELCOME (listener, down), CONFIRM (dialer, up), then a first
 * HEARTBEAT in the link's own sealing (listener, down). Each proof covers all that both have said so far;
 * docs/security.md.
 *
 * Whoever connects without knowing what to say holds the place for hello_ms at most: then both pipes are closed, which
 * is logged, and the handshake begins anew with whoever comes next, until connect_ms. NNG redials by itself. */
#include "link_private.h"
#include <inttypes.h>
#include <stdio.h>

static void set_name(char to[WIRE_NAME_MAX + 1], wire_text name) {
    memset(to, 0, WIRE_NAME_MAX + 1);
    memcpy(to, name.at, name.bytes);
}

static bool same_name(wire_text name, const char *text) {
    return name.bytes == strlen(text) && memcmp(name.at, text, name.bytes) == 0;
}

static void step_to(link_end *l, link_state state) {
    l->state = state;
    l->progress_ns = link_now_ns();
}

void link_throw_out(link_end *l, const char *why) {
    const int in = atomic_load(&l->pipe_in), out = atomic_load(&l->pipe_out);
    link_say(l, TRANSPORT_WARNING, "link of %s at %s: connection closed: %s", l->self, l->place.address, why);
    transport_fail(&l->fault, TRANSPORT_REFUSED, "%s", why);
    l->ignored_in = in;
    l->bound_in = l->bound_out = -1;         /* the pipes that were left behind; ask again only on others */
    if (out) { l->bound_out = out; nng_pipe_close((nng_pipe){(uint32_t)out}); }
    if (in) { l->bound_in = in; nng_pipe_close((nng_pipe){(uint32_t)in}); }
    step_to(l, LINK_OPEN);
}

/* Tells the other side why, and throws it out a little later, when that has been sent. */
static void refuse(link_end *l, transport_err err, const char *why) {
    const wire_message m = {.kind = WIRE_REFUSE, .refuse = {err, wire_text_of(why)}};
    atomic_fetch_add(&l->strangers, 1);
    link_say(l, TRANSPORT_WARNING, "link of %s at %s: refused: %s", l->self, l->place.address, why);
    transport_fail(&l->fault, err, "%s", why);
    (void)link_put_message(l, &m);
    step_to(l, LINK_REFUSING);
}

/* ---- dialer ---- */

static void ask(link_end *l) {
    seal_transcript *t = &l->transcript;
    wire_message m = {.kind = WIRE_HELLO};
    memset(t, 0, sizeof *t);
    memcpy(t->run_id, l->options.run_id, sizeof t->run_id);
    randombytes_buf(t->nonce_dialer, sizeof t->nonce_dialer);
    memcpy(t->name_dialer, l->self, sizeof t->name_dialer);
    memcpy(t->name_meant, l->wanted, sizeof t->name_meant);
    t->role_dialer = l->options.role;
    t->ciphers = l->sealed ? seal_ciphers() : 0;
    memcpy(m.hello.run_id, t->run_id, sizeof t->run_id);
    memcpy(m.hello.nonce, t->nonce_dialer, sizeof t->nonce_dialer);
    m.hello.name = wire_text_of(l->self);
    m.hello.peer = wire_text_of(l->wanted);
    m.hello.role = t->role_dialer;
    m.hello.ciphers = t->ciphers;
    if (l->sealed) seal_prove(m.hello.proof, &l->key, SEAL_HELLO, t);
    l->bound_out = atomic_load(&l->pipe_out);
    l->bound_in = atomic_load(&l->pipe_in);
    if (link_put_message(l, &m) == TRANSPORT_OK) step_to(l, LINK_ASKED);
}

/* An answer that cannot be right. Others may sit there for a while, until the right one does; not for ever. */
static void bad_answer(link_end *l, transport_err err, const char *why) {
    if (++l->refusals >= LINK_REFUSALS_MAX) link_end_with(l, err, "%s", why);
    else link_throw_out(l, why);
}

static void welcome(link_end *l, const wire_welcome *m) {
    seal_transcript *t = &l->transcript;
    wire_message confirm = {.kind = WIRE_CONFIRM};
    if (l->state != LINK_ASKED || memcmp(m->echo, t->nonce_dialer, sizeof m->echo) != 0) return; /* an old answer */
    memcpy(t->nonce_listener, m->nonce, sizeof m->nonce);
    set_name(t->name_listener, m->name);
    t->role_listener = m->role;
    t->cipher = m->cipher;
    if (memcmp(m->run_id, t->run_id, sizeof t->run_id) != 0) {
        bad_answer(l, TRANSPORT_REFUSED, "the listener belongs to another run");
        return;
    }
    if (l->wanted[0] && !same_name(m->name, l->wanted)) {
        bad_answer(l, TRANSPORT_REFUSED, "the listener has another name");
        return;
    }
    if (l->sealed && (m->cipher == 0 || (m->cipher & t->ciphers) != m->cipher || (m->cipher & (m->cipher - 1)) ||
                      !seal_proven(m->proof, &l->key, SEAL_WELCOME, t))) {
        bad_answer(l, TRANSPORT_FORGED, "the listener has not this run's key");
        return;
    }
    if (!l->sealed && m->cipher) {
        bad_answer(l, TRANSPORT_REFUSED, "the listener seals and this end does not");
        return;
    }
    set_name(l->peer, m->name);
    l->peer_role = m->role;
    if (l->sealed) {
        seal_prove(confirm.confirm.proof, &l->key, SEAL_CONFIRM, t);
        seal_direction_init(&l->seal_out, &l->key, t, SEAL_UP);
        seal_direction_init(&l->seal_in, &l->key, t, SEAL_DOWN);
    }
    l->out_counter = l->in_counter = 0;
    if (link_put_message(l, &confirm) == TRANSPORT_OK) step_to(l, LINK_CONFIRMED);
}

/* ---- listener ---- */

static void hello(link_end *l, const wire_hello *m, int pipe) {
    seal_transcript *t = &l->transcript;
    wire_message answer = {.kind = WIRE_WELCOME};
    char why[256], name[WIRE_NAME_MAX + 1];
    set_name(name, m->name);
    memset(t, 0, sizeof *t);
    memcpy(t->run_id, m->run_id, sizeof t->run_id);
    memcpy(t->nonce_dialer, m->nonce, sizeof t->nonce_dialer);
    set_name(t->name_dialer, m->name);
    set_name(t->name_meant, m->peer);
    t->role_dialer = m->role;
    t->ciphers = m->ciphers;
    const char *wrong = NULL;
    transport_err err = TRANSPORT_REFUSED;
    if (memcmp(m->run_id, l->options.run_id, sizeof m->run_id) != 0) wrong = "belongs to another run";
    else if (m->peer.bytes && !same_name(m->peer, l->self)) wrong = "looks for another name";
    else if (l->wanted[0] && !same_name(m->name, l->wanted)) wrong = "is not whom this link waits for";
    else if (l->sealed && !m->ciphers) wrong = "comes unsealed";
    else if (!l->sealed && m->ciphers) wrong = "seals, and this end does not";
    else if (l->sealed && !seal_proven(m->proof, &l->key, SEAL_HELLO, t)) {
        wrong = "has not this run's key";
        err = TRANSPORT_FORGED;
    } else if (l->sealed && (t->cipher = seal_choose(m->ciphers)) == 0)
        wrong = "has no cipher in common with this end";
    if (wrong) {
        snprintf(why, sizeof why, "%s, who dials %s, %s", name, l->self, wrong);
        refuse(l, err, why);
        return;
    }
    randombytes_buf(t->nonce_listener, sizeof t->nonce_listener);
    memcpy(t->name_listener, l->self, sizeof t->name_listener);
    t->role_listener = l->options.role;
    memcpy(answer.welcome.run_id, t->run_id, sizeof t->run_id);
    memcpy(answer.welcome.nonce, t->nonce_listener, sizeof t->nonce_listener);
    memcpy(answer.welcome.echo, t->nonce_dialer, sizeof t->nonce_dialer);
    answer.welcome.name = wire_text_of(l->self);
    answer.welcome.role = t->role_listener;
    answer.welcome.cipher = t->cipher;
    if (l->sealed) seal_prove(answer.welcome.proof, &l->key, SEAL_WELCOME, t);
    l->bound_in = pipe;
    l->bound_out = atomic_load(&l->pipe_out);
    if (link_put_message(l, &answer) == TRANSPORT_OK) step_to(l, LINK_ANSWERED);
}

static void confirm(link_end *l, const wire_confirm *m) {
    if (l->state != LINK_ANSWERED) return;
    if (l->sealed) {
        if (!seal_proven(m->proof, &l->key, SEAL_CONFIRM, &l->transcript)) {
            refuse(l, TRANSPORT_FORGED, "CONFIRM not made with this run's key, or an old HELLO");
            return;
        }
        seal_direction_init(&l->seal_out, &l->key, &l->transcript, SEAL_DOWN);
        seal_direction_init(&l->seal_in, &l->key, &l->transcript, SEAL_UP);
    }
    memcpy(l->peer, l->transcript.name_dialer, sizeof l->peer);
    l->peer_role = l->transcript.role_dialer;
    l->out_counter = l->in_counter = 0;
    link_up(l, link_now_ns());
    link_beat(l, link_now_ns());
}

/* ---- both ---- */

void link_up(link_end *l, int64_t now) {
    step_to(l, LINK_UP);
    l->heartbeat_ns = now;
    atomic_store(&l->heard_ns, now);
    atomic_store(&l->is_up, 1);
}

/* A refusal is not sealed: whoever sits at the address can refuse, and could as well not answer. Its text is shown,
 * cleaned. */
static void refused(link_end *l, const wire_refuse *m) {
    char why[200];
    size_t n = 0;
    for (; n < m->text.bytes && n < sizeof why - 1; n++)
        why[n] = m->text.at[n] >= ' ' && m->text.at[n] <= '~' ? m->text.at[n] : '?';
    why[n] = 0;
    link_end_with(l, TRANSPORT_REFUSED, "refused by the listener: %s", why);
}

void link_hello_frame(link_end *l, const wire_message *m, int pipe) {
    if (l->state == LINK_REFUSING) return;
    if (!l->dials && m->kind == WIRE_HELLO) hello(l, &m->hello, pipe);
    else if (!l->dials && m->kind == WIRE_CONFIRM) confirm(l, &m->confirm);
    else if (l->dials && m->kind == WIRE_WELCOME) welcome(l, &m->welcome);
    else if (l->dials && m->kind == WIRE_REFUSE && l->state != LINK_OPEN) refused(l, &m->refuse);
    else {
        atomic_fetch_add(&l->strangers, 1);
        link_throw_out(l, "spoke out of turn");
    }
}

void link_hello_tick(link_end *l, int64_t now) {
    const int out = atomic_load(&l->pipe_out), in = atomic_load(&l->pipe_in);
    const bool connected = out && in;
    if (now - l->started_ns > (int64_t)l->options.connect_ms * 1000000) {
        char why[sizeof l->fault.text];
        snprintf(why, sizeof why, "%s", l->fault.text);
        link_end_with(l, TRANSPORT_DEADLINE, "not up after %u ms: %s%s", l->options.connect_ms,
                      why[0]      ? "last: "
                      : connected ? "connected, but no answer (taken, or not one of ours)"
                                  : "nobody there",
                      why);
        return;
    }
    if (l->state == LINK_ANSWERED && l->bound_out == 0) l->bound_out = out;      /* HELLO came before the other pipe */
    if (l->state != LINK_OPEN && (out != l->bound_out || in != l->bound_in)) {
        l->bound_out = l->bound_in = -1;
        step_to(l, LINK_OPEN);
    }
    if (l->dials && l->state == LINK_OPEN && connected && out != l->bound_out && in != l->bound_in) ask(l);
    if (!out && !in) return;
    const int64_t since = l->progress_ns > atomic_load(&l->pipe_ns) ? l->progress_ns : atomic_load(&l->pipe_ns);
    const int64_t patience = l->state == LINK_REFUSING ? 2 * LINK_PULSE_MS : l->options.hello_ms;
    if (now - since <= patience * 1000000) return;
    if (!l->dials && l->state != LINK_REFUSING) atomic_fetch_add(&l->strangers, 1);
    link_throw_out(l, l->state == LINK_REFUSING ? "refused" : "connected, but said nothing of use in time");
}
