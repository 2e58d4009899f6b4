/* Production lines: parts ride on belts from machine to machine. Machines break down and are repaired, and go to
 * standby when they have nothing to do. A line is a shard, and the belt the lookahead. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, lines, 20, "1..100000", "", "lines"),
    (int64_t, machines, 10, "1..", "", "machines in a line"),
    (nima_time, arrival, 12000, "1..", "ms", "from one raw part to the next"),
    (nima_time, work, 10000, "1..", "ms", "that a machine takes for a part"),
    (nima_time, belt, 5000, "1..", "ms", "on the belt from one machine to the next"),
    (double, failure, 2000000, "0..", "ms", "mean time from a repair to the next failure; 0: no failures"),
    (double, repair, 100000, "0..", "ms", "mean time of a repair"),
    (nima_time, patience, 60000, "1..", "ms", "idle time before standby"),
    (nima_time, warmup, 2000, "0..", "ms", "more time for the first part after standby"))
NIMA_WORLD((nima_pop, feeders), (nima_pop, machines), (nima_pop, stores))
NIMA_SIGNAL(1, part)
NIMA_SIGNAL(2, feed)
NIMA_SIGNAL(3, finished)
NIMA_SIGNAL(4, broken)
NIMA_SIGNAL(5, repaired)
NIMA_SIGNAL(6, rest)
NIMA_LEVEL(on_the_line, "parts")
NIMA_LEVEL(busy, "machines")
NIMA_LEVEL(down, "machines")
NIMA_TALLY(made, "parts")
NIMA_TALLY(standby, "")

NIMA_STATE(feeder, (int64_t, parts))
static void feeder_update(nima *me, feeder *self) {
    uint64_t first = nima_index(me) * (uint64_t)params_of(me)->machines;
    for (; nima_next(me); self->parts++) part_send(me, nima_at(world_of(me)->machines, first), params_of(me)->belt);
    nima_level(me, on_the_line, (double)self->parts);
    feed_alarm(me, params_of(me)->arrival);
}
static void feeder_start(nima *me, feeder *self) { feeder_update(me, self); }
NIMA_BEHAVIOR(feeder, start, update)

NIMA_STATE(store, (int64_t, parts))
static void store_update(nima *me, store *self) {
    for (; nima_next(me); nima_tally(me, made, 1)) self->parts++;
    nima_level(me, on_the_line, -(double)self->parts);           /* with the feeder's: what is on the way */
}
NIMA_BEHAVIOR(store, update)

NIMA_STATE(machine, (int64_t, waiting), (bool, working), (bool, defect), (bool, resting), (nima_alarm, done),
           (nima_alarm, sleep))
static nima_time random_ticks(nima *me, double mean) { return (nima_time)nima_exponential(nima_random(me), mean); }

static void machine_start(nima *me, machine *self) {
    self->resting = true;
    if (params_of(me)->failure > 0) broken_alarm(me, random_ticks(me, params_of(me)->failure));
}

static void part_on(nima *me) {
    uint64_t next = nima_index(me) + 1, machines = (uint64_t)params_of(me)->machines;
    nima_id to = next % machines > 0 ? nima_at(world_of(me)->machines, next)
                                     : nima_at(world_of(me)->stores, nima_index(me) / machines);
    part_send(me, to, params_of(me)->belt);
}

static void break_down(nima *me, machine *self) {
    nima_time repair = random_ticks(me, params_of(me)->repair);
    self->defect = true;
    repaired_alarm(me, repair);
    if (self->working) self->done = nima_move(me, self->done, self->done.time - nima_now(me) + repair);
}

static void begin_part(nima *me, machine *self) {
    self->done = finished_alarm(me, params_of(me)->work + (self->resting ? params_of(me)->warmup : 0));
    nima_cancel(me, self->sleep);
    self->waiting--;
    self->working = true;
    self->resting = false;
}

static void machine_update(nima *me, machine *self) {
    NIMA_EACH(me, m) {
        if (part_in(m)) self->waiting++;
        else if (broken_in(m)) break_down(me, self);
        else if (repaired_in(m)) {
            self->defect = false;
            broken_alarm(me, random_ticks(me, params_of(me)->failure));
        } else if (rest_in(m)) {
            self->resting = true;
            nima_tally(me, standby, 1);
        } else {
            self->working = false;
            part_on(me);
            self->sleep = rest_alarm(me, params_of(me)->patience);
        }
    }
    if (self->waiting > 0 && !self->working && !self->defect) begin_part(me, self);
    nima_level(me, busy, self->working && !self->defect);
    nima_level(me, down, self->defect);
}
NIMA_BEHAVIOR(machine, start, update)

static void setup(nima_setup *s) {
    const params *p = params_of(s);
    setup_world(s)->feeders = feeder_populate(s, (uint64_t)p->lines, 0);
    setup_world(s)->machines = machine_populate(s, (uint64_t)(p->lines * p->machines), 0);
    setup_world(s)->stores = store_populate(s, (uint64_t)p->lines, 0);
    nima_shards(s, (uint32_t)p->lines);
    nima_lookahead(s, p->belt);
    nima_until(s, nima_setup_ticks(s, 8 * 3600));                /* a shift */
}

static void finish(nima_view *v) {
    double machines = (double)(params_of(v)->lines * params_of(v)->machines);
    nima_result(v, "made", (double)nima_tally_count(v, made));
    nima_result(v, "on_the_line", nima_level_mean(v, on_the_line));
    nima_result(v, "busy", nima_level_mean(v, busy) / machines);
    nima_result(v, "down", nima_level_mean(v, down) / machines);
    nima_result(v, "standbys", (double)nima_tally_count(v, standby));
}

NIMA_MODEL(.name = "conveyor", .help = "production lines with machines that fail", .unit = "s",
           .ticks_per_unit = 1000, .setup = setup, .finish = finish)
