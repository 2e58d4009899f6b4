/* graph.c once more, for files in one piece. */
#undef INPUT_PIECE_BYTES
#define INPUT_PIECE_BYTES (1 << 18)
#define input_edges whole_edges
#define input_random_graph whole_random_graph
#include "graph.c"
