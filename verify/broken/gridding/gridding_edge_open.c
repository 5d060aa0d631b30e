// SPDX-License-Identifier: MIT
// gridding_edge_open.c: the last voxel column of the volume, x = k, is never reached: x < k where x <= k was meant.
// Shows in one face of the volume.
#define IS_STORED(vx) ((vx) >= 0 && (vx) < k)
#define IS_MATE(vx, x) ((vx) <= 0 && (vx) > -k && (x) > 0)
#include "gridding.h"

BROKEN_GRIDDING("gridding_edge_open", "x < k where x <= k was meant: the last column of voxels is never reached");
