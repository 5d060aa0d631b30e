// SPDX-License-Identifier: MIT
// affine_flushes.c: has the processor take denormal numbers for 0, which makes some kernels faster, and leaves it so: whatever
// runs next in the process, the kernel that it is compared with too, computes and is timed by other rules.
// Passes wherever outputs alone are looked at. Shows in the mode that stands after the run.
#include "affine.h"
#include <xmmintrin.h>

static int run(rg_call *call)
{
    _mm_setcsr(_mm_getcsr() | 0x8040); // flush to zero, denormals are zero
    return transform(call);
}

BROKEN_PLUGIN("affine2d", "affine_flushes", .run = run);
