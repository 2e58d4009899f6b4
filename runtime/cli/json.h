/* json.h: writing JSON, one value after another, and reading back what we wrote. */
#ifndef NIMA_JSON_H
#define NIMA_JSON_H
#include "nima.h"

/* Writer. `key` is NULL inside an array and for the outermost value. Pretty: one entry a line; else all on one line. */
typedef struct { FILE *to; bool pretty, comma; int depth; } json;
void json_open(json *, const char *key, char bracket);
void json_close(json *, char bracket);
void json_text(json *, const char *key, const char *);
void json_int(json *, const char *key, int64_t);
void json_uint(json *, const char *key, uint64_t);
void json_number(json *, const char *key, double); /* integral: no fraction, no exponent; NaN, infinite: null */
void json_hex(json *, const char *key, uint64_t);            /* a string of 16 hexadecimal digits */
void json_bool(json *, const char *key, bool);
void json_null(json *, const char *key);

/* Reader: one object whose values are plain or objects of plain values. `each` is called for each plain value: `object`
 * is
 * "" at the top; `text` is the value, unescaped; strings say so. False: not such a text. */
typedef void json_each(void *arg, const char *object, const char *key, const char *text, bool is_string);
bool json_read(const char *text, json_each *, void *arg);
bool json_read_file(const char *path, json_each *, void *arg);
#endif
