/* report.h: what a finished run tells people. */
#ifndef NIMA_REPORT_H
#define NIMA_REPORT_H
#include "cli/folder.h"
void report_summary(const run_record *, FILE *);             /* results, figures, fingerprint, folder */
void report_failure(const run_record *); /* on standard error: what happened, and how to get there again */
#endif
