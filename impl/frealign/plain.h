// SPDX-License-Identifier: MIT
// plain.h: shared by the plain C variants: the mask in two passes, FFTW plans at the start of the scratch memory.
#ifndef RG_FREALIGN_PLAIN_H
#define RG_FREALIGN_PLAIN_H

#include "index.h"
#include <fftw3.h>

enum { FR_PLANS = 4, FR_PLAN_BYTES = 256 };

RG_HD fftwf_plan *fr_plans(const rg_call *call) { return (fftwf_plan *)call->scratch; }
RG_HD float *fr_after_plans(const rg_call *call) { return (float *)((char *)call->scratch + FR_PLAN_BYTES); }
RG_HD size_t fr_rounded(int64_t floats) { return (size_t)(floats + 63) / 64 * 64; } // arrays start at multiples of 256 bytes

// Called after prepare has made n plans.
RG_HD int fr_plans_made(rg_call *call, int n) {
    const fftwf_plan *plans = (fftwf_plan *)(call->state = fr_plans(call));
    for (int i = 0; i < n; i++)
        if (!plans[i]) return RG_E_LIBRARY;
    return RG_OK;
}
RG_HD void fr_plans_finish(rg_call *call, int n) {
    const fftwf_plan *plans = (const fftwf_plan *)call->state;
    for (int i = 0; plans && i < n; i++)
        if (plans[i]) fftwf_destroy_plan(plans[i]);
}

// Squared distance of a pixel from the corner (centre 0) or the centre (side/2).
RG_HD int64_t fr_square(int64_t side, int64_t pixel, int64_t centre) {
    const int64_t x = pixel % side, y = pixel / side;
    const int64_t dx = centre ? x - centre : fr_offset(side, x), dy = centre ? y - centre : fr_offset(side, y);
    return dx * dx + dy * dy;
}

// Masks an image of an unnormalised transform and divides it by the number of its pixels.
RG_HD void fr_mask_image(int64_t side, float R, int64_t centre, float *image) {
    const float scale = 1 / ((float)side * (float)side);
    double sum = 0, n = 0;
    for (int64_t e = 0; e < side * side; e++)
        if (fr_on_edge(R, fr_square(side, e, centre))) {
            sum += image[e];
            n++;
        }
    const float mean = n > 0 ? (float)(sum / n) : 0;
    for (int64_t e = 0; e < side * side; e++) {
        const float m = fr_mask(R, fr_square(side, e, centre));
        image[e] = scale * (m * image[e] + (1 - m) * mean);
    }
}

#endif
