/* compile.c: see compile.h. The cache ($XDG_CACHE_HOME/nima, else ~/.cache/nima) is keyed by the preprocessed text,
 * which holds every included file, the flags, and the compiler: a changed header or an upgraded compiler is noticed. */
#include "cli/compile.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "hash.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMAND_ROOM = 4 * PATH_MAX, FULL_ROOM = 8 * PATH_MAX };

static const char *extension(const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}
static bool is_c(const char *path) { return !strcmp(extension(path), ".c"); }
bool compile_is_source(const char *path) {
    const char *e = extension(path);
    return is_c(path) || !strcmp(e, ".cpp") || !strcmp(e, ".cc") || !strcmp(e, ".cxx");
}

/* "cc flags -I.. FILE": what both the preprocessor and the compiler are given; $CC, $CXX and $CFLAGS as make has them
 */
static void command_begin(const char *source, char *command) {
    char folder[PATH_MAX], include[PATH_MAX + 2];
    const char *compiler = getenv(is_c(source) ? "CC" : "CXX"), *flags = getenv(is_c(source) ? "CFLAGS" : "CXXFLAGS");
    if (!compiler || !*compiler) compiler = is_c(source) ? "cc" : "c++";
    snprintf(command, COMMAND_ROOM, "%s -std=%s -O2 -g -fPIC -shared -ffp-contract=off -Wall -Wextra%s%s", compiler,
             is_c(source) ? "gnu17" : "gnu++20", flags && *flags ? " " : "", flags ? flags : "");
    model_include_folder(folder);
    snprintf(include, sizeof include, "-I%s", folder);
    cli_quote(command, COMMAND_ROOM, include);
}

static bool hash_of_output(const char *command, uint64_t *hash) {
    FILE *f = popen(command, "re");
    if (!f) return false;
    uint64_t h = hash_text(command);
    char block[1 << 14];
    for (size_t n; (n = fread(block, 1, sizeof block - 1, f)) > 0;) {
        for (size_t i = 0; i < n; i++) if (!block[i]) block[i] = 1;
        block[n] = 0;
        h = hash_mum(h ^ hash_text(block), HASH_K0);
    }
    *hash = h;
    const int status = pclose(f);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool cache_folder(char folder[PATH_MAX], int *code) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && *base) snprintf(folder, PATH_MAX, "%.2000s/nima", base);
    else snprintf(folder, PATH_MAX, "%.2000s/.cache/nima", home && *home ? home : "/tmp");
    for (char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash) *slash = 0;
        const bool made = !mkdir(folder, 0777) || errno == EEXIST;
        if (!made) {
            cli_say("folder of compiled models %s: %s", folder, strerror(errno));
            *code = EXIT_SYSTEM;
            return false;
        }
        if (!slash) return true;
        *slash = '/';
    }
}

static bool has_compiler(const char *command) {
    char check[PATH_MAX];
    snprintf(check, sizeof check, "command -v %.*s >/dev/null", (int)strcspn(command, " "), command);
    return system(check) == 0;
}

static void command_end(const char *command, const char *object, const char *source, char *full) {
    snprintf(full, FULL_ROOM, "%s -o", command);
    cli_quote(full, FULL_ROOM, object);
    cli_quote(full, FULL_ROOM, source);
    strncat(full, " -lm", FULL_ROOM - strlen(full) - 1);
}

bool compile_model(const char *source, bool quiet, char object[PATH_MAX], int *code) {
    char command[COMMAND_ROOM], full[FULL_ROOM], folder[PATH_MAX], unfinished[PATH_MAX + 32];
    uint64_t text_hash, compiler_hash = 0;
    *code = EXIT_LOAD;
    command_begin(source, command);
    if (!has_compiler(command)) {
        cli_say("%s needs a compiler, and there is no %.*s here; `apt-get install build-essential` brings one", source,
                (int)strcspn(command, " "), command);
        return false;
    }
    snprintf(full, sizeof full, "%.*s --version", (int)strcspn(command, " "), command);
    if (!hash_of_output(full, &compiler_hash)) { cli_say("`%s` fails", full); return false; }
    snprintf(full, sizeof full, "%s -E", command);
    cli_quote(full, sizeof full, source);
    if (!hash_of_output(full, &text_hash)) { cli_say("%s could not be compiled", source); return false; }
    if (!cache_folder(folder, code)) return false;
    const char *name = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    const int stem = (int)(strlen(name) - strlen(extension(name)));
    if (snprintf(object, PATH_MAX, "%s/%.*s-%016llx.so", folder, stem < 200 ? stem : 200, name,
                 (unsigned long long)hash_mum(text_hash ^ HASH_K1, compiler_hash ^ HASH_K2)) >= PATH_MAX) return false;
    if (!access(object, R_OK)) return true;
    command_end(command, object, source, full);
    if (!quiet) fprintf(stderr, "%s\n", full);
    snprintf(unfinished, sizeof unfinished, "%s.%d", object, (int)getpid());   /* another process may do the same */
    command_end(command, unfinished, source, full);
    const int status = system(full);
    if (status == 0 && rename(unfinished, object) == 0) return true;
    unlink(unfinished);
    if (status == 0) cli_say("%s: %s", object, strerror(errno));
    else cli_say("%s could not be compiled", source);
    return false;
}
