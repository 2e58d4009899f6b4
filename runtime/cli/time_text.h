/* time_text.h: virtual time as users write it. A whole number is ticks; with a unit (30day, 1.5 h, 200tick) or a
 * fraction (3.5) it is in that unit, or in the model's. Known units convert into each other; any other unit must be the
 * model's. */
#ifndef NIMA_TIME_TEXT_H
#define NIMA_TIME_TEXT_H
#include "nima.h"

double time_ticks_per_unit(const nima_model *);
const char *time_unit(const nima_model *);
/* False: why in `error`. Never negative. */
bool time_parse(const char *text, const nima_model *, nima_time *, char *error, size_t room);
/* "12.5 day" */
void time_write(nima_time, const nima_model *, char *text, size_t room);
#endif
