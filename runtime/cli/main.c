/* main.c: the tool `nima`: picks the verb, and what all verbs share. Each verb has a file of its own. */
#include "cli/cli.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("nima: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int cli_usage(const char *verb, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("nima: ", stderr);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n`nima help%s%s` tells what can be given\n", *verb ? " " : "", verb);
    va_end(args);
    return EXIT_USAGE;
}

int cli_bad_option(const char *verb, char **argv, int code) {
    if (code == ':') return cli_usage(verb, "%s needs a value", argv[optind - 1]);
    const char *given = optind > 0 ? argv[optind - 1] : "";
    if (optopt && !strncmp(given, "--", 2)) return cli_usage(verb, "%s takes no value", given);
    if (optopt) return cli_usage(verb, "unknown option -%c", optopt);
    return cli_usage(verb, "unknown option %s", given);
}

cli_exit cli_exit_of(nima_err code) {
    switch (code) {
    case NIMA_OK: return EXIT_GOOD;
    case NIMA_E_USAGE: case NIMA_E_PARAM: case NIMA_E_INPUT: return EXIT_USAGE;
    case NIMA_E_MODEL: return EXIT_MODEL;
    case NIMA_E_CRASH: return EXIT_CRASH;
    case NIMA_E_MEMORY: return EXIT_MEMORY;
    case NIMA_E_SYSTEM: return EXIT_SYSTEM;
    case NIMA_E_LOAD: return EXIT_LOAD;
    case NIMA_E_HALTED: return EXIT_INTERRUPTED;
    case NIMA_E_LINK: return EXIT_LINK;
    }
    return EXIT_SYSTEM;
}

const char *cli_self(void) {
    static char path[PATH_MAX];
    if (!*path) {
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
    }
    return path;
}

void cli_quote(char *line, size_t room, const char *text) {
    size_t at = strlen(line);
    const bool plain =
        *text && !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")];
    if (at && at + 1 < room) line[at++] = ' ';
    if (plain) { snprintf(line + at, room - at, "%s", text); return; }
    if (at + 1 < room) line[at++] = '\'';
    for (; *text && at + 6 < room; text++) {
        if (*text == '\'') { memcpy(line + at, "'\\''", 4); at += 4; }
        else line[at++] = *text;
    }
    if (at + 1 < room) line[at++] = '\'';
    line[at < room ? at : room - 1] = 0;
}

bool cli_uint(const char *text, uint64_t *value) {
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !*end && !errno;
}

int main(int argc, char **argv) {
    if (argc < 2) { help_main(1, argv); return EXIT_USAGE; }
    const char *name = argv[1];
    opterr = 0;
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) return help_main(1, argv);
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) return version_main(1, argv);
    if (!strcmp(name, "_layout")) return layout_main(argc - 1, argv + 1);
    for (const cli_verb *v = cli_verbs; v->name; v++) {
        if (strcmp(v->name, name)) continue;
        for (int i = 2; i < argc && v->help; i++)
            if (!strcmp(argv[i], "--help") && v->main != run_main) return help_main(2, argv);
        return v->main(argc - 1, argv + 1);
    }
    return cli_usage("", "no such verb: %s", name);
}
