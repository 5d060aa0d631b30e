// SPDX-License-Identifier: MIT
// gridding_ctf_once.c: the denominator is weighted with the CTF instead of its square.
// Shows where there is a CTF only, as weights that can be negative.
#define WEIGHT_OF_CTF(c) (c)
#define CONJUGATE(im) (-(im))
#include "gridding.h"

BROKEN_GRIDDING("gridding_ctf_once", "the denominator has the CTF instead of its square");
