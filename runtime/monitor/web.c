/* web.c: see web.h. */
#include "monitor/web.h"
#include "site.h"
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>

struct web {
    site *site;
    char url[WEB_URL_MAX], publish[WEB_URL_MAX];
    pthread_mutex_t lock;                    /* guards the run's pointer, held while a command runs */
    nima_run *run;
};

/* The files themselves, byte for byte. */
#define EMBED(name, file)                                                                                              \
    extern const char name[], name##_end[];                                                                            \
    __asm__(".section .rodata\n.globl " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" NIMA_WEB_FILES "/" file    \
            "\"\n.globl " #name "_end\n.hidden " #name "_end\n" #name "_end:\n.byte 0\n.previous\n")
EMBED(web_page_html, "page.html");
EMBED(web_page_css, "page.css");
EMBED(web_page_js, "page.js");
EMBED(web_data_js, "data.js");

static const char *command(void *arg, bool (*act)(nima_run *), const char *otherwise) {
    web *w = arg;
    pthread_mutex_lock(&w->lock);
    const char *why = !w->run ? "the run is not running" : act(w->run) ? NULL : otherwise;
    pthread_mutex_unlock(&w->lock);
    return why;
}
static bool act_pause(nima_run *r) { return run_request_if(r, RUN_GO, RUN_PAUSE); }
static bool act_resume(nima_run *r) { return run_request_if(r, RUN_PAUSE, RUN_GO); }
static bool act_stop(nima_run *r) { run_request(r, RUN_STOP); return true; }
static const char *on_pause(void *arg) { return command(arg, act_pause, "the run does not go on"); }
static const char *on_resume(void *arg) { return command(arg, act_resume, "the run is not paused"); }
static const char *on_stop(void *arg) { return command(arg, act_stop, ""); }
static const site_command commands[] = { { "/pause", on_pause }, { "/resume", on_resume }, { "/stop", on_stop } };

static bool split(const char *address, char host[256], unsigned *port) {
    const char *colon = strrchr(address, ':'), *digits = colon ? colon + 1 : address;
    const size_t length = colon ? (size_t)(colon - address) : 0;
    snprintf(host, 256, "127.0.0.1");
    *port = WEB_PORT;
    if (!*address) return true;
    if (length > 255 || !*digits || strlen(digits) > 5 || digits[strspn(digits, "0123456789")]) return false;
    *port = (unsigned)strtoul(digits, NULL, 10);
    if (*port < 1 || *port > 65535) return false;
    if (length) snprintf(host, 256, "%.*s", (int)length, address);
    for (const char *c = host; *c; c++) if (!isalnum((unsigned char)*c) && !strchr(".-:[]", *c)) return false;
    return !strchr(host, ':') || (host[0] == '[' && host[strlen(host) - 1] == ']');
}

bool web_is_address(const char *address) {
    char host[256];
    unsigned port;
    return split(address, host, &port);
}

web *web_open(const char *address, char *error, size_t room) {
    const site_file files[] = {
        { "/", "text/html; charset=utf-8", web_page_html, (size_t)(web_page_html_end - web_page_html) },
        { "/page.css", "text/css; charset=utf-8", web_page_css, (size_t)(web_page_css_end - web_page_css) },
        { "/page.js", "text/javascript; charset=utf-8", web_page_js, (size_t)(web_page_js_end - web_page_js) },
        { "/data.js", "text/javascript; charset=utf-8", web_data_js, (size_t)(web_data_js_end - web_data_js) } };
    static site_file kept[sizeof files / sizeof *files];
    char host[256];
    unsigned port;
    web *w = calloc(1, sizeof *w);
    if (!w || !split(address, host, &port)) {
        snprintf(error, room, w ? "%s is no HOST:PORT" : "no memory", address);
        free(w);
        return NULL;
    }
    memcpy(kept, files, sizeof kept);
    pthread_mutex_init(&w->lock, NULL);
    snprintf(w->url, sizeof w->url, "http://%s:%u", host, port);
    snprintf(w->publish, sizeof w->publish, "ws://%s:%u/publish", host, port);
    const site_options options = { .url = w->url, .files = kept, .file_count = sizeof kept / sizeof *kept, .commands = commands,
                                   .command_count = sizeof commands / sizeof *commands, .arg = w };
    transport_fault fault = { "no memory" };
    if (site_open(&w->site, &options, &fault) == TRANSPORT_OK) return w;
    snprintf(error, room, "%s", fault.text);
    web_close(w);
    return NULL;
}

const char *web_publish_url(const web *w) { return w->publish; }
void web_show_url(const web *w, char *url, size_t room) { snprintf(url, room, "%s/#%s", w->url, site_token(w->site)); }

void web_control(web *w, nima_run *run) {
    pthread_mutex_lock(&w->lock);
    w->run = run;
    pthread_mutex_unlock(&w->lock);
}

void web_close(web *w) {
    if (w) site_close(w->site);              /* w stays: a late request may look at it */
}
