/* The picture of a run for those who watch it live: a byte for each pixel, 0 while it is white, then a shade for the time
 * at which it was blackened. Of a large grid several pixels share one, which is black if any of them is. */
#ifndef PICTURE_H
#define PICTURE_H
#include <math.h>
#include <stdlib.h>
#include "nima.h"

/* Early times get more of the shades: much happens there. */
static inline uint8_t picture_shade(nima_time from, int64_t max_steps) {
    return (uint8_t)(1 + 254 * sqrt(fmin((double)from / (double)max_steps, 1)));
}

static inline void picture_show(nima_view *v, const nima_gset *black, uint32_t size, int64_t max_steps) {
    uint32_t fold = (size + 1023) / 1024, side = (size + fold - 1) / fold;
    uint8_t *shades = (uint8_t *)calloc((size_t)side * side, 1);
    if (!shades) return;                     /* there is a next time */
    for (uint32_t row = 0; row < size; row++) {
        uint8_t *to = shades + (size_t)(row / fold) * side;
        for (uint32_t column = 0; column < size; column++) {
            nima_time from = nima_view_gset_time(v, black, (uint64_t)row * size + column);
            if (from != NIMA_FOREVER && !to[column / fold]) to[column / fold] = picture_shade(from, max_steps);
        }
    }
    nima_show_picture(v, "grid", side, side, shades);
    free(shades);
}

#endif
