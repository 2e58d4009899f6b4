/* Mail with delay zero on bare lists: what no runtime can avoid, and nothing else. No order, no fingerprint, one thread.
 *
 *   mail VARIANT MESSAGES
 *
 * A step is a list of 40-byte records. Each finds its receiver by index and calls its update through a pointer; what
 * updates send is appended to the list of the next step. Variants, as in the example `pingpong`:
 *   pingpong, ring (503 agents, one token), tokens (503 agents and tokens), counting (1,000 messages an update to one
 *   counter), all (120 agents, 10 tokens each, to random agents), many (100 senders to one, 10 an update). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { uint64_t receiver, sender, sequence, time, payload; } record;
typedef struct agent agent;
struct agent { void (*update)(agent *, const record *); uint64_t sent, received, sum; char rest[96]; };

enum { MOST_AGENTS = 1024, MOST_RECORDS = 200000 };
static agent agents[MOST_AGENTS];
static uint64_t agent_count, next_count, step, random_bits = 0x9E3779B97F4A7C15u;
static record lists[2][MOST_RECORDS], *next = lists[0];

static inline void send(agent *me, uint64_t to, uint64_t payload) {
    next[next_count++] = (record){ to, (uint64_t)(me - agents), me->sent++, step, payload };
}

static void pass(agent *me, const record *m) {
    uint64_t to = (uint64_t)(me - agents) + 1;
    me->received++;
    send(me, to == agent_count ? 0 : to, m->payload);
}
static void throw(agent *me, const record *m) {
    random_bits ^= random_bits << 13;
    random_bits ^= random_bits >> 7;
    random_bits ^= random_bits << 17;
    me->received++;
    send(me, (uint64_t)((unsigned __int128)random_bits * agent_count >> 64), m->payload);
}
static void count(agent *me, const record *m) {
    me->received++;
    me->sum += m->payload;
}
static void thousand(agent *me, const record *m) {
    for (uint64_t i = 0; i < 1000; i++) send(me, 0, m->payload + i);
    send(me, (uint64_t)(me - agents), m->payload);          /* wakes itself for the next thousand */
}
static void ten(agent *me, const record *m) {
    for (uint64_t i = 0; i < 10; i++) send(me, 0, m->payload + i);
    send(me, (uint64_t)(me - agents), m->payload);
}

/* first: what agent 0 does; others: what the rest do; tokens: messages at the start, to agent k modulo the agents, from 1 */
static const struct variant {
    const char *name;
    uint64_t agents, tokens, first_receiver;
    void (*first)(agent *, const record *), (*others)(agent *, const record *);
} variants[] = {
    { "pingpong", 2, 1, 1, pass, pass },       { "ring", 503, 1, 1, pass, pass },
    { "tokens", 503, 503, 0, pass, pass },     { "counting", 2, 1, 1, count, thousand },
    { "all", 120, 1200, 0, throw, throw },     { "many", 101, 100, 1, count, ten },
};

int main(int argc, char **argv) {
    const struct variant *v = variants, *end = variants + sizeof variants / sizeof *variants;
    while (v < end && (argc != 3 || strcmp(v->name, argv[1]) != 0)) v++;
    if (v == end) { fprintf(stderr, "usage: mail pingpong|ring|tokens|counting|all|many MESSAGES\n"); return 2; }
    uint64_t wanted = strtoull(argv[2], NULL, 10), done = 0;
    agent_count = v->agents;
    for (uint64_t i = 0; i < agent_count; i++) agents[i].update = i == 0 ? v->first : v->others;
    for (uint64_t i = 0; i < v->tokens; i++) send(&agents[0], (v->first_receiver + i) % agent_count, i);

    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    while (done < wanted) {
        record *now = next;
        uint64_t n = next_count;
        next = now == lists[0] ? lists[1] : lists[0];
        next_count = 0;
        step++;
        for (uint64_t i = 0; i < n; i++) {
            agent *receiver = &agents[now[i].receiver];
            receiver->update(receiver, &now[i]);
        }
        done += n;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    uint64_t seen = 0;
    for (uint64_t i = 0; i < agent_count; i++) seen += agents[i].received + agents[i].sent;
    if (seen == 0) return 1;
    printf("messages %llu seconds %.3f events_per_s %.0f\n", (unsigned long long)done, seconds, (double)done / seconds);
    return 0;
}
