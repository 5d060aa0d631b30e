// SPDX-License-Identifier: MIT
// wedge.h: what a tilt series about y from -W to W degrees leaves out of a volume's transform: |kz| > |kx| tan W.
#ifndef RG_WEDGE_H
#define RG_WEDGE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// Whether the frequency was seen; that on the border and the origin were.
static inline bool rg_wedge_seen(double kx, double kz, double tangent) { return !(fabs(kz) > fabs(kx) * tangent); }
// tan W for W in (0, 90], infinite at 90, where nothing is missing.
double rg_wedge_tangent(double deg);
// Sets the missing frequencies of a volume of side^3 voxels to 0. At side / 2 of an even side both signs are one frequency.
void rg_wedge_remove(int64_t side, double deg, double *volume);

#endif
