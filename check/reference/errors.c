/* errors.c: a broken promise or a failure leaves the run by longjmp, with agent, time and message named. */
#include "reference.h"
#include <stdarg.h>

void ref_fail(nima_run *run, nima_err code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(run->error, sizeof run->error, format, args);
    va_end(args);
    run->failed = code;
    longjmp(run->escape, 1);
}

static void fail_in(const ref_callback *c, const char *format, va_list args) {
    char what[512], agent[128];
    vsnprintf(what, sizeof what, format, args);
    const char *name = c->agent->behavior->part.name;
    const bool newborn = c->agent->index == UINT64_MAX;
    const uint64_t number = newborn ? c->me.self.bits : c->agent->index;
    snprintf(agent, sizeof agent, newborn ? "%s#%llX" : "%s[%llu]", name, (unsigned long long)number);
    ref_fail(c->run, NIMA_E_MODEL, "%s at tick %lld, step %u: %s", agent, (long long)c->me.now, c->step, what);
}

void ref_fail_in(const ref_callback *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_in(c, format, args);
    va_end(args);
    __builtin_unreachable();
}

void nima_fail(nima *me, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_in(ref_of(me), format, args);
    va_end(args);
    __builtin_unreachable();
}

const char *nima_error_text(nima_err e) {
    switch (e) {
#define TEXT(name, value, text) case name: return text;
    NIMA_ERRORS(TEXT)
#undef TEXT
    }
    return "unknown error";
}

void ref_arrival(const ref_callback *c, nima_time delay, const char *what, uint32_t type, nima_time *time,
                 uint32_t *step) {
    if (delay < 0) ref_fail_in(c, "%s of type %u with delay %lld", what, type, (long long)delay);
    if (delay > NIMA_FOREVER - 1 - c->me.now) ref_fail_in(c, "%s of type %u beyond the end of time", what, type);
    *time = c->me.now + delay;
    *step = delay ? 0 : c->step + 1;
    if (*step >= c->run->step_bound)
        ref_fail_in(c, "%s of type %u would arrive at step %u, the bound", what, type, *step);
}

void ref_check_message(const ref_callback *c, uint32_t type, uint32_t bytes) {
    if (type == 0 || type > 65535) ref_fail_in(c, "message of type %u: types are 1 to 65535", type);
    if (bytes > NIMA_PAYLOAD_MAX)
        ref_fail_in(c, "message of type %u with %u bytes: at most %u", type, bytes, NIMA_PAYLOAD_MAX);
}
