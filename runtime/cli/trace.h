/* trace.h: `run --trace FILTER`: decoded messages as lines of JSON in the run folder's trace.jsonl, in the order of
 * (time, step, receiver). FILTER is a list of words separated by commas: `all`, a behavior's or a message's name, an
 * agent (person[17], person#id) as receiver or sender. A message is written if a word fits it. */
#ifndef NIMA_TRACE_H
#define NIMA_TRACE_H
#include "cli/request.h"
typedef struct trace trace;
trace *trace_begin(const char *filter, request *, int *code);   /* sets the request's on_delivery; NULL: said why */
int trace_ready(trace *, nima_run *);        /* finds the agents named */
nima_err trace_end(trace *, const char *folder);   /* writes the file; said why if it cannot */
void trace_free(trace *);
#endif
