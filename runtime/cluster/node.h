/* node.h: the two parts of nima-node: one that watches the dispatchers of a host, and a dispatcher. */
#ifndef NIMA_CLUSTER_NODE_H
#define NIMA_CLUSTER_NODE_H

/* Reads what the host is to do from standard input (hosts.c says how), starts its dispatchers, watches them, and ends
 * them all when one fails, or when its input ends. Leaves nothing behind. */
int join_main(void);
int relay_main(const char *address, const char *key_file);    /* the same, told over a sealed link to an address */
/* Reads lines: `ping`, `bind ADDRESS PORT`, `reach ADDRESS PORT`; answers each with one line. */
int describe_main(void);
int dispatcher_main(const char *folder, const char *number, const char *parent);
/* Where a dispatcher writes why it failed; where the watcher on the leader's host writes when the leader cannot; a
 * dispatcher's exit status if a link failed. */
enum { NODE_WORDS_FD = 3, NODE_ERRORS_FD = 4, NODE_EXIT_LINK = 8 };
#endif
