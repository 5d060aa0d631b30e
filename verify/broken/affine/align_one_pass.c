// SPDX-License-Identifier: MIT
// align_one_pass.c: eq. 2 at its word, under the bound of sums about a typical value: single-precision sums of raw values, the
// variance a difference of two of them. Right for images of mean 0; a bright image loses its variance to rounding.
#include "../../../impl/suite.h"
#include <math.h>

typedef struct raw_sums {
    float n, a, b, aa, bb, ab;
} raw_sums;

RG_HD void raw_add(raw_sums *s, float a, float b)
{
    s->n += 1;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
}

RG_HD double raw_rho(const raw_sums *s)
{
    const float a = s->a / s->n, b = s->b / s->n, varies = (s->aa / s->n - a * a) * (s->bb / s->n - b * b);
    const float rho = varies > 0 ? (s->ab / s->n - a * b) / sqrtf(varies) : 0;
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

#define SUMS raw_sums
#define TYPICAL(image, pixels) 0
#define ADD(s, a, b) raw_add(&(s), a, b)
#define FINISH(s, a, b) raw_rho(&(s))
#include "affine.h"

BROKEN_PLUGIN("align2d", "align_one_pass", .run = correlate);
