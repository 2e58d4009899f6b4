/* store.h: the run folder: model.csv (reporter rows), agents.csv (declared fields at the end), log.txt, and files a
 * model writes. The engine hands over only what is final: nothing is ever taken back. One thread at a time. A full disk
 * or a vanished folder is an error that names the file; it is returned by every later call too. */
#ifndef NIMA_STORE_H
#define NIMA_STORE_H
#include "nima.h"
#pragma GCC visibility push(default)
typedef struct store store;

/* `folder` is created; it must be new or empty. On error NULL, and why in `error`. */
store *store_new(const char *folder, char *error, size_t room);
/* Columns of model.csv: tick, time, then one a reporter, one a bin for histograms (name_0 ..). Called once, before
 * rows. */
nima_err store_columns(store *, const nima_reporter *const *reporters, size_t count);
nima_err store_row(store *, nima_time tick, double time_units, const double *values, size_t count);
nima_err store_log(store *, const char *line);               /* without newline */
/* agents.csv: id, name, behavior, then the union of all declared fields (empty where a behavior lacks one). */
nima_err store_agents_begin(store *, const nima_behavior *const *behaviors, size_t count);
nima_err store_agent(store *, nima_id, const char *name, const nima_behavior *, const void *state);
FILE *store_file(store *, const char *name); /* closed by store_free; NULL: exists or not a plain name */
nima_err store_flush(store *);                               /* to the system */
const char *store_error(const store *);                      /* of the first failure; "" if none */
nima_err store_free(store *);                                /* closes; returns the first error */
/* Text of one field's value: C locale, shortest that reads back, ids as 16 hexadecimal digits. */
void store_field_text(const nima_field *, const void *state, char *text, size_t room);
#pragma GCC visibility pop
#endif
