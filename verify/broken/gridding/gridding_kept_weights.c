// SPDX-License-Identifier: MIT
// gridding_kept_weights.c: keeps the volume for as long as images, rotations and CTF stay, whatever the weights.
#include "gridding.h"
#include "../kept.h"

KEPT(gridding, "gridding_kept_weights", 1u << GR_IMAGE | 1u << GR_ROTATION | 1u << GR_CTF, scatter, .tolerance = tolerance,
    .run = run_or_not);
