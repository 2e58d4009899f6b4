/* config.h: which hosts share a run, as cluster.cfg says it. docs/cluster.md lists the settings. */
#ifndef NIMA_CLUSTER_CONFIG_H
#define NIMA_CLUSTER_CONFIG_H
#include "run.h"

enum { CONFIG_NAME_MAX = 31, CONFIG_HOSTS_MAX = 63 };

typedef struct {
    char name[CONFIG_NAME_MAX + 1];
    char address[64];                        /* that the others reach it at, and that it binds to */
    char ssh[128];                           /* target of ssh; "": nima-node --join is started by hand there */
    char node[256];                          /* path of nima-node there */
    uint32_t dispatchers, threads;           /* threads of each; 0: its cores shared out */
} config_host;

typedef struct cluster_config {
    config_host host[CONFIG_HOSTS_MAX];      /* the authority first */
    uint32_t hosts, dispatchers;             /* dispatchers: of all hosts */
    uint32_t port;                           /* the first of those used */
    uint32_t connect_ms, heartbeat_ms, lost_ms, window_ms;
    bool insecure, any_arithmetic;
    char ssh_config[256], key[256];          /* files; "": ssh's own; a key that is made anew */
} cluster_config;

#pragma GCC visibility push(default)
/* NIMA_E_USAGE: `error` names file, line, setting and what was expected. */
nima_err cluster_config_read(cluster_config *, const char *path, char *error, size_t room) NIMA_MUST_CHECK;
/* Makes a run that is about to be opened one of these hosts. The configuration is kept, not copied. */
void cluster_config_apply(const cluster_config *, nima_options *, run_tuning *);
#pragma GCC visibility pop
#endif
