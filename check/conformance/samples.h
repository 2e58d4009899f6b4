/* samples.h: one message of each kind and a batch, with every field set to something odd; used by tests and as fuzz
 * seeds. */
#ifndef CONFORMANCE_SAMPLES_H
#define CONFORMANCE_SAMPLES_H
#include "batch.h"

static inline uint64_t sample_next(uint64_t *state) {           /* xorshift64: small, fixed, good enough for tests */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { SAMPLE_MESSAGES = 13 };

static inline wire_message sample_message(int i) {
    static const uint32_t counts[3] = {0, 70000, UINT32_MAX};
    static const wire_kind kinds[SAMPLE_MESSAGES] = {WIRE_HELLO, WIRE_WELCOME, WIRE_CONFIRM, WIRE_HEARTBEAT, WIRE_BYE,
                                                     WIRE_DONE,  WIRE_REFUSE,  WIRE_GRANT,   WIRE_NET,       WIRE_FAIL,
                                                     WIRE_LOG,   WIRE_RESULT,  WIRE_CONTROL};
    wire_message m;
    memset(&m, 0, sizeof m);
    m.kind = kinds[i];
    switch (m.kind) {
    case WIRE_HELLO:
        m.hello = (wire_hello){.run_id = {1, 2, 3}, .nonce = {4}, .proof = {5}, .name = wire_text_of("node2/0"),
                               .peer = wire_text_of("authority"), .role = 7, .ciphers = 3};
        break;
    case WIRE_WELCOME:
        m.welcome = (wire_welcome){.run_id = {1},
                                   .nonce = {2},
                                   .echo = {6},
                                   .proof = {3},
                                   .name = wire_text_of("authority"),
                                   .role = 1,
                                   .cipher = 2};
        break;
    case WIRE_CONFIRM: m.confirm = (wire_confirm){.proof = {9, 8, 7}}; break;
    case WIRE_HEARTBEAT: m.heartbeat = (wire_heartbeat){12345678901u, -1, INT64_MAX, INT64_MIN}; break;
    case WIRE_BYE: case WIRE_DONE: m.bye = (wire_bye){UINT64_MAX}; break;
    case WIRE_REFUSE: m.refuse = (wire_refuse){-7, wire_text_of("taken")}; break;
    case WIRE_GRANT:
        m.grant = (wire_grant){.window = 1u << 20, .from = {-5, 0}, .until = {INT64_MAX, UINT32_MAX}, .order = 2,
                               .expected = {counts, 3}};
        break;
    case WIRE_NET:
        m.net = (wire_net){.window = 9,
                           .earliest = {17, 3},
                           .halt_time = INT64_MAX,
                           .events = 1,
                           .compute_ns = 2,
                           .wait_ns = 300,
                           .exchange_ns = 70000,
                           .load_permille = 1000,
                           .sent = {counts, 3}};
        break;
    case WIRE_FAIL:
        m.fail = (wire_fail){.code = -3, .at = {100, 2}, .agent = 0x123456789ABCDEF0u, .place = wire_text_of("host3"),
                             .cause = wire_text_of("segmentation fault in update of person[17]")};
        break;
    case WIRE_LOG:
        m.log = (wire_log){3, 12, 13, 14, wire_text_of("host3"), wire_text_of("a line\nwith \x01 odd bytes")};
        break;
    case WIRE_RESULT: m.result = (wire_result){4, 5, {"opaque\0bytes", 12}}; break;
    case WIRE_CONTROL: m.control = (wire_control){6, -129, wire_text_of("pause"), {"\xff", 1}}; break;
    case WIRE_BATCH: break;
    }
    return m;
}

/* Event number i of a sample batch, the same on every call. payload holds at least 32 bytes. */
static inline wire_event sample_event(uint32_t i, uint8_t payload[32]) {
    uint64_t state = 0x9E3779B97F4A7C15u * (i + 1u);
    wire_event e = {.time = (int64_t)sample_next(&state), .sender = sample_next(&state), .order = sample_next(&state),
                    .receiver_word = sample_next(&state), .shard = (uint32_t)sample_next(&state) & 0xFFFFFu,
                    .bytes = i % 5 == 4 ? 0 : i % 33, .payload = payload};
    for (uint32_t k = 0; k < 32; k++) payload[k] = (uint8_t)sample_next(&state);
    return e;
}

#endif
