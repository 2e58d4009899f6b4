/* model.h: from what the user calls a model to a loaded one. */
#ifndef NIMA_CLI_MODEL_H
#define NIMA_CLI_MODEL_H
#include "nima.h"
#include <limits.h>

/* `name` is a path (of a shared object, or of a C or C++ file, which is compiled), or a name, looked for in this order:
 * in the working folder as NAME.c, NAME.cpp, NAME.so, NAME/NAME.c; among the models that came with this program. NULL:
 * said why on standard error, the exit code in *code. `quiet`: the compiler's command is not shown. */
const nima_model *model_find(const char *name, bool quiet, char path[PATH_MAX], int *code);
void model_list(FILE *);                     /* the names that came with this program */

/* What it declares; NULL: nothing, or no such message. */
const nima_struct *model_parameters(const nima_model *);
const nima_message *model_message(const nima_model *, uint32_t type);

/* Where a compiler finds nima.h, and a linker libnima.so. */
void model_include_folder(char folder[PATH_MAX]);
void model_library_folder(char folder[PATH_MAX]);
#endif
