// SPDX-License-Identifier: MIT
// gpu_overflow_32bit.cu: sums in 32 bits, which hold no more than 33,025 pixels of 255 x 255.
// Right for every photograph of usual brightness and size; 16-bit pixels are refused.
// Shows at S(0, 0) of a large picture that is white all over.
#include "../broken.cuh"

static const char *refuse(const rg_shape *s, const int64_t *) { return s->n[AC_KIND] & AC_16BIT ? "8-bit pixels only" : NULL; }

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = (int32_t)(uint32_t)right_element(p, e); // what a 32-bit sum wraps to
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_overflow_32bit", .refuse = refuse, .run = run);
