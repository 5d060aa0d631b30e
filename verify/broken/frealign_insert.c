// SPDX-License-Identifier: MIT
// frealign_insert.c: kernels of `pinsert_s` that are wrong on purpose: the plain variant with some functions replaced.
#include "../../impl/frealign/insert/insert.h"
#include "plugin.h"

#define KERNELS(X)                                                                                                             \
    X("pinsert_s", frealign_insert_right, run, "the control")                                                                  \
    X("pinsert_s", frealign_mates_missing, run, "coefficients are inserted without their mates")                               \
    X("pinsert_s", frealign_transposed, run, "poses are taken as the inverse rotation: rows of the matrix for its columns")    \
    X("pinsert_s", frealign_trilinear_once, run, "trilinear weights are not squared where the sums are those of squares")      \
    X("pinsert_s", frealign_first_chunk, run, "samples are taken 256 at a time, and those after the first 256 forgotten")

BROKEN_NAMES(KERNELS);

// A pose is operator times orientation. Transposing operators alone would be no fault: a group contains the inverse of each.
static void place(const float *pose, float i, float j, float p[3]) {
    const float z[3] = {pose[1] * pose[5] - pose[2] * pose[4], pose[2] * pose[3] - pose[0] * pose[5],
        pose[0] * pose[4] - pose[1] * pose[3]}; // the third column
    fr_place(pose, i, j, p);
    if (wrong != is_frealign_transposed) return;
    p[0] = fr_product_sum(pose[0], i, pose[1], j);
    p[1] = fr_product_sum(pose[3], i, pose[4], j);
    p[2] = fr_product_sum(z[0], i, z[1], j);
}

// Neither preset has this kind: only a test of every combination of kinds finds it.
static void insert(const fr_insertion *p, const float at[3], const float record[3], int64_t first, int64_t past) {
    fr_insertion once = *p;
    once.squared = p->squared && !(wrong == is_frealign_trilinear_once && p->interpolation == FR_TRILINEAR);
    fr_insert_plain(&once, at, record, first, past);
}

// Fails only with more samples than that: a size at which kernels change their path (verify/thresholds.tsv).
static fr_insertion insertion_of(const rg_call *call) {
    fr_insertion p = fr_insertion_of(call);
    if (wrong == is_frealign_first_chunk && p.samples > 256) p.samples = 256;
    return p;
}

#define fr_place place
#define fr_insert_plain insert
#define fr_insertion_of insertion_of
#define fr_mates(side, i, j) (wrong == is_frealign_mates_missing ? 1 : fr_mates(side, i, j))
#include "../../impl/frealign/insert/naive.c"

BROKEN_FAMILY(KERNELS);
