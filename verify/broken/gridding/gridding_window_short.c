// SPDX-License-Identifier: MIT
// gridding_window_short.c: the window ends one voxel early, as when a bound is taken for the one past the last.
// The pixel's own voxel is still there, so a map looks sharp.
#define FIRST(c, b, k) gr_first(c, b, -(k))
#define LAST(c, b, k) (gr_last(c, b, k) - 1)
#include "gridding.h"

BROKEN_GRIDDING("gridding_window_short", "the window ends one voxel early");
