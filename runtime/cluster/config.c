/* config.c: cluster.cfg, with every setting checked: its name, its type, its range. libconfig reads the grammar; it
 * ignores names it is not asked for, and wraps integers that do not fit, so both are looked at here. See config.h. */
#include "cluster/private.h"
#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

typedef struct { const char *path; char *error; size_t room; bool wrong; config_t file; } reading;

static void complain(reading *r, const config_setting_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(reading *r, const config_setting_t *at, const char *format, ...) {
    if (r->wrong) return;
    r->wrong = true;
    const int n = snprintf(r->error, r->room, "%s:%d: ", r->path, at ? config_setting_source_line(at) : 1);
    va_list args;
    va_start(args, format);
    if (n > 0 && (size_t)n < r->room) vsnprintf(r->error + n, r->room - (size_t)n, format, args);
    va_end(args);
}

/* ---- values ---- */
static const char *name_of(const config_setting_t *s) {
    return config_setting_name(s) ? config_setting_name(s) : "setting";
}

static void take_text(reading *r, const config_setting_t *s, char *to, size_t room, const char *allowed,
                      const char *expected) {
    const char *text = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
    bool good = text && *text && *text != '-' && strlen(text) < room;
    for (const char *c = text; good && *c; c++) good = isalnum((unsigned char)*c) || strchr(allowed, *c);
    if (good) snprintf(to, room, "%s", text);
    else complain(r, s, "%s: expected %s, up to %zu characters", name_of(s), expected, room - 1);
}

/* What stands in the file, since libconfig wraps what does not fit. */
static bool as_written(const reading *r, const config_setting_t *s, long long value) {
    char line[1024] = "";
    FILE *f = fopen(r->path, "re");
    for (int i = 0; f && i < (int)config_setting_source_line(s); i++) if (!fgets(line, sizeof line, f)) line[0] = 0;
    if (f) fclose(f);
    const size_t length = strlen(name_of(s));
    for (const char *at = line; (at = strstr(at, name_of(s))) != NULL; at += length) {
        if (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
        const char *number = at + length + strspn(at + length, " \t");
        if (*number != '=' && *number != ':') continue;
        errno = 0;
        if (strtoll(number + 1, NULL, 0) == value && !errno) return true;
    }
    return false;
}

static void take_number(reading *r, const config_setting_t *s, uint32_t *to, uint32_t least, uint32_t most) {
    const int type = config_setting_type(s);
    const bool whole = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
    const long long n = type == CONFIG_TYPE_INT ? config_setting_get_int(s) : whole ? config_setting_get_int64(s) : -1;
    if (!whole || n < least || n > most || !as_written(r, s, n))
        complain(r, s, "%s: expected a whole number from %u to %u, on one line with its name", name_of(s), least, most);
    else *to = (uint32_t)n;
}

static void take_seconds(reading *r, const config_setting_t *s, uint32_t *ms, double least, double most) {
    const int type = config_setting_type(s);
    const double x = type == CONFIG_TYPE_FLOAT ? config_setting_get_float(s)
                     : type == CONFIG_TYPE_INT ? (double)config_setting_get_int(s)
                                               : -1.0;
    if (x >= least && x <= most) *ms = (uint32_t)lrint(x * 1000);
    else complain(r, s, "%s: expected seconds, from %g to %g", name_of(s), least, most);
}

static void take_bool(reading *r, const config_setting_t *s, bool *to) {
    if (config_setting_type(s) == CONFIG_TYPE_BOOL) *to = config_setting_get_bool(s);
    else complain(r, s, "%s: expected true or false", name_of(s));
}

static bool is(const config_setting_t *s, const char *name) { return !strcmp(name_of(s), name); }

/* ---- sections ---- */
static const char plain[] = "._-", path_letters[] = "._-/+@~", target_letters[] = "._-@:", address_letters[] = ".:-[]";

static void take_host(reading *r, const config_setting_t *s, config_host *h) {
    *h = (config_host){ .node = "nima-node", .dispatchers = 1 };
    if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
        complain(r, s, "hosts: expected groups { name = ...; address = ...; }");
        return;
    }
    for (int i = 0; i < config_setting_length(s) && !r->wrong; i++) {
        const config_setting_t *one = config_setting_get_elem(s, (unsigned)i);
        if (is(one, "name"))
            take_text(r, one, h->name, sizeof h->name, plain, "a name of letters, digits, dots, dashes");
        else if (is(one, "address"))
            take_text(r, one, h->address, sizeof h->address, address_letters, "an address, as 10.0.0.1");
        else if (is(one, "ssh"))
            take_text(r, one, h->ssh, sizeof h->ssh, target_letters, "a target of ssh, as user@host");
        else if (is(one, "node"))
            take_text(r, one, h->node, sizeof h->node, path_letters, "the path of nima-node there");
        else if (is(one, "dispatchers")) take_number(r, one, &h->dispatchers, 1, CONFIG_HOSTS_MAX);
        else if (is(one, "threads")) take_number(r, one, &h->threads, 1, 4096);
        else
            complain(r, one, "%s: not a setting of a host: name, address, ssh, node, dispatchers, threads",
                     name_of(one));
    }
    if (!*h->name) complain(r, s, "a host without a name");
    else if (!*h->address) complain(r, s, "host %s: address is missing: expected what the others reach it at", h->name);
}

static void take_hosts(reading *r, const config_setting_t *s, cluster_config *c) {
    const int n = config_setting_length(s);
    if (config_setting_type(s) != CONFIG_TYPE_LIST || n < 1 || n > CONFIG_HOSTS_MAX) {
        complain(r, s, "hosts: expected a list ( {...}, {...} ) of 1 to %d hosts", CONFIG_HOSTS_MAX);
        return;
    }
    for (int i = 0; i < n && !r->wrong; i++) {
        const config_setting_t *one = config_setting_get_elem(s, (unsigned)i);
        take_host(r, one, &c->host[i]);
        for (int j = 0; j < i && !r->wrong; j++)
            if (!strcmp(c->host[j].name, c->host[i].name)) complain(r, one, "host %s stands twice", c->host[i].name);
        c->dispatchers += c->host[i].dispatchers;
        if (c->dispatchers > CONFIG_HOSTS_MAX) complain(r, one, "hosts: more than %d dispatchers", CONFIG_HOSTS_MAX);
    }
    c->hosts = (uint32_t)n;
}

static void take_timeouts(reading *r, const config_setting_t *s, cluster_config *c) {
    if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
        complain(r, s, "timeouts: expected a group { lost = 3.0; ... }");
        return;
    }
    for (int i = 0; i < config_setting_length(s) && !r->wrong; i++) {
        const config_setting_t *one = config_setting_get_elem(s, (unsigned)i);
        if (is(one, "connect")) take_seconds(r, one, &c->connect_ms, 1, 600);
        else if (is(one, "heartbeat")) take_seconds(r, one, &c->heartbeat_ms, 0.05, 60);
        else if (is(one, "lost")) take_seconds(r, one, &c->lost_ms, 0.2, 600);
        else if (is(one, "window")) take_seconds(r, one, &c->window_ms, 1, 1e6);
        else complain(r, one, "%s: not a time-out: connect, heartbeat, lost, window", name_of(one));
    }
    if (c->heartbeat_ms * 2 > c->lost_ms) complain(r, s, "timeouts: lost must be at least twice heartbeat");
}

static void put_authority_first(reading *r, const config_setting_t *at, const char *name, cluster_config *c) {
    for (uint32_t i = 0; i < c->hosts; i++) {
        if (strcmp(c->host[i].name, name)) continue;
        const config_host it = c->host[i];
        memmove(&c->host[1], &c->host[0], i * sizeof it);
        c->host[0] = it;
        return;
    }
    complain(r, at, "authority: expected the name of one of the hosts");
}

static void take_all(reading *r, cluster_config *c) {
    const config_setting_t *root = config_root_setting(&r->file), *authority = NULL;
    char name[CONFIG_NAME_MAX + 1] = "";
    for (int i = 0; i < config_setting_length(root) && !r->wrong; i++) {
        const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
        if (is(s, "hosts")) take_hosts(r, s, c);
        else if (is(s, "authority")) { authority = s; take_text(r, s, name, sizeof name, plain, "the name of a host"); }
        else if (is(s, "port")) take_number(r, s, &c->port, 1024, 65534);
        else if (is(s, "timeouts")) take_timeouts(r, s, c);
        else if (is(s, "insecure")) take_bool(r, s, &c->insecure);
        else if (is(s, "any_arithmetic")) take_bool(r, s, &c->any_arithmetic);
        else if (is(s, "ssh_config"))
            take_text(r, s, c->ssh_config, sizeof c->ssh_config, path_letters, "the path of a file");
        else if (is(s, "key")) take_text(r, s, c->key, sizeof c->key, path_letters, "the path of a key file");
        else
            complain(r, s,
                     "%s: not a setting: hosts, authority, port, timeouts, ssh_config, key, insecure, any_arithmetic",
                     name_of(s));
    }
    if (!c->hosts) complain(r, NULL, "hosts is missing");
    if (authority && !r->wrong) put_authority_first(r, authority, name, c);
    for (uint32_t i = 1; i < c->hosts; i++)
        if (!*c->host[i].ssh && !*c->key)
            complain(r, NULL,
                     "host %s: expected ssh = \"user@host\", or, to start nima-node there by hand, the setting key",
                     c->host[i].name);
    if (c->port + c->dispatchers * (c->dispatchers - 1) + 2 * c->hosts > 65535)
        complain(r, NULL, "port: two for each pair of dispatchers, and for each host, counted from %u, go beyond 65535",
                 c->port);
}

nima_err cluster_config_read(cluster_config *c, const char *path, char *error, size_t room) {
    reading r = { .path = path, .error = error, .room = room };
    *c =
        (cluster_config){.port = 47000, .connect_ms = 30000, .heartbeat_ms = 500, .lost_ms = 3000, .window_ms = 600000};
    config_init(&r.file);
    if (config_read_file(&r.file, path)) take_all(&r, c);
    else {
        r.wrong = true;
        if (config_error_type(&r.file) == CONFIG_ERR_FILE_IO) snprintf(error, room, "%s: %s", path, strerror(errno));
        else snprintf(error, room, "%s:%d: %s", path, config_error_line(&r.file), config_error_text(&r.file));
    }
    config_destroy(&r.file);
    return r.wrong ? NIMA_E_USAGE : NIMA_OK;
}

void cluster_config_local(cluster_config *c, uint32_t dispatchers, uint32_t threads) {
    *c = (cluster_config){.hosts = 1,
                          .dispatchers = dispatchers,
                          .connect_ms = 30000,
                          .heartbeat_ms = 500,
                          .lost_ms = 3000,
                          .window_ms = 600000};
    c->host[0] = (config_host){ .dispatchers = dispatchers, .threads = threads };
}

void cluster_config_apply(const cluster_config *c, nima_options *o, run_tuning *t) {
    const config_host *h = &c->host[0];
    const unsigned cores = team_cores();
    t->cluster = c;
    t->dispatchers = c->dispatchers;
    t->here = h->dispatchers;
    if (h->threads) o->threads = h->threads;
    else if (!o->threads) o->threads = cores > h->dispatchers ? cores / h->dispatchers : 1;
}
