// SPDX-License-Identifier: MIT
// gridding_centre.c: the row of frequency 0 is taken to be (side + 1) / 2, right for no odd side.
// Every pixel stands one row too low; in real space the particle gets a ramp of phase, so stripes.
#define PLACE(m, x, y, r) gr_place(m, x, (y)-1, r)
#include "gridding.h"

BROKEN_GRIDDING("gridding_centre", "the row of frequency 0 is taken one too low");
