/* load.c: the load of a run's dispatchers and workers, for those who watch. Its own process's is read from counters that
 * workers write; the others' is what they last reported (cluster/). */
#include "cluster/cluster.h"
#include "state.h"
#include <time.h>
#include <unistd.h>

unsigned run_dispatchers(const nima_run *r) { return r->cluster ? cluster_count(r) : 1; }

static void read_process(run_dispatcher_load *l) {
    struct timespec t;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    l->memory = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    l->cpu_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (gethostname(l->node, sizeof l->node - 1)) l->node[0] = 0;
}

void load_own(const nima_run *r, run_dispatcher_load *l, run_worker_load *workers, uint32_t room) {
    *l = (run_dispatcher_load){ .workers = r->threads };
    read_process(l);
    for (uint32_t w = 0; w < r->threads && w < room; w++) {
        workers[w] = (run_worker_load){ .events = atomic_load_explicit(&r->counts[w].ran, memory_order_relaxed) };
        team_load(r->team, w, &workers[w].busy_s, &workers[w].cpu_s);
        team_place(r->team, w, &workers[w].core, &workers[w].region);
    }
}

void run_load_read(const nima_run *r, unsigned dispatcher, run_dispatcher_load *l, run_worker_load *workers, uint32_t room) {
    if (dispatcher == r->tuning.dispatcher) load_own(r, l, workers, room);
    else cluster_load(r, dispatcher, l, workers, room);
}
