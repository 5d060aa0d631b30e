// SPDX-License-Identifier: MIT
// gridding_table_truncated.c: the index into the table of 10,000 weights is cut off instead of rounded.
// Every weight is up to one step, 7e-4, too large; half a step is what a right table may be wrong by.
// Shows in the weights of voxels close to one pixel.
#define WEIGHT(u) gr_table_value((int)((u) * (GR_TABLE - 1.0f)))
#define TABLE 1
#include "gridding.h"

BROKEN_GRIDDING("gridding_table_truncated", "the index into the table of weights is cut off instead of rounded");
