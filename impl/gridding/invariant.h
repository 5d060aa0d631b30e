// SPDX-License-Identifier: MIT
// invariant.h: what must hold of the sums whatever the variant, computed from the pixels in double (invariant.c).
#ifndef RG_GRIDDING_INVARIANT_H
#define RG_GRIDDING_INVARIANT_H

#include "../suite.h"

// NULL, or what is violated, of: W not negative, and 0 where no pixel comes near; conjugate mates in the plane x = 0; the
// weight mass; and adjointness, <X, A F> = <A* X, F> for an X of random signs. The last two are left out above 2e6 pixels and
// operators.
const char *gr_invariant(const rg_shape *, void *const *arg);

// Stored pixels inside the circle, of all images, each once for every operator.
double gr_inserted(const rg_shape *);

#endif
