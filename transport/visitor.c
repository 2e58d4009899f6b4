/* visitor.c: see visitor.h. */
#include "visitor.h"
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 255 };

static bool is_own_name(const char *name) {
    char own[NAME_MAX_BYTES + 1] = "";
    if (gethostname(own, sizeof own - 1)) own[0] = 0;
    return strcasecmp(name, "localhost") == 0 || (own[0] && strcasecmp(name, own) == 0);
}

/* NAME, NAME:PORT, or [ADDRESS]:PORT. */
bool visitor_host_is_ours(const char *host) {
    char name[NAME_MAX_BYTES + 1];
    unsigned char address[16];
    if (!host) return false;
    const bool bracket = host[0] == '[';
    const size_t length = bracket ? strcspn(host + 1, "]") : strcspn(host, ":");
    if (length == 0 || length > NAME_MAX_BYTES) return false;
    memcpy(name, host + bracket, length);
    name[length] = 0;
    if (bracket) return inet_pton(AF_INET6, name, address) == 1;
    return inet_pton(AF_INET, name, address) == 1 || is_own_name(name);
}

bool visitor_is_ours(const char *origin, const char *host) {
    if (!visitor_host_is_ours(host)) return false;
    const char *at = origin ? strstr(origin, "://") : NULL;
    return !origin || (at && strcasecmp(at + 3, host) == 0);
}
