/* Declared parameters: what is set, what is refused and in which words, and numbers as text. */
#include "decimal.h"
#include "parameters.h"
#include "statistics.h"
#include <locale.h>

enum color { RED, GREEN };
NIMA_PARAMS(
    (int64_t, agents, 1e5, "1..", "", "how many"),
    (uint32_t, ports, 100000u, "..4294967295", "", "32 bits"),
    (int8_t, small, (-5), "-100..100", "", "8 bits"),
    (uint64_t, big, UINT64_MAX, "", "", "64 bits"),
    (double, rate, 1.5, "0..1e3", "1/s", "calls"),
    (float, share, 0.1f, "0..0.1", "", "as float"),
    (bool, fast, false, "", "", "or not"),
    (nima_text, rule, "all", "all|some|", "", "who answers"),
    (nima_text, note, "a\t\"b\"" "\\c", "", "", "any text"),
    (nima_file, contacts, "", "", "", "edge list"),
    (nima_time, end, NIMA_FOREVER, "0..", "tick", "the end"),
    (enum color, color, 1, "0..1", "", "which"))

static params values;
static char *texts, error[300];

static nima_err set(const char *const *list) {
    free(texts);
    memset(&values, 0, sizeof values);
    return parameters_set(&nima_params_struct, list, &values, &texts, error, sizeof error);
}
static nima_err set_one(const char *text) { return set((const char *const[]){ text, NULL }); }

static void ck_refused(const char *text, const char *why) {
    ck_assert_int_eq(set_one(text), NIMA_E_PARAM);
    ck_assert_str_eq(error, why);
}

START_TEST(defaults) {
    ck_assert_msg(parameters_check(&nima_params_struct, error, sizeof error) == NIMA_OK, "%s", error);
    ck_assert_int_eq(set(NULL), NIMA_OK);
    ck_assert_int_eq(values.agents, 100000);
    ck_assert_uint_eq(values.ports, 100000);
    ck_assert_int_eq(values.small, -5);
    ck_assert(values.big == UINT64_MAX && values.end == NIMA_FOREVER && values.color == GREEN);
    ck_assert(values.rate == 1.5 && values.share == 0.1f && !values.fast);
    ck_assert_str_eq(values.rule, "all");
    ck_assert_str_eq(values.note, "a\t\"b\"\\c");
    ck_assert_str_eq(values.contacts.path, "");
}
END_TEST

START_TEST(set_values) {
    const char *const list[] = { "agents=1e6", "ports=0xFFFFFFFF", "small=-100", "big=2.50e2", "rate= 1e-3 ",
                                 "share=0.1", "fast=yes", "rule=", "note=a=b c ", "contacts=/x/y",
                                 "end=9223372036854775807", "color=0", "agents=7", NULL };
    ck_assert_msg(set(list) == NIMA_OK, "%s", error);
    ck_assert(values.agents == 7 && values.ports == UINT32_MAX && values.small == -100 && values.big == 250);
    ck_assert(values.rate == 1e-3 && values.share == 0.1f && values.fast && values.end == INT64_MAX);
    ck_assert(values.color == RED);
    ck_assert_str_eq(values.rule, "");
    ck_assert_str_eq(values.note, "a=b c ");
    ck_assert_str_eq(values.contacts.path, "/x/y");
}
END_TEST

START_TEST(too_large_is_refused_not_cut) {       /* pitfall 31 */
    ck_refused("ports=4294967297", "parameter ports=4294967297: at most 4294967295");
    ck_refused("ports=4294967296", "parameter ports=4294967296: at most 4294967295");
    ck_refused("ports=-1", "parameter ports=-1: at least 0");
    ck_refused("small=128", "parameter small=128: at most 127");
    ck_refused("small=-129", "parameter small=-129: at least -128");
    ck_refused("small=127", "parameter small=127: out of range -100..100");
    ck_refused("big=18446744073709551616", "parameter big=18446744073709551616: at most 18446744073709551615");
    ck_refused("big=1e20", "parameter big=1e20: at most 18446744073709551615");
    ck_refused("end=9223372036854775808", "parameter end=9223372036854775808: at most 9223372036854775807");
    ck_refused("agents=-9223372036854775809", "parameter agents=-9223372036854775809: at least -9223372036854775808");
    ck_refused("rate=1e999", "parameter rate=1e999: expected a finite number");
    ck_refused("share=1e39", "parameter share=1e39: expected a finite number of float");
}
END_TEST

START_TEST(not_of_the_type) {
    ck_refused("agents=1.5", "parameter agents=1.5: expected an integer");
    ck_refused("agents=1e-3", "parameter agents=1e-3: expected an integer");
    ck_refused("agents=12x", "parameter agents=12x: expected an integer");
    ck_refused("agents=", "parameter agents=: expected an integer");
    ck_refused("agents=1 2", "parameter agents=1 2: expected an integer");
    ck_refused("agents=0x", "parameter agents=0x: expected an integer");
    ck_refused("agents=5L", "parameter agents=5L: expected an integer");
    ck_refused("rate=1.5.0", "parameter rate=1.5.0: expected a finite number");
    ck_refused("rate=nan", "parameter rate=nan: expected a finite number");
    ck_refused("rate=inf", "parameter rate=inf: expected a finite number");
    ck_refused("rate=1,5", "parameter rate=1,5: expected a finite number");
    ck_refused("rate=1f", "parameter rate=1f: expected a finite number");
    ck_refused("fast=maybe", "parameter fast=maybe: expected true or false");
}
END_TEST

START_TEST(out_of_range) {
    ck_refused("agents=0", "parameter agents=0: out of range 1..");
    ck_refused("rate=1000.0000001", "parameter rate=1000.0000001: out of range 0..1e3");
    ck_refused("rate=-1e-300", "parameter rate=-1e-300: out of range 0..1e3");
    ck_refused("share=0.10000001", "parameter share=0.10000001: out of range 0..0.1");
    ck_refused("color=2", "parameter color=2: out of range 0..1");
    ck_refused("rule=som", "parameter rule=som: expected one of all|some|");
    ck_refused("rule=all|some", "parameter rule=all|some: expected one of all|some|");
    ck_assert_int_eq(set_one("rate=1000"), NIMA_OK);
    ck_assert_int_eq(set_one("rate=0"), NIMA_OK);
    ck_assert_int_eq(set_one("small=-100"), NIMA_OK);
}
END_TEST

START_TEST(unknown_names) {
    ck_refused("agent=3", "parameter agent: unknown; did you mean agents?");
    ck_refused("contcats=3", "parameter contcats: unknown; did you mean contacts?");
    ck_refused("Rate=3", "parameter Rate: unknown; did you mean rate?");
    ck_refused("agents", "parameter agents: expected name=value");
    char long_name[500];
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name + 490, "=1", 3);
    ck_assert_int_eq(set_one(long_name), NIMA_E_PARAM);
    const nima_struct none = { { NIMA_PART_PARAMS, 0, "params" }, 0, 0, NULL };
    char *no_texts;
    ck_assert_int_eq(parameters_set(&none, (const char *const[]){ "a=1", NULL }, NULL, &no_texts, error, sizeof error),
                     NIMA_E_PARAM);
    ck_assert_str_eq(error, "parameter a: this model has none");
    free(no_texts);
}
END_TEST

static void ck_declaration(nima_type type, uint32_t bytes, const char *preset, const char *range, const char *why) {
    const nima_field fields[] = { { "x", type, 0, bytes, preset, range, "", "" } };
    const nima_struct d = { { NIMA_PART_PARAMS, 0, "params" }, 16, 1, fields };
    const nima_err code = parameters_check(&d, error, sizeof error);
    ck_assert_int_eq(code, why ? NIMA_E_MODEL : NIMA_OK);
    if (why) ck_assert_str_eq(error, why);
}

START_TEST(declarations) {
    ck_declaration(NIMA_INT, 4, "3", "0..5", NULL);
    ck_declaration(NIMA_INT, 8, "(5LL)", " -1 .. 1e1 ", NULL);
    ck_declaration(NIMA_INT, 4, "6", "0..5", "parameter x=6: out of range 0..5");
    ck_declaration(NIMA_INT, 4, "60 * 60", "", "parameter x=60 * 60: expected an integer");
    ck_declaration(NIMA_INT, 4, "3", "0-5", "parameter x: range \"0-5\": expected low..high, integers");
    ck_declaration(NIMA_INT, 4, "3", "0..5.5", "parameter x: range \"0..5.5\": expected low..high, integers");
    ck_declaration(NIMA_DOUBLE, 8, "3", "a..b", "parameter x: range \"a..b\": expected low..high, numbers");
    ck_declaration(NIMA_INT, 4, "3", "5..0", "parameter x: range \"5..0\" is empty");
    ck_declaration(NIMA_BOOL, 1, "1", "0..1", "parameter x: range \"0..1\": expected none for this type");
    ck_declaration(NIMA_TEXT, 8, "\"c\"", "a|b", "parameter x=c: expected one of a|b");
    ck_declaration(NIMA_TEXT, 8, "c", "", "parameter x: default c: expected a text in quotes");
    ck_declaration(NIMA_TEXT, 8, "\"\\q\"", "", "parameter x: default \"\\q\": expected a text in quotes");
    ck_declaration(NIMA_TEXT, 8, "\"open", "", "parameter x: default \"open: expected a text in quotes");
    ck_declaration(NIMA_POINTER, 8, "0", "", "parameter x: expected a number, bool, nima_text or nima_file");
    ck_declaration(NIMA_ID, 8, "0", "", "parameter x: expected a number, bool, nima_text or nima_file");
    const nima_field twice[] = { { "x", NIMA_INT, 0, 4, "1", "", "", "" }, { "x", NIMA_INT, 4, 4, "1", "", "", "" } };
    const nima_struct d = { { NIMA_PART_PARAMS, 0, "params" }, 8, 2, twice };
    ck_assert_int_eq(parameters_check(&d, error, sizeof error), NIMA_E_MODEL);
    ck_assert_str_eq(error, "parameter x is declared twice");
}
END_TEST

/* All values as text, and back. */
START_TEST(text_reads_back) {
    nima_rng r = { .key = 1 };
    for (int i = 0; i < 3000; i++) {
        ck_assert_int_eq(set(NULL), NIMA_OK);
        values.agents = (int64_t)(((uint64_t)nima_bits32(&r) << 31 | nima_bits32(&r)) >> nima_below(&r, 62)) + 1;
        values.ports = nima_bits32(&r);
        values.small = (int8_t)(nima_below(&r, 201)) - 100 < 0 ? -7 : 99;
        values.big = (uint64_t)nima_bits32(&r) << 32 | nima_bits32(&r);
        values.rate = nima_uniform(&r) * pow(10, 3 - (double)nima_below(&r, 320));
        values.share = (float)(nima_uniform(&r) * 0.0999);
        values.fast = nima_chance(&r, 0.5);
        const params before = values;
        char list[12][100], text[80];
        const char *pointers[13] = { NULL };
        for (int k = 0; k < 12; k++) {
            parameters_text(&nima_params_fields[k], &values, text, sizeof text);
            snprintf(list[k], sizeof list[k], "%s=%s", nima_params_fields[k].name, text);
            pointers[k] = list[k];
        }
        ck_assert_msg(set(pointers) == NIMA_OK, "%s", error);
        ck_assert(before.agents == values.agents && before.ports == values.ports && before.small == values.small);
        ck_assert(before.big == values.big && before.fast == values.fast && before.end == values.end);
        ck_assert_msg(before.rate == values.rate && before.share == values.share, "%s %s", list[4], list[5]);
        ck_assert_str_eq(values.note, "a\t\"b\"\\c");
    }
}
END_TEST

START_TEST(help) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    parameters_help(&nima_params_struct, f);
    fclose(f);
    ck_assert_msg(strstr(text, "  agents=100000             (1..)  how many\n") != NULL, "%s", text);
    ck_assert(strstr(text, "  rate=1.5                  (0..1e3) 1/s  calls\n") != NULL);
    ck_assert(strstr(text, "  big=18446744073709551615  64 bits\n") != NULL);
    free(text);
}
END_TEST

static double read_text(const char *text) {
    double x;
    return decimal_read(text, text + strlen(text), &x) ? x : NAN;
}

/* The fast way for short numbers against the C library. */
START_TEST(numbers_are_the_nearest) {
    nima_rng r = { .key = 2 };
    for (int i = 0; i < 300000; i++) {
        char text[60];
        const int digits = 1 + (int)nima_below(&r, 20), point = (int)nima_below(&r, (uint64_t)digits + 1);
        int n = nima_chance(&r, 0.3) ? snprintf(text, sizeof text, "-") : 0;
        for (int k = 0; k < digits; k++) {
            if (k == point) text[n++] = '.';
            text[n++] = (char)('0' + (int)nima_below(&r, 10));
        }
        text[n] = 0;
        if (nima_chance(&r, 0.5)) snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)nima_below(&r, 60) - 30);
        ck_assert_msg(read_text(text) == strtod(text, NULL), "%s: %a", text, read_text(text));
    }
    ck_assert(read_text("4.9406564584124654e-324") == 0x1p-1074 && read_text("1e-400") == 0);
    ck_assert(read_text("9007199254740993") == 9007199254740992);
    ck_assert(read_text("1.7976931348623157e308") == 0x1.fffffffffffffp1023);
    const char *const wrong[] = { "", "-", ".", "e5", "1e", "1e+", "+-1", "1 ", " 1", "0x10", "infinity", "nan",
                                  "1e5.0", "1.8e308" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(isnan(read_text(wrong[i])), "%s", wrong[i]);
}
END_TEST

START_TEST(whole_numbers_are_exact) {
    const struct { const char *text; decimal_status status; uint64_t value; } cases[] = {
        { "18446744073709551615", DECIMAL_OK, UINT64_MAX }, { "18446744073709551616", DECIMAL_BEYOND, 0 },
        { "1.8446744073709551615e19", DECIMAL_OK, UINT64_MAX }, { "1e19", DECIMAL_OK, 10000000000000000000u },
        { "100000000000000000000000000000e-20", DECIMAL_OK, 1000000000 },
        { "1.00000000000000000000000000000", DECIMAL_OK, 1 },
        { "0.000", DECIMAL_OK, 0 }, { "0e99999999999", DECIMAL_OK, 0 }, { "1e99999999999", DECIMAL_BEYOND, 0 },
        { "1e-99999999999", DECIMAL_FRACTION, 0 }, { "9007199254740993", DECIMAL_OK, 9007199254740993 },
        { "0xffffffffffffffff", DECIMAL_OK, UINT64_MAX }, { "0x10000000000000000", DECIMAL_BEYOND, 0 },
        { "0xg", DECIMAL_NONE, 0 }, { "12.5", DECIMAL_FRACTION, 0 }, { "", DECIMAL_NONE, 0 }, { "007", DECIMAL_OK, 7 },
        { "99999999999999999999.5", DECIMAL_FRACTION, 0 }, { "12.50e1", DECIMAL_OK, 125 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool negative;
        uint64_t value = 0;
        const char *text = cases[i].text;
        ck_assert_msg(decimal_read_whole(text, text + strlen(text), &negative, &value) == cases[i].status, "%s", text);
        if (cases[i].status == DECIMAL_OK) ck_assert_msg(value == cases[i].value && !negative, "%s", text);
    }
}
END_TEST

START_TEST(shortest_text) {
    const struct { double x; const char *text; } cases[] = { { 0.1, "0.1" }, { 1e22, "1e+22" }, { 100000, "100000" },
        { 1.0 / 3, "0.3333333333333333" }, { 5e-324, "4.94065645841247e-324" }, { -2.5, "-2.5" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DECIMAL_TEXT];
        decimal_write(cases[i].x, text);
        ck_assert_str_eq(text, cases[i].text);
        ck_assert(read_text(text) == cases[i].x);
    }
}
END_TEST

/* A program with a decimal comma reads and writes the same. */
START_TEST(locale_does_not_matter) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        puts("no locale with a decimal comma here");
        return;
    }
    char text[DECIMAL_TEXT];
    decimal_write(2.5, text);
    ck_assert_str_eq(text, "2.5");
    ck_assert(read_text("1.2345678901234567890123") == 1.2345678901234567890123);
    ck_assert_int_eq(set_one("rate=0.12345678901234567890123"), NIMA_OK);
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "parameters: defaults, as C source", defaults },
        { "parameters: values set", set_values },
        { "parameters: too large is refused, not cut off", too_large_is_refused_not_cut },
        { "parameters: not of the type", not_of_the_type },
        { "parameters: out of range", out_of_range },
        { "parameters: unknown names (nearest known)", unknown_names },
        { "parameters: wrong declarations", declarations },
        { "parameters: text reads back to the same bits", text_reads_back },
        { "parameters: help", help },
        { "decimal: the nearest double (any digits)", numbers_are_the_nearest },
        { "decimal: whole numbers are exact", whole_numbers_are_exact },
        { "decimal: shortest text", shortest_text },
        { "decimal: locale does not matter", locale_does_not_matter },
    };
    return run_units("parameters", tests, sizeof tests / sizeof *tests);
}
