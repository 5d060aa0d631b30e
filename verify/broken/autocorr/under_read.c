// SPDX-License-Identifier: MIT
// under_read.c: reads the byte before the first pixel and takes nothing from it. Shows when the photograph begins where its
// page does.
#include "../broken.h"

COMPUTE(p, sums)
{
    (void)*((const volatile unsigned char *)p.a - 1);
    right_sums(p, sums);
}

BROKEN("under_read", .run = run);
