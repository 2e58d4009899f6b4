/* TASEP, traffic on a ring: each particle tries to hop ahead at random times, and can if the next site is free.
 * Particles keep their order, so it is enough that each knows the gap to the one ahead; whoever hops tells the one
 * behind. All are one group: they talk without delay and need no window for each event. */
#include "nima.h"

NIMA_PARAMS(
    (int64_t, sites, 200, "2..1000000", "", "sites of the ring"),
    (int64_t, particles, 100, "1..1000000", "", "particles"))
NIMA_WORLD((nima_pop, particles), (const int64_t *, gaps))
NIMA_SIGNAL(1, attempt)
NIMA_SIGNAL(2, hopped)
NIMA_TALLY(hop, "site")
NIMA_STATE(particle, (int64_t, gap))

static void wait(nima *me) { attempt_alarm(me, nima_ticks(me, nima_exponential(nima_random(me), 1))); }

static void particle_start(nima *me, particle *self) {
    self->gap = world_of(me)->gaps[nima_index(me)];
    wait(me);
}

static void particle_update(nima *me, particle *self) {
    nima_pop all = world_of(me)->particles;
    uint64_t behind = (nima_index(me) + all.count - 1) % all.count;
    NIMA_EACH(me, m) {
        if (hopped_in(m)) {
            self->gap++;
            continue;
        }
        if (self->gap > 0) {
            self->gap--;
            nima_tally(me, hop, 1);
            hopped_send(me, nima_at(all, behind), 0);
        }
        wait(me);
    }
}

NIMA_BEHAVIOR(particle, start, update)

static const char *check(const nima_setup *s) {
    const params *p = params_of(s);
    return p->particles <= p->sites ? NULL : "more particles than sites";
}

static void setup(nima_setup *s) {
    int64_t sites = params_of(s)->sites, particles = params_of(s)->particles, placed = 0;
    int64_t *gaps = (int64_t *)nima_shared(s, (size_t)particles * sizeof *gaps);
    nima_rng random = nima_setup_stream(s, "places");
    for (int64_t site = 0; site < sites; site++)             /* each choice of sites is as likely: the steady state */
        if (nima_below(&random, (uint64_t)(sites - site)) < (uint64_t)(particles - placed)) placed++;
        else gaps[(placed + particles - 1) % particles]++;       /* a free site ahead of the last one placed */
    setup_world(s)->gaps = gaps;
    setup_world(s)->particles = particle_populate(s, (uint64_t)particles, (uint64_t)particles);
    nima_until(s, nima_setup_ticks(s, 10000));
    nima_lookahead(s, nima_setup_ticks(s, 10000));               /* there is no second group */
}

static void finish(nima_view *v) {
    double hops = (double)nima_tally_count(v, hop);
    nima_result(v, "hops", hops);
    nima_result(v, "current", hops / (double)params_of(v)->sites / nima_view_units(v, nima_view_now(v)));
}

NIMA_MODEL(.name = "tasep", .help = "particles that hop along a ring", .unit = "s", .ticks_per_unit = 1e6,
           .setup = setup, .check = check, .finish = finish)
