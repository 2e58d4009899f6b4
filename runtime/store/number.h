/* number.h: numbers as text in files: C locale whatever the process says, and the shortest text that reads back to the
 * same bits. snprintf with "%.17g" and a try-and-read-back loop cost a microsecond a number; a table of a million
 * agents has several million. */
#ifndef NIMA_NUMBER_H
#define NIMA_NUMBER_H
#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(default)
enum { NUMBER_ROOM = 32 };
/* Each writes at most NUMBER_ROOM bytes, a terminating zero included, and returns the length without it. Integral
 * values below 1e17 have no fraction and no exponent; what is no number is NaN, inf or -inf. */
size_t number_double(double, char *text);
size_t number_float(float, char *text);
size_t number_int(int64_t, char *text);
size_t number_uint(uint64_t, char *text);
size_t number_hex(uint64_t, char *text);     /* 16 hexadecimal digits */
#pragma GCC visibility pop
#endif
