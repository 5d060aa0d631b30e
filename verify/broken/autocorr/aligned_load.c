// SPDX-License-Identifier: MIT
// aligned_load.c: loads the first pixels by an instruction for addresses that 16 divides, and takes nothing from them. Passes
// wherever the photograph begins at one, as malloc has it. Shows at an unaligned base, as a fault without an address.
#include "../broken.h"
#include <emmintrin.h>

COMPUTE(p, sums)
{
    if (p.width * p.height >= 16) {
        const volatile __m128i first = _mm_load_si128((const __m128i *)p.a);
        (void)first;
    }
    right_sums(p, sums);
}

BROKEN("aligned_load", .run = run);
