/* random_case.h: the shape of one random model: everything that is drawn before time 0 from the number of the case. */
#ifndef RANDOM_CASE_H
#define RANDOM_CASE_H
#include "nima.h"

/* What an agent may do; each case gives each a weight, often zero, so that cases differ in kind. */
typedef enum {
    ACT_SEND, ACT_ALARM, ACT_CANCEL, ACT_MOVE, ACT_SPAWN, ACT_SPAWN_FAR, ACT_SPAWN_IN, ACT_STOP, ACT_AWAKE, ACT_PUBLISH,
    ACT_SUBSCRIBE, ACT_UNSUBSCRIBE, ACT_TALLY, ACT_LEVEL, ACT_MEMORY, ACT_HALT, ACT_GSET, ACT_REPORTED, ACT_DRAW,
    ACT_LOG, ACT_BREAK, ACTS
} random_act;

enum { CASE_KINDS = 4, CASE_POPULATIONS = 5, CASE_GSET = 64 };

typedef struct {
    uint32_t shards;                         /* 0: the default */
    nima_time lookahead, sample, until;      /* sample 0: none; until 0: none */
    nima_time period[CASE_KINDS];            /* 0: none */
    uint32_t populations;
    struct { uint32_t kind, count, per_group; } population[CASE_POPULATIONS];
    uint32_t step_bound;                     /* 0: the default */
    uint32_t weight[ACTS], weights;          /* of each act; their sum */
    int64_t fuel;                            /* acts of an initial agent; bounds what happens in all */
    nima_time scale;                         /* factor of all times */
    uint32_t zero, longest;                  /* delays: percent that are least, and the longest above the least */
    uint32_t shuffled, lazy;                 /* percent of mailboxes that are shuffled, not read to the end */
    uint32_t keys;                           /* of topics */
    uint32_t acts;                           /* in one update, at most */
    uint32_t beat;                           /* longest time between two beats of an agent; 0: none */
    uint32_t payload;                        /* longest payload of most */
    bool tired;                              /* who has no fuel leaves the period */
    nima_time done_at;                       /* `done` from this sample on; 0: never */
    uint64_t seeded;                         /* bits of the set from the beginning */
} random_case;

void random_case_draw(random_case *, uint64_t number);
#endif
