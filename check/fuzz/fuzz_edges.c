/* An edge list, read in pieces and whole: the same graph, with sorted rows, or the same words if it is refused. */
#include "fuzz_host.h"

nima_err whole_edges(const input_file *, uint64_t nodes, const input_host *, nima_graph *, char *error, size_t room);
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < 2) return 0;
    const uint64_t nodes = (uint64_t)data[0] << (data[1] & 7);
    const input_file f = { .path = "f", .data = (const char *)data + 2, .bytes = bytes - 2 };
    char error[400] = "", whole_error[400] = "";
    nima_graph g = { 0 }, whole = { 0 };
    const nima_err code = input_edges(&f, nodes, &host, &g, error, sizeof error);
    must(code == whole_edges(&f, nodes, &host, &whole, whole_error, sizeof whole_error));
    if (code) must(code == NIMA_E_INPUT && !strncmp(error, "f:", 2) && !strcmp(error, whole_error));
    else {
        must(g.nodes == nodes && !memcmp(g.first, whole.first, (nodes + 1) * sizeof *g.first) && g.first[0] == 0);
        must(!memcmp(g.to, whole.to, g.first[nodes] * sizeof *g.to));
        for (uint64_t i = 0; i < nodes; i++)
            for (uint64_t k = g.first[i]; k < g.first[i + 1]; k++)
                must(g.to[k] < nodes && (k == g.first[i] || g.to[k - 1] <= g.to[k]));
    }
    host_free();
    return 0;
}
