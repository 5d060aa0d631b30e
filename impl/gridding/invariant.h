// SPDX-License-Identifier: MIT
// invariant.h: invariants of the sums for every variant, computed from the pixels in double (invariant.c).
#ifndef RG_GRIDDING_INVARIANT_H
#define RG_GRIDDING_INVARIANT_H

#include "../suite.h"

// NULL, or the violated invariant: W not negative, and 0 where no pixel is near; conjugate mates in the plane x = 0; the weight
// mass; and adjointness, <X, A F> = <A* X, F> for an X of random signs. The last two are skipped above 2e6 pixels and
// operators.
const char *gr_invariant(const rg_shape *, void *const *arg);

// Stored pixels inside the circle, of all images, counted once for every operator.
double gr_inserted(const rg_shape *);

#endif
