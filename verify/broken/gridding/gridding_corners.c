// SPDX-License-Identifier: MIT
// gridding_corners.c: the corners of the image, beyond the circle of the highest frequency, take part.
// Shows as weight where no pixel should reach.
#define COLUMNS(k, y) ((k) + 1 + 0 * (y))
#include "gridding.h"

BROKEN_GRIDDING("gridding_corners", "pixels beyond the circle of the highest frequency take part");
