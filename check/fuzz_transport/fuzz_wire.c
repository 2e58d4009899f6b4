/* fuzz_wire.c: whatever decodes as a message is one: encoded again and decoded again it is the same, within its bound.
 * Texts and lists are read to the last byte, for the sanitizer. */
#include "wire.h"
#include <stdlib.h>

static volatile uint32_t result;                 /* so that the reading is not left out */

static uint32_t touch(const void *at, size_t bytes) {
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes; i++) sum += ((const uint8_t *)at)[i];
    return sum;
}

static uint32_t touch_all(const wire_message *m) {
    switch (m->kind) {
    case WIRE_HELLO: return touch(m->hello.name.at, m->hello.name.bytes) + touch(m->hello.peer.at, m->hello.peer.bytes);
    case WIRE_WELCOME: return touch(m->welcome.name.at, m->welcome.name.bytes);
    case WIRE_REFUSE: return touch(m->refuse.text.at, m->refuse.text.bytes);
    case WIRE_GRANT: return touch(m->grant.expected.at, (size_t)m->grant.expected.count * 4);
    case WIRE_NET: return touch(m->net.sent.at, (size_t)m->net.sent.count * 4);
    case WIRE_FAIL: return touch(m->fail.place.at, m->fail.place.bytes) + touch(m->fail.cause.at, m->fail.cause.bytes);
    case WIRE_LOG: return touch(m->log.place.at, m->log.place.bytes) + touch(m->log.text.at, m->log.text.bytes);
    case WIRE_RESULT: return touch(m->result.blob.at, m->result.blob.bytes);
    case WIRE_CONTROL:
        return touch(m->control.text.at, m->control.text.bytes) + touch(m->control.blob.at, m->control.blob.bytes);
    default: return 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    wire_message m, again;
    transport_fault fault = {""};
    if (wire_decode(&m, data, bytes, "peer", &fault) != TRANSPORT_OK) {
        if (!strstr(fault.text, "peer")) abort();
        return 0;
    }
    const size_t bound = wire_encode_bound(&m);
    uint8_t *out = malloc(bound), *out_again = malloc(bound);
    if (!out || !out_again) abort();
    const size_t length = wire_encode(&m, out, bound);
    result = touch_all(&m);
    if (length > bound || wire_kind_of(out, length) != (uint32_t)m.kind) abort();
    if (wire_decode(&again, out, length, "peer", &fault) != TRANSPORT_OK) abort();
    if (wire_encode(&again, out_again, bound) != length || memcmp(out, out_again, length) != 0) abort();
    free(out);
    free(out_again);
    return 0;
}
