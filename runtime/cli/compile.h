/* compile.h: a model's C or C++ file to a shared object, kept in a cache. */
#ifndef NIMA_COMPILE_H
#define NIMA_COMPILE_H
#include <limits.h>
#include <stdbool.h>

bool compile_is_source(const char *path);
/* False: said why, and *code is the exit code. */
bool compile_model(const char *source, bool quiet, char object[PATH_MAX], int *code);
#endif
