// SPDX-License-Identifier: MIT
// gridding_not_conjugated.c: mates are added without changing the sign of the imaginary part.
// W is right; the plane x = 0 and everything that came from x < 0 has a wrong phase.
#define WEIGHT_OF_CTF(c) ((c) * (c))
#define CONJUGATE(im) (im)
#include "gridding.h"

BROKEN_GRIDDING("gridding_not_conjugated", "mates are added without turning the sign of the imaginary part");
