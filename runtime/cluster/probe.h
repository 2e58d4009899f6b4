/* probe.h: does this host compute as the others do? A hash of what the arithmetic offered to models gives, at chosen
 * and random places. */
#ifndef NIMA_CLUSTER_PROBE_H
#define NIMA_CLUSTER_PROBE_H
#include "nima.h"

#pragma GCC visibility push(default)
uint64_t cluster_probe(void);
void hosts_remove_folder(const char *path);  /* with the files in it; hosts.c and nima-node */
#pragma GCC visibility pop
#endif
