// SPDX-License-Identifier: MIT
// insert.h: the unpacked call of pinsert_s, and the term added at a node.
#ifndef RG_FREALIGN_INSERT_H
#define RG_FREALIGN_INSERT_H

#include "index.h"

typedef struct fr_insertion {
    int64_t side, stored, trials, samples, outer; // samples: particles times operators
    int interpolation, squared;
    const float *D, *c, *pose, *weight;
    float *volume;
} fr_insertion;

RG_HD fr_insertion fr_insertion_of(const rg_call *call) {
    const int64_t *n = call->shape->n;
    void *const *arg = call->arg;
    const fr_insertion p = {.side = n[FR_SIDE],
        .stored = fr_stored(n[FR_SIDE]),
        .trials = n[FR_TRIALS],
        .samples = n[FR_PARTICLES] * n[FR_TRIALS],
        .outer = n[FR_OUTER],
        .interpolation = fr_interpolation(n[FR_KIND]),
        .squared = (n[FR_KIND] & FR_SQUARED) != 0,
        .D = (const float *)arg[FR_INSERT_D],
        .c = (const float *)arg[FR_INSERT_C],
        .pose = (const float *)arg[FR_INSERT_POSE],
        .weight = (const float *)arg[FR_INSERT_WEIGHT],
        .volume = (float *)arg[FR_INSERT_VOLUME]};
    return p;
}

// Record (Re num, Im num, den) of a coefficient E = D e^{i s.q}, for a node of weight 1; a node of weight b gets b times the
// record, or b^2 times with FR_SQUARED.
RG_HD void fr_insert_record(int squared, float w, float c, float re, float im, float record[3]) {
    const float share = squared ? w * w * c : 2 * w * c;
    record[0] = share * re;
    record[1] = share * im;
    record[2] = squared ? w * c * (w * c) : w * c * c;
}

// Weight of a node at distance d along an axis.
RG_HD float fr_insert_axis(int interpolation, float d) {
    return interpolation == FR_TRILINEAR ? 1 - fabsf(d) : interpolation == FR_NEAREST ? 1 : fr_sinc(d);
}

// Adds a record at p to the nodes around it that are stored, in the planes first <= z < past (of z = -side/2, kept as side/2).
RG_HD void fr_insert_plain(const fr_insertion *p, const float at[3], const float record[3], int64_t first, int64_t past) {
    const int64_t half = p->side / 2;
    const int nearest = p->interpolation == FR_NEAREST;
    for (int corner = 0; corner < (nearest ? 1 : 8); corner++) {
        int64_t node[3];
        float b = 1;
        int inside = 1;
        for (int axis = 0; axis < 3; axis++) {
            const float low = nearest ? fr_nearest(at[axis]) : floorf(at[axis]) + (float)(corner >> axis & 1);
            node[axis] = (int64_t)low;
            inside &= node[axis] >= (axis == 0 ? 0 : -half) && node[axis] <= half;
            b *= fr_insert_axis(p->interpolation, at[axis] - low);
        }
        const int64_t plane = node[2] == -half ? half : node[2];
        if (!inside || plane < first || plane >= past) continue;
        float *to = p->volume + FR_RECORD * fr_voxel(p->side, node[0], node[1], node[2]);
        for (int part = 0; part < 3; part++) to[part] += (p->squared ? b * b : b) * record[part];
    }
}

#endif
