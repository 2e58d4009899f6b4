/* publish_map.c: values for publish.h, packed with msgpack-c into a buffer that grows. The header of a map says how
 * many pairs follow, so room for it is kept in front and filled in at the end (map16, which any library reads). */
#include "publish_private.h"
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

void publish_map_init(publish_map *m) {
    *m = (publish_map){0};
    publish_map_clear(m);
}

void publish_map_fini(publish_map *m) {
    free(m->data);
    *m = (publish_map){0};
}

void publish_map_clear(publish_map *m) {
    m->used = PUBLISH_MAP_HEADER;
    m->pairs = 0;
    m->failed = false;
}

static int append(void *arg, const char *bytes, size_t count) {
    publish_map *m = arg;
    if (count > PUBLISH_BYTES_MAX || m->used + count > PUBLISH_BYTES_MAX) m->failed = true;
    if (m->failed) return -1;
    if (m->used + count > m->room) {
        const size_t room = 2 * (m->used + count) + 256;
        uint8_t *data = realloc(m->data, room);
        if (!data) { m->failed = true; return -1; }
        m->data = data;
        m->room = room;
    }
    memcpy(m->data + m->used, bytes, count);
    m->used += count;
    return 0;
}

static msgpack_packer begin(publish_map *m, const char *name) {
    msgpack_packer p;
    msgpack_packer_init(&p, m, append);
    msgpack_pack_str(&p, strlen(name));
    msgpack_pack_str_body(&p, name, strlen(name));
    if (++m->pairs > UINT16_MAX) m->failed = true;
    return p;
}

void publish_int(publish_map *m, const char *name, int64_t value) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_int64(&p, value);
}
void publish_uint(publish_map *m, const char *name, uint64_t value) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_uint64(&p, value);
}
void publish_double(publish_map *m, const char *name, double value) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_double(&p, value);
}
void publish_bool(publish_map *m, const char *name, bool value) {
    msgpack_packer p = begin(m, name);
    if (value) msgpack_pack_true(&p);
    else msgpack_pack_false(&p);
}
void publish_text(publish_map *m, const char *name, const char *text) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_str(&p, strlen(text));
    msgpack_pack_str_body(&p, text, strlen(text));
}
void publish_bin(publish_map *m, const char *name, const void *at, size_t bytes) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_bin(&p, bytes);
    msgpack_pack_bin_body(&p, at, bytes);
}
void publish_doubles(publish_map *m, const char *name, const double *values, size_t count) {
    msgpack_packer p = begin(m, name);
    msgpack_pack_array(&p, count);
    for (size_t i = 0; i < count; i++) msgpack_pack_double(&p, values[i]);
}
void publish_inner(publish_map *m, const char *name, publish_map *inner) {
    begin(m, name);
    if (!publish_map_finish(inner) || append(m, (const char *)inner->data, inner->used)) m->failed = true;
    publish_map_clear(inner);
}

bool publish_map_finish(publish_map *m) {
    if (m->failed || (m->room < m->used && (append(m, "", 0) != 0))) return false;
    m->data[0] = 0xDE;
    m->data[1] = (uint8_t)(m->pairs >> 8);
    m->data[2] = (uint8_t)m->pairs;
    return true;
}
