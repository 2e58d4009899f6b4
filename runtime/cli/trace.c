/* trace.c: see trace.h. Lines are kept in memory and put in order at the end, since workers deliver in no order: meant
 * for a look at some agents, not for the whole of a large run. */
#include "cli/trace.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/model.h"
#include "cli/time_text.h"
#include "store/store.h"
#include <errno.h>
#include <stdlib.h>

enum { WORDS_MAX = 64 };
typedef struct { const char *text; const nima_message *message; const char *behavior; nima_id agent; bool all; } word;
typedef struct { nima_time time; uint32_t step; nima_id agent; uint64_t line; char *text; } entry;

struct trace {
    char *copy;
    word words[WORDS_MAX]; size_t word_count;
    const request *request; const nima_run *run;
    entry *entries; size_t count, room;
    bool no_memory;
};

static bool fits(const trace *t, const run_delivery *d, const nima_mail *m) {
    for (size_t i = 0; i < t->word_count; i++) {
        const word *w = &t->words[i];
        if (w->all || (w->message && w->message->type == m->type)) return true;
        if (w->behavior && !strcmp(w->behavior, d->behavior->part.name)) return true;
        if (!nima_is_nobody(w->agent) && (nima_same(w->agent, d->agent) || nima_same(w->agent, m->sender))) return true;
    }
    return false;
}

static void write_field(json *j, const nima_field *f, const void *payload) {
    char text[512];
    store_field_text(f, payload, text, sizeof text);
    const bool number = f->type == NIMA_INT || f->type == NIMA_UINT || f->type == NIMA_BOOL;
    double d = 0;
    if (f->type == NIMA_DOUBLE) memcpy(&d, (const char *)payload + f->offset, sizeof d);
    if (number) { json_int(j, f->name, strtoll(text, NULL, 10)); return; }
    if (f->type == NIMA_DOUBLE || f->type == NIMA_FLOAT)
        json_number(j, f->name, f->type == NIMA_DOUBLE ? d : strtod(text, NULL));
    else if (f->type != NIMA_TEXT && f->type != NIMA_FILE && f->type != NIMA_POINTER) json_text(j, f->name, text);
}

static void write_line(const trace *t, const run_delivery *d, const nima_mail *m, FILE *to) {
    json j = { .to = to };
    char name[160];
    const nima_message *message = model_message(t->request->model, m->type);
    json_open(&j, NULL, '{');
    json_int(&j, "time", d->time);
    json_uint(&j, "step", d->step);
    run_agent_name(t->run, d->agent, name, sizeof name);
    json_text(&j, "to", name);
    if (nima_is_nobody(m->sender)) json_null(&j, "from");
    else { run_agent_name(t->run, m->sender, name, sizeof name); json_text(&j, "from", name); }
    json_uint(&j, "sequence", m->sequence);
    if (message) json_text(&j, "message", message->part.name);
    json_uint(&j, "type", m->type);
    const bool declared = message && message->bytes == m->bytes;
    if (declared) {
        json_open(&j, "fields", '{');
        for (uint32_t i = 0; i < message->field_count; i++) write_field(&j, &message->fields[i], nima_payload(m));
        json_close(&j, '}');
    } else {
        const nima_field bytes = { .type = NIMA_OPAQUE, .bytes = (uint32_t)m->bytes };
        char *text = malloc(2 * (size_t)m->bytes + 1);
        if (text) {
            store_field_text(&bytes, nima_payload(m), text, 2 * (size_t)m->bytes + 1);
            json_text(&j, "bytes", text);
        }
        free(text);
    }
    json_close(&j, '}');
}

static void on_delivery(void *arg, const run_delivery *d) {
    trace *t = arg;
    for (uint64_t i = 0; i < d->mail_count && !t->no_memory; i++) {
        if (!fits(t, d, d->mail[i])) continue;
        if (t->count == t->room) {
            const size_t room = 2 * t->room + 1024;
            entry *grown = realloc(t->entries, room * sizeof *grown);
            if (!grown) { t->no_memory = true; return; }
            t->entries = grown;
            t->room = room;
        }
        char *text = NULL;
        size_t bytes;
        FILE *to = open_memstream(&text, &bytes);
        if (!to) { t->no_memory = true; return; }
        write_line(t, d, d->mail[i], to);
        fclose(to);
        t->entries[t->count++] = (entry){ d->time, d->step, d->agent, i, text };
    }
}

trace *trace_begin(const char *filter, request *r, int *code) {
    trace *t = calloc(1, sizeof *t);
    *code = EXIT_MEMORY;
    if (!t || !(t->copy = strdup(filter))) { free(t); cli_say("no memory"); return NULL; }
    t->request = r;
    char *rest = NULL;
    for (char *one = strtok_r(t->copy, ",", &rest); one && t->word_count < WORDS_MAX; one = strtok_r(NULL, ",", &rest))
        t->words[t->word_count++] = (word){ .text = one, .all = !strcmp(one, "all") };
    *code = EXIT_USAGE;
    if (!t->word_count) { cli_usage("run", "--trace: which messages? `all`, or names"); trace_free(t); return NULL; }
    r->tuning.on_delivery = on_delivery;
    r->tuning.on_delivery_arg = t;
    *code = EXIT_GOOD;
    return t;
}

int trace_ready(trace *t, nima_run *run) {
    const nima_model *m = run_model(run);
    t->run = run;
    for (size_t i = 0; i < t->word_count; i++) {
        word *w = &t->words[i];
        char error[300];
        for (nima_part *const *p = m->parts; p < m->parts_end && !w->all; p++) {
            if (!*p || strcmp((*p)->name, w->text)) continue;
            if ((*p)->kind == NIMA_PART_MESSAGE) w->message = (const nima_message *)(const void *)*p;
            if ((*p)->kind == NIMA_PART_BEHAVIOR) w->behavior = (*p)->name;
        }
        if (w->all || w->message || w->behavior) continue;
        w->agent = run_agent_parse(run, w->text, error, sizeof error);
        if (nima_is_nobody(w->agent))
            return cli_usage("run", "--trace %s: no message, behavior or agent of this model (%s)", w->text, error);
    }
    return EXIT_GOOD;
}

static int by_place(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->agent.bits != y->agent.bits) return x->agent.bits < y->agent.bits ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

nima_err trace_end(trace *t, const char *folder) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/trace.jsonl", folder);
    if (t->count) qsort(t->entries, t->count, sizeof *t->entries, by_place);
    FILE *f = fopen(path, "we");
    for (size_t i = 0; f && i < t->count; i++) fputs(t->entries[i].text, f);
    const bool good = f && !ferror(f);
    if (f && fclose(f) == 0 && good && !t->no_memory) return NIMA_OK;
    cli_say("%s: %s", path, t->no_memory ? "no memory for all lines" : strerror(errno));
    return t->no_memory ? NIMA_E_MEMORY : NIMA_E_SYSTEM;
}

void trace_free(trace *t) {
    for (size_t i = 0; i < t->count; i++) free(t->entries[i].text);
    free(t->entries);
    free(t->copy);
    free(t);
}
