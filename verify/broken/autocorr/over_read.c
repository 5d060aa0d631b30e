// SPDX-License-Identifier: MIT
// over_read.c: reads the byte behind the last pixel, as a vector load of a whole register does at the end of a photograph, and
// takes nothing from it. Passes wherever the page behind is there. Shows when the photograph ends where its page does.
#include "../broken.h"

COMPUTE(p, sums)
{
    const volatile unsigned char *end = (const unsigned char *)p.a + (size_t)(p.width * p.height) * (p.sixteen_bit ? 2 : 1);
    (void)*end;
    right_sums(p, sums);
}

BROKEN("over_read", .run = run);
