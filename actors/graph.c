/* graph.c: graphs in compressed rows, from edge lists and drawn at random, on all cores.
 *
 * Edges come in blocks, each filled by one thread and cut in a way that depends on the input alone. Building the rows
 * is a counting sort in two passes: blocks are dealt out to at most 1024 ranges of nodes, at places counted before;
 * then each range is sorted by itself, in cache, and each row by its targets. No two threads write to one place, and
 * nothing depends on which comes first. */
#include "hash.h"
#include "input.h"
#include "random.h"
#include <math.h>
#include <stdlib.h>

typedef struct { uint32_t from, to; } edge;
typedef struct { edge *edges; uint64_t count, room; } block;

enum { RANGES = 1024 };
typedef struct {
    const block *blocks; uint64_t block_count;
    bool both;                               /* each edge also backwards */
    unsigned shift; uint64_t ranges;         /* a node's range is node >> shift */
    uint64_t *places;                        /* [block][range]: how many edges, then where the next goes */
    uint64_t *begins;                        /* of ranges, in sorted */
    edge *sorted;
    uint64_t nodes, *first; uint32_t *to;
} rows;

static nima_err no_memory(char *error, size_t room) {
    snprintf(error, room, "no memory for a graph");
    return NIMA_E_MEMORY;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static void block_count(uint64_t i, void *arg) {
    const rows *g = arg;
    const block *b = &g->blocks[i];
    uint64_t *count = g->places + i * g->ranges;
    for (uint64_t k = 0; k < b->count; k++) {
        count[b->edges[k].from >> g->shift]++;
        if (g->both) count[b->edges[k].to >> g->shift]++;
    }
}

static void block_deal(uint64_t i, void *arg) {
    const rows *g = arg;
    const block *b = &g->blocks[i];
    uint64_t *place = g->places + i * g->ranges;
    for (uint64_t k = 0; k < b->count; k++) {
        const edge e = b->edges[k];
        g->sorted[place[e.from >> g->shift]++] = e;
        if (g->both) g->sorted[place[e.to >> g->shift]++] = (edge){ e.to, e.from };
    }
}

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void row_sort(uint32_t *row, uint64_t n) {
    if (n > 32) { qsort(row, n, sizeof *row, compare); return; }
    for (uint64_t i = 1; i < n; i++) {
        const uint32_t x = row[i];
        uint64_t j = i;
        for (; j > 0 && row[j - 1] > x; j--) row[j] = row[j - 1];
        row[j] = x;
    }
}

/* Owns first[low + 1 .. high]: counts, then where the row's next target goes, at last where the row ends. */
static void range_sort(uint64_t i, void *arg) {
    const rows *g = arg;
    const uint64_t low = i << g->shift, width = (uint64_t)1 << g->shift;
    const uint64_t high = g->nodes - low > width ? low + width : g->nodes;
    const edge *begin = g->sorted + g->begins[i], *end = g->sorted + g->begins[i + 1];
    uint64_t *first = g->first + 1, at = g->begins[i];
    for (const edge *e = begin; e < end; e++) first[e->from]++;
    for (uint64_t v = low; v < high; v++) {
        const uint64_t count = first[v];
        first[v] = at;
        at += count;
    }
    for (const edge *e = begin; e < end; e++) g->to[first[e->from]++] = e->to;
    at = g->begins[i];
    for (uint64_t v = low; v < high; at = first[v++]) row_sort(g->to + at, first[v] - at);
}

static void rows_sort(rows *g, const input_host *host) {
    host->parallel(host->arg, g->block_count, block_count, g);
    uint64_t at = 0;
    for (uint64_t r = 0; r < g->ranges; r++) {
        g->begins[r] = at;
        for (uint64_t b = 0; b < g->block_count; b++) {
            uint64_t *place = &g->places[b * g->ranges + r];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    g->begins[g->ranges] = at;
    host->parallel(host->arg, g->block_count, block_deal, g);
    host->parallel(host->arg, g->ranges, range_sort, g);
}

/* Frees the blocks. */
static nima_err rows_build(block *blocks, uint64_t n, uint64_t nodes, bool both, const input_host *host,
                           nima_graph *out, char *error, size_t room) {
    uint64_t edges = 0;
    for (uint64_t i = 0; i < n; i++) edges += blocks[i].count << both;
    rows g = { .blocks = blocks, .block_count = n, .both = both, .nodes = nodes };
    while (nodes >> g.shift >= RANGES) g.shift++;
    g.ranges = nodes ? ((nodes - 1) >> g.shift) + 1 : 0;
    g.places = calloc(n * g.ranges + 1, sizeof *g.places);
    g.begins = calloc(g.ranges + 1, sizeof *g.begins);
    g.sorted = malloc((edges + 1) * sizeof *g.sorted);
    const bool enough = g.places && g.begins && g.sorted;
    if (enough) {
        g.first = host->allocate(host->arg, (nodes + 1) * sizeof *g.first);
        g.to = host->allocate(host->arg, (edges + 1) * sizeof *g.to);
        rows_sort(&g, host);
        *out = (nima_graph){ nodes, g.first, g.to };
    }
    free(g.places);
    free(g.begins);
    free(g.sorted);
    for (uint64_t i = 0; i < n; i++) free(blocks[i].edges);
    free(blocks);
    return enough ? NIMA_OK : no_memory(error, room);
}

/* ---- edge lists -------------------------------------------------------------------------------------------------- */
enum { LINE_BYTES = 4 };                     /* an edge takes at least "1,2\n" */
typedef struct {
    const input_file *file;
    const char *body, *end;
    uint64_t nodes;
    block *blocks;
    const char **wrong;                      /* one a piece: its first line that is */
} edge_list;

static const char *line_end(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}
static const char *skip_blank(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return p;
}
static bool is_over(const char *p, const char *end) { return p == end || *p == '#'; }

/* Saturates: a number that is too large stays so. */
static const char *node_read(const char *p, const char *end, uint64_t *node) {
    const char *begin = p;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        n = n < UINT64_MAX / 16 ? 10 * n + (uint64_t)(*p - '0') : UINT64_MAX;
    *node = n;
    return p > begin ? p : NULL;
}

typedef enum { LINE_EDGE, LINE_EMPTY, LINE_WRONG } line_kind;
static line_kind line_read(const char *p, const char *end, uint64_t *from, uint64_t *to) {
    p = skip_blank(p, end);
    if (is_over(p, end)) return LINE_EMPTY;
    p = node_read(p, end, from);
    if (!p) return LINE_WRONG;
    const char *behind = p;
    p = skip_blank(p, end);
    if (p < end && *p == ',') p = skip_blank(p + 1, end);
    if (p == behind || !(p = node_read(p, end, to))) return LINE_WRONG;
    return is_over(skip_blank(p, end), end) ? LINE_EDGE : LINE_WRONG;
}

/* The lines that begin in piece i. */
static void piece_read(uint64_t i, void *arg) {
    const edge_list *l = arg;
    block *b = &l->blocks[i];
    const char *p = l->body + i * INPUT_PIECE_BYTES;
    const char *end = l->end - p > INPUT_PIECE_BYTES ? p + INPUT_PIECE_BYTES : l->end;
    b->edges = malloc((INPUT_PIECE_BYTES / LINE_BYTES + 1) * sizeof *b->edges);
    if (!b->edges) return;
    if (i > 0) p = line_end(p - 1, l->end) + 1;
    for (const char *next; p < end; p = next) {
        uint64_t from, to;
        const char *stop = line_end(p, l->end);
        next = stop + 1;
        const line_kind kind = line_read(p, stop, &from, &to);
        if (kind == LINE_EMPTY) continue;
        if (kind == LINE_WRONG || from >= l->nodes || to >= l->nodes) { l->wrong[i] = p; return; }
        b->edges[b->count++] = (edge){ (uint32_t)from, (uint32_t)to };
    }
}

static nima_err fail_at(const edge_list *l, const char *at, char *error, size_t room) {
    unsigned long long line = 1;
    uint64_t from, to;
    for (const char *p = l->file->data; p < at; p++) line += *p == '\n';
    const char *stop = line_end(at, l->end);
    if (stop > at && stop[-1] == '\r') stop--;
    if (line_read(at, stop, &from, &to) == LINE_WRONG)
        snprintf(error, room, "%s:%llu: expected two node numbers, not \"%.*s\"", l->file->path, line,
                 stop - at < 60 ? (int)(stop - at) : 60, at);
    else
        snprintf(error, room, "%s:%llu: node %llu of %llu, which are counted from 0", l->file->path, line,
                 (unsigned long long)(from >= l->nodes ? from : to), (unsigned long long)l->nodes);
    return NIMA_E_INPUT;
}

/* Where edges begin: behind comments and, if what follows begins like one, a line of column names. */
static const char *body_begin(const char *p, const char *end) {
    if (end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) p += 3;
    while (p < end) {
        const char *stop = line_end(p, end), *text = skip_blank(p, stop);
        const bool name = text < stop && (((*text | 32) >= 'a' && (*text | 32) <= 'z') || *text == '"' || *text == '_');
        if (!is_over(text, stop) && !name) return p;
        p = stop < end ? stop + 1 : end;
        if (name) return p;
    }
    return end;
}

nima_err input_edges(const input_file *f, uint64_t nodes, const input_host *host, nima_graph *out, char *error,
                     size_t room) {
    edge_list l = { .file = f, .end = f->data + f->bytes, .nodes = nodes };
    l.body = body_begin(f->data, l.end);
    const uint64_t pieces = ((uint64_t)(l.end - l.body) + INPUT_PIECE_BYTES - 1) / INPUT_PIECE_BYTES;
    if (nodes > (uint64_t)1 << 32) return snprintf(error, room, "%s: at most 2^32 nodes", f->path), NIMA_E_MODEL;
    l.blocks = calloc(pieces + 1, sizeof *l.blocks);
    l.wrong = calloc(pieces + 1, sizeof *l.wrong);
    nima_err code = l.blocks && l.wrong ? NIMA_OK : no_memory(error, room);
    if (!code) host->parallel(host->arg, pieces, piece_read, &l);
    for (uint64_t i = 0; i < pieces && !code; i++) {
        if (!l.blocks[i].edges) code = no_memory(error, room);
        else if (l.wrong[i]) code = fail_at(&l, l.wrong[i], error, room);
    }
    free(l.wrong);
    if (!code) return rows_build(l.blocks, pieces, nodes, false, host, out, error, room);
    for (uint64_t i = 0; l.blocks && i < pieces; i++) free(l.blocks[i].edges);
    free(l.blocks);
    return code;
}

/* ---- random graphs ----------------------------------------------------------------------------------------------- */
enum { BLOCK_EDGES = 1 << 16 };
typedef struct { uint64_t seed, key, pairs, block_count; double chance; block *blocks; bool *failed; } draw;

/* Of nodes below v. */
static uint64_t pairs_of(uint64_t v) { return v % 2 ? v * ((v - 1) / 2) : v / 2 * (v - 1); }

/* Batagelj and Brandes 2005: goes by geometric skips over its part of all pairs from < to, in order of (to, from). */
static void block_draw(uint64_t i, void *arg) {
    const draw *d = arg;
    block *b = &d->blocks[i];
    uint64_t pair = (uint64_t)((unsigned __int128)d->pairs * i / d->block_count);
    const uint64_t end = (uint64_t)((unsigned __int128)d->pairs * (i + 1) / d->block_count);
    nima_rng r = { .key = d->seed, .stream = (uint64_t)3 << 62 | hash_mum(d->key ^ HASH_K0, i ^ HASH_K1) >> 2 };
    uint64_t to = (uint64_t)((1 + sqrt(1 + 8 * (double)(int64_t)pair)) / 2);
    while (pairs_of(to) > pair) to--;
    while (pairs_of(to + 1) <= pair) to++;
    uint64_t from = pair - pairs_of(to);
    for (;;) {
        const uint64_t skip = nima_geometric(&r, d->chance);
        if (skip >= end - pair) return;
        pair += skip + 1;
        for (from += skip; from >= to; to++) from -= to;
        if (b->count == b->room) {
            b->room = b->room ? 2 * b->room : BLOCK_EDGES + BLOCK_EDGES / 16;
            edge *grown = realloc(b->edges, b->room * sizeof *grown);
            if (!grown) { d->failed[i] = true; return; }
            b->edges = grown;
        }
        b->edges[b->count++] = (edge){ (uint32_t)from++, (uint32_t)to };
    }
}

nima_err input_random_graph(uint64_t seed, uint64_t key, uint64_t nodes, double mean_degree, const input_host *host,
                            nima_graph *out, char *error, size_t room) {
    if (nodes > (uint64_t)1 << 32) return snprintf(error, room, "a random graph: at most 2^32 nodes"), NIMA_E_MODEL;
    const double most = nodes ? (double)(int64_t)(nodes - 1) : 0;
    if (!(mean_degree >= 0 && mean_degree <= most)) {
        snprintf(error, room, "a random graph of %llu nodes: mean degree %g, expected 0 to %g",
                 (unsigned long long)nodes, mean_degree, most);
        return NIMA_E_MODEL;
    }
    draw d = { .seed = seed, .key = key, .pairs = nodes ? pairs_of(nodes) : 0 };
    d.chance = most > 0 ? mean_degree / most : 0;
    const double edges = d.chance * (double)(int64_t)d.pairs;
    d.block_count = d.chance > 0 ? (uint64_t)(edges / BLOCK_EDGES) + 1 : 0;
    d.blocks = calloc(d.block_count + 1, sizeof *d.blocks);
    d.failed = calloc(d.block_count + 1, sizeof *d.failed);
    bool failed = !d.blocks || !d.failed;
    if (!failed) host->parallel(host->arg, d.block_count, block_draw, &d);
    for (uint64_t i = 0; i < d.block_count && !failed; i++) failed = d.failed[i];
    free(d.failed);
    if (!failed) return rows_build(d.blocks, d.block_count, nodes, true, host, out, error, room);
    for (uint64_t i = 0; d.blocks && i < d.block_count; i++) free(d.blocks[i].edges);
    free(d.blocks);
    return no_memory(error, room);
}
