/* break.c: see break.h. */
#include "cli/break.h"
#include "cli/cli.h"
#include "cli/time_text.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define INSIDE "NIMA_IN_DEBUGGER"

static struct { char agent[160]; nima_time time; uint32_t step; nima_id id; bool reached; } stop;

/* For gdb: the callback that is about to run. */
extern void *break_target;
void *break_target;
extern void break_here(void);
__attribute__((noinline)) void break_here(void) { __asm__ volatile(""); }

bool break_inside(void) { return getenv(INSIDE) != NULL; }

int break_in_debugger(char **argv) {
    static char *words[512] = { "gdb", "-q", "-nx", "-ex", "set breakpoint pending on", "-ex", "set print thread-events off",
        "-ex", "handle SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT stop nopass", "-ex", "break break_here", "-ex", "run",
        "-ex", "eval \"tbreak *%p thread %d\", *(void **)&break_target, $_thread", "-ex", "continue",
        "-ex", "echo before that callback:\\n", "-ex", "where 1", "--args" };
    size_t n = 0;
    while (words[n]) n++;
    words[n++] = (char *)(uintptr_t)cli_self();
    for (size_t i = 0; argv[i]; i++) {
        if (n + 1 == sizeof words / sizeof *words) return cli_usage("run", "--break: too many arguments");
        words[n++] = argv[i];
    }
    setenv(INSIDE, "1", 1);
    execvp("gdb", words);
    cli_say("--break needs gdb: %s; `apt-get install gdb` brings it", strerror(errno));
    return EXIT_SYSTEM;
}

static void on_delivery(void *arg, const run_delivery *d) {
    (void)arg;
    if (stop.reached || !nima_same(d->agent, stop.id) || d->time < stop.time) return;
    if (d->time == stop.time && d->step < stop.step) return;
    nima_callback *callback = d->starts ? d->behavior->start : d->behavior->update;
    if (!callback) return;
    stop.reached = true;
    memcpy(&break_target, &callback, sizeof break_target);
    break_here();
}

int break_begin(const char *at, request *r) {
    const char *sign = strrchr(at, '@');
    char time[100];
    unsigned step = 0;
    if (!sign || sign == at || (size_t)(sign - at) >= sizeof stop.agent || strlen(sign) > sizeof time)
        return cli_usage("run", "--break %s: expected an agent and a time, as person[17]@3.5", at);
    snprintf(stop.agent, sizeof stop.agent, "%.*s", (int)(sign - at), at);
    snprintf(time, sizeof time, "%s", sign + 1);
    char *colon = strchr(time, ':');
    if (colon) {
        uint64_t n;
        if (!cli_uint(colon + 1, &n) || n > UINT32_MAX)
            return cli_usage("run", "--break %s: no step %s", at, colon + 1);
        step = (unsigned)n;
        *colon = 0;
    }
    if (!request_time(r, "--break", time, &stop.time)) return EXIT_USAGE;
    stop.step = step;
    r->tuning.on_delivery = on_delivery;
    return EXIT_GOOD;
}

int break_ready(nima_run *run) {
    char error[300];
    stop.id = run_agent_parse(run, stop.agent, error, sizeof error);
    return nima_is_nobody(stop.id) ? cli_usage("run", "--break %s", error) : EXIT_GOOD;
}
