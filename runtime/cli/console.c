/* console.c: see console.h. */
#include "cli/console.h"
#include "cli/cli.h"
#include "monitor/progress.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { OUT, ERR, WAKE, DRAW_MS = 200 };

struct console {
    /* constant after console_start */
    int real[2];                             /* standard output and error as they were */
    int from[3], to[3];                      /* pipes: both ends */
    FILE *screen; pthread_t thread;
    /* shared, under the lock */
    pthread_mutex_t lock;
    bool quit, open_line;                    /* open_line: standard output stands inside a line */
    int log; char *early; size_t early_bytes;   /* printed before there was a log */
    progress progress; bool shows;
};

static void write_all(int fd, const char *text, size_t bytes) {
    while (bytes) {
        const ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno != EINTR) return;     /* nobody reads it any more */
        if (n > 0) { text += n; bytes -= (size_t)n; }
    }
}

static void keep(console *c, const char *text, size_t bytes) {
    if (c->log >= 0) { write_all(c->log, text, bytes); return; }
    char *grown = realloc(c->early, c->early_bytes + bytes);
    if (!grown) return;
    c->early = grown;
    memcpy(c->early + c->early_bytes, text, bytes);
    c->early_bytes += bytes;
}

static bool pass_on(console *c, int which) {
    char block[1 << 16];
    const ssize_t n = read(c->from[which], block, sizeof block);
    if (n <= 0) return false;
    if (c->shows) progress_clear(&c->progress);
    write_all(c->real[which], block, (size_t)n);
    if (which == OUT) c->open_line = block[n - 1] != '\n';
    keep(c, block, (size_t)n);
    return true;
}

static void *watch(void *arg) {
    console *c = arg;
    for (bool quit = false; !quit;) {
        struct pollfd p[3] = { { c->from[OUT], POLLIN, 0 }, { c->from[ERR], POLLIN, 0 }, { c->from[WAKE], POLLIN, 0 } };
        poll(p, 3, DRAW_MS);
        pthread_mutex_lock(&c->lock);
        char wakes[16];
        if (p[WAKE].revents && read(c->from[WAKE], wakes, sizeof wakes) < 0) {}
        quit = c->quit;
        for (int i = OUT; i <= ERR; i++) while ((p[i].revents || quit) && pass_on(c, i)) {}
        if (c->shows) progress_draw(&c->progress);
        if (quit && c->shows) progress_clear(&c->progress);
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static void wake(console *c) { write_all(c->to[WAKE], "", 1); }

console *console_start(void) {
    console *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->log = -1;
    pthread_mutex_init(&c->lock, NULL);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) goto no;
        c->from[i] = ends[0];
        c->to[i] = ends[1];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    for (int i = OUT; i <= ERR; i++) {
        c->real[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        if (c->real[i] < 0) goto no;
    }
    c->screen = fdopen(fcntl(c->real[ERR], F_DUPFD_CLOEXEC, 3), "w");
    if (!c->screen || pthread_create(&c->thread, NULL, watch, c)) goto no;
    for (int i = OUT; i <= ERR; i++) dup2(c->to[i], i + 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return c;
no:
    cli_say("what the model prints cannot be copied into the log: %s", strerror(errno));
    free(c);
    return NULL;
}

int console_errors(const console *c) { return c->real[ERR]; }

void console_log(console *c, const char *path) {
    pthread_mutex_lock(&c->lock);
    c->log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (c->log >= 0) write_all(c->log, c->early, c->early_bytes);
    pthread_mutex_unlock(&c->lock);
}

void console_run(console *c, const nima_run *run) {
    pthread_mutex_lock(&c->lock);
    if (run) progress_init(&c->progress, c->screen, isatty(c->real[ERR]), run);
    else if (c->shows) progress_clear(&c->progress);
    c->shows = run != NULL;
    pthread_mutex_unlock(&c->lock);
}

void console_stop(console *c, FILE **out) {
    fflush(stdout);
    fflush(stderr);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, 1);
    dup2(c->real[ERR], 2);
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_mutex_unlock(&c->lock);
    wake(c);
    pthread_join(c->thread, NULL);
    if (c->open_line) write_all(c->real[OUT], "\n", 1);
    *out = fdopen(c->real[OUT], "w");
    close(nowhere);
    close(c->real[ERR]);
    if (c->log >= 0) close(c->log);
    for (int i = 0; i < 3; i++) { close(c->from[i]); close(c->to[i]); }
    fclose(c->screen);
    free(c->early);
    free(c);
}
