/* store.c: see store.h. A failure is kept and returned by every later call; nothing is written after it. */
#include "store/store.h"
#include "store/number.h"
#include "store/output.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILES_MAX = 256, FIELD_ROOM = 256 };

typedef struct {
    const nima_behavior *behavior;
    uint32_t *column_of;
} shape; /* column of each of its fields; UINT32_MAX: none */
typedef struct { char *name; FILE *file; } extra;

struct store {
    char folder[4096];
    output log, model, agents;
    bool has_model, has_agents;
    shape *shapes; size_t shape_count;
    const char **columns; uint32_t column_count;
    const nima_field **row;                  /* of the agent at hand, by column */
    extra extras[FILES_MAX]; size_t extra_count;
    char error[6000];
};

static nima_err failed(store *s, const char *path, int number) {
    if (!s->error[0])
        snprintf(s->error, sizeof s->error, "%s: %s", path,
                 number == ENOENT ? "the file or its folder is gone" : strerror(number));
    return NIMA_E_SYSTEM;
}
static nima_err check(store *s, const output *o) {
    if (s->error[0]) return NIMA_E_SYSTEM;
    return o->failed ? failed(s, o->path, o->failed) : NIMA_OK;
}

/* ---- the folder ---- */
static bool is_empty(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return false;
    bool empty = true;
    for (const struct dirent *e; (e = readdir(d));)
        empty = empty && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."));
    closedir(d);
    return empty;
}

static int make_folders(const char *path) {
    char part[4096];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0777) && errno != EEXIST) return errno;
        *slash = '/';
    }
    return mkdir(part, 0777) && errno != EEXIST ? errno : 0;
}

store *store_new(const char *folder, char *error, size_t room) {
    store *s = calloc(1, sizeof *s);
    if (!s) { snprintf(error, room, "no memory"); return NULL; }
    s->log.fd = s->model.fd = s->agents.fd = -1;
    int number = strlen(folder) + 1 > sizeof s->folder / 2 ? ENAMETOOLONG : make_folders(folder);
    if (number) snprintf(error, room, "run folder %s: %s", folder, strerror(number));
    else if (!is_empty(folder)) snprintf(error, room, "run folder %s: not an empty folder", folder);
    else {
        snprintf(s->folder, sizeof s->folder, "%s", folder);
        if (output_open(&s->log, folder, "log.txt")) return s;
        snprintf(error, room, "%s: %s", s->log.path, strerror(errno));
    }
    output_close(&s->log);
    free(s);
    return NULL;
}

/* ---- model.csv ---- */
static void add_quoted(output *o, const char *text) {
    if (!text[strcspn(text, ",\"\n\r")]) { output_add(o, text, strlen(text)); return; }
    output_add(o, "\"", 1);
    for (; *text; text++) output_add(o, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    output_add(o, "\"", 1);
}

nima_err store_columns(store *s, const nima_reporter *const *reporters, size_t count) {
    if (s->error[0]) return NIMA_E_SYSTEM;
    if (!output_open(&s->model, s->folder, "model.csv")) return failed(s, s->model.path, errno);
    s->has_model = true;
    output_add(&s->model, "tick,time", 9);
    for (size_t i = 0; i < count; i++) {
        const nima_reporter *r = reporters[i];
        char name[300];
        for (uint32_t b = 0; b < (r->reduce == NIMA_HISTOGRAM ? r->bins : 1); b++) {
            if (r->reduce == NIMA_HISTOGRAM) snprintf(name, sizeof name, "%.250s_%u", r->part.name, b);
            else snprintf(name, sizeof name, "%.250s", r->part.name);
            output_add(&s->model, ",", 1);
            add_quoted(&s->model, name);
        }
    }
    output_add(&s->model, "\n", 1);
    return check(s, &s->model);
}

nima_err store_row(store *s, nima_time tick, double time_units, const double *values, size_t count) {
    output *o = &s->model;
    char number[NUMBER_ROOM];
    if (s->error[0] || !s->has_model) return check(s, o);
    output_add(o, number, number_int(tick, number));
    output_add(o, ",", 1);
    output_add(o, number, number_double(time_units, number));
    for (size_t i = 0; i < count; i++) {
        output_add(o, ",", 1);
        output_add(o, number, number_double(values[i], number));
    }
    output_add(o, "\n", 1);
    output_end_line(o);
    return check(s, o);
}

/* ---- log.txt ---- */
nima_err store_log(store *s, const char *line) {
    if (s->error[0]) return NIMA_E_SYSTEM;
    output_add(&s->log, line, strlen(line));
    output_add(&s->log, "\n", 1);
    output_end_line(&s->log);
    return check(s, &s->log);
}

/* ---- agents.csv ---- */
static uint32_t column_named(store *s, const char *name) {
    for (uint32_t c = 0; c < s->column_count; c++) if (!strcmp(s->columns[c], name)) return c;
    s->columns[s->column_count] = name;
    return s->column_count++;
}

static bool make_shapes(store *s, const nima_behavior *const *behaviors, size_t count) {
    size_t fields = 0;
    for (size_t i = 0; i < count; i++) fields += behaviors[i]->field_count;
    s->columns = calloc(fields + 1, sizeof *s->columns);
    s->row = calloc(fields + 1, sizeof *s->row);
    s->shapes = calloc(count + 1, sizeof *s->shapes);
    if (!s->columns || !s->row || !s->shapes) return false;
    for (size_t i = 0; i < count; i++) {
        const nima_behavior *b = behaviors[i];
        uint32_t *column_of = calloc(b->field_count + 1, sizeof *column_of);
        if (!column_of) return false;
        for (uint32_t f = 0; f < b->field_count; f++)
            column_of[f] = b->fields[f].type == NIMA_POINTER ? UINT32_MAX : column_named(s, b->fields[f].name);
        s->shapes[s->shape_count++] = (shape){ b, column_of };
    }
    return true;
}

nima_err store_agents_begin(store *s, const nima_behavior *const *behaviors, size_t count) {
    if (s->error[0]) return NIMA_E_SYSTEM;
    if (!output_open(&s->agents, s->folder, "agents.csv")) return failed(s, s->agents.path, errno);
    s->has_agents = true;
    if (!make_shapes(s, behaviors, count)) return failed(s, s->agents.path, ENOMEM);
    output_add(&s->agents, "id,name,behavior", 16);
    for (uint32_t c = 0; c < s->column_count; c++) {
        output_add(&s->agents, ",", 1);
        add_quoted(&s->agents, s->columns[c]);
    }
    output_add(&s->agents, "\n", 1);
    return check(s, &s->agents);
}

static int64_t signed_of(const void *at, uint32_t bytes) {
    switch (bytes) {
    case 1: { int8_t v; memcpy(&v, at, 1); return v; }
    case 2: { int16_t v; memcpy(&v, at, 2); return v; }
    case 4: { int32_t v; memcpy(&v, at, 4); return v; }
    default: { int64_t v; memcpy(&v, at, 8); return v; }
    }
}
static uint64_t unsigned_of(const void *at, uint32_t bytes) {
    uint64_t v = 0;
    memcpy(&v, at, bytes < 8 ? bytes : 8);
    return v;
}

void store_field_text(const nima_field *f, const void *state, char *text, size_t room) {
    const unsigned char *at = (const unsigned char *)state + f->offset;
    char number[NUMBER_ROOM] = "";
    const char *from = number;
    double d;
    float x;
    switch (f->type) {
    case NIMA_DOUBLE: memcpy(&d, at, sizeof d); number_double(d, number); break;
    case NIMA_FLOAT: memcpy(&x, at, sizeof x); number_float(x, number); break;
    case NIMA_INT: number_int(signed_of(at, f->bytes), number); break;
    case NIMA_UINT: number_uint(unsigned_of(at, f->bytes), number); break;
    case NIMA_BOOL: number_uint(*at != 0, number); break;
    case NIMA_ID: number_hex(unsigned_of(at, 8), number); break;
    case NIMA_TEXT: case NIMA_FILE: memcpy(&from, at, sizeof from); if (!from) from = ""; break;
    case NIMA_POINTER: break;
    case NIMA_OPAQUE:
        if (room) *text = 0;
        for (uint32_t i = 0; i < f->bytes && 2 * i + 3 <= room; i++) snprintf(text + 2 * i, 3, "%02x", at[i]);
        return;
    }
    if (!room) return;
    const size_t n = strnlen(from, room - 1);
    memcpy(text, from, n);
    text[n] = 0;
}

/* The plain kinds of field are written straight into the buffer. */
static void add_field(output *o, const nima_field *f, const void *state) {
    const bool plain = f->type != NIMA_TEXT && f->type != NIMA_FILE && f->type != NIMA_OPAQUE;
    char *to = plain ? output_room(o, NUMBER_ROOM) : NULL;
    if (to) {
        store_field_text(f, state, to, NUMBER_ROOM);
        o->used += strlen(to);
    } else if (f->type == NIMA_OPAQUE) {
        for (uint32_t i = 0; i < f->bytes; i++) {
            const nima_field byte = { .type = NIMA_OPAQUE, .offset = f->offset + i, .bytes = 1 };
            char two[3];
            store_field_text(&byte, state, two, sizeof two);
            output_add(o, two, 2);
        }
    } else {
        const char *text;
        memcpy(&text, (const char *)state + f->offset, sizeof text);
        if (text && !plain) add_quoted(o, text);
    }
}

nima_err store_agent(store *s, nima_id id, const char *name, const nima_behavior *b, const void *state) {
    output *o = &s->agents;
    if (s->error[0] || !s->has_agents) return check(s, o);
    const shape *h = s->shapes;
    while (h->behavior != b) h++;
    memset(s->row, 0, s->column_count * sizeof *s->row);
    for (uint32_t f = 0; f < b->field_count; f++)
        if (h->column_of[f] != UINT32_MAX) s->row[h->column_of[f]] = &b->fields[f];
    char number[NUMBER_ROOM];
    output_add(o, number, number_hex(id.bits, number));
    output_add(o, ",", 1);
    output_add(o, name, strlen(name));
    output_add(o, ",", 1);
    output_add(o, b->part.name, strlen(b->part.name));
    for (uint32_t c = 0; c < s->column_count; c++) {
        output_add(o, ",", 1);
        if (s->row[c]) add_field(o, s->row[c], state);
    }
    output_add(o, "\n", 1);
    output_end_line(o);
    return check(s, o);
}

/* ---- further files ---- */
FILE *store_file(store *s, const char *name) {
    if (!*name || *name == '.' || strchr(name, '/') || s->extra_count == FILES_MAX) {
        if (!s->error[0])
            snprintf(s->error, sizeof s->error, "%s: %s", name,
                     s->extra_count == FILES_MAX ? "more than 256 files in a run folder" : "not a plain file name");
        return NULL;
    }
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    FILE *file = fopen(path, "wxe");
    extra *e = &s->extras[s->extra_count];
    if (!file || !(e->name = strdup(name))) { failed(s, path, errno); if (file) fclose(file); return NULL; }
    e->file = file;
    s->extra_count++;
    return file;
}

/* ---- end ---- */
nima_err store_flush(store *s) {
    output *const files[] = { &s->log, &s->model, &s->agents };
    for (int i = 0; i < 3; i++) if (!output_flush(files[i])) failed(s, files[i]->path, files[i]->failed);
    for (size_t i = 0; i < s->extra_count; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", s->folder, s->extras[i].name);
        if (fflush(s->extras[i].file) || ferror(s->extras[i].file)) failed(s, path, errno ? errno : EIO);
    }
    return s->error[0] ? NIMA_E_SYSTEM : NIMA_OK;
}

const char *store_error(const store *s) { return s->error; }

nima_err store_free(store *s) {
    const nima_err code = store_flush(s);
    output *const files[] = { &s->log, &s->model, &s->agents };
    for (int i = 0; i < 3; i++) output_close(files[i]);
    for (size_t i = 0; i < s->extra_count; i++) { fclose(s->extras[i].file); free(s->extras[i].name); }
    for (size_t i = 0; i < s->shape_count; i++) free(s->shapes[i].column_of);
    free(s->shapes);
    free(s->columns);
    free(s->row);
    free(s);
    return code;
}
