/* model.c: finds a model by name; see model.h, and compile.c for sources. */
#include "cli/model.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void folder_of(const char *path, char folder[PATH_MAX]) {
    snprintf(folder, PATH_MAX, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
}

void model_library_folder(char folder[PATH_MAX]) {
    Dl_info info;
    char real[PATH_MAX];
    if (!dladdr((void *)(uintptr_t)nima_open, &info) || !info.dli_fname || !realpath(info.dli_fname, real))
        snprintf(real, sizeof real, "%s", cli_self());
    folder_of(real, folder);
}

void model_include_folder(char folder[PATH_MAX]) {
    char self[PATH_MAX], header[PATH_MAX + 32];
    folder_of(cli_self(), self);
    snprintf(header, sizeof header, "%s/../include/nima.h", self);
    char real[PATH_MAX];
    if (!access(header, R_OK) && realpath(header, real)) folder_of(real, folder);
    else snprintf(folder, PATH_MAX, "%s", NIMA_SOURCE_INCLUDE);
}

/* The folders of models that came with this program: of a build, of an installation. */
static bool shipped_folder(int i, char folder[2 * PATH_MAX]) {
    char base[PATH_MAX];
    if (i == 0) { folder_of(cli_self(), base); snprintf(folder, 2 * PATH_MAX, "%s/../models", base); return true; }
    model_library_folder(base);
    if (i == 1) { snprintf(folder, 2 * PATH_MAX, "%s/nima/models", base); return true; }
    return false;
}

static int no_dots(const struct dirent *e) {
    const char *dot = strrchr(e->d_name, '.');
    return dot && !strcmp(dot, ".so");
}

void model_list(FILE *to) {
    char folder[2 * PATH_MAX];
    for (int i = 0; shipped_folder(i, folder); i++) {
        struct dirent **found;
        const int n = scandir(folder, &found, no_dots, alphasort);
        for (int k = 0; k < n; k++) {
            fprintf(to, " %.*s", (int)(strlen(found[k]->d_name) - 3), found[k]->d_name);
            free(found[k]);
        }
        if (n >= 0) free(found);
    }
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static bool try_file(const char *path, char real[PATH_MAX]) { return !access(path, R_OK) && realpath(path, real); }

static bool find_file(const char *name, char real[PATH_MAX]) {
    static const char *const here[] = { "%s.c", "%s.cpp", "%s.so", "%s/%s.c" };
    char path[3 * PATH_MAX];
    if (strchr(name, '/') || compile_is_source(name) || ends_with(name, ".so")) return try_file(name, real);
    if (strlen(name) >= PATH_MAX / 4) return false;
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        snprintf(path, sizeof path, here[i], name, name);
        if (try_file(path, real)) return true;
    }
    char folder[2 * PATH_MAX];
    for (int i = 0; shipped_folder(i, folder); i++) {
        snprintf(path, sizeof path, "%s/%.200s.so", folder, name);
        if (try_file(path, real)) return true;
    }
    return false;
}

const nima_model *model_find(const char *name, bool quiet, char path[PATH_MAX], int *code) {
    char file[PATH_MAX];
    *code = EXIT_LOAD;
    if (!find_file(name, file)) {
        cli_say("there is no model %s", name);
        fputs("a model is a file (.c, .cpp, .so), a name of one in this folder, or one of:", stderr);
        model_list(stderr);
        fputc('\n', stderr);
        return NULL;
    }
    if (compile_is_source(file)) {
        if (!compile_model(file, quiet, path, code)) return NULL;
    } else memcpy(path, file, PATH_MAX);
    const nima_model *model;
    const nima_err error = nima_load(path, &model);
    if (!error) return model;
    cli_say("%s: %s", name, nima_error_detail(NULL));
    *code = (int)cli_exit_of(error);
    return NULL;
}

const nima_struct *model_parameters(const nima_model *m) {
    for (nima_part *const *p = m->parts; p < m->parts_end; p++)
        if (*p && (*p)->kind == NIMA_PART_PARAMS) return (const nima_struct *)(const void *)*p;
    return NULL;
}

const nima_message *model_message(const nima_model *m, uint32_t type) {
    for (nima_part *const *p = m->parts; p < m->parts_end; p++) {
        const nima_message *one = (const nima_message *)(const void *)*p;
        if (*p && (*p)->kind == NIMA_PART_MESSAGE && one->type == type) return one;
    }
    return NULL;
}
