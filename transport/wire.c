/* wire.c: control messages to and from msgpack. Each message has one function for each way, field by field in the order
 * of docs/formats_wire.md. Written with msgpack-c's packer; read with the checked cursor of reader.h. */
#include "wire.h"
#include "reader.h"
#include <assert.h>
#include <msgpack.h>

typedef struct { uint8_t *at; size_t used, room; } sink;

static int sink_write(void *arg, const char *bytes, size_t count) {
    sink *s = arg;
    assert(count <= s->room - s->used);
    if (count) memcpy(s->at + s->used, bytes, count);        /* of nothing: bytes may be NULL */
    s->used += count;
    return 0;
}

const char *wire_kind_name(uint32_t kind) {
    switch (kind) {
    case WIRE_HELLO: return "HELLO";
    case WIRE_WELCOME: return "WELCOME";
    case WIRE_CONFIRM: return "CONFIRM";
    case WIRE_HEARTBEAT: return "HEARTBEAT";
    case WIRE_BYE: return "BYE";
    case WIRE_DONE: return "DONE";
    case WIRE_REFUSE: return "REFUSE";
    case WIRE_GRANT: return "GRANT";
    case WIRE_NET: return "NET";
    case WIRE_FAIL: return "FAIL";
    case WIRE_LOG: return "LOG";
    case WIRE_RESULT: return "RESULT";
    case WIRE_CONTROL: return "CONTROL";
    case WIRE_BATCH: return "BATCH";
    default: return "message";
    }
}

/* ---- encoding ---- */

static void put_text(msgpack_packer *p, wire_text text, uint32_t max_bytes) {
    const uint32_t bytes = text.bytes < max_bytes ? text.bytes : max_bytes;
    msgpack_pack_str(p, bytes);
    msgpack_pack_str_body(p, text.at, bytes);
}

static void put_bin(msgpack_packer *p, const void *at, size_t bytes) {
    msgpack_pack_bin(p, bytes);
    msgpack_pack_bin_body(p, at, bytes);
}

static void put_counts(msgpack_packer *p, wire_counts counts) {
    assert(counts.count <= WIRE_PEERS_MAX);
    put_bin(p, counts.at, (size_t)counts.count * sizeof(uint32_t));
}

static void put_instant(msgpack_packer *p, wire_instant at) {
    msgpack_pack_int64(p, at.time);
    msgpack_pack_uint32(p, at.step);
}

static uint32_t fields(wire_kind kind) {
    switch (kind) {
    case WIRE_HELLO: case WIRE_WELCOME: return 9;
    case WIRE_CONFIRM: case WIRE_BYE: case WIRE_DONE: return 3;
    case WIRE_HEARTBEAT: return 6;
    case WIRE_REFUSE: return 4;
    case WIRE_GRANT: return 9;
    case WIRE_NET: return 12;
    case WIRE_FAIL: case WIRE_LOG: return 8;
    case WIRE_RESULT: return 5;
    case WIRE_CONTROL: return 6;
    case WIRE_BATCH: break;
    }
    return 0;
}

size_t wire_encode_bound(const wire_message *m) {
    switch (m->kind) {
    case WIRE_HELLO:
    case WIRE_WELCOME:
    case WIRE_CONFIRM:
    case WIRE_HEARTBEAT:
    case WIRE_BYE:
    case WIRE_DONE:
        return 512;
    case WIRE_GRANT: return 128 + (size_t)m->grant.expected.count * sizeof(uint32_t);
    case WIRE_NET: return 128 + (size_t)m->net.sent.count * sizeof(uint32_t);
    case WIRE_REFUSE: return 64 + (size_t)m->refuse.text.bytes;
    case WIRE_FAIL: return 128 + (size_t)m->fail.place.bytes + m->fail.cause.bytes;
    case WIRE_LOG: return 128 + (size_t)m->log.place.bytes + m->log.text.bytes;
    case WIRE_RESULT: return 64 + (size_t)m->result.blob.bytes;
    case WIRE_CONTROL: return 64 + (size_t)m->control.text.bytes + m->control.blob.bytes;
    case WIRE_BATCH: break;                  /* see batch.h */
    }
    return 0;
}

size_t wire_encode(const wire_message *m, void *out, size_t room) {
    assert(fields(m->kind) && room >= wire_encode_bound(m));
    sink s = {out, 0, room};
    msgpack_packer packer, *p = &packer;
    msgpack_packer_init(p, &s, sink_write);
    msgpack_pack_array(p, fields(m->kind));
    msgpack_pack_uint8(p, WIRE_VERSION);
    msgpack_pack_uint8(p, (uint8_t)m->kind);
    switch (m->kind) {
    case WIRE_HELLO:
        put_bin(p, m->hello.run_id, sizeof m->hello.run_id);
        put_text(p, m->hello.name, WIRE_NAME_MAX);
        put_text(p, m->hello.peer, WIRE_NAME_MAX);
        msgpack_pack_uint32(p, m->hello.role);
        msgpack_pack_uint32(p, m->hello.ciphers);
        put_bin(p, m->hello.nonce, sizeof m->hello.nonce);
        put_bin(p, m->hello.proof, sizeof m->hello.proof);
        break;
    case WIRE_WELCOME:
        put_bin(p, m->welcome.run_id, sizeof m->welcome.run_id);
        put_text(p, m->welcome.name, WIRE_NAME_MAX);
        msgpack_pack_uint32(p, m->welcome.role);
        msgpack_pack_uint32(p, m->welcome.cipher);
        put_bin(p, m->welcome.nonce, sizeof m->welcome.nonce);
        put_bin(p, m->welcome.echo, sizeof m->welcome.echo);
        put_bin(p, m->welcome.proof, sizeof m->welcome.proof);
        break;
    case WIRE_CONFIRM: put_bin(p, m->confirm.proof, sizeof m->confirm.proof); break;
    case WIRE_HEARTBEAT:
        msgpack_pack_uint64(p, m->heartbeat.received);
        msgpack_pack_int64(p, m->heartbeat.sent_ns);
        msgpack_pack_int64(p, m->heartbeat.echo_ns);
        msgpack_pack_int64(p, m->heartbeat.held_ns);
        break;
    case WIRE_BYE: case WIRE_DONE: msgpack_pack_uint64(p, m->bye.frames); break;
    case WIRE_REFUSE:
        msgpack_pack_int32(p, m->refuse.code);
        put_text(p, m->refuse.text, WIRE_TEXT_MAX);
        break;
    case WIRE_GRANT:
        msgpack_pack_uint64(p, m->grant.window);
        put_instant(p, m->grant.from);
        put_instant(p, m->grant.until);
        msgpack_pack_uint32(p, m->grant.order);
        put_counts(p, m->grant.expected);
        break;
    case WIRE_NET:
        msgpack_pack_uint64(p, m->net.window);
        put_instant(p, m->net.earliest);
        msgpack_pack_int64(p, m->net.halt_time);
        msgpack_pack_uint64(p, m->net.events);
        msgpack_pack_uint64(p, m->net.compute_ns);
        msgpack_pack_uint64(p, m->net.wait_ns);
        msgpack_pack_uint64(p, m->net.exchange_ns);
        msgpack_pack_uint32(p, m->net.load_permille);
        put_counts(p, m->net.sent);
        break;
    case WIRE_FAIL:
        msgpack_pack_int32(p, m->fail.code);
        put_instant(p, m->fail.at);
        msgpack_pack_uint64(p, m->fail.agent);
        put_text(p, m->fail.place, WIRE_TEXT_MAX);
        put_text(p, m->fail.cause, WIRE_TEXT_MAX);
        break;
    case WIRE_LOG:
        msgpack_pack_uint32(p, m->log.level);
        msgpack_pack_int64(p, m->log.time);
        msgpack_pack_uint64(p, m->log.agent);
        msgpack_pack_uint64(p, m->log.line);
        put_text(p, m->log.place, WIRE_TEXT_MAX);
        put_text(p, m->log.text, WIRE_TEXT_MAX);
        break;
    case WIRE_RESULT:
        msgpack_pack_uint32(p, m->result.part);
        msgpack_pack_uint64(p, m->result.number);
        put_bin(p, m->result.blob.at, m->result.blob.bytes);
        break;
    case WIRE_CONTROL:
        msgpack_pack_uint32(p, m->control.operation);
        msgpack_pack_int64(p, m->control.number);
        put_text(p, m->control.text, WIRE_TEXT_MAX);
        put_bin(p, m->control.blob.at, m->control.blob.bytes);
        break;
    case WIRE_BATCH: break;
    }
    return s.used;
}

/* ---- decoding ---- */

static wire_text get_text(reader *r, const char *what, uint32_t max_bytes) {
    const reader_span span = reader_text(r, what, max_bytes);
    return (wire_text){(const char *)span.at, span.bytes};
}

/* Names appear in errors and logs of others: printable ASCII without blanks only. */
static wire_text get_name(reader *r, const char *what) {
    const wire_text name = get_text(r, what, WIRE_NAME_MAX);
    for (uint32_t i = 0; i < name.bytes; i++)
        if (name.at[i] <= ' ' || name.at[i] > '~') reader_error(r, TRANSPORT_MALFORMED, what);
    return r->err ? (wire_text){NULL, 0} : name;
}

static void get_bin(reader *r, const char *what, void *out, uint32_t bytes) {
    const reader_span span = reader_bin(r, what, bytes);
    if (span.at && span.bytes == bytes) memcpy(out, span.at, bytes);
    else reader_error(r, TRANSPORT_MALFORMED, what);
}

static wire_blob get_blob(reader *r, const char *what) {
    const reader_span span = reader_bin(r, what, WIRE_FRAME_MAX);
    return (wire_blob){span.at, span.bytes};
}

static wire_counts get_counts(reader *r, const char *what) {
    const reader_span span = reader_bin(r, what, WIRE_PEERS_MAX * sizeof(uint32_t));
    if (span.bytes % sizeof(uint32_t)) reader_error(r, TRANSPORT_MALFORMED, what);
    return (wire_counts){span.at, span.bytes / (uint32_t)sizeof(uint32_t)};
}

static wire_instant get_instant(reader *r, const char *what) {
    const int64_t time = reader_int(r, what);
    return (wire_instant){time, (uint32_t)reader_uint(r, what, UINT32_MAX)};
}

static void get_hello(reader *r, wire_hello *m) {
    get_bin(r, "run id", m->run_id, sizeof m->run_id);
    m->name = get_name(r, "name");
    m->peer = get_name(r, "peer");
    m->role = (uint32_t)reader_uint(r, "role", UINT32_MAX);
    m->ciphers = (uint32_t)reader_uint(r, "ciphers", UINT32_MAX);
    get_bin(r, "nonce", m->nonce, sizeof m->nonce);
    get_bin(r, "proof", m->proof, sizeof m->proof);
}

static void get_welcome(reader *r, wire_welcome *m) {
    get_bin(r, "run id", m->run_id, sizeof m->run_id);
    m->name = get_name(r, "name");
    m->role = (uint32_t)reader_uint(r, "role", UINT32_MAX);
    m->cipher = (uint32_t)reader_uint(r, "cipher", UINT32_MAX);
    get_bin(r, "nonce", m->nonce, sizeof m->nonce);
    get_bin(r, "echo", m->echo, sizeof m->echo);
    get_bin(r, "proof", m->proof, sizeof m->proof);
}

static void get_grant(reader *r, wire_grant *m) {
    m->window = reader_uint(r, "window", UINT64_MAX);
    m->from = get_instant(r, "from");
    m->until = get_instant(r, "until");
    m->order = (uint32_t)reader_uint(r, "order", UINT32_MAX);
    m->expected = get_counts(r, "expected");
}

static void get_net(reader *r, wire_net *m) {
    m->window = reader_uint(r, "window", UINT64_MAX);
    m->earliest = get_instant(r, "earliest");
    m->halt_time = reader_int(r, "halt time");
    m->events = reader_uint(r, "events", UINT64_MAX);
    m->compute_ns = reader_uint(r, "compute", UINT64_MAX);
    m->wait_ns = reader_uint(r, "wait", UINT64_MAX);
    m->exchange_ns = reader_uint(r, "exchange", UINT64_MAX);
    m->load_permille = (uint32_t)reader_uint(r, "load", 1000);
    m->sent = get_counts(r, "sent");
}

static void get_fail(reader *r, wire_fail *m) {
    m->code = (int32_t)reader_int(r, "code");
    m->at = get_instant(r, "at");
    m->agent = reader_uint(r, "agent", UINT64_MAX);
    m->place = get_text(r, "place", WIRE_TEXT_MAX);
    m->cause = get_text(r, "cause", WIRE_TEXT_MAX);
}

static void get_log(reader *r, wire_log *m) {
    m->level = (uint32_t)reader_uint(r, "level", UINT32_MAX);
    m->time = reader_int(r, "time");
    m->agent = reader_uint(r, "agent", UINT64_MAX);
    m->line = reader_uint(r, "line", UINT64_MAX);
    m->place = get_text(r, "place", WIRE_TEXT_MAX);
    m->text = get_text(r, "text", WIRE_TEXT_MAX);
}

static void get_fields(reader *r, wire_message *m) {
    switch (m->kind) {
    case WIRE_HELLO: get_hello(r, &m->hello); break;
    case WIRE_WELCOME: get_welcome(r, &m->welcome); break;
    case WIRE_CONFIRM: get_bin(r, "proof", m->confirm.proof, sizeof m->confirm.proof); break;
    case WIRE_HEARTBEAT:
        m->heartbeat.received = reader_uint(r, "received", UINT64_MAX);
        m->heartbeat.sent_ns = reader_int(r, "sent");
        m->heartbeat.echo_ns = reader_int(r, "echo");
        m->heartbeat.held_ns = reader_int(r, "held");
        break;
    case WIRE_BYE: case WIRE_DONE: m->bye.frames = reader_uint(r, "frames", UINT64_MAX); break;
    case WIRE_REFUSE:
        m->refuse.code = (int32_t)reader_int(r, "code");
        m->refuse.text = get_text(r, "text", WIRE_TEXT_MAX);
        break;
    case WIRE_GRANT: get_grant(r, &m->grant); break;
    case WIRE_NET: get_net(r, &m->net); break;
    case WIRE_FAIL: get_fail(r, &m->fail); break;
    case WIRE_LOG: get_log(r, &m->log); break;
    case WIRE_RESULT:
        m->result.part = (uint32_t)reader_uint(r, "part", UINT32_MAX);
        m->result.number = reader_uint(r, "number", UINT64_MAX);
        m->result.blob = get_blob(r, "blob");
        break;
    case WIRE_CONTROL:
        m->control.operation = (uint32_t)reader_uint(r, "operation", UINT32_MAX);
        m->control.number = reader_int(r, "number");
        m->control.text = get_text(r, "text", WIRE_TEXT_MAX);
        m->control.blob = get_blob(r, "blob");
        break;
    case WIRE_BATCH: break;
    }
}

transport_err wire_decode(wire_message *m, const void *data, size_t bytes, const char *peer, transport_fault *fault) {
    reader r;
    memset(m, 0, sizeof *m);
    reader_init(&r, data, bytes, peer, fault);
    if (bytes > WIRE_FRAME_MAX) return reader_error(&r, TRANSPORT_OVERSIZED, "length");
    const uint32_t count = reader_array(&r, "array");
    if (reader_uint(&r, "version", UINT64_MAX) != WIRE_VERSION) reader_error(&r, TRANSPORT_VERSION, "version");
    const uint32_t kind = (uint32_t)reader_uint(&r, "kind", 127);
    if (r.err) return r.err;
    if (wire_kind_of(data, bytes) == 0 || count == 0 || fields((wire_kind)kind) != count)
        return reader_error(&r, TRANSPORT_MALFORMED, fields((wire_kind)kind) ? "number of fields" : "kind");
    m->kind = (wire_kind)kind;
    r.message = wire_kind_name(kind);
    get_fields(&r, m);
    return reader_end(&r);
}
