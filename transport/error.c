/* error.c: texts for the codes of error.h. */
#include "error.h"
#include <stdarg.h>
#include <stdio.h>

const char *transport_error_text(transport_err err) {
    switch (err) {
#define X(name, code, text) \
    case TRANSPORT_##name: return text;
        TRANSPORT_ERRORS(X)
#undef X
    }
    return "unknown error";
}

transport_err transport_fail(transport_fault *fault, transport_err err, const char *format, ...) {
    if (!fault) return err;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return err;
}
