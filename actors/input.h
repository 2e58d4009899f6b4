/* input.h: input files of a run: mapped read-only, hashed; CSV columns and edge lists parsed in parallel, into memory
 * from `allocate`. Errors name file, line and what was expected. */
#ifndef NIMA_INPUT_H
#define NIMA_INPUT_H
#include "nima.h"
#ifndef INPUT_PIECE_BYTES                     /* fuzz targets take small ones */
#define INPUT_PIECE_BYTES (1 << 18)
#endif
typedef struct {
    void *(*allocate)(void *arg, size_t bytes);              /* zeroed, lives as long as the run; never NULL */
    void (*parallel)(void *arg, uint64_t n, void (*each)(uint64_t i, void *each_arg), void *each_arg);
    void *arg;
} input_host;
typedef struct { const char *path; const char *data; size_t bytes; uint64_t hash; } input_file;   /* hash: XXH3 64 */
nima_err input_open(input_file *, const char *path, char *error, size_t room);
void input_close(input_file *);
/* Column by its header name, RFC 4180 quoting, numbers in the C locale; empty fields are NaN. Each row has as many fields as
 * the header; empty lines at the end are no rows. */
nima_err input_column(const input_file *, const char *column, const input_host *, double **values, uint64_t *rows, char *error, size_t room);
/* "from,to" or "from to" or tab per line, # comments and one optional header line; node numbers below `nodes`; rows sorted
 * by `to`. Directed as written, repeated edges and loops too. Same result for any number of threads. */
nima_err input_edges(const input_file *, uint64_t nodes, const input_host *, nima_graph *, char *error, size_t room);
/* Erdos-Renyi (Gilbert): each pair of nodes is an edge with probability mean_degree / (nodes - 1), stored both ways; no loops,
 * no repeated edges; a function of (seed, key, nodes, mean_degree) alone. */
nima_err input_random_graph(uint64_t seed, uint64_t key, uint64_t nodes, double mean_degree, const input_host *,
                            nima_graph *, char *error, size_t room);
#endif
