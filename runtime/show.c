/* show.c: what a model shows to those who watch (nima_model.show). Called between windows by the driving thread, only if
 * somebody watches, ten times a second at most and for one hundredth of the run's time; and at each pause and end, so
 * that a run that stands still shows where it stands. Nothing comes back from those who watch. */
#include "state.h"
#include <time.h>

static const double SHOW_EVERY_S = 0.1, SHOW_SHARE = 0.01;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void show_model(nima_run *r, bool now) {
    const run_watcher *w = &r->tuning.watcher;
    if (!r->model->show || !w->wants) return;
    const double begin = now_s();
    if (now ? r->shown_at_window == r->windows + 1 : begin < r->show_next || !w->wants(w->arg)) return;
    view_handle v = { { r->params, r->world }, r, r->net == NIMA_FOREVER ? r->now : r->net, false, true };
    r->model->show(&v.head);
    r->shown_at_window = r->windows + 1;
    const double took = now_s() - begin, rest = took / SHOW_SHARE;
    r->show_next = begin + (rest > SHOW_EVERY_S ? rest : SHOW_EVERY_S);
}

/* Where the model may show; NULL if not, and then the run has failed. */
static nima_run *showing(nima_view *v, const char *what, const char *name) {
    const view_handle *h = (const view_handle *)(const void *)v;
    if (!h->showing) {
        failure_set(h->run, NIMA_E_MODEL, "%s %s outside show", what, name);
        return NULL;
    }
    if (*name && strlen(name) < RUN_SHOWN_NAME) return h->run;
    failure_set(h->run, NIMA_E_MODEL, "%s '%.80s': a name has 1 to %d bytes", what, name, RUN_SHOWN_NAME - 1);
    return NULL;
}

void nima_show_picture(nima_view *v, const char *name, uint32_t width, uint32_t height, const uint8_t *shades) {
    nima_run *r = showing(v, "picture", name);
    if (!r) return;
    if (width < 1 || height < 1 || width > RUN_PICTURE_SIDE || height > RUN_PICTURE_SIDE)
        failure_set(r, NIMA_E_MODEL, "picture %s of %u by %u pixels: 1 to %d a side", name, width, height, RUN_PICTURE_SIDE);
    else if (r->tuning.watcher.picture) r->tuning.watcher.picture(r->tuning.watcher.arg, name, width, height, shades);
}

void nima_show_values(nima_view *v, const char *name, const double *values, uint32_t count) {
    nima_run *r = showing(v, "values", name);
    if (!r) return;
    if (count > RUN_SHOWN_VALUES)
        failure_set(r, NIMA_E_MODEL, "%u values as %s: %d at most", count, name, RUN_SHOWN_VALUES);
    else if (r->tuning.watcher.values) r->tuning.watcher.values(r->tuning.watcher.arg, name, values, count);
}
