// SPDX-License-Identifier: MIT
// grid.h: the directions of a search (FREALIGN IFLAG 3 and 4) over the asymmetric unit of a point group.
//
// With D = 90 / floor(90 / DANG + 0.5): theta = 0, D, .. theta_max, and for each phi = 0, P, .. phi_max, P = 360 /
// max(floor(359.99 sin(theta) / D) - 1, 1). Both ends are included, so that C1 has both phi = 0 and 360, as in the original. At
// theta = 90 phi ends before 179. ccp searches psi.
#pragma once

#include <stdint.h>

typedef struct fr_direction {
    double phi_deg, theta_deg, psi_deg;
} fr_direction;

typedef struct fr_grid {
    int64_t n;
    fr_direction *direction;
    int64_t in_plane; // steps of psi over 90 degrees, round(90 / max(DANG / 5, 1)); ccp turns each by 0, 90, 180, 270 degrees
} fr_grid;

// NULL, or the reason why the group has no grid. `group`: a name of symmetry.h; step_deg in [0.5, 45]. Free with fr_grid_free.
const char *fr_grid_make(fr_grid *, const char *group, double step_deg);
void fr_grid_free(fr_grid *);
