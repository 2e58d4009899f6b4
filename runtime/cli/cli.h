/* cli.h: what the verbs of the tool `nima` share: exit codes, messages, the table of verbs. */
#ifndef NIMA_CLI_H
#define NIMA_CLI_H
#include "run.h"
#include <stdnoreturn.h>

/* Code, and what it means: `nima help exit-codes` prints this list. */
#define CLI_EXITS(X)                                                                                                   \
    X(EXIT_GOOD, 0, "success")                                                                                         \
    X(EXIT_DIFFERS, 1, "verify: histories differ; sweep: a run failed; doctor, cluster check: something is missing or wrong")           \
    X(EXIT_USAGE, 2, "an option, a parameter or an input file was refused; nothing was started")                       \
    X(EXIT_MODEL, 3, "the model failed (nima_fail) or broke a promise")                                                \
    X(EXIT_CRASH, 4, "the model crashed")                                                                              \
    X(EXIT_MEMORY, 5, "out of memory")                                                                                 \
    X(EXIT_SYSTEM, 6, "a call to the system failed: disk full, no thread, no permission ...")                          \
    X(EXIT_LOAD, 7, "the model was not found, or could not be compiled or loaded")                                     \
    X(EXIT_LINK, 8, "a link or another process was lost")                                                              \
    X(EXIT_INTERRUPTED, 130,                                                                                           \
      "interrupted by Ctrl-C: once, results are kept; twice, at once (by SIGTERM: 143, by SIGHUP: 129)")
#define CLI_EXIT_ENUM(name, code, text) name = code,
typedef enum { CLI_EXITS(CLI_EXIT_ENUM) } cli_exit;
#undef CLI_EXIT_ENUM

typedef struct { const char *name, *arguments, *line; int (*main)(int argc, char **argv); const char *help; } cli_verb;
extern const cli_verb cli_verbs[];           /* ends with name NULL */

int run_main(int argc, char **argv);
int new_main(int argc, char **argv);
int sweep_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int layout_main(int argc, char **argv);      /* one run of verify, in a process of its own */
int show_main(int argc, char **argv);
int watch_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int cluster_main(int argc, char **argv);
int help_main(int argc, char **argv);
int version_main(int argc, char **argv);

/* "nima: ..." on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, then how to get help with this verb; returns EXIT_USAGE. */
int cli_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
cli_exit cli_exit_of(nima_err);
/* What getopt_long calls a bad option, in words; returns EXIT_USAGE. */
int cli_bad_option(const char *verb, char **argv, int code);

const char *cli_self(void);                  /* absolute path of this program */
/* `text` as one word of a shell, appended to `line` after a blank. */
void cli_quote(char *line, size_t room, const char *text);
bool cli_uint(const char *text, uint64_t *value);   /* decimal digits only, all of them, in range */
#endif
