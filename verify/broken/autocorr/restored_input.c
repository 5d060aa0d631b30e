// SPDX-License-Identifier: MIT
// restored_input.c: uses the last pixel of its input as a place to write, and puts back what stood there: a sentinel. Nothing
// shows afterwards; another thread, or another run, that reads the photograph at the same time reads the sentinel.
#include "../broken.h"

COMPUTE(p, sums)
{
    volatile unsigned char *last = (unsigned char *)p.a + (size_t)(p.width * p.height) * (p.sixteen_bit ? 2 : 1) - 1;
    const unsigned char was = *last;
    *last = (unsigned char)~was;
    *last = was;
    right_sums(p, sums);
}

BROKEN("restored_input", .run = run);
