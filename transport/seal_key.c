/* seal_key.c: the run's key as a file that nobody else can read, or as a line from the launcher. */
#include "seal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 64 };

void seal_key_new(seal_key *key) { randombytes_buf(key->bytes, sizeof key->bytes); }
void seal_key_wipe(seal_key *key) { sodium_memzero(key, sizeof *key); }

static transport_err parse(seal_key *key, const char *digits, size_t count, const char *from, transport_fault *fault) {
    size_t bytes = 0;
    const char *end = NULL;
    if (count == DIGITS && sodium_hex2bin(key->bytes, sizeof key->bytes, digits, count, NULL, &bytes, &end) == 0 &&
        bytes == sizeof key->bytes && end == digits + DIGITS)
        return TRANSPORT_OK;
    seal_key_wipe(key);
    return transport_fail(fault, TRANSPORT_MALFORMED, "%s: a key is %d hexadecimal digits and a newline", from, DIGITS);
}

/* One line from fd, byte by byte: what follows it on a pipe is not ours. */
static transport_err read_line(seal_key *key, int fd, const char *from, transport_fault *fault) {
    char line[DIGITS + 1];
    size_t count = 0;
    transport_err err = TRANSPORT_OK;
    for (char c = 0; count <= DIGITS;) {
        const ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) { err = transport_fail(fault, TRANSPORT_SYSTEM, "%s: %s", from, strerror(errno)); break; }
        if (got == 0 || c == '\n') break;
        line[count++] = c;
    }
    if (!err) err = parse(key, line, count, from, fault);
    sodium_memzero(line, sizeof line);
    return err;
}

transport_err seal_key_receive(seal_key *key, int fd, transport_fault *fault) {
    return read_line(key, fd, "key from the launcher", fault);
}

transport_err seal_key_read(seal_key *key, const char *path, transport_fault *fault) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return transport_fail(fault, TRANSPORT_SYSTEM, "key file %s: %s", path, strerror(errno));
    struct stat file;
    transport_err err = TRANSPORT_OK;
    if (fstat(fd, &file) != 0) err = transport_fail(fault, TRANSPORT_SYSTEM, "key file %s: %s", path, strerror(errno));
    else if (!S_ISREG(file.st_mode))
        err = transport_fail(fault, TRANSPORT_INSECURE, "key file %s: not a regular file", path);
    else if (file.st_uid != geteuid())
        err = transport_fail(fault, TRANSPORT_INSECURE, "key file %s: belongs to user %u, not to %u", path, file.st_uid,
                             geteuid());
    else if (file.st_mode & 0177)
        err = transport_fail(fault, TRANSPORT_INSECURE,
                             "key file %s: mode %04o lets others in; chmod 600 it, and better make a new key", path,
                             file.st_mode & 07777);
    if (!err) err = read_line(key, fd, path, fault);
    close(fd);
    return err;
}

transport_err seal_key_write(const seal_key *key, const char *path, transport_fault *fault) {
    char digits[DIGITS + 1];
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return transport_fail(fault, TRANSPORT_SYSTEM, "key file %s: %s", path, strerror(errno));
    sodium_bin2hex(digits, sizeof digits, key->bytes, sizeof key->bytes);
    digits[DIGITS] = '\n';
    const bool written = write(fd, digits, sizeof digits) == (ssize_t)sizeof digits;
    const int cause = errno;
    sodium_memzero(digits, sizeof digits);
    if (close(fd) == 0 && written) return TRANSPORT_OK;
    unlink(path);
    return transport_fail(fault, TRANSPORT_SYSTEM, "key file %s: %s", path, strerror(cause));
}
