/* input.c once more, for files in one piece. */
#undef INPUT_PIECE_BYTES
#define INPUT_PIECE_BYTES (1 << 18)
#define input_open whole_open
#define input_close whole_close
#define input_column whole_column
#include "input.c"
