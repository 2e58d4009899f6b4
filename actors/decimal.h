/* decimal.h: numbers as text, in the C locale whatever the program's is; the whole of [text, end) must be the number. */
#ifndef NIMA_DECIMAL_H
#define NIMA_DECIMAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [+-]digits[.digits][e[+-]digits], finite, nearest double; false: it is not one. */
bool decimal_read(const char *text, const char *end, double *);

typedef enum { DECIMAL_OK, DECIMAL_NONE, DECIMAL_FRACTION, DECIMAL_BEYOND } decimal_status;
/* The same forms (or 0x and hexadecimal digits) where the value is whole: 1e6 and 2.50e2 are, exactly, 1e-3 is a fraction,
 * BEYOND is 2^64 or more. */
decimal_status decimal_read_whole(const char *text, const char *end, bool *negative, uint64_t *magnitude);

/* Reads back to the same double, or float; 0.1 stays 0.1. */
enum { DECIMAL_TEXT = 32 };
void decimal_write(double, char text[DECIMAL_TEXT]);
void decimal_write_float(float, char text[DECIMAL_TEXT]);
#endif
