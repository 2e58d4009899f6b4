/* private.h: what the files of cluster/ share.
 *
 * cluster.c   the life of a dispatcher     exchange.c  what crosses its links     gather.c  what the leader is told
 * sets.c      replicas of sets, at the end
 * hosts.c     the processes of the run     links.c     names, addresses, opening  config.c  cluster.cfg */
#ifndef NIMA_CLUSTER_PRIVATE_H
#define NIMA_CLUSTER_PRIVATE_H
#include "batch.h"
#include "clock/arrivals.h"
#include "cluster/cluster.h"
#include "cluster/config.h"
#include "link.h"
#include "state.h"
#include <limits.h>
#include <poll.h>
#include <sodium.h>
#include <sys/types.h>

enum {
    PART_SUMS = 1,
    PART_LOG,
    PART_SHARD,
    PART_AGENTS,
    PART_COUNTS,
    PART_STATUS,
    PART_SENT,
    PART_LOAD,
    PART_SET_HASHES,
    PART_SET_BITS,
    PART_DONE
}; /* of a RESULT */
enum {
    OPERATION_SAMPLE = 1,
    OPERATION_ROW,
    OPERATION_STATUS,
    OPERATION_COLLECT,
    OPERATION_POST,
    OPERATION_SET_HASHES,
    OPERATION_SET_BITS,
    OPERATION_SET_TAKE,
    OPERATION_END
};                           /* of a CONTROL */
enum { RECORD_SET_BIT = 7 }; /* kind of an event that adds a bit to a set: sender its number, order the bit */
enum { URL_MAX = 200, CAUSE_MAX = 600 };

typedef struct { uint32_t from; link_frame frame; } early_batch;
typedef struct {
    char name[WIRE_NAME_MAX + 1], url[URL_MAX];
} peer_place; /* of a dispatcher, and of the link to it */

typedef struct { char *at; size_t bytes; } part_so_far;
typedef struct { /* leader: the process that watches a host's dispatchers, `nima-node --join` */
    const config_host *host;
    uint32_t first, count;                   /* the dispatchers it starts */
    pid_t pid;                               /* it, or the ssh that leads to it; 0: started by hand */
    link_end *link;                          /* if so: to it */
    int to, from;                            /* its standard input and output; -1: closed */
    char *text; size_t bytes, sent;          /* what it is told at the start, and how much of that it has */
    char line[CAUSE_MAX]; size_t line_bytes; /* being read */
    bool ready;
} host_process;

typedef struct { run_dispatcher_load of; uint32_t known; run_worker_load *workers; } one_load;
typedef struct { pthread_mutex_t lock; one_load *at; } run_loads;   /* under the lock; taken for copies only */

struct cluster {
    uint32_t self, count;
    cluster_config own; const cluster_config *config;       /* own: of a run on this machine */
    seal_key key; bool has_key;
    link_end **links;                        /* to each other dispatcher; NULL: oneself */
    peer_place *peers;
    wire_batch *batches; uint32_t *sent;     /* being built, and sent in this window, for each */
    batch_count *report_counts;
    arrivals arrivals; bool has_run;         /* has_run: the window last started */
    early_batch *early; uint32_t early_count, early_room;   /* batches of a window that has not run here */
    authority *authority;                    /* leader */
    nima_time last_event; bool pending, any_step, more_steps;       /* leader: answers to OPERATION_STATUS */
    uint32_t parts_missing;                  /* leader: followers that owe PART_DONE */
    bool *set_differs; uint64_t others_broadcasts;          /* leader: of each set, whether a follower's differs; of all followers */
    bool granted, ended; authority_grant grant; batch_count awaited;   /* follower: what is to be done */
    uint32_t operation;
    uint64_t all_events;                     /* leader: of all */
    uint64_t exchange_us, events;            /* events: of this dispatcher, until the last report */
    host_process *processes; uint32_t process_count;         /* leader */
    run_loads loads;                         /* leader: of the others */
    uint64_t granted_us, load_us;            /* leader: when the window was granted; follower: when it last told its load */
    part_so_far *parts;                      /* leader: of a RESULT, from each */
    char cause[CAUSE_MAX];                   /* why one of them has ended, "" as long as none has */
    char folder[PATH_MAX / 2];               /* of this host's sockets; gone once all links are up */
    uint8_t run_id[16];
    bool crowded, collected, up;
};

/* exchange.c */
void cluster_fail(nima_run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes in what has come; wait: for something, or for room to send, some 0.2 s at most. false: the run has failed. */
bool cluster_pump(nima_run *, bool wait);
void cluster_send(nima_run *, uint32_t to, const wire_message *);
void cluster_send_events(nima_run *);
uint32_t cluster_owner(const nima_run *, uint32_t shard);
void cluster_take_post(nima_run *, const wire_control *);
uint64_t cluster_now_us(void);
/* config.c */
void cluster_config_local(cluster_config *, uint32_t dispatchers, uint32_t threads);   /* this machine alone */
/* hosts.c: leader */
/* `task` is --join, or --describe; here: without ssh. */
nima_err hosts_spawn(const cluster_config *, host_process *, bool here, const char *task, int errors_fd, char *error,
                     size_t room);
nima_err hosts_start(nima_run *, const nima_options *, char *error, size_t room);
void hosts_up(cluster *);                    /* all links are up: what the start needed can go */
bool hosts_read(cluster *, uint32_t wait_ms);               /* true: one has ended, for `cause` */
uint32_t hosts_poll(const cluster *, struct pollfd *, uint32_t room);
void hosts_end(cluster *, bool failed);      /* waits for all, kills what does not end */
/* links.c */
nima_err links_name(cluster *, char *error,
                    size_t room); /* peers' names and addresses: from the configuration, or the folder */
void links_describe(const cluster *, uint32_t first, uint32_t count, FILE *);   /* for that folder */
nima_err links_open(cluster *, char *error, size_t room);   /* they come up while they are pumped */
bool links_are_up(const cluster *);
/* sets.c */
void sets_send_hashes(nima_run *);           /* follower; likewise: */
void sets_send_bits(nima_run *);
void sets_take_merged(nima_run *, const wire_control *);
void sets_take_hashes(nima_run *, const wire_result *);      /* leader; likewise: */
void sets_take_bits(nima_run *, const wire_result *);
/* cluster.c */
void cluster_ask(nima_run *, uint32_t operation);            /* leader: all followers, and takes in their answers */
/* gather.c */
void gather_take(nima_run *, uint32_t from, const wire_result *);
void gather_send_sums(nima_run *);
void gather_send_log(nima_run *);
void gather_send_sent(nima_run *);
/* load.c */
void loads_init(cluster *);
void loads_fini(cluster *);
void loads_send(nima_run *);                 /* follower: now and then */
void loads_take(nima_run *, uint32_t from, const wire_result *);
void loads_net(nima_run *, uint32_t from, uint64_t compute_ns);   /* leader: its report of the window has come */
void gather_send_status(nima_run *);
void gather_done(nima_run *);                /* follower: that was all */
void gather_send_all(nima_run *);
#endif
