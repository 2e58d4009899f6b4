/* feed.h: a run as it is published for those who watch: topics `run`, `clock`, `load/...`, `log/0`, `report` and
 * what the model shows, described in docs/monitoring.md; and the live page. A thread of its own reads run_progress_read ten times a second; log lines come to it through a
 * bounded queue that drops and counts what does not fit. So no watcher can change or slow a run.
 *
 * open, begin, end are called by the thread that drives the run. */
#ifndef NIMA_FEED_H
#define NIMA_FEED_H
#include "run.h"
#pragma GCC visibility push(default)
typedef struct feed feed;

typedef struct {
    const char *const *urls; unsigned url_count;
    const char *web_address;                 /* of the live page, see web.h; NULL: none */
    double load_change;                      /* loads that changed by a smaller share are not sent */
} feed_options;
/* Opens the sockets, and sets tuning's watcher. NULL: why in `error`. Before run_open, so that NNG's threads are bound
 * to no worker's core. */
feed *feed_open(const feed_options *, run_tuning *tuning, char *error, size_t room);
bool feed_page(const feed *, char *url, size_t room);        /* the page's address for the user; false: there is none */
bool feed_is_address(const char *url);       /* of a kind that can be listened at */
bool feed_is_web_address(const char *);      /* HOST:PORT, :PORT, PORT, or "" */

typedef struct { const char *folder; uint64_t seed; unsigned dispatchers; } feed_given;
/* The run is set up. `given` and what it points to live until feed_end. False: no thread or no memory. */
bool feed_begin(feed *, nima_run *, const feed_given *);

typedef struct {
    const char *status, *message;            /* message: of a failure, else "" */
    int exit;
    bool fingerprint;                        /* summary's was computed */
    nima_summary summary;
} feed_outcome;
/* Says how it ended and closes the sockets; NULL: there was no run. Blocks up to 4 s if NNG does not close. */
void feed_end(feed *, const feed_outcome *);
#pragma GCC visibility pop
#endif
