/* Mass creation on bare memory: one agent creates others in its own memory, sends each a message, all stop.
 *
 *   create AGENTS BATCH
 *
 * BATCH agents are created in one step; in the next each gets its message and stops, and its slot is free for the next
 * batch. A batch of all agents works on fresh pages: the kernel's zeroing of them is what bounds it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef struct agent agent;
typedef struct { uint64_t receiver, sender, sequence, time, payload; } record;
struct agent { void (*update)(agent *, const record *); uint64_t id, parent, chain, sent, received, born, state; };

static agent *agents;
static uint32_t *free_slots;
static uint64_t free_count, stopped;

static void *large_pages(size_t bytes) {
    size_t page = (size_t)2 << 20;
    char *start = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) { perror("create: mmap"); exit(1); }
    start += -(uintptr_t)start & (page - 1);
    madvise(start, bytes, MADV_HUGEPAGE);
    return start;
}

static void update(agent *me, const record *m) {
    me->received++;
    me->state += m->payload;
    stopped++;
    free_slots[free_count++] = (uint32_t)(me - agents);
}

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: create AGENTS BATCH\n"); return 2; }
    uint64_t wanted = strtoull(argv[1], NULL, 10), batch = strtoull(argv[2], NULL, 10), fresh = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    agents = large_pages(batch * sizeof *agents);
    free_slots = large_pages(batch * sizeof *free_slots);
    record *list = large_pages(batch * sizeof *list);
    for (uint64_t born = 0; born < wanted;) {
        uint64_t n = 0;
        for (; n < batch && born < wanted; n++, born++) {
            uint64_t slot = free_count > 0 ? free_slots[--free_count] : fresh++;
            agents[slot] = (agent){ .update = update, .id = born, .parent = 1, .born = born / batch };
            list[n] = (record){ slot, 1, born, born / batch, born };
        }
        for (uint64_t i = 0; i < n; i++) {
            agent *receiver = &agents[list[i].receiver];
            receiver->update(receiver, &list[i]);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (stopped != wanted) return 1;
    printf("agents %llu seconds %.3f events_per_s %.0f\n", (unsigned long long)wanted, seconds, (double)wanted / seconds);
    return 0;
}
