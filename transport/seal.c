/* seal.c: proofs, session keys and sealing of frames; see seal.h. Key files are in seal_key.c. */
#include "seal.h"

static const char context[crypto_kdf_CONTEXTBYTES] = "nimalink";
enum { KDF_PROOF = 1, KDF_SESSION };         /* subkeys of the run's key */

bool seal_start(void) { return sodium_init() >= 0; }

uint32_t seal_ciphers(void) {
    return SEAL_CHACHA20 | (crypto_aead_aes256gcm_is_available() ? (uint32_t)SEAL_AES256GCM : 0u);
}

uint32_t seal_choose(uint32_t offered) {
    const uint32_t both = offered & seal_ciphers();
    return both & SEAL_AES256GCM ? SEAL_AES256GCM : both & SEAL_CHACHA20;
}

/* A keyed hash of label and transcript. Every field has a fixed size, so no two transcripts have the same bytes. */
static void hash_transcript(uint8_t out[32], const uint8_t key[32], uint8_t label, const seal_transcript *t) {
    const uint32_t numbers[4] = {t->role_dialer, t->role_listener, t->ciphers, t->cipher};
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, 32, 32);
    crypto_generichash_update(&state, &label, 1);
    crypto_generichash_update(&state, t->run_id, sizeof t->run_id);
    crypto_generichash_update(&state, t->nonce_dialer, sizeof t->nonce_dialer);
    crypto_generichash_update(&state, t->nonce_listener, sizeof t->nonce_listener);
    crypto_generichash_update(&state, (const uint8_t *)t->name_dialer, sizeof t->name_dialer);
    crypto_generichash_update(&state, (const uint8_t *)t->name_listener, sizeof t->name_listener);
    crypto_generichash_update(&state, (const uint8_t *)t->name_meant, sizeof t->name_meant);
    crypto_generichash_update(&state, (const uint8_t *)numbers, sizeof numbers);
    crypto_generichash_final(&state, out, 32);
    sodium_memzero(&state, sizeof state);
}

void seal_prove(uint8_t proof[32], const seal_key *key, seal_step step, const seal_transcript *t) {
    uint8_t subkey[32];
    crypto_kdf_derive_from_key(subkey, sizeof subkey, KDF_PROOF, context, key->bytes);
    hash_transcript(proof, subkey, (uint8_t)step, t);
    sodium_memzero(subkey, sizeof subkey);
}

bool seal_proven(const uint8_t proof[32], const seal_key *key, seal_step step, const seal_transcript *t) {
    uint8_t expected[32];
    seal_prove(expected, key, step, t);
    return sodium_memcmp(proof, expected, sizeof expected) == 0;
}

void seal_direction_init(seal_direction *d, const seal_key *key, const seal_transcript *t, seal_way way) {
    uint8_t root[32], session[32];
    crypto_kdf_derive_from_key(root, sizeof root, KDF_SESSION, context, key->bytes);
    hash_transcript(session, root, 0, t);
    crypto_kdf_derive_from_key(d->key, sizeof d->key, (uint64_t)way, context, session);
    d->cipher = t->cipher;
    if (d->cipher == SEAL_AES256GCM) crypto_aead_aes256gcm_beforenm(&d->aes, d->key);
    sodium_memzero(root, sizeof root);
    sodium_memzero(session, sizeof session);
}

void seal_direction_fini(seal_direction *d) { sodium_memzero(d, sizeof *d); }

_Static_assert(crypto_aead_aes256gcm_NPUBBYTES == 12 && crypto_aead_chacha20poly1305_ietf_NPUBBYTES == 12,
               "one nonce for both");
_Static_assert(crypto_aead_aes256gcm_ABYTES == SEAL_TAG_BYTES &&
                   crypto_aead_chacha20poly1305_ietf_ABYTES == SEAL_TAG_BYTES,
               "one tag for both");
typedef struct { uint8_t bytes[12]; } nonce;

static nonce nonce_of(uint64_t counter) {
    nonce n = {{0}};
    memcpy(n.bytes, &counter, sizeof counter);
    return n;
}

void seal_frame(const seal_direction *d, uint64_t counter, uint8_t *body, size_t bytes) {
    const nonce n = nonce_of(counter);
    if (d->cipher == SEAL_AES256GCM)
        crypto_aead_aes256gcm_encrypt_detached_afternm(body, body + bytes, NULL, body, bytes, NULL, 0, NULL, n.bytes,
                                                       &d->aes);
    else
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(body, body + bytes, NULL, body, bytes, NULL, 0, NULL,
                                                           n.bytes, d->key);
}

bool seal_open(const seal_direction *d, uint64_t counter, uint8_t *body, size_t bytes) {
    const nonce n = nonce_of(counter);
    const int wrong = d->cipher == SEAL_AES256GCM
                          ? crypto_aead_aes256gcm_decrypt_detached_afternm(body, NULL, body, bytes, body + bytes, NULL,
                                                                           0, n.bytes, &d->aes)
                          : crypto_aead_chacha20poly1305_ietf_decrypt_detached(body, NULL, body, bytes, body + bytes,
                                                                               NULL, 0, n.bytes, d->key);
    if (wrong) memset(body, 0, bytes);
    return !wrong;
}
