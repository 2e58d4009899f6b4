/* feed_private.h: what the files of the feed share: feed.c (life, run, clock, log), feed_load.c, feed_show.c. */
#ifndef NIMA_FEED_PRIVATE_H
#define NIMA_FEED_PRIVATE_H
#include "monitor/feed.h"
#include "monitor/web.h"
#include "publish.h"
#include <pthread.h>

enum { FEED_RATE_OVER = 10 };                /* rates are over the last so many looks */

/* Of one dispatcher: what was seen, in turn, and what was sent. */
typedef struct { double at_s; run_dispatcher_load of; run_worker_load *workers; } feed_look;
typedef struct { feed_look looks[FEED_RATE_OVER]; double *now, *sent; uint32_t room; bool any_sent; } feed_load;

typedef struct { double at_s; run_progress at; } feed_moment;

typedef struct {                             /* one picture: `next` is the mailbox */
    char name[RUN_SHOWN_NAME];
    uint32_t width, height, sent_width, sent_height;
    uint8_t *next, *taken, *sent;            /* RUN_PICTURE_SIDE squared at most each */
    size_t next_room, taken_room, sent_room;
    bool fresh;
    double whole_s;                          /* when it was last sent whole */
} feed_picture;
typedef struct { char name[RUN_SHOWN_NAME]; double *at; uint32_t count, room; bool fresh; } feed_values;
enum { FEED_PICTURES = 8, FEED_VALUES = 16 };

struct feed {
    /* constant after feed_begin */
    publisher *publisher; web *web; double opened_s, load_change;
    nima_run *run;
    const feed_given *given;
    pthread_t thread; bool has_thread;
    /* the feed's thread; before and after its life the driving one */
    publish_map map, inner;
    feed_moment past[FEED_RATE_OVER]; unsigned observed;
    feed_load *loads; unsigned dispatchers;
    double clock_s; run_progress clock_sent;
    uint32_t changed_at[RUN_PICTURE_SIDE * RUN_PICTURE_SIDE / 4];
    uint8_t changed_to[RUN_PICTURE_SIDE * RUN_PICTURE_SIDE / 4];
    double *row; nima_time row_time;
    char *sending;                           /* the log's, like `queue`: they are exchanged */
    /* shared, under the lock, which is held for copies only */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool ending;
    char *queue; size_t queued;              /* lines, each with its NUL */
    uint64_t dropped;
    feed_picture pictures[FEED_PICTURES]; unsigned picture_count;
    feed_values values[FEED_VALUES]; unsigned value_count;
    double *next_row; nima_time next_row_time; bool row_fresh; uint32_t row_values;
};

double feed_now_s(void);
void feed_send(feed *, const char *topic, publish_keep);     /* f->map, and clears it */
/* feed_load.c */
bool feed_load_begin(feed *);
void feed_load_send(feed *, bool always);
void feed_load_fini(feed *);
/* feed_show.c */
void feed_show_take(run_watcher *);  /* sets what the driving thread calls */
bool feed_show_begin(feed *);
void feed_show_send(feed *);
void feed_show_fini(feed *);
#endif
