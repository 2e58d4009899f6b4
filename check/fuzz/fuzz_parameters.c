/* A declaration (type, default, range) and values given for it, one a line: what is accepted reads back to the same bits. */
#include "parameters.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
static void must(bool true_always) { if (!true_always) abort(); }

enum { LINES = 8, LINE_BYTES = 100 };
static char lines[LINES][LINE_BYTES + 1];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const struct { nima_type type; uint32_t bytes; } types[] = {
        { NIMA_DOUBLE, 8 }, { NIMA_FLOAT, 4 }, { NIMA_INT, 1 }, { NIMA_INT, 4 }, { NIMA_INT, 8 }, { NIMA_UINT, 2 },
        { NIMA_UINT, 8 }, { NIMA_BOOL, 1 }, { NIMA_TEXT, 8 }, { NIMA_FILE, 8 }, { NIMA_OPAQUE, 8 } };
    if (bytes < 1) return 0;
    int count = 0;
    size_t n = 0;
    memset(lines, 0, sizeof lines);
    for (size_t i = 1; i < bytes && count < LINES; i++) {
        if (data[i] == '\n') { count++; n = 0; }
        else if (n < LINE_BYTES) lines[count][n++] = (char)data[i];
    }
    const unsigned t = data[0] % (sizeof types / sizeof *types);
    const nima_field field = { "x", types[t].type, 0, types[t].bytes, lines[0], lines[1], "", "" };
    const nima_struct declared = { { NIMA_PART_PARAMS, 0, "params" }, 8, 1, &field };
    char error[500] = "", again_error[500] = "", text[600] = "x=", *texts = NULL, *again_texts = NULL;
    const char *set[LINES] = { NULL };
    for (int i = 2; i < LINES && lines[i][0]; i++) set[i - 2] = lines[i];
    uint64_t value = 0, again = 0;
    nima_err code = parameters_check(&declared, error, sizeof error);
    must(code ? code == NIMA_E_MODEL && error[0] : !error[0]);
    if (code) return 0;
    code = parameters_set(&declared, set, &value, &texts, error, sizeof error);
    must(code ? code == NIMA_E_PARAM && !strncmp(error, "parameter ", 10) : !error[0]);
    if (!code) {
        parameters_text(&field, &value, text + 2, sizeof text - 2);
        const char *const once[] = { text, NULL };
        must(parameters_set(&declared, once, &again, &again_texts, again_error, sizeof again_error) == NIMA_OK);
        if (field.type == NIMA_TEXT || field.type == NIMA_FILE)
            must(!strcmp((const char *)(uintptr_t)value, (const char *)(uintptr_t)again));
        else must(value == again);
    }
    free(texts);
    free(again_texts);
    return 0;
}
