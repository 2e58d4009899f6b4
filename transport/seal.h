/* seal.h: keys, proofs of a key, and sealing of frames, with libsodium; docs/security.md says why the construction
 * holds.
 *
 * A run has one key of 32 random bytes. From it come, by crypto_kdf: a key for proofs, and a root for sessions. In a
 * handshake each end contributes 32 fresh random bytes; the session key is a keyed hash of the whole transcript, and
 * each direction has a subkey of its own, used for this one connection only. The frame's counter is the nonce and is
 * authenticated, so a frame can be opened once, in its place, in its direction, and nowhere else. Nothing here blocks,
 * except reading a key. */
#ifndef TRANSPORT_SEAL_H
#define TRANSPORT_SEAL_H
#include "error.h"
#include "wire.h"
#include <sodium.h>
#include <stdbool.h>

enum { SEAL_AES256GCM = 1, SEAL_CHACHA20 = 2 };              /* bits of `ciphers` */
enum { SEAL_TAG_BYTES = 16 };

typedef struct { uint8_t bytes[32]; } seal_key;

/* What both ends of a handshake must agree on. Names end with NUL and are zero after it. */
typedef struct seal_transcript {
    uint8_t run_id[16], nonce_dialer[32], nonce_listener[32];
    char name_dialer[WIRE_NAME_MAX + 1], name_listener[WIRE_NAME_MAX + 1], name_meant[WIRE_NAME_MAX + 1];
    uint32_t role_dialer, role_listener, ciphers, cipher;
} seal_transcript;

typedef enum { SEAL_HELLO = 1, SEAL_WELCOME, SEAL_CONFIRM } seal_step;
typedef enum { SEAL_UP = 1, SEAL_DOWN } seal_way;            /* dialer to listener, listener to dialer */

typedef struct seal_direction { /* one way of one session; memory of the caller, wiped by seal_direction_fini */
    crypto_aead_aes256gcm_state aes;
    uint8_t key[32];
    uint32_t cipher;
} seal_direction;

bool seal_start(void); /* once before all else, any thread, repeatable; false: no libsodium here */
uint32_t seal_ciphers(void);                 /* what this machine does well */
uint32_t seal_choose(uint32_t offered);      /* one cipher that both have; 0: none */

/* Proof of the key over a transcript; a step's proof is worth nothing in another. */
void seal_prove(uint8_t proof[32], const seal_key *, seal_step, const seal_transcript *);
bool seal_proven(const uint8_t proof[32], const seal_key *, seal_step, const seal_transcript *);

void seal_direction_init(seal_direction *, const seal_key *, const seal_transcript *, seal_way);
void seal_direction_fini(seal_direction *);
/* In place. The tag goes to and comes from the SEAL_TAG_BYTES after the body. counter: never twice for one direction.
 */
void seal_frame(const seal_direction *, uint64_t counter, uint8_t *body, size_t bytes);
bool seal_open(const seal_direction *, uint64_t counter, uint8_t *body, size_t bytes);   /* false: body is wiped */

void seal_key_new(seal_key *);
void seal_key_wipe(seal_key *);
/* A key file is 64 hexadecimal digits and a newline, a regular file of the caller's user with mode 0600 or 0400.
 * INSECURE: others may read it; MALFORMED, SYSTEM. The text names the file, never the key. Blocks on the disk. */
transport_err seal_key_read(seal_key *, const char *path, transport_fault *) TRANSPORT_MUST_CHECK;
transport_err seal_key_write(const seal_key *, const char *path,
                             transport_fault *) TRANSPORT_MUST_CHECK; /* must not exist */
/* The same digits from a pipe (the launcher's channel); reads exactly one line. Blocks until it is there. */
transport_err seal_key_receive(seal_key *, int fd, transport_fault *) TRANSPORT_MUST_CHECK;

#endif
