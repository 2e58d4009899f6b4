/* cluster.c: `nima cluster check FILE`: whether the hosts of a configuration could share a run. */
#include "cluster/cluster.h"
#include "cli/cli.h"

int cluster_main(int argc, char **argv) {
    char error[600] = "";
    if (argc != 3 || strcmp(argv[1], "check")) return cli_usage("cluster", "expected: check FILE");
    const uint32_t wrong = cluster_check(argv[2], stdout, error, sizeof error);
    if (wrong == UINT32_MAX) return cli_usage("cluster", "%s", error);
    return wrong ? EXIT_DIFFERS : EXIT_GOOD;
}
