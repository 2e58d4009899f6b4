/* failure.c: what stops a run: broken promises, nima_fail, crash signals in a callback, memory exhausted.
 *
 * A failing shard is abandoned where it stands: its worker jumps out of the callback, back to its ticket loop. All other shards finish
 * the window, so that the set of failures does not depend on threads; the least (time, step, agent) of them is the one reported.
 * After a crash signal a forked copy of the process takes the signal again and leaves the core, where cores are wanted. */
#include "state.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Thread_local context *current;
enum { STACK_BYTES = FAILURE_STACK_BYTES };

context *failure_current(void) { return current; }

bool failure_earlier(const failure *a, const failure *b) {
    if (a->time != b->time) return a->time < b->time;
    return a->step != b->step ? a->step < b->step : a->agent.bits < b->agent.bits;
}

/* Keeps the failure, unless the worker met an earlier one in this window. */
static void note(context *c, nima_err code, const char *what) {
    failure one, *f = &one;
    char agent_text[80] = "";
    f->code = code;
    f->time = c->me.now;
    f->step = c->step;
    f->agent = c->me.self;
    if (c->me.self.bits) run_agent_name(c->engine->run, c->me.self, agent_text, sizeof agent_text);
    const nima_mail *m = c->in_callback && context_mail(c) > c->mail_first ? context_mail(c)[-1] : NULL;
    const char *name = m ? c->engine->message_names[m->type] : NULL;
    char mail_text[160] = "";
    if (m) {
        char sender[80] = "the embedding program";
        if (m->sender.bits) run_agent_name(c->engine->run, m->sender, sender, sizeof sender);
        snprintf(mail_text, sizeof mail_text, ", with %s (type %u) from %s in hand", name ? name : "a message", (unsigned)m->type, sender);
    }
    snprintf(f->text, sizeof f->text, "%s%sat time %lld, step %u%s: %s", agent_text, *agent_text ? " " : "", (long long)f->time, f->step,
             mail_text, what);
    if (!c->failed || failure_earlier(&one, &c->failure)) c->failure = one;
    c->failed = true;
}

void fail(context *c, nima_err code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    note(c, code, text);
    siglongjmp(c->escape, 1);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILURE_SIGNALS 0                    /* the sanitizer's own report says more */
#else
#define FAILURE_SIGNALS 1
static void on_signal(int number, siginfo_t *info, void *frame) {
    (void)frame;
    context *c = current;
    if (!c || !c->in_callback) {             /* in setup, check, done or finish, or in the engine: the process ends as it would without us */
        static const char said[] = "nima: crash outside an agent's callback: in setup, check, done or finish of the model, or in nima itself\n";
        if (write(STDERR_FILENO, said, sizeof said - 1) < 0) {}
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    struct rlimit cores;
    if (!getrlimit(RLIMIT_CORE, &cores) && cores.rlim_cur) {
        const pid_t copy = fork();
        if (copy == 0) {
            signal(number, SIG_DFL);
            sigset_t only;
            sigemptyset(&only);
            sigaddset(&only, number);
            sigprocmask(SIG_UNBLOCK, &only, NULL);
            raise(number);
            _exit(1);
        }
        if (copy > 0) waitpid(copy, NULL, 0);
    }
    const char *what = number == SIGSEGV ? "segmentation fault" : number == SIGBUS ? "bus error" : number == SIGFPE ? "arithmetic fault"
                     : number == SIGILL ? "illegal instruction" : "abort";
    char text[120];
    if (number == SIGSEGV || number == SIGBUS) {
        const char *world = "";
        for (world_piece *p = c->engine->run->pieces; p; p = p->next)
            if ((char *)info->si_addr >= (char *)p && (char *)info->si_addr < (char *)p + p->bytes) world = " (in the world, which is read-only)";
        snprintf(text, sizeof text, "crash: %s at address %p%s", what, info->si_addr, world);
    } else snprintf(text, sizeof text, "crash: %s", what);
    note(c, NIMA_E_CRASH, text);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    siglongjmp(c->escape, 1);
}

#endif

void failure_guard(bool on) {
    (void)on;
#if FAILURE_SIGNALS
    static struct sigaction before[5];
    static int users;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const int numbers[5] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&a.sa_mask);
    pthread_mutex_lock(&lock);
    if (on ? users++ == 0 : --users == 0)
        for (int i = 0; i < 5; i++) sigaction(numbers[i], on ? &a : &before[i], on ? &before[i] : NULL);
    pthread_mutex_unlock(&lock);
#endif
}

void failure_enter(context *c, failure_before *before) {
    const stack_t own = { .ss_sp = c->signal_stack, .ss_size = STACK_BYTES };
    before->context = current;
    current = c;
    if (FAILURE_SIGNALS) sigaltstack(c->signal_stack ? &own : NULL, &before->stack);
}

void failure_leave(const failure_before *before) {
    if (FAILURE_SIGNALS) sigaltstack(&before->stack, NULL);
    current = before->context;
}

void failure_collect(nima_run *r) {
    for (unsigned w = 0; w < r->threads; w++) {
        context *c = &r->contexts[w];
        if (c->failed && (!r->failed || failure_earlier(&c->failure, &r->failure))) r->failure = c->failure;
        r->failed |= c->failed;
    }
}

nima_err failure_set(nima_run *r, nima_err code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!r->failed) {
        r->failed = true;
        r->failure = (failure){ .code = code, .time = r->now };
        vsnprintf(r->failure.text, sizeof r->failure.text, format, args);
    }
    va_end(args);
    return r->failure.code;
}
