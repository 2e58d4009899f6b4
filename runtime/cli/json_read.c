/* json_read.c: the reader of json.h: enough for run.json and the line of --json, and strict about it. */
#include "cli/json.h"
#include <ctype.h>
#include <stdlib.h>

typedef struct { const char *at; json_each *each; void *arg; } reader;

static void blanks(reader *r) { while (*r->at && isspace((unsigned char)*r->at)) r->at++; }
static bool take(reader *r, char c) {
    blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* A string, unescaped, in memory of its own; NULL: not one. */
static char *string(reader *r) {
    if (!take(r, '"')) return NULL;
    char *text = malloc(strlen(r->at) + 1), *to = text;
    if (!text) return NULL;
    for (; *r->at && *r->at != '"'; r->at++) {
        if (*r->at != '\\') { *to++ = *r->at; continue; }
        unsigned code;
        switch (*++r->at) {
        case 'n': *to++ = '\n'; break;
        case 't': *to++ = '\t'; break;
        case 'u':
            if (sscanf(r->at + 1, "%4x", &code) != 1 || code > 127 || strnlen(r->at, 5) < 5) {
                free(text);
                return NULL;
            }
            *to++ = (char)code;
            r->at += 4;
            break;
        case 0: free(text); return NULL;
        default: *to++ = *r->at;
        }
    }
    *to = 0;
    if (*r->at != '"') { free(text); return NULL; }
    r->at++;
    return text;
}

static bool value(reader *r, const char *object, const char *key) {
    blanks(r);
    if (*r->at == '"') {
        char *text = string(r);
        if (text) r->each(r->arg, object, key, text, true);
        free(text);
        return text != NULL;
    }
    const size_t n = strcspn(r->at, ",}] \n\t\r");
    char *text = n ? strndup(r->at, n) : NULL;
    if (!text) return false;
    r->at += n;
    r->each(r->arg, object, key, text, false);
    free(text);
    return true;
}

static bool object(reader *r, const char *name, int depth) {
    if (!take(r, '{')) return false;
    if (take(r, '}')) return true;
    do {
        char *key = string(r);
        bool good = key && take(r, ':');
        blanks(r);
        if (good) good = *r->at == '{' ? depth == 0 && object(r, key, 1) : value(r, name, key);
        free(key);
        if (!good) return false;
    } while (take(r, ','));
    return take(r, '}');
}

bool json_read(const char *text, json_each *each, void *arg) {
    reader r = { text, each, arg };
    if (!object(&r, "", 0)) return false;
    blanks(&r);
    return !*r.at;
}

bool json_read_file(const char *path, json_each *each, void *arg) {
    FILE *f = fopen(path, "re");
    if (!f) return false;
    char *text = NULL;
    size_t room = 0;
    const bool good = getdelim(&text, &room, 0, f) > 0 && json_read(text, each, arg);
    free(text);
    fclose(f);
    return good;
}
