/* grid.h: `--grid 'NAME=A,B,C'` and `--grid 'NAME=FIRST:LAST:STEP'`, and the scenarios that several of them span. */
#ifndef NIMA_GRID_H
#define NIMA_GRID_H
#include <stdbool.h>
#include <stddef.h>
typedef struct { char *name; char **values; size_t count; } grid;
bool grid_parse(const char *text, grid *, char *error, size_t room);
void grid_free(grid *);
size_t grid_scenarios(const grid *, size_t count);           /* product; 0: more than a million */
/* Value of grid g in a scenario; the last grid runs fastest. */
const char *grid_value(const grid *, size_t count, size_t g, size_t scenario);
#endif
