/* json.c: the writer of json.h. */
#include "cli/json.h"
#include "store/number.h"
#include <math.h>

static void escaped(FILE *to, const char *text) {
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') fprintf(to, "\\%c", *c);
        else if (*c == '\n') fputs("\\n", to);
        else if (*c < 32 || *c == 127) fprintf(to, "\\u%04x", *c);
        else fputc(*c, to);
    }
    fputc('"', to);
}

static void line(json *j) {
    if (j->pretty && j->depth) fprintf(j->to, "\n%*s", 2 * j->depth, "");
}

static void begin(json *j, const char *key) {
    if (j->comma) fputs(j->pretty ? "," : ", ", j->to);
    line(j);
    j->comma = true;
    if (!key) return;
    escaped(j->to, key);
    fputs(": ", j->to);
}

void json_open(json *j, const char *key, char bracket) {
    begin(j, key);
    fputc(bracket, j->to);
    j->depth++;
    j->comma = false;
}
void json_close(json *j, char bracket) {
    j->depth--;
    if (j->comma) line(j);
    if (j->pretty && !j->depth) fputc('\n', j->to);
    fputc(bracket, j->to);
    if (!j->depth) fputc('\n', j->to);
    j->comma = true;
}

void json_text(json *j, const char *key, const char *v) { begin(j, key); escaped(j->to, v); }
void json_int(json *j, const char *key, int64_t v) { begin(j, key); fprintf(j->to, "%lld", (long long)v); }
void json_uint(json *j, const char *key, uint64_t v) { begin(j, key); fprintf(j->to, "%llu", (unsigned long long)v); }
void json_hex(json *j, const char *key, uint64_t v) {
    begin(j, key);
    fprintf(j->to, "\"%016llx\"", (unsigned long long)v);
}
void json_bool(json *j, const char *key, bool v) { begin(j, key); fputs(v ? "true" : "false", j->to); }
void json_null(json *j, const char *key) { begin(j, key); fputs("null", j->to); }

void json_number(json *j, const char *key, double v) {
    char text[NUMBER_ROOM];
    if (!isfinite(v)) { json_null(j, key); return; }
    begin(j, key);
    if (fabs(v) >= 1e17) { fprintf(j->to, "%.0f", v); return; }     /* integral, as all doubles of that size */
    number_double(v, text);
    fputs(text, j->to);
}
