// SPDX-License-Identifier: MIT
// index.h: pinsert_s, particles inserted into the transform of the map.
//
// pinsert_s  adds to the volume, (N/2+1) x N x N records (Re num, Im num, den, a fourth number that is not changed). All q of
//        the whole plane with r <= b (b <= N/2) take part: stored ones, and those whose mate is not stored (fr_mates) again at
//        -p with their conjugates, so that the plane x = 0 stays its own mirror image.
//        E = D e^{i s.q}, w = weight[0] exp(weight[1] r^2); to every node l of the 2^3 around p, 0 <= l_x, |l| <= N/2 each:
//        num += b w 2c E, den += b w c^2, b = prod(1 - |p-l|) (FR_TRILINEAR), or 1 at the nearest node alone (FR_NEAREST)
//        [S]; with FR_SQUARED num += w^2 b^2 c E, den += (w b c)^2, b = prod sinc(p-l) with FR_BOX2 [P]. Trials are operators.
#ifndef RG_FREALIGN_INSERT_INDEX_H
#define RG_FREALIGN_INSERT_INDEX_H

#include "../index.h"

enum { FR_INSERT_V9 = FR_TRILINEAR, FR_INSERT_PAPER = FR_BOX2 | FR_SQUARED };
enum { FR_INSERT_D, FR_INSERT_C, FR_INSERT_POSE, FR_INSERT_WEIGHT, FR_INSERT_VOLUME };
enum { FR_RECORD = 4 };

// Columns of row j within the radius: 0 .. fr_insert_past - 1.
RG_HD int64_t fr_insert_past(int64_t b, int64_t j) { return j * j <= b * b ? fr_root(b * b - j * j) + 1 : 0; }

#endif
