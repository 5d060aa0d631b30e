// SPDX-License-Identifier: MIT
// fill.h: inputs of the three algorithms.
#ifndef RG_AFFINE_FILL_H
#define RG_AFFINE_FILL_H

#include "index.h"

// reference: NULL if the algorithm has none.
void af_fill(const af_size *, uint64_t seed, rg_pattern, float *image, float *reference, float *matrix);

#endif
