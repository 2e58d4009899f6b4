/* nng_close.h: closing NNG sockets without trusting that it returns. Private to transport/.
 *
 * nng_close of NNG 1.5 can hang, mostly under traffic. So it runs on a thread of its own; if that does not come back in
 * time, it is left behind, and with it all memory that NNG's callbacks might still touch. */
#ifndef TRANSPORT_NNG_CLOSE_H
#define TRANSPORT_NNG_CLOSE_H
#include <nng/nng.h>
#include <stdbool.h>

enum { NNG_CLOSE_MAX = 2 };
/* Blocks up to patience_ms. Sockets that were never opened are skipped. false: not closed, free nothing they refer to.
 */
bool nng_close_guarded(const nng_socket *sockets, int count, int patience_ms);

#endif
