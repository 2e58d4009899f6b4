/* wire_test.c: messages and batches survive the round trip, and nothing else is accepted. What is written is also read
 * by msgpack-c here, and by other libraries in foreign_msgpack.py and .js. */
#include "batch.h"
#include "samples.h"
#include "suite.h"
#include <assert.h>
#include <msgpack.h>
#include <stdio.h>

static uint8_t frame[1 << 20];

static size_t encode_sample(int i) {
    const wire_message m = sample_message(i);
    return wire_encode(&m, frame, sizeof frame);
}

static void expect_text(wire_text got, wire_text want) {
    ck_assert_uint_eq(got.bytes, want.bytes);
    ck_assert_mem_eq(got.at, want.at, want.bytes);
}

static void expect_counts(wire_counts got, wire_counts want) {
    ck_assert_uint_eq(got.count, want.count);
    for (uint32_t i = 0; i < want.count; i++) ck_assert_uint_eq(wire_count_at(got, i), wire_count_at(want, i));
}

START_TEST(round_trip) {
    const wire_message want = sample_message(_i);
    const size_t bytes = wire_encode(&want, frame, sizeof frame);
    ck_assert_uint_le(bytes, wire_encode_bound(&want));
    ck_assert_uint_eq(wire_kind_of(frame, bytes), (uint32_t)want.kind);
    wire_message got;
    transport_fault fault = {""};
    ck_assert_msg(wire_decode(&got, frame, bytes, "peer", &fault) == TRANSPORT_OK, "%s", fault.text);
    ck_assert_int_eq((int)got.kind, (int)want.kind);
    switch (want.kind) {
    case WIRE_HELLO:
        ck_assert_mem_eq(got.hello.run_id, want.hello.run_id, 16);
        ck_assert_mem_eq(got.hello.nonce, want.hello.nonce, 32);
        ck_assert_mem_eq(got.hello.proof, want.hello.proof, 32);
        expect_text(got.hello.name, want.hello.name);
        expect_text(got.hello.peer, want.hello.peer);
        ck_assert(got.hello.role == want.hello.role && got.hello.ciphers == want.hello.ciphers);
        break;
    case WIRE_WELCOME:
        ck_assert_mem_eq(got.welcome.run_id, want.welcome.run_id, 16);
        ck_assert_mem_eq(got.welcome.nonce, want.welcome.nonce, 32);
        ck_assert_mem_eq(got.welcome.echo, want.welcome.echo, 32);
        ck_assert_mem_eq(got.welcome.proof, want.welcome.proof, 32);
        expect_text(got.welcome.name, want.welcome.name);
        ck_assert(got.welcome.role == want.welcome.role && got.welcome.cipher == want.welcome.cipher);
        break;
    case WIRE_CONFIRM: ck_assert_mem_eq(got.confirm.proof, want.confirm.proof, 32); break;
    case WIRE_HEARTBEAT: ck_assert_mem_eq(&got.heartbeat, &want.heartbeat, sizeof want.heartbeat); break;
    case WIRE_BYE: case WIRE_DONE: ck_assert(got.bye.frames == want.bye.frames); break;
    case WIRE_REFUSE:
        ck_assert_int_eq(got.refuse.code, want.refuse.code);
        expect_text(got.refuse.text, want.refuse.text);
        break;
    case WIRE_GRANT:
        ck_assert(got.grant.window == want.grant.window && got.grant.order == want.grant.order);
        ck_assert(got.grant.from.time == want.grant.from.time && got.grant.from.step == want.grant.from.step);
        ck_assert(got.grant.until.time == want.grant.until.time && got.grant.until.step == want.grant.until.step);
        expect_counts(got.grant.expected, want.grant.expected);
        break;
    case WIRE_NET:
        ck_assert(got.net.window == want.net.window && got.net.events == want.net.events);
        ck_assert(got.net.earliest.time == want.net.earliest.time && got.net.earliest.step == want.net.earliest.step);
        ck_assert(got.net.halt_time == want.net.halt_time && got.net.load_permille == want.net.load_permille);
        ck_assert(got.net.compute_ns == want.net.compute_ns && got.net.wait_ns == want.net.wait_ns);
        ck_assert(got.net.exchange_ns == want.net.exchange_ns);
        expect_counts(got.net.sent, want.net.sent);
        break;
    case WIRE_FAIL:
        ck_assert(got.fail.code == want.fail.code && got.fail.agent == want.fail.agent);
        ck_assert(got.fail.at.time == want.fail.at.time && got.fail.at.step == want.fail.at.step);
        expect_text(got.fail.place, want.fail.place);
        expect_text(got.fail.cause, want.fail.cause);
        break;
    case WIRE_LOG:
        ck_assert(got.log.level == want.log.level && got.log.time == want.log.time);
        ck_assert(got.log.agent == want.log.agent && got.log.line == want.log.line);
        expect_text(got.log.place, want.log.place);
        expect_text(got.log.text, want.log.text);
        break;
    case WIRE_RESULT:
        ck_assert(got.result.part == want.result.part && got.result.number == want.result.number);
        ck_assert_uint_eq(got.result.blob.bytes, want.result.blob.bytes);
        ck_assert_mem_eq(got.result.blob.at, want.result.blob.at, want.result.blob.bytes);
        break;
    case WIRE_CONTROL:
        ck_assert(got.control.operation == want.control.operation && got.control.number == want.control.number);
        expect_text(got.control.text, want.control.text);
        ck_assert_uint_eq(got.control.blob.bytes, want.control.blob.bytes);
        ck_assert_mem_eq(got.control.blob.at, want.control.blob.at, want.control.blob.bytes);
        break;
    case WIRE_BATCH: break;
    }
}
END_TEST

START_TEST(library_reads) {
    const size_t bytes = encode_sample(_i);
    msgpack_unpacked object;
    size_t at = 0;
    msgpack_unpacked_init(&object);
    ck_assert_int_eq((int)msgpack_unpack_next(&object, (const char *)frame, bytes, &at), MSGPACK_UNPACK_SUCCESS);
    ck_assert_uint_eq(at, bytes);
    ck_assert_int_eq((int)object.data.type, MSGPACK_OBJECT_ARRAY);
    ck_assert_uint_eq(object.data.via.array.ptr[0].via.u64, WIRE_VERSION);
    ck_assert_uint_eq(object.data.via.array.ptr[1].via.u64, (uint64_t)sample_message(_i).kind);
    msgpack_unpacked_destroy(&object);
}
END_TEST

/* Decodes whatever it is, from memory that ends exactly there, so that a sanitizer sees a byte too many. */
static transport_err decode_any(const uint8_t *data, size_t bytes, transport_fault *fault) {
    uint8_t *exact = malloc(bytes ? bytes : 1);
    wire_message m;
    wire_events v;
    ck_assert_ptr_nonnull(exact);
    if (bytes) memcpy(exact, data, bytes);
    const transport_err err = wire_kind_of(data, bytes) == WIRE_BATCH
                                  ? wire_batch_open(&v, exact, bytes, "node7", fault)
                                  : wire_decode(&m, exact, bytes, "node7", fault);
    if (err == TRANSPORT_OK && wire_kind_of(data, bytes) == WIRE_BATCH) {
        wire_event e;
        unsigned sum = 0;
        while (wire_batch_next(&v, &e))
            for (uint32_t i = 0; i < e.bytes; i++) sum += ((const uint8_t *)e.payload)[i];
        ck_assert_uint_lt(sum, UINT32_MAX);
    }
    free(exact);
    return err;
}

/* Also used outside of tests, so it cannot use the checks of the library. */
static size_t encode_batch(uint32_t events) {
    wire_batch b;
    uint8_t payload[32];
    assert(wire_batch_init(&b, 1 << 19) == TRANSPORT_OK);
    for (uint32_t i = 0; i < events; i++) {
        const wire_event e = sample_event(i, payload);
        assert(wire_batch_add(&b, &e));
    }
    assert(wire_batch_bound(&b) <= sizeof frame);
    const size_t bound = wire_batch_bound(&b), bytes = wire_batch_write(&b, 77, frame);
    assert(bytes <= bound);
    wire_batch_fini(&b);
    return bytes;
}

static size_t any_sample(int i) { return i < SAMPLE_MESSAGES ? encode_sample(i) : encode_batch(9); }

START_TEST(truncated) {
    const size_t bytes = any_sample(_i);
    for (size_t n = 0; n < bytes; n++) {
        transport_fault fault = {""};
        const transport_err err = decode_any(frame, n, &fault);
        ck_assert_msg(err == TRANSPORT_TRUNCATED || (n < 3 && err == TRANSPORT_MALFORMED), "%zu of %zu: %d", n, bytes,
                      err);
        ck_assert_msg(strstr(fault.text, "node7") != NULL, "%s", fault.text);
    }
}
END_TEST

START_TEST(too_long) {
    const size_t bytes = any_sample(_i);
    transport_fault fault = {""};
    frame[bytes] = 0xC0;
    ck_assert_int_eq(decode_any(frame, bytes + 1, &fault), TRANSPORT_MALFORMED);
}
END_TEST

START_TEST(other_version) {
    const size_t bytes = any_sample(_i);
    transport_fault fault = {""};
    frame[1] = WIRE_VERSION + 1;
    ck_assert_int_eq(decode_any(frame, bytes, &fault), TRANSPORT_VERSION);
    ck_assert_msg(strstr(fault.text, "version") && strstr(fault.text, "node7"), "%s", fault.text);
}
END_TEST

START_TEST(bytes_changed) { /* every byte set to every value: an error or another legal message, no more */
    const size_t bytes = any_sample(_i);
    unsigned refused = 0;
    for (size_t at = 0; at < bytes; at++) {
        const uint8_t was = frame[at];
        for (unsigned value = 0; value < 256; value++) {
            frame[at] = (uint8_t)value;
            refused += decode_any(frame, bytes, NULL) != TRANSPORT_OK;
        }
        frame[at] = was;
    }
    ck_assert_uint_gt(refused, 256);
}
END_TEST

START_TEST(lengths_that_lie) {               /* claims of 4 GiB in a few bytes, for each type that has a length */
    static const struct { const char *bytes; size_t count; } lies[] = {
        {"\x95\x01\x15\x00\x00\xc6\xff\xff\xff\xff", 10}, {"\x94\x01\x07\x00\xdb\xff\xff\xff\xff", 9},
        {"\xdd\xff\xff\xff\xff\x01\x10", 7},              {"\xdf\xff\xff\xff\xff", 5},
        {"\x9b\x01\x20\x00\xce\xff\xff\xff\xff", 9},      {"\x9b\x01\x20\x00\x00\xc6\xff\xff\xff\xff", 10},
        {"\x95\x01\x15\x00\x00\xc6\x00\x10\x00\x00", 10}, {"\xc1", 1}, {"\x91\x91\x91\x91\x91", 5}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        transport_fault fault = {""};
        ck_assert_int_lt(decode_any((const uint8_t *)lies[i].bytes, lies[i].count, &fault), 0);
        ck_assert_msg(strstr(fault.text, "node7") != NULL, "lie %zu: %s", i, fault.text);
    }
}
END_TEST

START_TEST(name_with_control_bytes) {
    wire_message m = sample_message(0), got;
    m.hello.name = wire_text_of("a\x1b[31mb");
    const size_t bytes = wire_encode(&m, frame, sizeof frame);
    ck_assert_int_eq(wire_decode(&got, frame, bytes, "node7", NULL), TRANSPORT_MALFORMED);
}
END_TEST

START_TEST(batch_round_trip) {
    const uint32_t count = (uint32_t[]){0, 1, 9, 6000}[_i];
    const size_t bytes = encode_batch(count);
    wire_events v;
    transport_fault fault = {""};
    ck_assert_msg(wire_batch_open(&v, frame, bytes, "node7", &fault) == TRANSPORT_OK, "%s", fault.text);
    ck_assert_uint_eq(v.window, 77);
    wire_event got;
    uint32_t i = 0;
    for (; wire_batch_next(&v, &got); i++) {
        uint8_t payload[32];
        const wire_event want = sample_event(i, payload);
        ck_assert(got.time == want.time && got.sender == want.sender && got.order == want.order);
        ck_assert(got.receiver_word == want.receiver_word && got.shard == want.shard && got.bytes == want.bytes);
        ck_assert(want.bytes == 0 || memcmp(got.payload, want.payload, want.bytes) == 0);
    }
    ck_assert_uint_eq(i, count);
}
END_TEST

START_TEST(batch_bytes_do_not_add_up) {
    const size_t bytes = encode_batch(9);
    wire_events v;
    ck_assert(wire_batch_open(&v, frame, bytes, "node7", NULL) == TRANSPORT_OK);
    uint8_t *column = frame + (v.bytes - frame);
    for (int at = 0; at < 9 * 4; at++) {
        transport_fault fault = {""};
        column[at]++;
        ck_assert_int_eq(wire_batch_open(&v, frame, bytes, "node7", &fault), TRANSPORT_MALFORMED);
        ck_assert_msg(strstr(fault.text, "sum"), "%s", fault.text);
        column[at]--;
    }
}
END_TEST

START_TEST(batch_full) { /* the room is a bound on what is written, and all that was taken is there */
    wire_batch b;
    ck_assert(wire_batch_init(&b, 4096) == TRANSPORT_OK);
    static const uint8_t payload[4096 - WIRE_EVENT_BYTES] = {1};
    wire_event e = {.bytes = sizeof payload, .payload = payload};
    ck_assert(wire_batch_add(&b, &e));                          /* one that just fits */
    e.bytes = 0;
    ck_assert(!wire_batch_add(&b, &e));
    ck_assert_uint_le(wire_batch_write(&b, 0, frame), 4096 + WIRE_BATCH_HEADER_MAX);
    uint32_t taken = 0;
    while (wire_batch_add(&b, &e)) taken++;
    ck_assert_uint_eq(taken, 4096 / WIRE_EVENT_BYTES);
    wire_events v;
    ck_assert(wire_batch_open(&v, frame, wire_batch_write(&b, 1, frame), "node7", NULL) == TRANSPORT_OK);
    ck_assert_uint_eq(v.count, taken);
    wire_batch_fini(&b);
}
END_TEST

/* Samples as files, for the decoders of other languages and as seeds for the fuzzers. */
static int write_samples(const char *folder) {
    for (int i = 0; i <= SAMPLE_MESSAGES; i++) {
        char path[4096];
        const size_t bytes = any_sample(i);
        snprintf(path, sizeof path, "%s/%s.msgpack", folder, wire_kind_name(wire_kind_of(frame, bytes)));
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(frame, 1, bytes, file) != bytes || fclose(file)) { perror(path); return EXIT_FAILURE; }
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "samples") == 0) return write_samples(argv[2]);
    Suite *suite = suite_create("wire");
    TCase *cases = tcase_create("wire");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, round_trip, 0, SAMPLE_MESSAGES);
    tcase_add_loop_test(cases, library_reads, 0, SAMPLE_MESSAGES);
    tcase_add_loop_test(cases, truncated, 0, SAMPLE_MESSAGES + 1);
    tcase_add_loop_test(cases, too_long, 0, SAMPLE_MESSAGES + 1);
    tcase_add_loop_test(cases, other_version, 0, SAMPLE_MESSAGES + 1);
    tcase_add_loop_test(cases, bytes_changed, 0, SAMPLE_MESSAGES + 1);
    tcase_add_test(cases, lengths_that_lie);
    tcase_add_test(cases, name_with_control_bytes);
    tcase_add_loop_test(cases, batch_round_trip, 0, 4);
    tcase_add_test(cases, batch_bytes_do_not_add_up);
    tcase_add_test(cases, batch_full);
    suite_add_tcase(suite, cases);
    return suite_run(suite, 1);
}
