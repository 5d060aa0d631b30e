// SPDX-License-Identifier: MIT
// gridding_kept_images.c: keeps the volume for as long as the rotations stay, as of another stack of the same tilt series.
#include "gridding.h"
#include "../kept.h"

KEPT(gridding, "gridding_kept_images", 1u << GR_ROTATION, scatter, .tolerance = tolerance, .run = run_or_not);
