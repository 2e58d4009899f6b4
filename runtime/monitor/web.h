/* web.h: the live page of a run: its files, the commands pause, resume and stop, and the address of its publish socket,
 * which shares the port. The page itself is in web/. */
#ifndef NIMA_WEB_H
#define NIMA_WEB_H
#include "run.h"

enum { WEB_PORT = 6462, WEB_URL_MAX = 320 };
typedef struct web web;

/* address: HOST:PORT, :PORT, PORT or ""; what is left out is 127.0.0.1 and WEB_PORT. False: none of these. */
bool web_is_address(const char *address);
web *web_open(const char *address, char *error, size_t room);    /* NULL: why in `error` */
const char *web_publish_url(const web *);    /* ws://HOST:PORT/publish, to be opened next */
void web_show_url(const web *, char *url, size_t room);      /* for the user, with the token that allows control */
void web_control(web *, nima_run *);         /* what the commands act on; NULL: nothing any more */
void web_close(web *);
#endif
