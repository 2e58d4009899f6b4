/* private.h: what the files of cluster/ share. */
#ifndef NIMA_CLUSTER_PRIVATE_H
#define NIMA_CLUSTER_PRIVATE_H
#include "batch.h"
#include "clock/arrivals.h"
#include "cluster/cluster.h"
#include "link.h"
#include "state.h"
#include <limits.h>
#include <sodium.h>
#include <sys/types.h>

enum { PART_SUMS = 1, PART_LOG, PART_SHARD, PART_AGENTS, PART_COUNTS, PART_STATUS, PART_DONE };   /* of a RESULT */
enum { OPERATION_SAMPLE = 1, OPERATION_ROW, OPERATION_STATUS, OPERATION_COLLECT, OPERATION_END };      /* of a CONTROL */
enum { RECORD_SET_BIT = 7 };                 /* kind of an event that adds a bit to a set: sender its number, order the bit */

struct cluster {
    uint32_t self, count;
    link_end **links;                        /* to each other dispatcher; NULL: oneself */
    char (*names)[32];                       /* "dispatcher 2" */
    wire_batch *batches; uint32_t *sent;     /* being built, and sent in this window, for each */
    batch_count *report_counts;
    arrivals arrivals;
    authority *authority;                    /* leader */
    nima_time last_event; bool pending;      /* leader: answers to OPERATION_STATUS */
    uint32_t parts_missing;                  /* leader: followers that owe PART_DONE */
    bool granted, ended; authority_grant grant; batch_count awaited;   /* follower: what is to be done */
    uint32_t operation;
    uint64_t busy_us, exchange_us;
    pid_t *children; char folder[108];       /* leader */
    bool crowded, collected;
};

/* exchange.c */
void cluster_fail(nima_run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes in what has come; wait: for something, or for room to send, some 0.2 s at most. false: the run has failed. */
bool cluster_pump(nima_run *, bool wait);
void cluster_send(nima_run *, uint32_t to, const wire_message *);
void cluster_send_events(nima_run *);
uint64_t cluster_now_us(void);
/* gather.c */
void gather_take(nima_run *, uint32_t from, const wire_result *);
void gather_send_sums(nima_run *);
void gather_send_log(nima_run *);
void gather_send_status(nima_run *);
void gather_done(nima_run *);                /* follower: that was all */
void gather_send_all(nima_run *);
#endif
