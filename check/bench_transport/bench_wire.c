/* bench_wire.c: event batches, encoded and decoded on one core, beside a plain copy of the same events as structs.
 * Usage: bench_wire [PAYLOAD_BYTES]. Figure to reach: 40 M events/s, both ways together, 16-byte payload. */
#include "batch.h"
#include "bench.h"

enum { EVENTS = 4000, REPEATS = 1000, RECORD = 96 };
static uint8_t frame[1 << 20], source[EVENTS][RECORD], copy[EVENTS][RECORD];
static volatile uint64_t result;

int main(int argc, char **argv) {
    const uint32_t bytes = argc > 1 ? (uint32_t)atoi(argv[1]) : 16;
    if (bytes > RECORD) return EXIT_FAILURE;
    double encode[BENCH_ROUNDS], decode[BENCH_ROUNDS], both[BENCH_ROUNDS], plain[BENCH_ROUNDS];
    wire_batch b;
    if (wire_batch_init(&b, WIRE_BATCH_BYTES) != TRANSPORT_OK) return EXIT_FAILURE;
    memset(source, 1, sizeof source);
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        double writing = 0, reading = 0;
        uint64_t events = 0, sum = 0;
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            const double begin = bench_now();
            wire_event e = {.bytes = bytes};
            uint32_t i = 0;
            for (; i < EVENTS; i++) {
                e.time = (int64_t)i;
                e.sender = i * 7u;
                e.order = i;
                e.receiver_word = i ^ 0x5555u;
                e.shard = i & 255u;
                e.payload = source[i];
                if (!wire_batch_add(&b, &e)) break;
            }
            const size_t frame_bytes = wire_batch_write(&b, (uint64_t)repeat, frame);
            const double middle = bench_now();
            wire_events v;
            if (wire_batch_open(&v, frame, frame_bytes, "bench", NULL) != TRANSPORT_OK) return EXIT_FAILURE;
            while (wire_batch_next(&v, &e)) {
                uint64_t word = 0;
                if (e.bytes >= 8) memcpy(&word, e.payload, 8);
                sum += (uint64_t)e.time ^ e.sender ^ e.order ^ e.receiver_word ^ e.shard ^ word;
            }
            reading += bench_now() - middle;
            writing += middle - begin;
            events += i;
        }
        const double begin = bench_now();
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            for (uint32_t i = 0; i < EVENTS; i++) memcpy(copy[i], source[i], RECORD);
            __asm__ volatile("" ::: "memory");
        }
        plain[round] = EVENTS * (double)REPEATS / (bench_now() - begin) / 1e6;
        result = sum;
        encode[round] = (double)events / writing / 1e6;
        decode[round] = (double)events / reading / 1e6;
        both[round] = (double)events / (reading + writing) / 1e6;
    }
    printf("batches of up to %d events with %u bytes of payload\n", EVENTS, bytes);
    bench_report("encode", "M events/s", encode, 1);
    bench_report("decode (checked)", "M events/s", decode, 1);
    bench_report("encode + decode", "M events/s", both, 1);
    bench_report("copy of a 96-byte struct", "M events/s", plain, 1);
    wire_batch_fini(&b);
    return EXIT_SUCCESS;
}
