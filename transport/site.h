/* site.h: a few fixed files and commands over HTTP, on the port of a ws publish socket.
 *
 * Files are read by GET, by anybody whose Host is ours (visitor.h). A command is a POST with the header
 * `Authorization: Bearer TOKEN`; a page of another origin, another Host or another token gets 403 and nothing happens.
 * Commands are called on NNG's threads. Open the site before the publish socket that shares its port. */
#ifndef TRANSPORT_SITE_H
#define TRANSPORT_SITE_H
#include "error.h"
#include <stddef.h>

enum { SITE_TOKEN_BYTES = 32, SITE_PARTS_MAX = 16 };       /* token: in text */

typedef struct site site;
typedef struct { const char *path, *type; const void *bytes; size_t size; } site_file;
typedef struct {
    const char *path;
    const char *(*run)(void *arg);           /* NULL: done; else why not */
} site_command;
typedef struct {
    const char *url;                         /* http://HOST:PORT */
    const site_file *files; unsigned file_count;
    const site_command *commands; unsigned command_count;
    void *arg;
    transport_log *log; void *log_arg;       /* of what is refused; NULL: standard error */
} site_options;

/* What the options point to stays for good: a late request may still look at it. ADDRESS (names the url), SYSTEM, MEMORY. */
transport_err site_open(site **, const site_options *, transport_fault *) TRANSPORT_MUST_CHECK;
const char *site_token(const site *);        /* drawn anew for each site */
void site_close(site *);                     /* after the publish socket; NULL is allowed */

#endif
