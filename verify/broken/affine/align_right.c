// SPDX-License-Identifier: MIT
// align_right.c: the control: the correlation that the others spoil, as it should be. It must pass.
#include "affine.h"

BROKEN_PLUGIN("align2d", "align_right", .run = correlate);
