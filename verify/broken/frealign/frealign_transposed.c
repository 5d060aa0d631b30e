// SPDX-License-Identifier: MIT
// frealign_transposed.c: poses are taken as the inverse rotation: rows of the matrix for its columns. A pose is operator times
// orientation; operators alone transposed would be no fault, for a group holds the inverse of each of its own.
#include "frealign.h"

RG_HD void place_transposed(const float *pose, float i, float j, float p[3])
{
    const float z[3] = {pose[1] * pose[5] - pose[2] * pose[4], pose[2] * pose[3] - pose[0] * pose[5],
        pose[0] * pose[4] - pose[1] * pose[3]}; // the third column
    p[0] = fr_product_sum(pose[0], i, pose[1], j);
    p[1] = fr_product_sum(pose[3], i, pose[4], j);
    p[2] = fr_product_sum(z[0], i, z[1], j);
}
#define fr_place place_transposed

#include "../../../impl/frealign/insert/naive.c"

BROKEN_PLUGIN("pinsert_s", "frealign_transposed", .run = run);
