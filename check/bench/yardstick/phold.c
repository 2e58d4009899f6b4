/* PHOLD on bare data structures: what this machine can do with windows, sorting, prefetch and large pages, and nothing else.
 * No mailbox, no order beyond time, no fingerprint, no API: the engine is compared with it as a ratio, in the same run.
 *
 *   phold THREADS AGENTS SHARDS REMOTE END_TICKS EVENTS_PER_AGENT
 *
 * A window is as long as the lookahead. Workers take shards by a ticket, sort the shard's events of the window, run them,
 * and put what is sent into lists of their own, one for each receiving shard; after a barrier they take shards again and
 * file those lists into the shards' rings of coming windows. Lookahead 100,000 ticks, mean delay 1,000,000. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LOOKAHEAD = 100000, MEAN = 1000000, SLOTS = 64, PER_CHUNK = 31, PREFETCH = 12, BINS = 1024, BIN_SHIFT = 7 };

typedef struct { int64_t time; uint64_t from; uint32_t to, sequence; uint64_t payload; } event;
typedef struct { uint64_t random, seen; uint32_t sequence; char rest[44]; } agent;
typedef struct chunk { struct chunk *next; uint64_t count; event events[PER_CHUNK]; } chunk;
typedef struct { chunk *slots[SLOTS], *far; agent *agents; } shard;
typedef struct {
    pthread_t thread;
    chunk *spare, **sent;                   /* recycled chunks; what this worker sent, for each shard */
    char *fresh, *fresh_end;
    event *window, *sorted;
    size_t room;
    uint64_t executed;
    uint32_t bins[BINS + 1];
} worker;

static unsigned threads;
static uint32_t shard_count, shard_agents;
static uint64_t agents;
static double remote;
static int64_t end;
static shard *shards;
static pthread_barrier_t barrier;
static atomic_uint next_run, next_file;

static void *large_pages(size_t bytes) {
    size_t page = (size_t)2 << 20;
    char *start = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) { perror("phold: mmap"); exit(1); }
    start += -(uintptr_t)start & (page - 1);
    madvise(start, bytes, MADV_HUGEPAGE);
    return start;
}

static void release(worker *w, chunk *c) {
    c->next = w->spare;
    w->spare = c;
}

static inline void add(worker *w, chunk **list, const event *e) {
    chunk *c = *list;
    if (c == NULL || c->count == PER_CHUNK) {
        chunk *empty = w->spare;
        if (empty != NULL) w->spare = empty->next;
        else {
            if (w->fresh == w->fresh_end) {
                w->fresh = large_pages(sizeof(chunk) << 16);
                w->fresh_end = w->fresh + (sizeof(chunk) << 16);
            }
            empty = (chunk *)w->fresh;
            w->fresh += sizeof(chunk);
        }
        empty->count = 0;
        empty->next = c;
        *list = c = empty;
    }
    c->events[c->count++] = *e;
}

static inline uint64_t draw(agent *a) {     /* splitmix64 */
    uint64_t x = a->random += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}
static inline double uniform(agent *a) { return (double)((draw(a) >> 11) + 1) * 0x1p-53; }
static inline double exponential(agent *a) { return -log(uniform(a)); }

/* Files one list into the ring of a shard whose current window is `now`; what lies beyond the ring goes to `far`. */
static void file(worker *w, shard *s, chunk *list, int64_t now) {
    for (chunk *c = list, *next; c != NULL; c = next) {
        for (uint64_t i = 0; i < c->count; i++) {
            int64_t at = c->events[i].time / LOOKAHEAD;
            add(w, at - now < SLOTS ? &s->slots[at % SLOTS] : &s->far, &c->events[i]);
        }
        next = c->next;
        release(w, c);
    }
}

static void insertion_sort(event *e, size_t n) {
    for (size_t i = 1; i < n; i++) {
        event moved = e[i];
        size_t at = i;
        for (; at > 0 && e[at - 1].time > moved.time; at--) e[at] = e[at - 1];
        e[at] = moved;
    }
}

/* The window's events in order of time, in w->sorted. */
static size_t take_sorted(worker *w, chunk **list, int64_t from) {
    size_t n = 0;
    for (chunk *c = *list, *next; c != NULL; c = next) {
        if (n + PER_CHUNK > w->room) {
            w->room = 2 * w->room + 4096;
            w->window = realloc(w->window, w->room * sizeof(event));
            w->sorted = realloc(w->sorted, w->room * sizeof(event));
        }
        memcpy(w->window + n, c->events, c->count * sizeof(event));
        n += c->count;
        next = c->next;
        release(w, c);
    }
    *list = NULL;
    memset(w->bins, 0, sizeof w->bins);
    for (size_t i = 0; i < n; i++) w->bins[((w->window[i].time - from) >> BIN_SHIFT) + 1]++;
    for (int i = 0; i < BINS; i++) w->bins[i + 1] += w->bins[i];
    for (size_t i = 0; i < n; i++) w->sorted[w->bins[(w->window[i].time - from) >> BIN_SHIFT]++] = w->window[i];
    insertion_sort(w->sorted, n);
    return n;
}

static void run_shard(worker *w, shard *s, int64_t now) {
    if (now % (SLOTS / 2) == 0) {           /* now and then: what was far may be near by now */
        chunk *far = s->far;
        s->far = NULL;
        file(w, s, far, now);
    }
    size_t n = take_sorted(w, &s->slots[now % SLOTS], now * LOOKAHEAD);
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH < n) __builtin_prefetch(&s->agents[w->sorted[i + PREFETCH].to % shard_agents], 1);
        event *e = &w->sorted[i];
        agent *me = &s->agents[e->to % shard_agents];
        me->seen++;
        uint32_t to = uniform(me) < remote ? (uint32_t)(draw(me) % agents) : e->to;
        int64_t delay = LOOKAHEAD + (int64_t)(exponential(me) * (MEAN - LOOKAHEAD));
        add(w, &w->sent[to / shard_agents], &(event){ e->time + delay, e->to, to, me->sequence++, e->payload });
    }
    w->executed += n;
}

/* All workers meet; the last one puts the other phase's ticket back. */
static void meet(atomic_uint *ticket) {
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) atomic_store(ticket, 0);
    pthread_barrier_wait(&barrier);
}

static worker *workers;

static void *work(void *argument) {
    worker *w = argument;
    for (int64_t now = 0; now * LOOKAHEAD < end; now++) {
        for (unsigned s; (s = atomic_fetch_add(&next_run, 1)) < shard_count;) run_shard(w, &shards[s], now);
        meet(&next_file);
        for (unsigned s; (s = atomic_fetch_add(&next_file, 1)) < shard_count;)
            for (unsigned v = 0; v < threads; v++) {
                file(w, &shards[s], workers[v].sent[s], now);
                workers[v].sent[s] = NULL;
            }
        meet(&next_run);
    }
    return NULL;
}

static void set_up(unsigned events_per_agent) {
    shard_agents = (uint32_t)((agents + shard_count - 1) / shard_count);
    shards = calloc(shard_count, sizeof *shards);
    workers = calloc(threads, sizeof *workers);
    agent *all = large_pages((size_t)shard_count * shard_agents * sizeof(agent));
    for (unsigned t = 0; t < threads; t++) workers[t].sent = calloc(shard_count, sizeof(chunk *));
    for (uint32_t s = 0; s < shard_count; s++) shards[s].agents = all + (size_t)s * shard_agents;
    for (uint64_t i = 0; i < agents; i++) {
        shard *s = &shards[i / shard_agents];
        agent *a = &s->agents[i % shard_agents];
        a->random = i * 2654435761u;
        for (unsigned k = 0; k < events_per_agent; k++) {
            event e = { (int64_t)(exponential(a) * MEAN), i, (uint32_t)i, a->sequence++, 0 };
            int64_t at = e.time / LOOKAHEAD;
            add(workers, at < SLOTS ? &s->slots[at] : &s->far, &e);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: phold THREADS AGENTS SHARDS REMOTE END_TICKS EVENTS_PER_AGENT\n"); return 2; }
    threads = (unsigned)atoi(argv[1]);
    agents = strtoull(argv[2], NULL, 10);
    shard_count = (uint32_t)atoi(argv[3]);
    remote = atof(argv[4]);
    end = atoll(argv[5]);
    set_up((unsigned)atoi(argv[6]));
    pthread_barrier_init(&barrier, NULL, threads);

    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned t = 0; t < threads; t++) pthread_create(&workers[t].thread, NULL, work, &workers[t]);
    uint64_t executed = 0;
    for (unsigned t = 0; t < threads; t++) {
        pthread_join(workers[t].thread, NULL);
        executed += workers[t].executed;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("events %llu seconds %.3f events_per_s %.0f\n", (unsigned long long)executed, seconds, (double)executed / seconds);
    return 0;
}
