/* Conway's Game of Life, every cell an agent. A cell tells its neighbors when it changes, and only then, and looks at
 * itself only when told: what is still costs nothing. Time is the generation. */
#include "nima.h"

NIMA_PARAMS(
    (nima_text, pattern, "rpentomino", "glider|rpentomino|diehard|random", "", "the first generation"),
    (int64_t, size, 640, "8..1000", "cell", "side of the board, whose edges are joined"),
    (double, density, 0.3, "0..1", "", "of the random pattern"))
NIMA_WORLD((nima_pop, cells), (const char *const *, rows))
NIMA_MESSAGE(1, change, (int64_t, by))       /* of a neighbor: 1 born, -1 died */
NIMA_STATE(cell, (int64_t, neighbors), (bool, alive), (nima_time, changed))

static const char *const glider[] = { ".#.", "..#", "###", NULL };
static const char *const rpentomino[] = { ".##", "##.", ".#.", NULL };
static const char *const diehard[] = { "......#.", "##......", ".#...###", NULL };

static void become(nima *me, cell *self, bool alive) {
    uint64_t size = (uint64_t)params_of(me)->size, row = nima_index(me) / size, column = nima_index(me) % size;
    self->alive = alive;
    self->changed = nima_now(me);
    for (uint64_t down = size - 1; down <= size + 1; down++)
        for (uint64_t right = size - 1; right <= size + 1; right++)
            if (down != size || right != size)
                change_send(me, nima_at(world_of(me)->cells, (row + down) % size * size + (column + right) % size), 1,
                            alive ? 1 : -1);
}

static bool first_generation(nima *me) {
    const char *const *rows = world_of(me)->rows;
    if (!rows) return nima_chance(nima_random(me), params_of(me)->density);
    uint64_t size = (uint64_t)params_of(me)->size, row = nima_index(me) / size, column = nima_index(me) % size;
    for (uint64_t top = size / 2; *rows; rows++, top++)          /* the pattern begins in the middle */
        if (row == top && column >= size / 2 && column - size / 2 < strlen(*rows))
            return (*rows)[column - size / 2] == '#';
    return false;
}

static void cell_start(nima *me, cell *self) {
    if (!first_generation(me)) return;
    become(me, self, true);
    change_alarm(me, 1, 0);                  /* it looks at itself even if it is alone */
}

static void cell_update(nima *me, cell *self) {
    NIMA_EACH(me, m) self->neighbors += change_in(m)->by;
    bool alive = self->neighbors == 3 || (self->alive && self->neighbors == 2);
    if (alive != self->alive) become(me, self, alive);
}

NIMA_BEHAVIOR(cell, start, update)

static void setup(nima_setup *s) {
    uint64_t cells = (uint64_t)(params_of(s)->size * params_of(s)->size);
    nima_text pattern = params_of(s)->pattern;
    if (strcmp(pattern, "glider") == 0) setup_world(s)->rows = glider;
    if (strcmp(pattern, "rpentomino") == 0) setup_world(s)->rows = rpentomino;
    if (strcmp(pattern, "diehard") == 0) setup_world(s)->rows = diehard;
    setup_world(s)->cells = cell_populate(s, cells, 0);
    nima_lookahead(s, 1);
    nima_until(s, 1104);
}

typedef struct { double alive; nima_time last_change; } census;
static void count(nima_id id, const void *state, void *into) {
    (void)id;
    const cell *one = (const cell *)state;
    census *all = (census *)into;
    all->alive += one->alive;
    if (one->changed > all->last_change) all->last_change = one->changed;
}
static void finish(nima_view *v) {
    census all = { 0, 0 };
    nima_view_each(v, cell_behavior, count, &all);
    nima_result(v, "alive", all.alive);
    nima_result(v, "generation", (double)all.last_change);
}

NIMA_MODEL(.name = "life", .help = "Game of Life, cells as agents", .unit = "generation", .ticks_per_unit = 1,
           .setup = setup, .finish = finish)
