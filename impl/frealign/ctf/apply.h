// SPDX-License-Identifier: MIT
// apply.h: the unpacked call of ctfapply, the CTF of a coefficient and its factor.
#ifndef RG_FREALIGN_APPLY_H
#define RG_FREALIGN_APPLY_H

#include "../bound.h"
#include "index.h"

#include <stdbool.h>

typedef struct fr_application {
    int side, width;
    int64_t stored, particles;
    bool squared, rings;
    const float *image, *optics, *shift, *setting, *ssnr;
    float *D, *X, *c;
} fr_application;

RG_HD fr_application fr_application_of(const rg_call *call) {
    const int64_t *n = call->shape->n;
    void *const *arg = call->arg;
    const fr_application p = {.side = (int)n[FR_SIDE],
        .width = (int)fr_width(n[FR_SIDE]),
        .stored = fr_stored(n[FR_SIDE]),
        .particles = n[FR_PARTICLES],
        .squared = (n[FR_KIND] & FR_SQUARED) != 0,
        .rings = (n[FR_KIND] & FR_RINGS) != 0,
        .image = (const float *)arg[FR_APPLY_IMAGE],
        .optics = (const float *)arg[FR_APPLY_OPTICS],
        .shift = (const float *)arg[FR_APPLY_SHIFT],
        .setting = (const float *)arg[FR_APPLY_SETTING],
        .ssnr = (const float *)arg[FR_APPLY_SSNR],
        .D = (float *)arg[FR_APPLY_D],
        .X = (float *)arg[FR_APPLY_X],
        .c = (float *)arg[FR_APPLY_C]};
    return p;
}

// Half turns are subtracted before the sine, so that its argument is small and exact.
RG_HD float fr_ctf(const float optics[FR_OPTICS], float i, float j) {
    const float rr = i * i + j * j, half = optics[0] * i * i + optics[1] * i * j + optics[2] * j * j + optics[3] * rr * rr;
    const float n = rintf(half), angle = 3.14159265f * (half - n), c = optics[4] * sinf(angle) - optics[5] * cosf(angle);
    return (int)n & 1 ? -c : c;
}

// X / Xm in ring k, whose root mean square is A.
RG_HD float fr_apply_factor(const fr_application *p, float c, int64_t k, float A) {
    const float factor = p->squared ? c : 1;
    if (!p->rings) return factor;
    if (k > p->side / 2 || A == 0) return 0;
    const float signal = 4 * c * c * p->ssnr[k];
    return factor * signal / (signal + 1) / A;
}

// Replaces columns 0 and N/2 of a half plane, whose rows are `pitch` coefficients apart, by their Hermitian part.
RG_HD void fr_hermitian(int64_t side, int64_t pitch, float *plane) {
    for (int64_t i = 0; i <= side / 2; i += side / 2)
        for (int64_t j = 0; j <= side / 2; j++) {
            float *one = plane + 2 * (j * pitch + i), *mate = plane + 2 * ((side - j) % side * pitch + i);
            const float re = (one[0] + mate[0]) / 2, im = (one[1] - mate[1]) / 2;
            one[0] = mate[0] = re;
            one[1] = im;
            mate[1] = -im;
            if (one == mate) one[1] = 0;
        }
}

#endif
