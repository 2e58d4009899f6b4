/* A CSV file, read in pieces and whole: same rows, same values, same words if it is refused. */
#include "fuzz_host.h"

nima_err whole_column(const input_file *, const char *column, const input_host *, double **, uint64_t *, char *, size_t);
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const input_file f = { .path = "f", .data = (const char *)data, .bytes = bytes };
    char error[400] = "", whole_error[400] = "";
    double *values = NULL, *whole_values = NULL;
    uint64_t rows = 0, whole_rows = 0;
    const nima_err code = input_column(&f, "x", &host, &values, &rows, error, sizeof error);
    must(code == whole_column(&f, "x", &host, &whole_values, &whole_rows, whole_error, sizeof whole_error));
    if (code) must(code == NIMA_E_INPUT && !strncmp(error, "f:", 2) && !strcmp(error, whole_error));
    else must(rows == whole_rows && !memcmp(values, whole_values, rows * sizeof *values));
    host_free();
    return 0;
}
