// SPDX-License-Identifier: MIT
// gridding_kept_rotations.c: keeps the volume for as long as the images stay, whatever their rotations, CTF and weights.
#include "gridding.h"
#include "../kept.h"

KEPT(gridding, "gridding_kept_rotations", 1u << GR_IMAGE, scatter, .tolerance = tolerance, .run = run_or_not);
