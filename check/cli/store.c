/* store.c: numbers as text against the C library's slow way, files against what they should hold, failures of the disk.
 */
#include "store/number.h"
#include "store/store.h"
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Significant digits of a number's text. */
static int digits_of(const char *text) {
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') { n += zeros + 1; zeros = 0; }
        else if (*text == '0' && n) zeros++;
    }
    return n;
}

static double random_double(int kind) {
    const uint64_t bits = random_bits();
    double any;
    switch (kind) {
    case 0: return (double)(bits >> 11) * 0x1p-53;
    case 1: return ldexp((double)(bits >> 11), (int)(random_bits() % 60) - 69);
    case 2: memcpy(&any, &bits, sizeof any); return any;
    case 3: return (double)(bits % 1000000) / 1000;
    case 4: return ldexp(1, (int)(bits % 70) - 17);
    default: return -(double)(bits % 100000000000u) / 1e7;
    }
}

START_TEST(doubles) {
    for (int i = 0; i < 60000; i++) {
        const double v = random_double(i % 6);
        char text[NUMBER_ROOM], least[64];
        if (!isfinite(v)) continue;
        ck_assert_uint_eq(number_double(v, text), strlen(text));
        const double back = strtod(text, NULL);
        ck_assert_msg(!memcmp(&back, &v, sizeof v), "%.17g is written %s", v, text);
        if (v == rint(v) || fabs(v) < 1e-5) continue;
        for (int n = 1; n <= 17; n++) {
            snprintf(least, sizeof least, "%.*e", n - 1, v);
            if (strtod(least, NULL) == v) break;
        }
        ck_assert_msg(digits_of(text) == digits_of(least), "%s is longer than %s", text, least);
    }
}
END_TEST

START_TEST(floats) {
    for (int i = 0; i < 60000; i++) {
        const uint32_t bits = (uint32_t)random_bits();
        float v = (float)random_double(i % 6);
        char text[NUMBER_ROOM], least[64];
        if (i % 2) memcpy(&v, &bits, sizeof v);
        if (!isfinite(v)) continue;
        number_float(v, text);
        ck_assert_msg(strtof(text, NULL) == v, "%a is written %s", (double)v, text);
        if (v == rintf(v) || fabsf(v) < 1e-5f) continue;
        for (int n = 1; n <= 9; n++) {
            snprintf(least, sizeof least, "%.*e", n - 1, (double)v);
            if (strtof(least, NULL) == v) break;
        }
        ck_assert_msg(digits_of(text) == digits_of(least), "%s is longer than %s", text, least);
    }
}
END_TEST

START_TEST(special_numbers) {
    static const struct { double value; const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-17, "-17"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {100, "100"},
                 {1e15, "1000000000000000"},
                 {0x1p53, "9007199254740992"},
                 {5e-324, "4.94065645841247e-324"},
                 {1e17, "1e+17"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {0.00001, "0.00001"},
                 {2.5, "2.5"},
                 {1.0 / 3, "0.3333333333333333"}};
    char text[NUMBER_ROOM];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        number_double(known[i].value, text);
        ck_assert_str_eq(text, known[i].text);
    }
    number_double(NAN, text);
    ck_assert_str_eq(text, "NaN");
    number_double(-INFINITY, text);
    ck_assert_str_eq(text, "-inf");
    number_int(INT64_MIN, text);
    ck_assert_str_eq(text, "-9223372036854775808");
    number_uint(UINT64_MAX, text);
    ck_assert_str_eq(text, "18446744073709551615");
    number_hex(0xAB, text);
    ck_assert_str_eq(text, "00000000000000ab");
}
END_TEST

/* ---- files ---- */
static char folder[] = "/tmp/nima-store-XXXXXX";
static void enter(void) {
    snprintf(folder, sizeof folder, "/tmp/nima-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void leave(void) {
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) if (e->d_type != DT_DIR) unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(folder);
}
static const char *content(const char *name) {
    static char text[1 << 16];
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

typedef struct { int64_t n; double x; nima_text word; void *own; bool flag; } state_a;
typedef struct { double x; uint8_t small; nima_id other; } state_b;
static const nima_field fields_a[] = {{"n", NIMA_INT, offsetof(state_a, n), 8, NULL, NULL, NULL, NULL},
                                      {"x", NIMA_DOUBLE, offsetof(state_a, x), 8, NULL, NULL, NULL, NULL},
                                      {"word", NIMA_TEXT, offsetof(state_a, word), 8, NULL, NULL, NULL, NULL},
                                      {"own", NIMA_POINTER, offsetof(state_a, own), 8, NULL, NULL, NULL, NULL},
                                      {"flag", NIMA_BOOL, offsetof(state_a, flag), 1, NULL, NULL, NULL, NULL}};
static const nima_field fields_b[] = {{"x", NIMA_DOUBLE, offsetof(state_b, x), 8, NULL, NULL, NULL, NULL},
                                      {"small", NIMA_UINT, offsetof(state_b, small), 1, NULL, NULL, NULL, NULL},
                                      {"other", NIMA_ID, offsetof(state_b, other), 8, NULL, NULL, NULL, NULL}};
static const nima_behavior a = {
    .part = {NIMA_PART_BEHAVIOR, 1, "a"}, .state_bytes = sizeof(state_a), .field_count = 5, .fields = fields_a};
static const nima_behavior b = {
    .part = {NIMA_PART_BEHAVIOR, 2, "b"}, .state_bytes = sizeof(state_b), .field_count = 3, .fields = fields_b};

START_TEST(tables) {
    char error[300];
    store *s = store_new(folder, error, sizeof error);
    ck_assert_ptr_nonnull(s);
    const nima_reporter mean = { .part = { NIMA_PART_REPORTER, 1, "mean" }, .reduce = NIMA_MEAN };
    const nima_reporter bins = { .part = { NIMA_PART_REPORTER, 2, "ages" }, .reduce = NIMA_HISTOGRAM, .bins = 2 };
    const nima_reporter *const reporters[] = { &mean, &bins };
    const double row[] = { 0.5, 3, 4 };
    ck_assert_int_eq(store_columns(s, reporters, 2), NIMA_OK);
    ck_assert_int_eq(store_row(s, 10, 0.1, row, 3), NIMA_OK);
    ck_assert_int_eq(store_log(s, "a line"), NIMA_OK);
    const nima_behavior *const behaviors[] = { &a, &b };
    const state_a first = { -3, 2.5, "two, \"words\"", &error, true };
    const state_b second = { NAN, 200, { 0xF } };
    ck_assert_int_eq(store_agents_begin(s, behaviors, 2), NIMA_OK);
    ck_assert_int_eq(store_agent(s, (nima_id){ 1 }, "a[0]", &a, &first), NIMA_OK);
    ck_assert_int_eq(store_agent(s, (nima_id){ 2 }, "b[0]", &b, &second), NIMA_OK);
    FILE *extra = store_file(s, "extra.txt");
    ck_assert_ptr_nonnull(extra);
    fputs("more", extra);
    ck_assert_int_eq(store_flush(s), NIMA_OK);
    ck_assert_str_eq(content("model.csv"), "tick,time,mean,ages_0,ages_1\n10,0.1,0.5,3,4\n");
    ck_assert_str_eq(content("log.txt"), "a line\n");
    ck_assert_str_eq(content("agents.csv"),
                     "id,name,behavior,n,x,word,flag,small,other\n"
                     "0000000000000001,a[0],a,-3,2.5,\"two, "
                     "\"\"words\"\"\",1,,\n0000000000000002,b[0],b,,NaN,,,200,000000000000000f\n");
    ck_assert_str_eq(content("extra.txt"), "more");
    ck_assert_ptr_null(store_file(s, "../up"));
    ck_assert_int_eq(store_free(s), NIMA_E_SYSTEM);          /* since that name was refused */
}
END_TEST

START_TEST(folder_that_is_not_empty) {
    char error[300];
    store *s = store_new(folder, error, sizeof error);
    ck_assert_int_eq(store_free(s), NIMA_OK);
    ck_assert_ptr_null(store_new(folder, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "not an empty folder"));
    ck_assert_ptr_null(store_new("/proc/no/such", error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "/proc/no"));
}
END_TEST

START_TEST(full_disk) {                      /* a limit of file size stands for it */
    char error[300];
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = { 1 << 20, 1 << 20 };
    setrlimit(RLIMIT_FSIZE, &limit);
    store *s = store_new(folder, error, sizeof error);
    nima_err code = NIMA_OK;
    for (int i = 0; i < 100000 && !code; i++) code = store_log(s, "a line of some forty characters, no more");
    ck_assert_int_eq(code, NIMA_E_SYSTEM);
    ck_assert_ptr_nonnull(strstr(store_error(s), "log.txt: File too large"));
    ck_assert_int_eq(store_log(s, "again"), NIMA_E_SYSTEM);
    ck_assert_int_eq(store_free(s), NIMA_E_SYSTEM);
}
END_TEST

START_TEST(vanished_folder) {
    char error[300];
    store *s = store_new(folder, error, sizeof error);
    ck_assert_int_eq(store_log(s, "a line"), NIMA_OK);
    leave();
    ck_assert_int_eq(store_flush(s), NIMA_E_SYSTEM);
    ck_assert_ptr_nonnull(strstr(store_error(s), "log.txt: the file or its folder is gone"));
    ck_assert_int_eq(store_free(s), NIMA_E_SYSTEM);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("store");
    TCase *numbers = tcase_create("numbers"), *files = tcase_create("files");
    tcase_add_test(numbers, doubles);
    tcase_add_test(numbers, floats);
    tcase_add_test(numbers, special_numbers);
    tcase_add_checked_fixture(files, enter, leave);
    tcase_add_test(files, tables);
    tcase_add_test(files, folder_that_is_not_empty);
    tcase_add_test(files, full_disk);
    tcase_add_test(files, vanished_folder);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
