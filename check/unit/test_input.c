/* Input files: CSV columns and edge lists as written, cut in any place, read by 1 to 7 threads; errors by line. */
#include "input.h"
#include "statistics.h"
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a host with any number of threads, that take the items in turn from the end --------------------------------- */
enum { ALLOCATIONS = 64 };
static unsigned threads = 1;
static void *allocations[ALLOCATIONS];
static unsigned allocation_count;

static void *host_allocate(void *arg, size_t bytes) {
    (void)arg;
    ck_assert_uint_lt(allocation_count, ALLOCATIONS);
    return allocations[allocation_count++] = calloc(1, bytes);
}
typedef struct { uint64_t n, first; void (*each)(uint64_t, void *); void *arg; } share;
static void *run_share(void *arg) {
    const share *s = arg;
    for (uint64_t i = s->n; i-- > 0;) if (i % threads == s->first) s->each(i, s->arg);
    return NULL;
}
static void host_parallel(void *arg, uint64_t n, void (*each)(uint64_t, void *), void *each_arg) {
    (void)arg;
    pthread_t ids[7];
    share shares[7] = { { n, 0, each, each_arg } };
    ck_assert_uint_le(threads, 7);
    for (unsigned t = 0; t < threads; t++) {
        shares[t] = (share){ n, t, each, each_arg };
        if (t > 0) ck_assert_int_eq(pthread_create(&ids[t], NULL, run_share, &shares[t]), 0);
    }
    run_share(&shares[0]);
    for (unsigned t = 1; t < threads; t++) pthread_join(ids[t], NULL);
}
static const input_host host = { host_allocate, host_parallel, NULL };
static void forget(void) { while (allocation_count) free(allocations[--allocation_count]); }

/* ---- files ------------------------------------------------------------------------------------------------------- */
static char path[] = "/tmp/nima-input-XXXXXX", error[700];
static void write_file(const char *text, size_t bytes) {
    FILE *f = fopen(path, "w");
    ck_assert(f && fwrite(text, 1, bytes, f) == bytes && fclose(f) == 0);
}
static input_file open_bytes(const char *text, size_t bytes) {
    input_file f;
    write_file(text, bytes);
    ck_assert_msg(input_open(&f, path, error, sizeof error) == NIMA_OK, "%s", error);
    return f;
}
static input_file open_text(const char *text) { return open_bytes(text, strlen(text)); }

/* "path:why" */
static void ck_error(const char *why) {
    const bool same = !strncmp(error, path, strlen(path)) && !strcmp(error + strlen(path), why);
    ck_assert_msg(same, "%s, expected %s", error, why);
}

START_TEST(files) {
    input_file f = open_text("a,b\n1,2\n"), g = open_text("a,b\n1,3\n");
    ck_assert_uint_eq(f.bytes, 8);
    ck_assert_uint_ne(f.hash, g.hash);
    input_close(&f);
    input_close(&g);
    f = open_text("");
    ck_assert(f.bytes == 0 && f.data != NULL && f.hash == 0x2d06800538d394c2u);   /* XXH3 of nothing, as published */
    input_close(&f);
    ck_assert_int_eq(input_open(&f, "/nowhere/at all", error, sizeof error), NIMA_E_INPUT);
    ck_assert_str_eq(error, "/nowhere/at all: No such file or directory");
    ck_assert_int_eq(input_open(&f, "/tmp", error, sizeof error), NIMA_E_INPUT);
    ck_assert_str_eq(error, "/tmp: not a regular file");
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);                  /* does not wait for a writer */
    ck_assert_int_eq(input_open(&f, path, error, sizeof error), NIMA_E_INPUT);
    ck_error(": not a regular file");
    unlink(path);                            /* other tests write a file there */
}
END_TEST

/* ---- CSV --------------------------------------------------------------------------------------------------------- */
static void ck_column(const char *text, const char *column, uint64_t n, const double *expected) {
    for (threads = 1; threads <= 7; threads += 3) {
        input_file f = open_text(text);
        double *values;
        uint64_t rows;
        ck_assert_msg(input_column(&f, column, &host, &values, &rows, error, sizeof error) == NIMA_OK, "%s", error);
        ck_assert_uint_eq(rows, n);
        for (uint64_t i = 0; i < n; i++)
            ck_assert_msg(values[i] == expected[i] || (isnan(values[i]) && isnan(expected[i])), "%g in row %lu",
                          values[i], (unsigned long)i);
        input_close(&f);
        forget();
    }
}
static void ck_column_refused(const char *text, const char *why) {
    input_file f = open_text(text);
    double *values;
    uint64_t rows;
    ck_assert_int_eq(input_column(&f, "x", &host, &values, &rows, error, sizeof error), NIMA_E_INPUT);
    ck_error(why);
    input_close(&f);
    forget();
}

START_TEST(columns) {
    ck_column("x,y\n1,2\n3,4\n", "x", 2, (double[]){ 1, 3 });
    ck_column("x,y\n1,2\n3,4\n", "y", 2, (double[]){ 2, 4 });
    ck_column("x,y\r\n1,2\r\n3,4", "y", 2, (double[]){ 2, 4 });
    ck_column("\xEF\xBB\xBFx\n-1e3\n", "x", 1, (double[]){ -1000 });
    ck_column("x,y\n,2\n\"\",4\n 5 ,\"a,\"\"b\n\"\n", "x", 3, (double[]){ NAN, NAN, 5 });
    ck_column("name,x\n\"two\nlines\",7\n\"a\"\"\n\n\"\"\",\"8\"\r\n", "x", 2, (double[]){ 7, 8 });
    ck_column("\"a \"\"b\"\"\",x\n3,4\n", "a \"b\"", 1, (double[]){ 3 });
    ck_column("x\n1\n\n3\n\n\n", "x", 3, (double[]){ 1, NAN, 3 });
    ck_column("x", "x", 0, NULL);
    ck_column("x\r\n\r\n", "x", 0, NULL);
}
END_TEST

START_TEST(columns_refused) {
    ck_column_refused("", ":1: expected a line of column names");
    ck_column_refused("\n\n", ":1: expected a line of column names");
    ck_column_refused("a,b\n1,2\n", ":1: no column x; there are a, b");
    input_file f = open_bytes("x\0\0y\n1\n", 7);              /* a name is not over where a text would be */
    double *values;
    uint64_t rows;
    ck_assert_int_eq(input_column(&f, "x", &host, &values, &rows, error, sizeof error), NIMA_E_INPUT);
    input_close(&f);
    ck_column_refused("x,x\n1,2\n", ":1: two columns are named x");
    ck_column_refused("x,y\n1,2\n3\n", ":3: 1 fields, expected 2");
    ck_column_refused("x,y\n1,2\n3,4,5\n", ":3: 3 fields, expected 2");
    ck_column_refused("x,y\n1,2\n\n3,4\n", ":3: 1 fields, expected 2");
    ck_column_refused("y,x\n1,2\n\"\n\n\",zwei\n", ":3: expected a number in column x, not \"zwei\"");
    ck_column_refused("x\n1\nnan\n", ":3: expected a number in column x, not \"nan\"");
    ck_column_refused("x\n1\n0x10\n", ":3: expected a number in column x, not \"0x10\"");
    ck_column_refused("x\n1\n2 3\n", ":3: expected a number in column x, not \"2 3\"");
    ck_column_refused("x,y\n1,\"2\n3,4\n", ":2: a quote that is not closed");
    ck_column_refused("x,y\n1,2\n1,a\"b\n\"", ":3: a quote inside a field that does not begin with one");
    ck_column_refused("x,y\n1,2\n1,\"a\"b\n", ":3: text behind a closing quote");
    ck_column_refused("x,\"y\n1,2\n", ":1: a quote that is not closed");
}
END_TEST

/* Pieces of a quarter of a megabyte: rows, quoted newlines and errors at and around every border. */
static char *big_csv(size_t bytes, size_t *length, double *expected, uint64_t *rows, uint64_t seed) {
    char *text = malloc(bytes + 300);
    nima_rng r = { .key = seed };
    size_t n = (size_t)sprintf(text, "note,x\n");
    for (*rows = 0; n < bytes; ++*rows) {
        const int kind = (int)nima_below(&r, 5), width = (int)nima_below(&r, 40);
        const double value = (double)(int64_t)nima_below(&r, 1000000) / 64;
        expected[*rows] = kind == 4 ? NAN : value;
        if (kind == 0) n += (size_t)sprintf(text + n, "\"%*s\n\"\"\n,%*s\"", width, "", width, "");
        else n += (size_t)sprintf(text + n, "%*s", width, "");
        if (kind == 4) n += (size_t)sprintf(text + n, ",\n");
        else n += (size_t)sprintf(text + n, kind == 1 ? ",\"%.17g\"\r\n" : ",%.17g\n", value);
    }
    *length = n;
    return text;
}

START_TEST(columns_of_many_pieces) {
    double *expected = calloc(1000000, sizeof *expected), *values;
    for (uint64_t seed = 0; seed < 4; seed++) {
        size_t length;
        uint64_t n, rows;
        char *text = big_csv((1u << 18) * (1 + seed) + 3 * seed, &length, expected, &n, seed);
        input_file f = open_bytes(text, length);
        for (threads = 1; threads <= 7; threads++) {
            ck_assert_msg(input_column(&f, "x", &host, &values, &rows, error, sizeof error) == NIMA_OK, "%s", error);
            ck_assert_uint_eq(rows, n);
            uint64_t wrong = 0;
            for (uint64_t i = 0; i < n; i++)
                wrong += !(values[i] == expected[i] || (isnan(values[i]) && isnan(expected[i])));
            ck_assert_uint_eq(wrong, 0);
            forget();
        }
        input_close(&f);
        free(text);
    }
    free(expected);
}
END_TEST

/* A field that covers whole pieces; and the first error is named, though later ones follow from it. */
START_TEST(columns_quoted_pieces) {
    const size_t bytes = 3u << 18;
    char *text = malloc(bytes + 100);
    memset(text, '\n', bytes + 100);
    memcpy(text, "x,y\n1,\"", 7);
    memcpy(text + bytes, "\"\n2,3\n4,z\"\n5,6\n7,\"8\n", 20);
    input_file f = open_bytes(text, bytes + 6);
    double *values;
    uint64_t rows;
    for (threads = 1; threads <= 7; threads++) {
        ck_assert_int_eq(input_column(&f, "x", &host, &values, &rows, error, sizeof error), NIMA_OK);
        ck_assert(rows == 2 && values[0] == 1 && values[1] == 2);
    }
    input_close(&f);
    forget();
    f = open_bytes(text, bytes + 20);
    for (threads = 1; threads <= 7; threads++) {
        ck_assert_int_eq(input_column(&f, "x", &host, &values, &rows, error, sizeof error), NIMA_E_INPUT);
        char why[100];
        snprintf(why, sizeof why, ":%zu: a quote inside a field that does not begin with one", bytes - 7 + 4);
        ck_error(why);
    }
    input_close(&f);
    forget();
    free(text);
}
END_TEST

/* ---- graphs ------------------------------------------------------------------------------------------------------ */
static nima_graph read_edges(const input_file *f, uint64_t nodes) {
    nima_graph g;
    ck_assert_msg(input_edges(f, nodes, &host, &g, error, sizeof error) == NIMA_OK, "%s", error);
    ck_assert(g.nodes == nodes && g.first[0] == 0);
    return g;
}

static void ck_edges(const char *text, uint64_t nodes, const char *expected) {
    input_file f = open_text(text);
    char seen[300] = "";
    const nima_graph g = read_edges(&f, nodes);
    for (uint64_t i = 0; i < nodes; i++)
        for (uint64_t k = g.first[i]; k < g.first[i + 1]; k++)
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%lu>%u ", (unsigned long)i, g.to[k]);
    ck_assert_str_eq(seen, expected);
    input_close(&f);
    forget();
}
static void ck_edges_refused(const char *text, uint64_t nodes, const char *why) {
    input_file f = open_text(text);
    nima_graph g;
    ck_assert_int_eq(input_edges(&f, nodes, &host, &g, error, sizeof error), NIMA_E_INPUT);
    ck_error(why);
    input_close(&f);
    forget();
}

START_TEST(edges) {
    ck_edges("0,1\n1,2\n0,0\n", 3, "0>0 0>1 1>2 ");
    ck_edges("# contacts\nfrom,to\n2 1\n2\t0\r\n 1 , 0 # both\n\n2 1\n# end", 3, "1>0 2>0 2>1 2>1 ");
    ck_edges("\xEF\xBB\xBF\"source\" \"target\"\n0 1", 2, "0>1 ");
    ck_edges("", 2, "");
    ck_edges("from to", 0, "");
    ck_edges("# only\n#comments\n\n", 1, "");
}
END_TEST

START_TEST(edges_refused) {
    ck_edges_refused("from,to\n0,1\n1,2\n", 2, ":3: node 2 of 2, which are counted from 0");
    ck_edges_refused("from,to\n\n5,1\n", 2, ":3: node 5 of 2, which are counted from 0");
    ck_edges_refused("0,4294967297\n", 2, ":1: node 4294967297 of 2, which are counted from 0");
    ck_edges_refused("0,1\nfrom,to\n", 2, ":2: expected two node numbers, not \"from,to\"");
    ck_edges_refused("a,b\na,b\n", 2, ":2: expected two node numbers, not \"a,b\"");
    ck_edges_refused("0,1\n0\n", 2, ":2: expected two node numbers, not \"0\"");
    ck_edges_refused("0,1\r\n0,1,1\r\n", 2, ":2: expected two node numbers, not \"0,1,1\"");
    ck_edges_refused("-1,0\n", 2, ":1: expected two node numbers, not \"-1,0\"");
    ck_edges_refused("0,,1\n", 2, ":1: expected two node numbers, not \"0,,1\"");
    ck_edges_refused("0;1\n", 2, ":1: expected two node numbers, not \"0;1\"");
    ck_edges_refused("1.0 0\n", 2, ":1: expected two node numbers, not \"1.0 0\"");
    ck_edges_refused("99999999999999999999999999 0\n", 2,
                     ":1: node 18446744073709551615 of 2, which are counted from 0");
    input_file f = open_text("");
    nima_graph g;
    ck_assert_int_eq(input_edges(&f, ((uint64_t)1 << 32) + 1, &host, &g, error, sizeof error), NIMA_E_MODEL);
    input_close(&f);
}
END_TEST

typedef struct { uint32_t from, to; } pair;
static int compare_pairs(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}
static void ck_same_pairs(nima_graph g, const pair *sorted, uint64_t n) {
    uint64_t at = 0, wrong = 0;
    ck_assert_uint_eq(g.first[g.nodes], n);
    for (uint64_t i = 0; i < g.nodes; i++)
        for (uint64_t k = g.first[i]; k < g.first[i + 1]; k++, at++)
            wrong += sorted[at].from != i || sorted[at].to != g.to[k];
    ck_assert(at == n && wrong == 0);
}

START_TEST(edges_of_many_pieces) {
    const struct { uint64_t nodes, edges; } cases[] = { { 7, 120000 }, { 1024, 60000 }, { 1025, 60000 },
                                                       { 300000, 90000 } };
    for (int c = 0; c < 4; c++) {
        const uint64_t n = cases[c].edges, nodes = cases[c].nodes;
        pair *pairs = malloc(n * sizeof *pairs);
        char *text = malloc(n * 40);
        size_t length = 0;
        nima_rng r = { .key = (uint64_t)c };
        for (uint64_t i = 0; i < n; i++) {
            pairs[i] = (pair){ (uint32_t)nima_below(&r, nodes), (uint32_t)nima_below(&r, nodes) };
            if (nima_chance(&r, 0.01)) pairs[i].from = (uint32_t)nodes - 1;      /* a hub */
            length += (size_t)sprintf(text + length, "%u%c%u%s", pairs[i].from, i % 2 ? ' ' : ',', pairs[i].to,
                                      i % 5 ? "\n" : i % 3 ? "\r\n" : "# here\n\n");
        }
        qsort(pairs, n, sizeof *pairs, compare_pairs);
        input_file f = open_bytes(text, length);
        for (threads = 1; threads <= 7; threads++) {
            ck_same_pairs(read_edges(&f, nodes), pairs, n);
            forget();
        }
        input_close(&f);
        free(text);
        free(pairs);
    }
}
END_TEST

/* Lines that begin exactly where pieces do. */
START_TEST(edges_at_borders) {
    enum { N = 200000 };
    char *text = malloc(4 * N);
    for (int i = 0; i < N; i++) memcpy(text + 4 * i, "0,1\n", 4);
    for (size_t cut = 0; cut < 4; cut++) {
        input_file f = open_bytes(text + cut, 4 * N - cut);
        nima_graph g;
        const bool torn = cut == 1 || cut == 2;               /* ",1" or "1" */
        ck_assert_int_eq(input_edges(&f, 2, &host, &g, error, sizeof error), torn ? NIMA_E_INPUT : NIMA_OK);
        if (!torn) ck_assert_uint_eq(g.first[1], N - (cut > 0));
        input_close(&f);
        forget();
    }
    free(text);
}
END_TEST

START_TEST(edges_first_error) {
    char *text = malloc(4u << 20), why[100];
    size_t length = 0;
    for (int i = 0; i < 300000; i++)
        length += (size_t)sprintf(text + length, i == 150000 || i == 150001 || i == 290000 ? "0,%d\n" : "0,0\n", i);
    input_file f = open_bytes(text, length);
    for (threads = 1; threads <= 7; threads++) {
        nima_graph g;
        ck_assert_int_eq(input_edges(&f, 10, &host, &g, error, sizeof error), NIMA_E_INPUT);
        snprintf(why, sizeof why, ":150001: node 150000 of 10, which are counted from 0");
        ck_error(why);
    }
    input_close(&f);
    free(text);
}
END_TEST

/* ---- random graphs ----------------------------------------------------------------------------------------------- */
static nima_graph random_graph(uint64_t seed, uint64_t key, uint64_t nodes, double degree) {
    nima_graph g;
    const nima_err code = input_random_graph(seed, key, nodes, degree, &host, &g, error, sizeof error);
    ck_assert_msg(code == NIMA_OK, "%s", error);
    return g;
}
static bool has_edge(nima_graph g, uint64_t from, uint32_t to) {
    for (uint64_t k = g.first[from]; k < g.first[from + 1]; k++) if (g.to[k] == to) return true;
    return false;
}

START_TEST(random_graph_is_simple) {
    const struct { uint64_t nodes; double degree; } cases[] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 2, 0.5 }, { 30, 29 },
                                                               { 50, 20 }, { 3000, 2 }, { 20000, 15 }, { 500, 0 } };
    for (int c = 0; c < 9; c++) {
        const nima_graph g = random_graph(5, (uint64_t)c, cases[c].nodes, cases[c].degree);
        for (uint64_t i = 0; i < g.nodes; i++)
            for (uint64_t k = g.first[i]; k < g.first[i + 1]; k++) {
                ck_assert(g.to[k] < g.nodes && g.to[k] != i && (k == g.first[i] || g.to[k] > g.to[k - 1]));
                ck_assert(has_edge(g, g.to[k], (uint32_t)i));
            }
        if (cases[c].degree == (double)(int64_t)g.nodes - 1)
            ck_assert_uint_eq(g.first[g.nodes], g.nodes * (g.nodes - 1));
        forget();
    }
}
END_TEST

START_TEST(random_graph_is_a_function) {
    threads = 1;
    const nima_graph g = random_graph(1, 2, 60000, 8);        /* several blocks */
    const uint64_t n = g.first[g.nodes];
    for (threads = 2; threads <= 7; threads++) {
        const nima_graph h = random_graph(1, 2, 60000, 8);
        ck_assert(!memcmp(g.first, h.first, (g.nodes + 1) * sizeof *g.first) && !memcmp(g.to, h.to, n * sizeof *g.to));
    }
    threads = 1;
    const nima_graph seed = random_graph(2, 2, 60000, 8), key = random_graph(1, 3, 60000, 8);
    ck_assert(memcmp(g.first, seed.first, g.nodes * sizeof *g.first));
    ck_assert(memcmp(g.first, key.first, g.nodes * sizeof *g.first));
    forget();
}
END_TEST

/* The graph is drawn in blocks, here four equal parts of all pairs: one part must not repeat another. */
START_TEST(random_graph_does_not_repeat_itself) {
    enum { NODES = 60000 };
    const uint64_t pairs = (uint64_t)NODES * (NODES - 1) / 2;
    const nima_graph g = random_graph(3, 4, NODES, 8);
    int repeated = 0;
    for (uint64_t to = 1; to < NODES / 4; to++)
        for (uint64_t k = g.first[to]; k < g.first[to + 1] && g.to[k] < to; k++) {
            const uint64_t other = to * (to - 1) / 2 + g.to[k] + pairs / 4;
            uint64_t high = (uint64_t)((1 + sqrt(1 + 8 * (double)(int64_t)other)) / 2);
            while (high * (high - 1) / 2 > other) high--;
            repeated += has_edge(g, high, (uint32_t)(other - high * (high - 1) / 2));
        }
    ck_assert_int_lt(repeated, 50);
    forget();
}
END_TEST

/* Degrees are binomial; every pair is as likely as any other. */
START_TEST(random_graph_against_theory) {
    enum { NODES = 100000, SMALL = 12, TIMES = 5000 };
    const nima_graph g = random_graph(7, 1, NODES, 6);
    double seen[60] = { 0 }, pairs[SMALL][SMALL] = { { 0 } };
    for (uint64_t i = 0; i < NODES; i++) seen[g.first[i + 1] - g.first[i]]++;
    chi_square c = { 0 };
    for (int k = 0; k < 60; k++) {
        const double p = 6.0 / (NODES - 1), n = NODES - 1;
        const double ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
        chi_square_add(&c, seen[k], NODES * exp(ways + k * log(p) + (n - k) * log1p(-p)));
    }
    ck_chi_square(&c, "degrees");
    forget();
    for (uint64_t key = 0; key < TIMES; key++) {
        const nima_graph s = random_graph(8, key, SMALL, 4);
        for (uint64_t i = 0; i < SMALL; i++) for (uint64_t k = s.first[i]; k < s.first[i + 1]; k++) pairs[i][s.to[k]]++;
        forget();
    }
    const double p = 4.0 / (SMALL - 1);
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < i; j++) ck_mean(pairs[i][j], TIMES, p, sqrt(p * (1 - p)), "a pair");
}
END_TEST

START_TEST(random_graph_refused) {
    nima_graph g;
    ck_assert_int_eq(input_random_graph(1, 1, 10, 9.5, &host, &g, error, sizeof error), NIMA_E_MODEL);
    ck_assert_str_eq(error, "a random graph of 10 nodes: mean degree 9.5, expected 0 to 9");
    ck_assert_int_eq(input_random_graph(1, 1, 10, -1, &host, &g, error, sizeof error), NIMA_E_MODEL);
    ck_assert_int_eq(input_random_graph(1, 1, 10, NAN, &host, &g, error, sizeof error), NIMA_E_MODEL);
    const uint64_t many = ((uint64_t)1 << 32) + 1;
    ck_assert_int_eq(input_random_graph(1, 1, many, 1, &host, &g, error, sizeof error), NIMA_E_MODEL);
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "input: files (mapped, hashed, refused)", files },
        { "input: columns", columns },
        { "input: columns refused, by line", columns_refused },
        { "input: columns of many pieces (1 to 7 threads)", columns_of_many_pieces },
        { "input: columns with pieces inside quotes (1 to 7 threads)", columns_quoted_pieces },
        { "input: edges", edges },
        { "input: edges refused, by line", edges_refused },
        { "input: edges of many pieces (1 to 7 threads)", edges_of_many_pieces },
        { "input: edges at the borders of pieces", edges_at_borders },
        { "input: first error of an edge list (1 to 7 threads)", edges_first_error },
        { "input: random graph has no loops, no repeated edges", random_graph_is_simple },
        { "input: random graph is a function of its arguments (1 to 7 threads)", random_graph_is_a_function },
        { "input: random graph does not repeat itself", random_graph_does_not_repeat_itself },
        { "input: random graph against theory", random_graph_against_theory },
        { "input: random graph refused", random_graph_refused },
    };
    const int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    const int failed = run_units("input", tests, sizeof tests / sizeof *tests);
    unlink(path);
    return failed;
}
