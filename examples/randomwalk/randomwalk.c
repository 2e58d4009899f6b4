/* Random walkers on a grid. One that comes beside a black pixel blackens its own and stops, so that a branching cluster
 * grows from a seed. Every walker is an agent; the grid is a set that all share and that only grows: what is blackened
 * at one time is seen by everyone at the next. With order=sequential they walk in turn, as one agent: sequential.h. */
#include "nima.h"
#include "path.h"
#include "picture.h"
#include "report.h"
#include "sequential.h"

NIMA_PARAMS(
    (int64_t, size, 160, "3..4096", "pixel", "side of the grid"),
    (int64_t, walkers, 6000, "1..", "", "walkers, at most 0.6 of the pixels"),
    (int64_t, neighborhood, 4, "4..8", "", "4 or 8 neighbors, to go to and to look at"),
    (nima_text, boundary, "wrap", "terminate|wrap", "", "a step off the grid ends the walk, or comes in opposite"),
    (int64_t, max_steps, 10000, "1..1000000000", "", "steps of a walker at most"),
    (nima_text, sync, "timed", "timed|eventual|static", "", "when walkers of other processes see a pixel: docs/guide.md"),
    (nima_text, order, "actors", "actors|sequential", "", "all at once, or in turn by a Mersenne twister"))
NIMA_WORLD((nima_gset *, black), (int32_t, size), (uint32_t, neighborhood), (bool, wraps), (uint32_t, seed), (nima_pop, walkers))

/* All at once. The n-th step is at time n - 1. */
NIMA_STATE(walker, (int32_t, row), (int32_t, column), (uint32_t, steps), (enum ending, ending), (path *, way))

static uint64_t pixel(const world *w, int32_t row, int32_t column) {
    return (uint64_t)row * (uint64_t)w->size + (uint64_t)column;
}

/* Makes row and column those beside self in a direction. False: off the grid. */
static bool beside(const world *w, const walker *self, uint64_t direction, int32_t *row, int32_t *column) {
    *row = self->row + walk_down[direction];
    *column = self->column + walk_right[direction];
    if (w->wraps) {
        *row = *row < 0 ? w->size - 1 : *row < w->size ? *row : 0;
        *column = *column < 0 ? w->size - 1 : *column < w->size ? *column : 0;
    }
    return *row >= 0 && *row < w->size && *column >= 0 && *column < w->size;
}

static bool beside_black(const nima *me, const walker *self) {
    const world *w = world_of(me);
    int32_t row, column;
    for (uint64_t d = 0; d < w->neighborhood; d++)
        if (beside(w, self, d, &row, &column) && nima_gset_has(me, w->black, pixel(w, row, column))) return true;
    return false;
}

static void walker_start(nima *me, walker *self) {
    const world *w = world_of(me);
    do {
        self->row = (int32_t)nima_below(nima_random(me), (uint64_t)w->size);
        self->column = (int32_t)nima_below(nima_random(me), (uint64_t)w->size);
    } while (nima_gset_has(me, w->black, pixel(w, self->row, self->column)));
    if (path_kept(nima_index(me), (uint64_t)params_of(me)->walkers)) {
        NIMA_RESIZE(me, self->way, 1);
        path_add(self->way, (uint32_t)self->row, (uint32_t)self->column);
    }
}

static void walker_update(nima *me, walker *self) {
    const world *w = world_of(me);
    int32_t row, column;
    if (!beside(w, self, nima_below(nima_random(me), w->neighborhood), &row, &column)) self->ending = BOUNDARY;
    else {
        self->row = row;
        self->column = column;
        self->steps++;
        if (self->way) path_add(self->way, (uint32_t)row, (uint32_t)column);
        if (nima_gset_has(me, w->black, pixel(w, row, column))) self->ending = TOUCHED;
        else if (beside_black(me, self)) self->ending = NEIGHBOR;
        else if (self->steps == params_of(me)->max_steps) self->ending = MAX;
    }
    if (self->ending == NEIGHBOR) nima_gset_add(me, w->black, pixel(w, row, column));
    if (self->ending != WALKING) nima_keep_awake(me, false);
}

NIMA_BEHAVIOR(walker, start, update)
NIMA_REPORTER(walking, sum, walker, "", self->ending == WALKING)

/* In turn. One agent has all walkers, and makes a round of them at each time. */
NIMA_STATE(crowd, (uint32_t, walking), (sequential *, all), (path *, ways))   /* ways: of the first and the last */

static void crowd_note(crowd *self, uint32_t walker, uint32_t at) {
    uint32_t width = self->all->size + 2;
    path_add(&self->ways[path_place(walker, self->all->walkers)], at / width - 1, at % width - 1);
}

/* Where those are that still walk: they are in order, so the ones that are kept are first and last. And where a walk has ended. */
static void crowd_note_all(crowd *self) {
    const sequential *s = self->all;
    for (uint32_t i = 0; i < 2 * PATH_WALKERS; i++) {
        uint64_t w = path_walker(i, s->walkers);
        if (w < s->walkers && s->walks[w].ending > BOUNDARY && self->ways[i].count == s->walks[w].steps)
            crowd_note(self, (uint32_t)w, s->walks[w].at);
    }
    uint32_t first = 0;
    for (; first < s->walking && path_kept(s->who[first], s->walkers); first++) crowd_note(self, s->who[first], s->at[first]);
    for (uint32_t i = s->walking; i > first && path_kept(s->who[i - 1], s->walkers); i--)
        crowd_note(self, s->who[i - 1], s->at[i - 1]);
}

static void crowd_start(nima *me, crowd *self) {
    const params *p = params_of(me);
    sequential *all = NIMA_RESIZE(me, self->all, 1);
    all->size = (uint32_t)p->size;
    all->walkers = self->walking = (uint32_t)p->walkers;
    all->neighborhood = (uint32_t)p->neighborhood;
    all->max_steps = (uint32_t)p->max_steps;
    all->wraps = world_of(me)->wraps;
    NIMA_RESIZE(me, all->grid, (p->size + 2) * (p->size + 2));
    NIMA_RESIZE(me, all->at, p->walkers);
    NIMA_RESIZE(me, all->who, p->walkers);
    NIMA_RESIZE(me, all->walks, p->walkers);
    NIMA_RESIZE(me, all->fresh, p->walkers);
    sequential_begin(all, world_of(me)->seed);
    NIMA_RESIZE(me, self->ways, 2 * PATH_WALKERS);
    crowd_note_all(self);
}

static void crowd_update(nima *me, crowd *self) {
    sequential_round(self->all);
    self->walking = self->all->walking;
    crowd_note_all(self);
    for (uint32_t i = 0; i < self->all->blackened; i++) nima_gset_add(me, world_of(me)->black, self->all->fresh[i]);
    if (self->walking == 0) nima_keep_awake(me, false);
}

NIMA_BEHAVIOR(crowd, start, update)

static const char *check(const nima_setup *s) {
    const params *p = params_of(s);
    if (p->neighborhood != 4 && p->neighborhood != 8) return "neighborhood is neither 4 nor 8";
    return p->walkers <= 6 * p->size * p->size / 10 ? NULL : "more walkers than 0.6 of the pixels";
}

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    world *w = setup_world(s);
    bool sequential = strcmp(p->order, "sequential") == 0;
    w->size = (int32_t)p->size;
    w->neighborhood = (uint32_t)p->neighborhood;
    w->wraps = strcmp(p->boundary, "wrap") == 0;
    w->seed = (uint32_t)nima_setup_seed(s);
    w->black = nima_gset_new(s, (uint64_t)(p->size * p->size));
    nima_gset_share(s, w->black, strcmp(p->sync, "timed") == 0 ? NIMA_GSET_TIMED
                                 : strcmp(p->sync, "eventual") == 0 ? NIMA_GSET_EVENTUAL : NIMA_GSET_STATIC);
    nima_gset_seed(s, w->black, pixel(w, (w->size - 1) / 2, (w->size - 1) / 2));
    if (sequential) crowd_populate(s, 1, 0);
    else w->walkers = walker_populate(s, (uint64_t)p->walkers, 0);
    nima_period(s, sequential ? crowd_behavior : walker_behavior, 1);
    nima_lookahead(s, 1);
    nima_sample(s, 10);
    nima_until(s, p->max_steps);
}

static void add_walker(nima_id id, const void *state, void *all) {
    (void)id;
    report_add((report *)all, ((const walker *)state)->steps, ((const walker *)state)->ending);
}
static void add_crowd(nima_id id, const void *state, void *all) {
    (void)id;
    const sequential *s = ((const crowd *)state)->all;
    for (uint32_t i = 0; i < s->walkers; i++) report_add((report *)all, s->walks[i].steps, s->walks[i].ending);
    for (uint32_t i = 0; i < 2 * PATH_WALKERS; i++) ((report *)all)->paths[i] = ((const crowd *)state)->ways + i;
}
static void finish(nima_view *v) {
    report all = report_new((size_t)params_of(v)->walkers);
    nima_view_each(v, walker_behavior, add_walker, &all);
    nima_view_each(v, crowd_behavior, add_crowd, &all);
    for (uint32_t i = 0; i < 2 * PATH_WALKERS; i++) {
        uint64_t w = path_walker(i, world_of(v)->walkers.count);
        const void *state = w == UINT64_MAX ? NULL : nima_view_state(v, nima_at(world_of(v)->walkers, w), walker_behavior);
        if (state) all.paths[i] = ((const walker *)state)->way;
    }
    report_finish(&all, v, world_of(v)->black, (uint32_t)params_of(v)->size, world_of(v)->neighborhood,
                  world_of(v)->wraps);
}

static void show(nima_view *v) { picture_show(v, world_of(v)->black, (uint32_t)params_of(v)->size, params_of(v)->max_steps); }

NIMA_MODEL(.name = "randomwalk", .help = "walkers that grow a cluster", .unit = "step", .ticks_per_unit = 1,
           .setup = setup, .check = check, .finish = finish, .show = show)
