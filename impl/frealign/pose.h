// SPDX-License-Identifier: MIT
// pose.h: Euler angles and shift to the eight floats of a pose (index.h), in double precision until the end.
#ifndef RG_FREALIGN_POSE_H
#define RG_FREALIGN_POSE_H

#include "index.h"

// Rz(phi) Ry(theta) Rz(psi), active rotations by angles in radians, row by row: FREALIGN's PHI, THETA, PSI and RELION's rot,
// tilt, psi, whose matrix is the transpose. Column 3 is the direction of view.
static inline void fr_rotation(double phi, double theta, double psi, double m[9])
{
    const double cf = cos(phi), sf = sin(phi), ct = cos(theta), st = sin(theta), cp = cos(psi), sp = sin(psi);
    const double r[9] = {cf * ct * cp - sf * sp, -cf * ct * sp - sf * cp, st * cf,
                         sf * ct * cp + cf * sp, -sf * ct * sp + cf * cp, st * sf,
                         -st * cp, st * sp, ct};
    for (int e = 0; e < 9; e++) m[e] = r[e];
}

// m: rotation, after a symmetry operator g M; divided by the relative magnification. Shift in pixels of a particle displaced by
// +shift from the centre.
static inline void fr_pose(const double m[9], double magnification, const double shift_px[2], int64_t side,
                           float pose[FR_POSE_FLOATS])
{
    for (int axis = 0; axis < 3; axis++) {
        pose[axis] = (float)(m[3 * axis] / magnification);
        pose[3 + axis] = (float)(m[3 * axis + 1] / magnification);
    }
    for (int axis = 0; axis < 2; axis++) pose[6 + axis] = (float)(2 * 3.14159265358979323846 / (double)side * shift_px[axis]);
}

#endif
