/* new.c: `nima new`: a model that builds and runs as it is. The files stand in template/, and are compiled in. */
#include "cli/cli.h"
#include "cli/model.h"
#include "new_template.h"                    /* made by CMake: template_files[] */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <sys/stat.h>

static bool is_name(const char *text) {
    if (!isalpha((unsigned char)*text) || strlen(text) > 60) return false;
    for (; *text; text++) if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}

/* Writes `text` with its @WORDS@ filled in. */
static void fill_in(const char *text, const char *name, FILE *to) {
    char folder[PATH_MAX];
    while (*text) {
        if (!strncmp(text, "@NAME@", 6)) { fputs(name, to); text += 6; }
        else if (!strncmp(text, "@INCLUDE@", 9)) { model_include_folder(folder); fputs(folder, to); text += 9; }
        else if (!strncmp(text, "@LIBRARY@", 9)) { model_library_folder(folder); fputs(folder, to); text += 9; }
        else fputc(*text++, to);
    }
}

int new_main(int argc, char **argv) {
    static const struct option none[] = { { NULL, 0, NULL, 0 } };
    const int option = getopt_long(argc, argv, ":", none, NULL);
    if (option != -1) return cli_bad_option("new", argv, option);
    if (optind + 1 != argc) return cli_usage("new", "expected one name");
    const char *name = argv[optind];
    if (!is_name(name)) return cli_usage("new", "%s: a model's name is letters, digits and _, a letter first", name);
    if (mkdir(name, 0777)) {
        cli_say("%s: %s", name, strerror(errno));
        return errno == EEXIST ? EXIT_USAGE : EXIT_SYSTEM;
    }
    printf("wrote");
    for (size_t i = 0; i < sizeof template_files / sizeof *template_files; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s%s%s", name, template_files[i].before, template_files[i].named ? name : "",
                 template_files[i].after);
        FILE *f = fopen(path, "wxe");
        if (f) fill_in(template_files[i].text, name, f);
        const bool written = f && !ferror(f);
        if (!f || fclose(f) || !written) { cli_say("%s: %s", path, strerror(errno)); return EXIT_SYSTEM; }
        printf(" %s", path);
    }
    printf("\nrun it:   nima run %s\ntest it:  make -C %s test\n", name, name);
    return EXIT_GOOD;
}
