/* arrivals.h: a dispatcher's count of the batches it has received, by the window they were sent in.
 *
 * While window k is the last it has started, only batches of k, and of k + 1 from peers that started earlier, can arrive.
 * It may start k + 1 when it has all of k that the grant counts. Calls are made under the dispatcher's lock. */
#ifndef NIMA_ARRIVALS_H
#define NIMA_ARRIVALS_H
#include "authority.h"

typedef struct { uint64_t window; uint32_t count[2]; } arrivals;   /* last started; by parity of the window */

/* A batch sent in a window has arrived. NIMA_E_LINK: no peer can be sending in that window now. */
nima_err arrivals_note(arrivals *, uint64_t window) NIMA_MUST_CHECK;
/* Starts the granted window if all that is awaited has arrived, else leaves `started` false, to be asked again after the
 * next batch. NIMA_E_LINK: more has arrived than was sent, or the grant is not for the next window. */
nima_err arrivals_start(arrivals *, const authority_grant *, bool *started) NIMA_MUST_CHECK;
#endif
