/* parameters.h: declared parameters: defaults, "name=value" texts, ranges. Every error names parameter and reason. */
#ifndef NIMA_PARAMETERS_H
#define NIMA_PARAMETERS_H
#include "nima.h"
#pragma GCC visibility push(default)
/* Checks the declaration itself (types that can be given on a command line, readable defaults and ranges). */
nima_err parameters_check(const nima_struct *declared, char *error, size_t room);
/* Fills `values` (declared->bytes, zeroed by the caller) with defaults, then each "name=value" of `set` (NULL-terminated, may be
 * NULL). Texts live in `*texts`, one block that the caller frees, after an error too. 4294967297 into 32 bits, a fraction
 * for an integer (1e6 is one), trailing garbage, out of range, unknown names (with the nearest known one) are errors. */
nima_err parameters_set(const nima_struct *declared, const char *const *set, void *values, char **texts, char *error,
                        size_t room);
/* One value as text that parameters_set reads back to the same bits. */
void parameters_text(const nima_field *, const void *values, char *text, size_t room);
/* One line of help: "  name=default  (range) unit  help". */
void parameters_help(const nima_struct *declared, FILE *);
#pragma GCC visibility pop
#endif
