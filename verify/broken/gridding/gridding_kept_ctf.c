// SPDX-License-Identifier: MIT
// gridding_kept_ctf.c: keeps the volume for as long as images and rotations stay, whatever the CTF.
#include "gridding.h"
#include "../kept.h"

KEPT(gridding, "gridding_kept_ctf", 1u << GR_IMAGE | 1u << GR_ROTATION | 1u << GR_WEIGHT, scatter, .tolerance = tolerance,
    .run = run_or_not);
