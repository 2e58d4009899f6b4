/* error.h: the errors of transport/: negative codes from one list, and a text that names the peer or the address.
 *
 * Every function that can fail returns a transport_err and, where it is given a transport_fault, fills in the text.
 * Errors that end a link name both of its ends. Bugs of the caller assert. */
#ifndef TRANSPORT_ERROR_H
#define TRANSPORT_ERROR_H

#define TRANSPORT_ERRORS(X)                                                    \
    X(OK, 0, "ok")                                                             \
    X(MALFORMED, -1, "not a message of this protocol")                         \
    X(TRUNCATED, -2, "message ends too early")                                 \
    X(OVERSIZED, -3, "message or field beyond its limit")                      \
    X(VERSION, -4, "other protocol version")                                   \
    X(REPLAYED, -5, "frame seen before")                                       \
    X(GAP, -6, "frames lost")                                                  \
    X(FORGED, -7, "not made with this run's key")                              \
    X(REFUSED, -8, "refused by the peer")                                      \
    X(LOST, -9, "peer lost")                                                   \
    X(CLOSED, -10, "link closed")                                              \
    X(FULL, -11, "no room now")                                                \
    X(EMPTY, -12, "nothing there now")                                         \
    X(DEADLINE, -13, "deadline passed")                                        \
    X(ADDRESS, -14, "address not usable")                                      \
    X(INSECURE, -15, "refused to go unsealed")                                 \
    X(SYSTEM, -16, "system call failed")                                       \
    X(MEMORY, -17, "out of memory")

typedef enum {
#define X(name, code, text) TRANSPORT_##name = (code),
    TRANSPORT_ERRORS(X)
#undef X
} transport_err;

#define TRANSPORT_MUST_CHECK __attribute__((warn_unused_result))

typedef struct { char text[320]; } transport_fault;          /* always ends with NUL */

/* Where links and publishers say what is no error but should be known. Called on any thread, from inside: must be
 * quick, and must not call back. */
typedef enum { TRANSPORT_NOTE, TRANSPORT_WARNING, TRANSPORT_ALARM } transport_level;
typedef void transport_log(void *arg, transport_level, const char *text);

const char *transport_error_text(transport_err);

/* Returns err; writes the formatted text to fault unless that is NULL. */
__attribute__((format(printf, 3, 4)))
transport_err transport_fail(transport_fault *fault, transport_err err, const char *format, ...);

#endif
