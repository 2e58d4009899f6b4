/* fuzz_batch.c: whatever opens as a batch can be walked to its end, every byte of payload included, and written again.
 */
#include "batch.h"
#include <stdlib.h>

static volatile uint64_t result;                 /* so that the reading is not left out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    wire_events v;
    wire_event e;
    wire_batch b;
    transport_fault fault = {""};
    static uint8_t out[(1 << 20) + WIRE_BATCH_HEADER_MAX];
    if (wire_batch_open(&v, data, bytes, "peer", &fault) != TRANSPORT_OK) {
        if (!strstr(fault.text, "peer")) abort();
        return 0;
    }
    if (wire_batch_init(&b, 1 << 20) != TRANSPORT_OK) abort();
    uint64_t sum = 0;
    while (wire_batch_next(&v, &e)) {
        for (uint32_t i = 0; i < e.bytes; i++) sum += ((const uint8_t *)e.payload)[i];
        if (!wire_batch_add(&b, &e) && bytes < 1 << 19) abort();
    }
    result = sum;
    const uint32_t count = b.count;
    const size_t bound = wire_batch_bound(&b), written = wire_batch_write(&b, v.window, out);
    if (written > bound || wire_batch_open(&v, out, written, "peer", &fault) != TRANSPORT_OK || v.count != count)
        abort();
    wire_batch_fini(&b);
    return 0;
}
