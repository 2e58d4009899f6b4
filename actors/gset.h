/* gset.h: grow-only set of bits, timed: for each bit, the time from which it is seen. Setters keep the least; a reader at `now`
 * asks whether that is at or before now. What is being set in a window is seen after it, so no reader can tell a race. */
#ifndef NIMA_GSET_H
#define NIMA_GSET_H
#include "nima.h"
#include <stdatomic.h>
struct nima_gset {
    uint64_t bits, number;
    nima_time delay;                         /* max(lookahead, 1) */
    _Atomic nima_time *seen;                 /* relaxed: windows order what must be seen */
};
#endif
