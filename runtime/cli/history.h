/* history.h: what verify keeps of a run: one hash for each stretch of virtual time, over all of it, and full records of
 * a part that fits into memory. Two runs are compared by the records; where these end, the hashes say where to record
 * next. */
#ifndef NIMA_HISTORY_H
#define NIMA_HISTORY_H
#include "run.h"

enum { HISTORY_BUCKETS = 4096, HISTORY_RECORDS = 300000, HISTORY_PAYLOAD = 48, HISTORY_RESULTS = 32 };
#define HISTORY_END NIMA_FOREVER             /* time of records of the agents alive at the end */

/* One message as delivered, or, with index 0, the agent before its callback. Sorted by (time, step, agent, index). */
typedef struct {
    nima_time time; uint32_t step, index;
    nima_id agent; char name[48];
    uint64_t hash;                           /* index 0: of its declared fields; else: of the payload */
    uint64_t draws;                          /* index 0: random numbers drawn so far */
    nima_id sender; char sender_name[48]; uint64_t sequence; uint32_t type, bytes;
    unsigned char payload[HISTORY_PAYLOAD];
} history_record;

typedef struct {
    nima_err error; char detail[1000];
    uint64_t fingerprint; uint32_t shards; double wall_s;
    uint32_t shift;                          /* bucket of time t: t >> shift */
    uint64_t buckets[HISTORY_BUCKETS];
    uint64_t final;                          /* over the agents alive at the end */
    nima_time from, cut; bool is_cut;        /* records are complete from `from` on, and, if cut, before `cut` */
    uint64_t records;
    struct { char name[48]; uint64_t bits; } results[HISTORY_RESULTS]; uint32_t result_count;
} history_head;

typedef struct { history_head head; history_record *records; } history;

/* Recording, in the process that runs. */
history *history_new(nima_time from);
void history_delivery(void *, const run_delivery *);         /* a run_tuning.on_delivery */
void history_of_run(history *, nima_run *);                  /* so that it can name agents */
void history_end(history *, nima_run *, nima_err);
bool history_write(history *, const char *path);

/* Comparing, in the process that asked. */
bool history_read(history *, const char *path);
void history_free(history *);
typedef enum { HISTORY_EQUAL, HISTORY_DIFFER, HISTORY_RECORD_AGAIN, HISTORY_RESULT } history_verdict;
typedef struct {
    const history_record *a, *b;
    nima_time again;
    char result[48];
} history_difference; /* a or b NULL: missing */
history_verdict history_compare(const history *, const history *, history_difference *);
#endif
