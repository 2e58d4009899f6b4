/* fuzz_address.c: any text is an address of a link, or an error that says so. ipc is left out: it looks at the file
 * system. */
#include "backend.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char *url = malloc(bytes + 1);
    if (!url) abort();
    memcpy(url, data, bytes);
    url[bytes] = 0;
    const backend *b =
        strlen(url) < BACKEND_URL_MAX ? backend_of(url) : NULL; /* link_start looks at the length first */
    for (int listens = 0; b && strcmp(b->scheme, "ipc://") != 0 && listens < 2; listens++) {
        backend_place place = {.lock_fd = -1, .listens = listens};
        transport_fault fault = {""};
        if (b->prepare(&place, url, &fault) != TRANSPORT_OK) { if (!fault.text[0]) abort();
        } else if (strlen(place.up) >= BACKEND_URL_MAX || strncmp(place.up, b->scheme, strlen(b->scheme)) != 0 ||
                   !place.address[0])
            abort();
    }
    free(url);
    return 0;
}
