// SPDX-License-Identifier: MIT
// wedge.h: the frequencies of a volume's transform that a tilt series about y from -W to W degrees misses: |kz| > |kx| tan W.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// Returns whether the frequency is measured; those on the border, and the origin, are.
static inline bool rg_wedge_seen(double kx, double kz, double tangent) { return !(fabs(kz) > fabs(kx) * tangent); }
// The same with a border one frequency wide: 0 missing, 1 measured. The wedge is (sin W, cos W).
static inline double rg_wedge_share(double kx, double kz, const double wedge[2]) {
    double inside = fabs(kx) * wedge[0] - fabs(kz) * wedge[1] + 0.5;
    return inside < 0 ? 0 : inside > 1 ? 1 : inside;
}
// tan W for W in (0, 90], infinite at 90, where nothing is missing.
double rg_wedge_tangent(double deg);
// Sets the missing frequencies of a volume of side^3 voxels to 0. At side / 2 of an even side both signs are the same
// frequency.
void rg_wedge_remove(int64_t side, double deg, double *volume);
