/* gset.c: how a run shares its grow-only sets: see actors/gset.h; what crosses dispatchers: cluster/exchange.c, cluster/sets.c. */
#include "state.h"

void nima_gset_share(nima_setup *s, nima_gset *g, nima_gset_mode mode) {
    if ((unsigned)mode > NIMA_GSET_STATIC) nima_setup_fail(s, "a set cannot be shared in mode %d", (int)mode);
    g->mode = mode;
}

uint64_t nima_view_broadcasts(const nima_view *v) { return ((const view_handle *)(const void *)v)->run->broadcasts; }

uint64_t nima_view_gset_hash(const nima_view *v, const nima_gset *g) {
    (void)v;
    return gset_hash(g);
}

bool run_reproducible(const nima_run *r, unsigned workers) {
    if (!workers) workers = r->threads * (r->tuning.dispatchers > 1 ? r->tuning.dispatchers : 1);
    for (uint32_t i = 0; i < r->gset_count && workers > 1; i++) if (r->gsets[i]->mode != NIMA_GSET_TIMED) return false;
    return true;
}
