/* fuzz_seal.c: what was not sealed does not open, and only 64 hexadecimal digits are a key. */
#include "seal.h"
#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static seal_direction direction[2];
    static const seal_key key = {{1, 2, 3}};
    static bool started;
    if (!started) {
        seal_transcript t = {.cipher = SEAL_CHACHA20};
        if (!seal_start()) abort();
        seal_direction_init(&direction[0], &key, &t, SEAL_UP);
        t.cipher = seal_choose(seal_ciphers());
        seal_direction_init(&direction[1], &key, &t, SEAL_UP);
        started = true;
    }
    for (int i = 0; i < 2 && bytes >= SEAL_TAG_BYTES; i++) {
        uint8_t *frame = malloc(bytes);
        if (!frame) abort();
        memcpy(frame, data, bytes);
        if (seal_open(&direction[i], 1, frame, bytes - SEAL_TAG_BYTES)) abort();
        free(frame);
    }
    seal_key read;
    const int fd = memfd_create("key", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || lseek(fd, 0, SEEK_SET) != 0) abort();
    if (seal_key_receive(&read, fd, NULL) == TRANSPORT_OK)
        for (int i = 0; i < 64; i++)
            if (!isxdigit(data[i])) abort();
    close(fd);
    return 0;
}
