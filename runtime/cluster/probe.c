/* probe.c: see probe.h. */
#include "cluster/probe.h"
#include "hash.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROBES = 2000 };

static uint64_t fold(uint64_t h, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return hash_mum(h ^ (x != x ? 0x7FF8000000000000u : bits), HASH_K1);
}

uint64_t cluster_probe(void) {
    static const double edges[] = { 0, -0.0, 1, -1, 0.5, 1e-310, 1e300, 709.78, -745.2, 3.141592653589793, 1e22 };
    nima_rng r = { .key = 1, .stream = 2 };
    uint64_t h = HASH_K0;
    for (uint32_t i = 0; i < PROBES; i++) {
        const double x = i < sizeof edges / sizeof *edges ? edges[i] : (nima_uniform(&r) - 0.5) * (i % 3 ? 40 : 4000);
        const double y = nima_uniform(&r) * 8, positive = x < 0 ? -x : x;
        h = fold(fold(fold(h, nima_exp(x)), nima_ln(positive)), nima_pow(positive, y));
        h = fold(fold(h, nima_sin(x)), nima_cos(x));
        h = fold(fold(h, nima_exponential(&r, 3)), x / (y + 1) + x * y);     /* contraction shows here */
    }
    return h;
}

void hosts_remove_folder(const char *path) {
    char file[PATH_MAX + 300];
    DIR *d = opendir(path);
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        unlink(file);
    }
    closedir(d);
    rmdir(path);
}
