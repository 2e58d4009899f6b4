/* Any bytes as a published value: one line of JSON of valid UTF-8 without control characters, or refused. */
#include "cli/unpack.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void must(bool held) { if (!held) abort(); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char *text = NULL;
    size_t room = 0;
    FILE *to = open_memstream(&text, &room);
    if (!to) return 0;
    json j = { .to = to };
    unpack u = { .at = data, .end = data + bytes };
    json_open(&j, NULL, '[');
    unpack_value(&u, &j, NULL);
    const bool good = !u.bad;
    if (good) json_close(&j, ']');
    must(fclose(to) == 0 && u.at <= u.end);
    for (size_t i = 0; i < room; i++) {
        const bool plain = (unsigned char)text[i] >= 32 && text[i] != 127;
        must(plain || (good && i + 1 == room && text[i] == '\n'));
    }
    char *clean = unpack_clean((const uint8_t *)text, room);
    must(clean && !strcmp(clean, text));     /* nothing left to replace */
    free(clean);
    free(text);
    return 0;
}
