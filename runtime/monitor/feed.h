/* feed.h: a run as it is published for those who watch: topics `run`, `clock`, `load/0` and `log/0`, described in
 * docs/monitoring.md. A thread of its own reads run_progress_read ten times a second; log lines come to it through a
 * bounded queue that drops and counts what does not fit. So no watcher can change or slow a run.
 *
 * open, begin, end are called by the thread that drives the run. */
#ifndef NIMA_FEED_H
#define NIMA_FEED_H
#include "run.h"
#pragma GCC visibility push(default)
typedef struct feed feed;

/* Opens the sockets, and takes tuning's on_log. NULL: why in `error`. Before run_open, so that NNG's threads are bound
 * to no worker's core. */
feed *feed_open(const char *const *urls, unsigned url_count, run_tuning *tuning, char *error, size_t room);
bool feed_is_address(const char *url);       /* of a kind that can be listened at */

typedef struct { const char *folder; uint64_t seed; unsigned dispatchers; } feed_given;
/* The run is set up. `given` and what it points to live until feed_end. False: no thread or no memory. */
bool feed_begin(feed *, const nima_run *, const feed_given *);

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
