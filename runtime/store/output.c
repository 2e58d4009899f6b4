/* output.c: see output.h. */
#include "store/output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18, WRITE_AT = BUFFER_BYTES / 2 };

bool output_open(output *o, const char *folder, const char *name) {
    *o = (output){ .fd = -1 };
    if ((size_t)snprintf(o->path, sizeof o->path, "%s/%s", folder, name) >= sizeof o->path) {
        errno = o->failed = ENAMETOOLONG;
        return false;
    }
    o->buffer = malloc(BUFFER_BYTES);
    if (o->buffer) o->fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (o->fd < 0) o->failed = errno ? errno : ENOMEM;
    return !o->failed;
}

static bool write_out(output *o, const char *text, size_t bytes) {
    while (bytes && !o->failed) {
        const ssize_t n = write(o->fd, text, bytes);
        if (n < 0 && errno != EINTR) o->failed = errno;
        if (n > 0) { text += n; bytes -= (size_t)n; }
    }
    return !o->failed;
}

static bool write_buffer(output *o) {
    const size_t bytes = o->used;
    o->used = 0;
    return write_out(o, o->buffer, bytes);
}

char *output_room(output *o, size_t bytes) {
    if (o->failed || bytes > BUFFER_BYTES) return NULL;
    if (o->used + bytes > BUFFER_BYTES && !write_buffer(o)) return NULL;
    return o->buffer + o->used;
}

bool output_add(output *o, const char *text, size_t bytes) {
    if (o->failed) return false;
    if (bytes > BUFFER_BYTES) return write_buffer(o) && write_out(o, text, bytes);
    char *to = output_room(o, bytes);
    if (!to) return false;
    memcpy(to, text, bytes);
    o->used += bytes;
    return true;
}

void output_end_line(output *o) {
    if (o->used >= WRITE_AT) write_buffer(o);
}

bool output_flush(output *o) {
    if (o->fd < 0) return !o->failed;
    struct stat s;
    if (!o->failed && write_buffer(o) && !fstat(o->fd, &s) && s.st_nlink == 0) o->failed = ENOENT;
    return !o->failed;
}

bool output_close(output *o) {
    output_flush(o);
    if (o->fd >= 0 && close(o->fd) && !o->failed) o->failed = errno;
    o->fd = -1;
    free(o->buffer);
    o->buffer = NULL;
    return !o->failed;
}
