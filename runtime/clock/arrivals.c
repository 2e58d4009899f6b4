/* arrivals.c: see arrivals.h. */
#include "arrivals.h"

nima_err arrivals_note(arrivals *a, uint64_t window) {
    if (window - a->window > 1) return NIMA_E_LINK;
    a->count[window & 1]++;
    return NIMA_OK;
}

nima_err arrivals_start(arrivals *a, const authority_grant *g, bool *started) {
    uint32_t *arrived = &a->count[a->window & 1];
    const uint32_t awaited = g->awaited_count > 0 ? g->awaited[0].batches : 0;
    *started = false;
    if (g->window != a->window + 1 || *arrived > awaited) return NIMA_E_LINK;
    if (*arrived < awaited) return NIMA_OK;
    *arrived = 0;
    a->window++;
    *started = true;
    return NIMA_OK;
}
