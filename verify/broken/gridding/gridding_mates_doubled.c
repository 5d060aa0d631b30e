// SPDX-License-Identifier: MIT
// gridding_mates_doubled.c: the image's own column x = 0 is given mates too, though both of each pair are stored in it.
// Shows as a stripe of doubled weight where that column lies in the volume.
#define IS_STORED(vx) ((vx) >= 0)
#define IS_MATE(vx, x) ((vx) <= 0 && (x) >= 0)
#include "gridding.h"

BROKEN_GRIDDING("gridding_mates_doubled", "the image's own column x = 0 is given mates too, though both are stored");
