// SPDX-License-Identifier: MIT
// insert.h: a call of pinsert_s unpacked, and what is added at a node.
#ifndef RG_FREALIGN_INSERT_H
#define RG_FREALIGN_INSERT_H

#include "index.h"

typedef struct fr_insertion {
    int64_t side, stored, trials, samples, outer; // samples: particles times operators
    int interpolation, squared;
    const float *D, *c, *pose, *weight;
    float *volume;
} fr_insertion;

RG_HD fr_insertion fr_insertion_of(const rg_call *call)
{
    const int64_t *n = call->shape->n;
    void *const *arg = call->arg;
    const fr_insertion p = {.side = n[FR_SIDE], .stored = fr_stored(n[FR_SIDE]), .trials = n[FR_TRIALS],
                            .samples = n[FR_PARTICLES] * n[FR_TRIALS], .outer = n[FR_OUTER],
                            .interpolation = fr_interpolation(n[FR_KIND]), .squared = (n[FR_KIND] & FR_SQUARED) != 0,
                            .D = (const float *)arg[FR_INSERT_D], .c = (const float *)arg[FR_INSERT_C],
                            .pose = (const float *)arg[FR_INSERT_POSE], .weight = (const float *)arg[FR_INSERT_WEIGHT],
                            .volume = (float *)arg[FR_INSERT_VOLUME]};
    return p;
}

// Columns of row j within the radius: 0 .. fr_insert_past - 1.
RG_HD int64_t fr_insert_past(int64_t b, int64_t j) { return j * j <= b * b ? fr_root(b * b - j * j) + 1 : 0; }

// Record (Re num, Im num, den) of a coefficient E = D e^{i s.q}, for a node of weight 1; a node of weight b gets b times it, or
// b^2 times with FR_SQUARED.
RG_HD void fr_insert_record(int squared, float w, float c, float re, float im, float record[3])
{
    const float share = squared ? w * w * c : 2 * w * c;
    record[0] = share * re;
    record[1] = share * im;
    record[2] = squared ? w * c * (w * c) : w * c * c;
}

// Weight of a node at distance d along an axis.
RG_HD float fr_insert_axis(int interpolation, float d)
{
    return interpolation == FR_TRILINEAR ? 1 - fabsf(d) : interpolation == FR_NEAREST ? 1 : fr_sinc(d);
}

#endif
