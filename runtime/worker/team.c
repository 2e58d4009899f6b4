/* team.c: threads, tickets and the barrier between phases. See team.h. */
#include "worker/team.h"
#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_US = 60, LINE = 64 };

typedef struct { _Alignas(LINE) _Atomic uint64_t busy; } team_time;   /* clocks spent on items */

struct team {
    /* constant after team_new */
    unsigned threads, first; bool pin, crowded;     /* crowded: more workers than cores: sleep at once */
    void (*enter)(void *, unsigned); void *enter_arg;
    pthread_t *handles; team_time *times;    /* of each worker; times: written by it alone */
    hwloc_topology_t topology;
    hwloc_cpuset_t before;                   /* what worker 0 was bound to */
    /* written by worker 0 before `epoch`, read by the others after it */
    _Alignas(LINE) team_fn *fn; void *arg; uint32_t items; bool quit;
    /* written by worker 0, release: publishes the line above; read by all, acquire */
    _Alignas(LINE) _Atomic uint32_t epoch;
    _Alignas(LINE) _Atomic uint32_t ticket;  /* drawn by all, relaxed: whoever draws it owns the item */
    _Alignas(LINE) _Atomic uint32_t arrived; /* release by each worker at the end of a phase; acquire by worker 0 */
    _Alignas(LINE) _Atomic uint32_t sleepers; _Atomic uint32_t waiting;   /* seq_cst with epoch and arrived: no lost wake-up */
};
typedef struct { team *team; unsigned number; } start;

static void futex_wait(_Atomic uint32_t *at, uint32_t while_value) {
    syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}
static void futex_wake(_Atomic uint32_t *at) { syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

uint64_t team_clock(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

double team_clock_per_us(void) {
    static _Atomic double known;
    double v = atomic_load(&known);
    if (v > 0) return v;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    const uint64_t from = team_clock();
    double us;
    do {
        clock_gettime(CLOCK_MONOTONIC, &b);
        us = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
    } while (us < 2000);
    v = (double)(team_clock() - from) / us;
    atomic_store(&known, v);
    return v;
}

unsigned team_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    return (unsigned)CPU_COUNT(&set);
}
unsigned team_threads(const team *t) { return t->threads; }

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void bind(team *t, unsigned number) {
    if (!t->pin) return;
    const int cores = hwloc_get_nbobjs_by_type(t->topology, HWLOC_OBJ_PU);
    if (cores < 1) return;
    hwloc_obj_t pu = hwloc_get_obj_by_type(t->topology, HWLOC_OBJ_PU, (t->first + number) % (unsigned)cores);
    hwloc_set_cpubind(t->topology, pu->cpuset, HWLOC_CPUBIND_THREAD);   /* refused in some containers: runs unbound */
}

static void add_time(team *t, unsigned number, uint64_t clocks) {
    _Atomic uint64_t *busy = &t->times[number].busy;
    atomic_store_explicit(busy, atomic_load_explicit(busy, memory_order_relaxed) + clocks, memory_order_relaxed);
}

static void draw(team *t, unsigned number) {
    const uint64_t begin = team_clock();
    for (uint32_t i; (i = atomic_fetch_add_explicit(&t->ticket, 1, memory_order_relaxed)) < t->items;) t->fn(t->arg, number, i);
    add_time(t, number, team_clock() - begin);
}

void team_alone(team *t, team_fn *fn, void *arg, uint32_t items) {
    const uint64_t begin = team_clock();
    for (uint32_t i = 0; i < items; i++) fn(arg, 0, i);
    add_time(t, 0, team_clock() - begin);
}

void team_load(const team *t, unsigned number, double *busy_s, double *cpu_s) {
    clockid_t clock;
    struct timespec ran = { 0, 0 };
    *busy_s = (double)atomic_load_explicit(&t->times[number].busy, memory_order_relaxed) / team_clock_per_us() * 1e-6;
    if (pthread_getcpuclockid(t->handles[number], &clock) || clock_gettime(clock, &ran)) ran = (struct timespec){ 0, 0 };
    *cpu_s = (double)ran.tv_sec + 1e-9 * (double)ran.tv_nsec;
}

void team_place(const team *t, unsigned number, int32_t *core, int32_t *region) {
    *core = *region = -1;
    const int cores = t->pin ? hwloc_get_nbobjs_by_type(t->topology, HWLOC_OBJ_PU) : 0;
    if (cores < 1) return;
    const hwloc_obj_t pu = hwloc_get_obj_by_type(t->topology, HWLOC_OBJ_PU, (t->first + number) % (unsigned)cores);
    *core = (int32_t)pu->os_index;
    if (pu->nodeset) *region = hwloc_bitmap_first(pu->nodeset);
}

/* Waits until *at differs from `old`: spins, then sleeps. */
static void await_change(team *t, _Atomic uint32_t *at, uint32_t old, _Atomic uint32_t *sleeping) {
    if (!t->crowded) {
        const uint64_t end = team_clock() + (uint64_t)(SPIN_US * team_clock_per_us());
        while (team_clock() < end)
            for (int i = 0; i < 64; i++) {
                if (atomic_load_explicit(at, memory_order_acquire) != old) return;
                relax();
            }
    }
    while (atomic_load_explicit(at, memory_order_acquire) == old) {
        atomic_fetch_add(sleeping, 1);
        futex_wait(at, old);
        atomic_fetch_sub(sleeping, 1);
    }
}

static void *work(void *arg) {
    start *s = arg;
    team *t = s->team;
    const unsigned number = s->number;
    free(s);
    bind(t, number);
    if (t->enter) t->enter(t->enter_arg, number);
    for (uint32_t seen = 0;;) {
        await_change(t, &t->epoch, seen, &t->sleepers);
        seen++;
        if (t->quit) return NULL;
        draw(t, number);
        const uint32_t arrived = atomic_fetch_add(&t->arrived, 1) + 1;
        if (arrived == t->threads - 1 && atomic_load(&t->waiting)) futex_wake(&t->arrived);
    }
}

static void release(team *t) {
    atomic_store(&t->arrived, 0);
    atomic_store_explicit(&t->ticket, 0, memory_order_relaxed);
    atomic_fetch_add(&t->epoch, 1);
    if (atomic_load(&t->sleepers)) futex_wake(&t->epoch);
}

void team_phase(team *t, team_fn *fn, void *arg, uint32_t items) {
    if (t->threads == 1) {
        team_alone(t, fn, arg, items);
        return;
    }
    t->fn = fn;
    t->arg = arg;
    t->items = items;
    release(t);
    draw(t, 0);
    for (uint32_t n; (n = atomic_load_explicit(&t->arrived, memory_order_acquire)) < t->threads - 1;)
        await_change(t, &t->arrived, n, &t->waiting);
}

/* The machine's topology, read once a process (it takes milliseconds) and kept; NULL: cannot be read. */
static hwloc_topology_t topology;
static void read_topology(void) {
    if (hwloc_topology_init(&topology)) return;
    if (hwloc_topology_load(topology)) {
        hwloc_topology_destroy(topology);
        topology = NULL;
    }
}
static hwloc_topology_t machine(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_topology);
    return topology;
}

team *team_new(unsigned threads, unsigned first, unsigned all, bool pin, void (*enter)(void *, unsigned), void *arg, char *error, size_t room) {
    team *t = aligned_alloc(LINE, sizeof *t);
    if (!t) { snprintf(error, room, "no memory for workers"); return NULL; }
    memset(t, 0, sizeof *t);
    t->threads = threads;
    t->first = first;
    t->crowded = all > team_cores();
    t->pin = pin && !t->crowded;
    t->enter = enter;
    t->enter_arg = arg;
    t->handles = calloc(t->threads, sizeof *t->handles);
    t->times = aligned_alloc(LINE, t->threads * sizeof *t->times);
    if (!t->handles || !t->times) {
        snprintf(error, room, "no memory for workers");
        free(t->handles);
        free(t->times);
        free(t);
        return NULL;
    }
    memset(t->times, 0, t->threads * sizeof *t->times);
    t->handles[0] = pthread_self();
    if (t->pin && !(t->topology = machine())) t->pin = false;
    if (t->pin) {
        t->before = hwloc_bitmap_alloc();
        hwloc_get_cpubind(t->topology, t->before, HWLOC_CPUBIND_THREAD);
        bind(t, 0);
    }
    team_clock_per_us();
    for (unsigned i = 1; i < t->threads; i++) {
        start *s = malloc(sizeof *s);
        if (s) *s = (start){ t, i };
        const int e = s ? pthread_create(&t->handles[i], NULL, work, s) : ENOMEM;
        if (e) {
            snprintf(error, room, "worker %u of %u could not be started: %s", i, t->threads, strerror(e));
            free(s);
            t->threads = i;
            team_free(t);
            return NULL;
        }
    }
    return t;
}

void team_bind(team *t, bool bound) {
    if (!t->pin) return;
    if (bound) bind(t, 0);
    else hwloc_set_cpubind(t->topology, t->before, HWLOC_CPUBIND_THREAD);
}

void team_free(team *t) {
    if (!t) return;
    t->quit = true;
    t->items = 0;
    release(t);
    for (unsigned i = 1; i < t->threads; i++) pthread_join(t->handles[i], NULL);
    team_bind(t, false);
    if (t->pin) hwloc_bitmap_free(t->before);
    free(t->handles);
    free(t->times);
    free(t);
}
