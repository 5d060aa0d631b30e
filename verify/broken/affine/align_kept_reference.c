// SPDX-License-Identifier: MIT
// align_kept_reference.c: keeps rho for as long as image and matrices stay, whatever the reference.
#include "affine.h"
#include "../kept.h"

KEPT(align2d, "align_kept_reference", 1u << AL_IMAGE | 1u << AL_MATRIX, correlate, .run = run_or_not);
