/* output.h: one file that only grows: a buffer in front of a descriptor, written in whole lines, so that what others
 * append to the same file (a model's own prints to log.txt) never lands inside a line. */
#ifndef NIMA_OUTPUT_H
#define NIMA_OUTPUT_H
#include "nima.h"
typedef struct {
    int fd;
    char path[4096];
    char *buffer;
    size_t used;
    int failed;
} output; /* failed: errno of the first failure */

bool output_open(output *, const char *folder, const char *name);   /* a new file; false: errno */
char *output_room(output *, size_t bytes);   /* where the next `bytes` of a line may be written; NULL: failed */
bool output_add(output *, const char *text, size_t bytes);
void output_end_line(output *);              /* what stands before may be written by itself */
bool output_flush(output *);                 /* to the system; also notices that the file is gone (ENOENT) */
bool output_close(output *);
#endif
