// SPDX-License-Identifier: MIT
// align_unclamped.c: the correlation as it comes out of the division. Right, but for an image of which the reference is a
// linear function: rounding then takes it past 1, where whoever asks for its arc cosine gets no number.
#include "../../../impl/affine/index.h"
#include "../../../impl/affine/sums.h"

RG_HD double unclamped(const af_sums *s, float typical_a, float typical_b)
{
    if (!(s->n >= 2) || !af_varies(s->n, s->a, s->aa, typical_a) || !af_varies(s->n, s->b, s->bb, typical_b)) return 0;
    return (s->ab - s->a * s->b / s->n) / sqrt((s->aa - s->a * s->a / s->n) * (s->bb - s->b * s->b / s->n));
}
#define af_rho unclamped
#include "affine.h"

BROKEN_PLUGIN("align2d", "align_unclamped", .run = correlate);
