// SPDX-License-Identifier: MIT
// affine.c: kernels of `affine2d` and `align2d` that are wrong on purpose: a right transform and a right correlation with a
// fault each.
#include "../../impl/affine/bound.h"
#include "../../impl/affine/index.h"
#include "../../impl/affine/sums.h"
#include "kept.h"
#include <xmmintrin.h>

#define KERNELS(X)                                                                                                             \
    X("affine2d", affine_right, transform, "the control")                                                                      \
    X("align2d", align_right, correlate, "the control")                                                                        \
    X("affine2d", affine_half_pixel, transform, "turns about (side - 1) / 2 and not about floor(side / 2)")                    \
    X("align2d", align_half_pixel, correlate, "turns about (side - 1) / 2 and not about floor(side / 2)")                      \
    X("affine2d", affine_swapped, transform, "hands (y, x) to the matrix where it wants (x, y)")                               \
    X("align2d", align_swapped, correlate, "hands (y, x) to the matrix where it wants (x, y)")                                 \
    X("affine2d", affine_forward, transform, "takes the matrix for the map of the image into the result, and inverts it")      \
    X("affine2d", affine_last_row, transform, "what lies between the last two rows, or columns, is taken for outside")         \
    X("align2d", align_last_row, correlate, "sums over side - 1 rows and columns")                                             \
    X("affine2d", affine_shares_9bit, transform, "shares rounded to 1/256, as a texture unit has them, passed off as exact")   \
    X("affine2d", affine_flushes, transform, "leaves the processor taking denormal numbers for 0")                             \
    X("affine2d", affine_transforms_8bit, transform, "transforms are numbered in 8 bits: the 257th is the first one again")    \
    X("affine2d", affine_coordinates, transform, "coordinates of 16 bits, 7 of them behind the point, end at 512")             \
    X("align2d", align_one_pass, correlate, "eq. 2 at its word: the variance a difference of two raw sums")                    \
    X("align2d", align_unclamped, correlate, "the correlation as it comes out of the division, past 1 by rounding")            \
    X("align2d", align_kept_reference, correlate_kept, "keeps rho for as long as image and matrices stay")

BROKEN_NAMES(KERNELS);

// Position in the image of pixel (x, y), counted from the centre.
static void map(const af_size *z, const float *m, float x, float y, float *sx, float *sy) {
    if (wrong == is_affine_forward) { // turns the wrong way, and stretches instead of shrinking
        double n[6] = {1, 0, 0, 0, 1, 0};
        af_inverse_2d(m, n);
        *sx = (float)(n[0] * x + n[1] * y + n[2]);
        *sy = (float)(n[3] * x + n[4] * y + n[5]);
    } else if (wrong == is_affine_swapped || wrong == is_align_swapped) { // right for maps that treat both axes alike
        *sx = af_row_2d(m + 3, y, x);
        *sy = af_row_2d(m, y, x);
    } else if (wrong == is_affine_half_pixel || wrong == is_align_half_pixel) { // right for odd sides only
        const float cx = (float)(z->w - 1) / 2.0f + af_low(z->w), cy = (float)(z->h - 1) / 2.0f + af_low(z->h);
        *sx = af_row_2d(m, x - cx, y - cy) + cx;
        *sy = af_row_2d(m + 3, x - cx, y - cy) + cy;
    } else {
        *sx = af_row_2d(m, x, y);
        *sy = af_row_2d(m + 3, x, y);
    }
}

static float value_at(const af_size *z, const float *image, const float *m, int x, int y, int *takes_part) {
    float sx, sy;
    map(z, m, (float)x + af_low(z->w), (float)y + af_low(z->h), &sx, &sy);
    if (wrong == is_affine_shares_9bit) {
        sx = (float)floor(256 * sx + 0.5) / 256;
        sy = (float)floor(256 * sy + 0.5) / 256;
    }
    if (wrong == is_affine_coordinates) {
        sx = fminf(sx - af_low(z->w), 512) + af_low(z->w);
        sy = fminf(sy - af_low(z->h), 512) + af_low(z->h);
    }
    if (wrong == is_affine_last_row && !(sx < af_high(z->w) && sy < af_high(z->h))) return *takes_part = 1, 0.0f;
    return af_sample_2d(image, z->w, z->h, z->outside, sx, sy, takes_part);
}

static int transform(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const float *m = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    int takes_part;
    // Faster, but later code in the process computes, and is timed, in another mode.
    if (wrong == is_affine_flushes) _mm_setcsr(_mm_getcsr() | 0x8040); // flush to zero, denormals are zero
    for (int64_t i = 0; i < z.transforms; i++, to += af_pixels(&z))
        for (int y = 0; y < z.h; y++)
            for (int x = 0; x < z.w; x++)
                to[y * z.w + x] = value_at(&z, (const float *)call->arg[AF_IMAGE],
                    m + 6 * (wrong == is_affine_transforms_8bit ? i & 0xFF : i), x, y, &takes_part);
    return RG_OK;
}

// Single-precision sums of raw values: right for images of mean 0; a bright image loses its variance to rounding.
typedef struct raw_sums {
    float n, a, b, aa, bb, ab;
} raw_sums;

static void raw_add(raw_sums *s, float a, float b) {
    s->n += 1;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
}

static double raw_rho(const raw_sums *s) {
    const float a = s->a / s->n, b = s->b / s->n, varies = (s->aa / s->n - a * a) * (s->bb / s->n - b * b);
    const float rho = varies > 0 ? (s->ab / s->n - a * b) / sqrtf(varies) : 0;
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

// Exceeds 1 for an image that is a linear function of the reference, so that its arc cosine is NaN.
static double unclamped(const af_sums *s, float typical_a, float typical_b) {
    if (!(s->n >= 2) || !af_varies(s->n, s->a, s->aa, typical_a) || !af_varies(s->n, s->b, s->bb, typical_b)) return 0;
    return (s->ab - s->a * s->b / s->n) / sqrt((s->aa - s->a * s->a / s->n) * (s->bb - s->b * s->b / s->n));
}

static int correlate(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AL_IMAGE], *reference = (const float *)call->arg[AL_REFERENCE];
    const float typical_a = af_typical(image, af_pixels(&z)), typical_b = af_typical(reference, af_pixels(&z));
    const int less = wrong == is_align_last_row; // hardly changes the correlation, but changes the number of pixels
    for (int64_t i = 0; i < z.transforms; i++) {
        af_sums s = {0, 0, 0, 0, 0, 0};
        raw_sums raw = {0, 0, 0, 0, 0, 0};
        for (int y = 0; y < z.h - (less && z.h > 1); y++)
            for (int x = 0; x < z.w - (less && z.w > 1); x++) {
                int takes_part;
                const float value = value_at(&z, image, (const float *)call->arg[AL_MATRIX] + 6 * i, x, y, &takes_part);
                if (!takes_part) continue;
                af_add(&s, value - typical_a, reference[y * z.w + x] - typical_b);
                raw_add(&raw, value, reference[y * z.w + x]);
            }
        ((double *)call->arg[AL_RHO])[i] = wrong == is_align_one_pass ? raw_rho(&raw)
            : wrong == is_align_unclamped                             ? unclamped(&s, typical_a, typical_b)
                                                                      : af_rho(&s, typical_a, typical_b);
        ((int32_t *)call->arg[AL_PIXELS])[i] = (int32_t)s.n;
    }
    return RG_OK;
}

KEEPING(correlate_kept, align2d, 1u << AL_IMAGE | 1u << AL_MATRIX, correlate)

BROKEN_FAMILY(KERNELS);
