// SPDX-License-Identifier: MIT
// gridding_mates_missing.c: the plane x = 0 gets only the pixel itself, not the mate that falls on it from the other side.
// The quotient G / W hides it: numerator and denominator lose the same half.
// Shows as W too small on the plane x = 0, and nowhere else.
#define IS_STORED(vx) ((vx) >= 0)
#define IS_MATE(vx, x) ((vx) < 0 && (x) > 0)
#include "gridding.h"

BROKEN_GRIDDING("gridding_mates_missing", "the plane x = 0 does not get the mates that fall on it from the other side");
