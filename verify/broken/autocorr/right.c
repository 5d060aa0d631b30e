// SPDX-License-Identifier: MIT
// right.c: nothing is wrong with this one.
// It is the control: a checker that blames everything would catch all its neighbours.
// Shows as PASS.
#include "../broken.h"

COMPUTE(p, sums) { right_sums(p, sums); }

BROKEN("right", .run = run);
