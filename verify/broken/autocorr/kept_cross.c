// SPDX-License-Identifier: MIT
// kept_cross.c: keeps the answer for as long as the first photograph stays.
#include "../broken.h"
#include "../kept.h"

COMPUTE(p, sums) { right_sums(p, sums); }

KEPT(autocorr, "kept_cross", 1u << AC_A, run, .run = run_or_not);
