/* site.c: see site.h. A request is answered in one callback: it looks at the path, the visitor and, for a command, at the
 * token. NNG may call it on several threads. */
#include "site.h"
#include "visitor.h"
#include <nng/nng.h>
#include <nng/supplemental/http/http.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 1024 };
typedef struct { site *site; const site_file *file; const site_command *command; } part;

struct site {
    /* constant after site_open */
    site_options options;
    nng_http_server *server;
    char token[SITE_TOKEN_BYTES + 1];
    part parts[SITE_PARTS_MAX]; unsigned part_count;
};

static void say(const site *s, const char *what, const char *origin, const char *host) {
    char text[400];
    snprintf(text, sizeof text, "web: %s was refused to a page of %.100s at %.100s", what, origin ? origin : "no origin",
             host ? host : "no host");
    if (s->options.log) s->options.log(s->options.log_arg, TRANSPORT_WARNING, text);
    else fprintf(stderr, "%s\n", text);
}

/* ---- answers ---- */
static int set_header(nng_http_res *r, const char *name, const char *value) { return nng_http_res_set_header(r, name, value); }

static nng_http_res *answer(uint16_t status, const char *type, const void *body, size_t bytes) {
    nng_http_res *r;
    if (nng_http_res_alloc(&r)) return NULL;
    int e = nng_http_res_set_status(r, status);
    if (!e) e = set_header(r, "Content-Type", type);
    if (!e) e = set_header(r, "Cache-Control", "no-store");
    if (!e) e = set_header(r, "X-Content-Type-Options", "nosniff");
    if (!e) e = set_header(r, "Referrer-Policy", "no-referrer");
    if (!e) e = set_header(r, "Content-Security-Policy",
                           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (!e) e = nng_http_res_copy_data(r, body, bytes);
    if (!e) return r;
    nng_http_res_free(r);
    return NULL;
}

static nng_http_res *answer_text(uint16_t status, const char *text) {
    return answer(status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Takes as long whatever the token is. */
static bool has_token(const site *s, nng_http_req *request) {
    static const char scheme[] = "Bearer ";
    const char *given = nng_http_req_get_header(request, "Authorization");
    if (!given || strncmp(given, scheme, sizeof scheme - 1) != 0) return false;
    given += sizeof scheme - 1;
    return strlen(given) == SITE_TOKEN_BYTES && sodium_memcmp(given, s->token, SITE_TOKEN_BYTES) == 0;
}

static nng_http_res *obey(const site *s, const site_command *c) {
    const char *why = c->run(s->options.arg);
    return why ? answer_text(409, why) : answer_text(200, "done");
}

static nng_http_res *respond(const part *p, nng_http_req *request) {
    site *s = p->site;
    const char *origin = nng_http_req_get_header(request, "Origin"), *host = nng_http_req_get_header(request, "Host");
    const char *path = p->file ? p->file->path : p->command->path;
    if (!(p->file ? visitor_host_is_ours(host) : visitor_is_ours(origin, host))) {
        say(s, path, origin, host);
        return answer_text(403, "refused: not from here");
    }
    if (p->file) return answer(200, p->file->type, p->file->bytes, p->file->size);
    if (has_token(s, request)) return obey(s, p->command);
    say(s, path, origin, host);
    return answer_text(403, "refused: the token of this run is needed");
}

static void on_request(nng_aio *aio) {
    const part *p = nng_http_handler_get_data(nng_aio_get_input(aio, 1));
    nng_http_res *r = respond(p, nng_aio_get_input(aio, 0));
    if (r) nng_aio_set_output(aio, 0, r);
    nng_aio_finish(aio, r ? 0 : NNG_ENOMEM);
}

/* ---- open and close ---- */
static int add(site *s, const site_file *file, const site_command *command) {
    nng_http_handler *h;
    part *p = &s->parts[s->part_count++];
    *p = (part){s, file, command};
    int e = nng_http_handler_alloc(&h, file ? file->path : command->path, on_request);
    if (e) return e;
    e = nng_http_handler_set_method(h, file ? "GET" : "POST");
    if (!e) e = nng_http_handler_collect_body(h, true, BODY_MAX);
    if (!e) e = nng_http_handler_set_data(h, p, NULL);
    if (!e) e = nng_http_server_add_handler(s->server, h);
    if (e) nng_http_handler_free(h);
    return e;
}

static void draw_token(site *s) {
    unsigned char bytes[SITE_TOKEN_BYTES / 2];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(s->token, sizeof s->token, bytes, sizeof bytes);
}

transport_err site_open(site **out, const site_options *o, transport_fault *fault) {
    nng_url *url = NULL;
    *out = NULL;
    if (sodium_init() < 0) return transport_fail(fault, TRANSPORT_SYSTEM, "libsodium does not start");
    if (o->file_count + o->command_count > SITE_PARTS_MAX) return transport_fail(fault, TRANSPORT_OVERSIZED, "web: too many parts");
    site *s = calloc(1, sizeof *s);
    if (!s) return transport_fail(fault, TRANSPORT_MEMORY, "web: out of memory");
    s->options = *o;
    draw_token(s);
    int e = nng_url_parse(&url, o->url);
    if (!e) e = nng_http_server_hold(&s->server, url);
    for (unsigned i = 0; !e && i < o->file_count; i++) e = add(s, &o->files[i], NULL);
    for (unsigned i = 0; !e && i < o->command_count; i++) e = add(s, NULL, &o->commands[i]);
    if (!e) e = nng_http_server_start(s->server);
    if (url) nng_url_free(url);
    if (!e) { *out = s; return TRANSPORT_OK; }
    site_close(s);
    return transport_fail(fault, TRANSPORT_ADDRESS, "web: cannot serve at %s: %s", o->url, nng_strerror(e));
}

const char *site_token(const site *s) { return s->token; }

void site_close(site *s) {
    if (!s || !s->server) return;
    nng_http_server_stop(s->server);
    nng_http_server_release(s->server);
    sodium_memzero(s->token, sizeof s->token); /* the rest stays: a late callback may look at it */
}
