/* What both orders share: the directions, and how a walk ends. */
#ifndef WALK_H
#define WALK_H
#include <stdint.h>

/* N S E W, then NE NW SE SW for 8 neighbors. */
static const int32_t walk_down[8] = { -1, 1, 0, 0, -1, -1, 1, 1 };
static const int32_t walk_right[8] = { 0, 0, 1, -1, 1, -1, 1, -1 };

/* Off the grid; beside a black pixel, its own is blackened; on a black pixel; out of steps. */
enum ending { WALKING, BOUNDARY, NEIGHBOR, TOUCHED, MAX };

#endif
