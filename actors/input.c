/* input.c: input files, and columns of CSV files read on all cores.
 *
 * A newline ends a record unless it is inside quotes, and whether it is depends on all quotes before it. So a file is
 * cut into pieces of equal bytes; a first pass counts each piece's quotes and its newlines for either state at its
 * start; the states and the number of each piece's first row follow by addition; a second pass reads the rows behind
 * each piece's newlines. Numbers of rows and the first wrong one come out alike for any number of threads. */
#include "input.h"
#include "decimal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */
nima_err input_open(input_file *f, const char *path, char *error, size_t room) {
    struct stat s;
    *f = (input_file){ .path = path, .data = "" };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);   /* do not wait for the other end of a pipe */
    if (fd < 0 || fstat(fd, &s) < 0) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return NIMA_E_INPUT;
    }
    void *data = NULL;
    if (S_ISREG(s.st_mode) && s.st_size) data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (!S_ISREG(s.st_mode) || data == MAP_FAILED) {
        snprintf(error, room, "%s: %s", path, S_ISREG(s.st_mode) ? strerror(errno) : "not a regular file");
        return NIMA_E_INPUT;
    }
    if (data) *f = (input_file){ .path = path, .data = data, .bytes = (size_t)s.st_size };
    f->hash = XXH3_64bits(f->data, f->bytes);
    return NIMA_OK;
}

void input_close(input_file *f) {
    if (f->bytes) munmap((void *)(uintptr_t)f->data, f->bytes);
    *f = (input_file){ .data = "" };
}

/* ---- records (RFC 4180) ------------------------------------------------------------------------------------------ */
typedef struct { const char *from, *to; bool quoted; } field;
typedef struct {
    uint64_t separators[2];                  /* newlines between rows, if the piece starts outside or inside quotes */
    bool odd, inside;                        /* number of quotes; state at the start */
    uint64_t first;                          /* number of the first row that begins in it */
    const char *wrong;                       /* first row that is */
} piece;
typedef struct {
    const char *body, *end;                  /* rows; without newlines at the end */
    uint32_t fields, column;                 /* of each row; the one read */
    const char *name;                        /* its */
    piece *pieces;
    double *values;
} csv;

/* The field at p; returns what is behind it: a comma, a newline, or end. NULL: wrong, with what. */
static const char *field_read(const char *p, const char *end, field *f, const char **wrong) {
    f->quoted = p < end && *p == '"';
    if (!f->quoted) {
        for (f->from = p; p < end && *p != ',' && *p != '\n'; p++)
            if (*p == '"') { *wrong = "a quote inside a field that does not begin with one"; return NULL; }
        f->to = p > f->from && p[-1] == '\r' && (p == end || *p == '\n') ? p - 1 : p;
        return p;
    }
    for (f->from = ++p;; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p) { *wrong = "a quote that is not closed"; return NULL; }
        if (end - p < 2 || p[1] != '"') break;
    }
    f->to = p++;
    if (p < end && *p == '\r' && (p + 1 == end || p[1] == '\n')) p++;
    if (p < end && *p != ',' && *p != '\n') { *wrong = "text behind a closing quote"; return NULL; }
    return p;
}

static bool field_is(field f, const char *name) {
    for (; f.from < f.to; f.from++, name++) {
        if (!*name || *f.from != *name) return false;
        if (f.quoted && *f.from == '"') f.from++;             /* doubled */
    }
    return *name == 0;
}

static bool field_number(field f, double *value) {
    while (f.from < f.to && (*f.from == ' ' || *f.from == '\t')) f.from++;
    while (f.from < f.to && (f.to[-1] == ' ' || f.to[-1] == '\t')) f.to--;
    *value = __builtin_nan("");
    return f.from == f.to || decimal_read(f.from, f.to, value);
}

/* The row at p; returns its end. NULL: wrong; error may be NULL. */
static const char *row_read(const csv *c, const char *p, double *value, char *error, size_t room) {
    const char *wrong = NULL;
    for (uint32_t i = 0;; p++) {
        field f;
        p = field_read(p, c->end, &f, &wrong);
        if (!p) { if (error) snprintf(error, room, "%s", wrong); return NULL; }
        if (i == c->column && !field_number(f, value)) {
            if (error)
                snprintf(error, room, "expected a number in column %s, not \"%.*s\"", c->name,
                         f.to - f.from < 60 ? (int)(f.to - f.from) : 60, f.from);
            return NULL;
        }
        i++;
        if (p < c->end && *p == ',') continue;
        if (i == c->fields) return p;
        if (error) snprintf(error, room, "%u fields, expected %u", i, c->fields);
        return NULL;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */
static const char *piece_begin(const csv *c, uint64_t i) { return c->body + i * INPUT_PIECE_BYTES; }
static const char *piece_end(const csv *c, uint64_t i) {
    return c->end - piece_begin(c, i) > INPUT_PIECE_BYTES ? piece_begin(c, i + 1) : c->end;
}

static void piece_scan(uint64_t i, void *arg) {
    const csv *c = arg;
    piece *m = &c->pieces[i];
    uint64_t separators[2] = { 0, 0 };
    unsigned odd = 0;
    for (const char *p = piece_begin(c, i), *end = piece_end(c, i); p < end; p++) {
        odd ^= *p == '"';
        separators[odd] += *p == '\n';
    }
    *m = (piece){ .separators = { separators[0], separators[1] }, .odd = odd };
}

/* Rows begin at the body's start and behind each separator. */
static void piece_read(uint64_t i, void *arg) {
    const csv *c = arg;
    piece *m = &c->pieces[i];
    const char *p = piece_begin(c, i), *end = piece_end(c, i);
    double *value = c->values + m->first;
    if (i > 0) {
        for (bool inside = m->inside; p < end && (inside || *p != '\n'); p++) inside ^= *p == '"';
        if (p == end) return;
        p++;
    }
    for (;; p++) {
        const char *row = p;
        p = row_read(c, row, value++, NULL, 0);
        if (!p) { m->wrong = row; return; }
        if (p >= end) return;
    }
}

static nima_err fail_at(const input_file *f, const char *at, char *error, size_t room, const char *text) {
    uint64_t line = 1;
    for (const char *p = f->data; p < at; p++) line += *p == '\n';
    snprintf(error, room, "%s:%llu: %s", f->path, (unsigned long long)line, text);
    return NIMA_E_INPUT;
}

/* Finds the column in the header and where the body begins. */
static nima_err header_read(csv *c, const input_file *f, const char *column, char *error, size_t room) {
    char names[300] = "", text[500];
    const char *p = f->data, *wrong = NULL;
    *c = (csv){ .end = f->data + f->bytes, .name = column, .column = UINT32_MAX };
    while (c->end > p && (c->end[-1] == '\n' || c->end[-1] == '\r')) c->end--;
    if (c->end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) p += 3;
    if (p == c->end) return fail_at(f, f->data, error, room, "expected a line of column names");
    for (;; p++) {
        field name;
        p = field_read(p, c->end, &name, &wrong);
        if (!p) return fail_at(f, f->data, error, room, wrong);
        if (field_is(name, column)) {
            snprintf(text, sizeof text, "two columns are named %s", column);
            if (c->column != UINT32_MAX) return fail_at(f, f->data, error, room, text);
            c->column = c->fields;
        }
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%.*s", n ? ", " : "", (int)(name.to - name.from), name.from);
        c->fields++;
        if (p == c->end || *p == '\n') break;
    }
    c->body = p < c->end ? p + 1 : c->end;
    snprintf(text, sizeof text, "no column %s; there are %s", column, names);
    return c->column == UINT32_MAX ? fail_at(f, f->data, error, room, text) : NIMA_OK;
}

static nima_err rows_read(csv *c, const input_file *f, uint64_t pieces, const input_host *host, uint64_t *rows,
                          char *error, size_t room) {
    host->parallel(host->arg, pieces, piece_scan, c);
    bool inside = false;
    uint64_t separators = 0;
    for (uint64_t i = 0; i < pieces; i++) {
        piece *m = &c->pieces[i];
        m->inside = inside;
        m->first = i ? separators + 1 : 0;
        separators += m->separators[inside];
        inside ^= m->odd;
    }
    *rows = separators + 1;
    c->values = host->allocate(host->arg, *rows * sizeof(double));
    host->parallel(host->arg, pieces, piece_read, c);
    for (uint64_t i = 0; i < pieces; i++)
        if (c->pieces[i].wrong) {
            double value;
            char text[300];
            row_read(c, c->pieces[i].wrong, &value, text, sizeof text);
            return fail_at(f, c->pieces[i].wrong, error, room, text);
        }
    return NIMA_OK;
}

nima_err input_column(const input_file *f, const char *column, const input_host *host, double **values, uint64_t *rows,
                      char *error, size_t room) {
    csv c;
    nima_err code = header_read(&c, f, column, error, room);
    if (code) return code;
    *rows = 0;
    if (c.body == c.end) {
        *values = host->allocate(host->arg, sizeof(double));
        return NIMA_OK;
    }
    const uint64_t pieces = (uint64_t)(c.end - c.body - 1) / INPUT_PIECE_BYTES + 1;
    c.pieces = calloc(pieces, sizeof *c.pieces);
    if (!c.pieces) return snprintf(error, room, "%s: no memory", f->path), NIMA_E_MEMORY;
    code = rows_read(&c, f, pieces, host, rows, error, room);
    *values = c.values;
    free(c.pieces);
    return code;
}
