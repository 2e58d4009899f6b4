/* publish_private.h: shared by publish.c and publish_map.c. */
#ifndef TRANSPORT_PUBLISH_PRIVATE_H
#define TRANSPORT_PUBLISH_PRIVATE_H
#include "publish.h"

enum { PUBLISH_MAP_HEADER = 3 };             /* map16 */
bool publish_map_finish(publish_map *);      /* writes the header; false: something did not fit */

#endif
