/* seal_test.c: proofs, session keys, sealed frames and key files: what must open opens, and nothing else does. */
#include "seal.h"
#include "suite.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static seal_transcript transcript(uint32_t cipher) {
    seal_transcript t;
    memset(&t, 0, sizeof t);
    t = (seal_transcript){.run_id = {1},
                          .nonce_dialer = {2},
                          .nonce_listener = {3},
                          .name_dialer = "node1",
                          .name_listener = "authority",
                          .name_meant = "authority",
                          .role_dialer = 4,
                          .role_listener = 5,
                          .ciphers = 3,
                          .cipher = cipher};
    return t;
}

static uint32_t cipher_of(int i) { return i ? SEAL_CHACHA20 : seal_choose(SEAL_AES256GCM | SEAL_CHACHA20); }

START_TEST(opens_once_in_its_place) {
    static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 262144};
    static uint8_t frame[262144 + SEAL_TAG_BYTES], original[262144], sealed[262144 + SEAL_TAG_BYTES];
    static seal_direction up, down, up_again;
    seal_key key;
    seal_key_new(&key);
    seal_transcript t = transcript(cipher_of(_i));
    seal_direction_init(&up, &key, &t, SEAL_UP);
    seal_direction_init(&up_again, &key, &t, SEAL_UP);
    seal_direction_init(&down, &key, &t, SEAL_DOWN);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t bytes = sizes[s];
        randombytes_buf(original, sizeof original);
        memcpy(sealed, original, bytes);
        seal_frame(&up, s + 1, sealed, bytes);
        if (bytes >= 16) ck_assert_mem_ne(sealed, original, 16);
#define COPY memcpy(frame, sealed, bytes + SEAL_TAG_BYTES)
        COPY;
        ck_assert(seal_open(&up_again, s + 1, frame, bytes));
        ck_assert_mem_eq(frame, original, bytes);
        COPY;
        ck_assert(!seal_open(&up_again, s + 2, frame, bytes));  /* another place */
        COPY;
        ck_assert(!seal_open(&down, s + 1, frame, bytes));      /* back to its sender */
        for (size_t at = 0; at < bytes + SEAL_TAG_BYTES; at += 1 + bytes / 50) {
            COPY;
            frame[at] ^= 1;
            ck_assert(!seal_open(&up_again, s + 1, frame, bytes));
        }
        if (bytes > 1) {
            COPY;
            ck_assert(!seal_open(&up_again, s + 1, frame, bytes - 1));
        }
    }
}
END_TEST

START_TEST(everything_said_counts) { /* a change of any part of the transcript changes proofs and session keys */
    seal_key key, other;
    uint8_t proof[32];
    static seal_direction a, b;
    seal_key_new(&key);
    seal_key_new(&other);
    const seal_transcript t = transcript(SEAL_CHACHA20);
    seal_prove(proof, &key, SEAL_WELCOME, &t);
    ck_assert(seal_proven(proof, &key, SEAL_WELCOME, &t));
    ck_assert(!seal_proven(proof, &key, SEAL_CONFIRM, &t));
    ck_assert(!seal_proven(proof, &key, SEAL_HELLO, &t));
    ck_assert(!seal_proven(proof, &other, SEAL_WELCOME, &t));
    seal_direction_init(&a, &key, &t, SEAL_UP);
    for (size_t at = 0; at < sizeof t; at++) {
        seal_transcript changed = t;
        ((uint8_t *)&changed)[at] ^= 1;
        ck_assert_msg(!seal_proven(proof, &key, SEAL_WELCOME, &changed), "byte %zu", at);
        seal_direction_init(&b, &key, &changed, SEAL_UP);
        ck_assert_msg(memcmp(a.key, b.key, 32) != 0, "byte %zu", at);
    }
    ck_assert_uint_eq(seal_choose(0), 0);
    ck_assert_uint_eq(seal_choose(SEAL_CHACHA20), SEAL_CHACHA20);
    ck_assert_uint_eq(seal_choose(~0u) & ~seal_ciphers(), 0);
}
END_TEST

START_TEST(key_files) {
    static const char *const wrong[] = {"",
                                        "00",
                                        "zz",
                                        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
                                        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
                                        "0123456789abcdef0123456789abcdef 123456789abcdef0123456789abcdef"};
    char folder[] = "/tmp/nima-key-XXXXXX", path[64];
    seal_key key, again;
    transport_fault fault = {""};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/key", folder);
    seal_key_new(&key);
    ck_assert_int_eq(seal_key_read(&again, path, &fault), TRANSPORT_SYSTEM);
    ck_assert_msg(strstr(fault.text, path) != NULL, "%s", fault.text);
    ck_assert_msg(seal_key_write(&key, path, &fault) == TRANSPORT_OK, "%s", fault.text);
    ck_assert_int_eq(seal_key_write(&key, path, &fault), TRANSPORT_SYSTEM);         /* never over another */
    ck_assert_msg(seal_key_read(&again, path, &fault) == TRANSPORT_OK, "%s", fault.text);
    ck_assert_mem_eq(&key, &again, sizeof key);
    struct stat file;
    ck_assert_int_eq(stat(path, &file), 0);
    ck_assert_uint_eq(file.st_mode & 07777, 0600);
    static const mode_t modes[] = {0644, 0640, 0604, 0660, 0622, 0700};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(path, modes[i]);
        ck_assert_int_eq(seal_key_read(&again, path, &fault), TRANSPORT_INSECURE);
    }
    chmod(path, 0600);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 12345, 0), 0);
        ck_assert_int_eq(seal_key_read(&again, path, &fault), TRANSPORT_INSECURE);
    }
    unlink(path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_assert_int_eq(seal_key_read(&again, path, &fault), TRANSPORT_SYSTEM);
    unlink(path);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int ends[2];
        ck_assert_int_eq(pipe(ends), 0);
        dprintf(ends[1], "%s\nmore", wrong[i]);
        ck_assert_int_eq(seal_key_receive(&again, ends[0], &fault), TRANSPORT_MALFORMED);
        ck_assert_msg(!wrong[i][0] || !strstr(fault.text, wrong[i]) || strlen(wrong[i]) < 3,
                      "the text shows the key: %s", fault.text);
        close(ends[0]);
        close(ends[1]);
    }
    rmdir(folder);
}
END_TEST

START_TEST(key_from_launcher) {              /* exactly one line is taken: what follows on the pipe is not ours */
    int ends[2];
    seal_key key;
    transport_fault fault = {""};
    char rest[8] = "";
    ck_assert_int_eq(pipe(ends), 0);
    dprintf(ends[1], "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\nrest");
    close(ends[1]);
    ck_assert_msg(seal_key_receive(&key, ends[0], &fault) == TRANSPORT_OK, "%s", fault.text);
    for (int i = 0; i < 32; i++) ck_assert_int_eq(key.bytes[i], i);
    ck_assert_int_eq((int)read(ends[0], rest, sizeof rest), 4);
    ck_assert_str_eq(rest, "rest");
    close(ends[0]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("seal");
    if (!seal_start()) return EXIT_FAILURE;
    suite_add(suite, "opens_once_in_its_place", opens_once_in_its_place, 2);
    suite_add(suite, "everything_said_counts", everything_said_counts, 1);
    suite_add(suite, "key_files", key_files, 1);
    suite_add(suite, "key_from_launcher", key_from_launcher, 1);
    return suite_run(suite, 1);
}
