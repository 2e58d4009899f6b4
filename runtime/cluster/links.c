/* links.c: who the dispatchers of a run are, where their links are, and opening them. Every two have one link: the one
 * with the lower number listens. On one host a link is in the folder of its sockets; between hosts it is tcp, sealed
 * with the run's key. */
#include "cluster/private.h"
#include <errno.h>
#include <stdlib.h>

static const config_host *host_of(const cluster *k, uint32_t d) {
    const cluster_config *c = k->config;
    for (uint32_t h = 0; h < c->hosts; h++) {
        if (d < c->host[h].dispatchers) return &c->host[h];
        d -= c->host[h].dispatchers;
    }
    return NULL;
}

/* Between hosts each link has two ports of its own, numbered over all pairs of the run. */
static uint32_t port_of(const cluster *k, uint32_t low, uint32_t high) {
    return k->config->port + 2 * (low * (2 * k->count - low - 1) / 2 + (high - low - 1));
}

static void name_of(const cluster *k, uint32_t d, char name[WIRE_NAME_MAX + 1]) {
    const config_host *h = host_of(k, d);
    if (*h->name) snprintf(name, WIRE_NAME_MAX + 1, "dispatcher-%u.%s", d, h->name);
    else snprintf(name, WIRE_NAME_MAX + 1, "dispatcher-%u", d);
}

/* "": a socket in the folder of their host. */
static void url_of(const cluster *k, uint32_t a, uint32_t b, char url[URL_MAX]) {
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    url[0] = 0;
    if (host_of(k, low) == host_of(k, high)) return;
    const uint32_t port = port_of(k, low, high);
    snprintf(url, URL_MAX, "tcp://%s:%u,%u", host_of(k, low)->address, port, port + 1);
}

void links_describe(const cluster *k, uint32_t first, uint32_t count, FILE *to) {
    const cluster_config *c = k->config;
    char name[WIRE_NAME_MAX + 1], url[URL_MAX];
    fprintf(to, "@times %u %u %u %d\n", c->connect_ms, c->heartbeat_ms, c->lost_ms, c->insecure);
    for (uint32_t d = 0; d < k->count; d++) {
        name_of(k, d, name);
        fprintf(to, "@name %u %s\n", d, name);
    }
    for (uint32_t a = first; a < first + count; a++)
        for (uint32_t b = 0; b < k->count; b++) {
            if (a == b) continue;
            url_of(k, a, b, url);
            if (*url) fprintf(to, "@link %u %u %s\n", a, b, url);
        }
}

static bool read_line(cluster *k, const char *line) {
    uint32_t a, b;
    int insecure, at = 0;
    cluster_config *c = &k->own;
    if (sscanf(line, "times %u %u %u %d", &c->connect_ms, &c->heartbeat_ms, &c->lost_ms, &insecure) == 4) {
        c->insecure = insecure;
        return true;
    }
    if (sscanf(line, "name %u %n", &a, &at) == 1 && at && a < k->count) {
        snprintf(k->peers[a].name, sizeof k->peers[a].name, "%.*s", WIRE_NAME_MAX, line + at);
        return true;
    }
    if (sscanf(line, "link %u %u %n", &a, &b, &at) != 2 || !at || b >= k->count) return false;
    if (a == k->self) snprintf(k->peers[b].url, URL_MAX, "%.*s", URL_MAX - 1, line + at);
    return true;
}

static nima_err read_folder(cluster *k, char *error, size_t room) {
    char path[PATH_MAX], line[512];
    snprintf(path, sizeof path, "%s/links", k->folder);
    FILE *f = fopen(path, "re");
    if (!f) { snprintf(error, room, "%s: %s", path, strerror(errno)); return NIMA_E_SYSTEM; }
    bool good = true;
    while (good && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        good = read_line(k, line);
    }
    fclose(f);
    if (!good) { snprintf(error, room, "%s: a line that is not understood: %s", path, line); return NIMA_E_SYSTEM; }
    transport_fault fault;
    snprintf(path, sizeof path, "%s/key", k->folder);
    k->has_key = !k->own.insecure && access(path, F_OK) == 0;
    if (k->has_key && seal_key_read(&k->key, path, &fault)) {
        snprintf(error, room, "%s", fault.text);
        return NIMA_E_SYSTEM;
    }
    k->config = &k->own;
    return NIMA_OK;
}

nima_err links_name(cluster *k, char *error, size_t room) {
    if (k->self) {
        const nima_err code = read_folder(k, error, room);
        if (code) return code;
    }
    for (uint32_t d = 0; d < k->count; d++) {
        peer_place *p = &k->peers[d];
        if (!k->self) {
            name_of(k, d, p->name);
            url_of(k, 0, d, p->url);
        }
        if (!*p->url && d != k->self)
            snprintf(p->url, URL_MAX, "ipc://%.150s/%u-%u", k->folder, d < k->self ? d : k->self,
                     d < k->self ? k->self : d);
    }
    return NIMA_OK;
}

static void on_log(void *arg, transport_level level, const char *text) {
    (void)arg;
    if (level >= TRANSPORT_WARNING) fprintf(stderr, "nima: %s\n", text);
}

nima_err links_open(cluster *k, char *error, size_t room) {
    const cluster_config *c = k->config;
    transport_fault fault;
    for (uint32_t d = 0; d < k->count; d++) {
        if (d == k->self) continue;
        const peer_place *p = &k->peers[d];
        const bool here = !strncmp(p->url, "ipc:", 4);
        link_options o = {.url = p->url,
                          .self = k->peers[k->self].name,
                          .peer = p->name,
                          .role = k->self,
                          .connect_ms = c->connect_ms,
                          .hello_ms = 1500,
                          .heartbeat_ms = c->heartbeat_ms,
                          .lost_ms = c->lost_ms,
                          .key = k->has_key ? &k->key : NULL,
                          .insecure = c->insecure && !here,
                          .log = on_log};
        memcpy(o.run_id, k->run_id, 16);
        const transport_err e =
            k->self < d ? link_listen(&k->links[d], &o, &fault) : link_dial(&k->links[d], &o, &fault);
        if (e) { snprintf(error, room, "%s", fault.text); return NIMA_E_LINK; }
    }
    return NIMA_OK;
}

bool links_are_up(const cluster *k) {
    for (uint32_t d = 0; d < k->count; d++) if (k->links[d] && !link_is_up(k->links[d])) return false;
    return true;
}
