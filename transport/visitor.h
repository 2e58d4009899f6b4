/* visitor.h: which web page may talk to us. Not for programs, which can say what they like: for browsers, which visit
 * strangers' pages and let those send requests to any address.
 *
 * Such a page is told apart by two headers that it cannot change. Origin says where the page came from: it has to be the
 * Host that the request is for. And Host has to be one that no stranger's name server can make up: a number, localhost,
 * or this machine's own name. Else a stranger's page could let its name point here and be of the same origin. */
#ifndef TRANSPORT_VISITOR_H
#define TRANSPORT_VISITOR_H
#include <stdbool.h>

/* NULL: the header is missing. Without an origin it is no page's doing. */
bool visitor_is_ours(const char *origin, const char *host);
bool visitor_host_is_ours(const char *host);

#endif
