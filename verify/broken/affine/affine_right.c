// SPDX-License-Identifier: MIT
// affine_right.c: the control: the transform that the others spoil, as it should be. It must pass.
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_right", .run = transform);
