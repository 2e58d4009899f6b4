/* progress.c: see progress.h. It reads only what run_progress_read gives, so it may run beside the run. */
#include "monitor/progress.h"
#include <time.h>

enum { LINE_EVERY_S = 5 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_init(progress *p, FILE *to, bool terminal, const nima_run *run) {
    *p = (progress){ .to = to, .terminal = terminal, .run = run, .last_wall = now_s() };
    p->next_line = p->last_wall + LINE_EVERY_S;
}

void progress_rate(double v, char *text, size_t room) {
    const char *const unit = v >= 1e9 ? " G" : v >= 1e6 ? " M" : v >= 1e3 ? " k" : "";
    const double shown = v >= 1e9 ? v / 1e9 : v >= 1e6 ? v / 1e6 : v >= 1e3 ? v / 1e3 : v;
    snprintf(text, room, shown < 10 && *unit ? "%.1f%s" : "%.0f%s", shown, unit);
}

static void duration(double s, char *text, size_t room) {
    if (s < 60) snprintf(text, room, "%.0f s", s);
    else if (s < 3600) snprintf(text, room, "%d:%02d min", (int)s / 60, (int)s % 60);
    else snprintf(text, room, "%.0f h %02d min", s / 3600 - 0.5 < 0 ? 0 : (double)(int)(s / 3600), (int)(s / 60) % 60);
}

void progress_draw(progress *p) {
    const double now = now_s();
    if (!p->terminal && now < p->next_line) return;
    run_progress at;
    run_progress_read(p->run, &at);
    const double per_unit = run_ticks_per_unit(p->run), since = now - p->last_wall;
    const double rate = since > 0 ? (double)(at.events - p->last_events) / since : 0;
    char rate_text[32], left[48] = "", share[32] = "";
    progress_rate(rate, rate_text, sizeof rate_text);
    if (at.until != NIMA_FOREVER && at.until > 0) {
        const double done = (double)at.time / (double)at.until;
        snprintf(share, sizeof share, " of %g", (double)at.until / per_unit);
        char wait[32];
        duration(at.wall_s * (1 - done) / (done > 0 ? done : 1), wait, sizeof wait);
        if (done > 0) snprintf(left, sizeof left, ", %.0f %%, %s left", 100 * done, wait);
    }
    fprintf(p->to, "%s%g%s %s, %s events/s%s%s", p->terminal ? "\r\033[K" : "nima: at ", (double)at.time / per_unit,
            share, run_unit(p->run), rate_text, left, p->terminal ? "" : "\n");
    fflush(p->to);
    p->drawn = p->terminal;
    if (since > 1 || !p->terminal) { p->last_wall = now; p->last_events = at.events; }
    p->next_line = now + LINE_EVERY_S;
}

void progress_clear(progress *p) {
    if (p->drawn) { fputs("\r\033[K", p->to); fflush(p->to); }
    p->drawn = false;
}
