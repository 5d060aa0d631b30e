// SPDX-License-Identifier: MIT
// call.h: the unpacked call of a host variant, and the section in plain C, for the routines that read a reference.
#ifndef RG_FREALIGN_CALL_H
#define RG_FREALIGN_CALL_H

#include "bound.h"

typedef struct fr_call {
    int64_t side, width, stored, trials, comparisons; // comparisons: particles times trials
    int64_t outer, inner, grid;                       // grid: side of the padded reference
    int interpolation, squared, rings;
    float pad;
    const float *X, *c, *F3, *pose, *setting;
} fr_call;

RG_HD fr_call fr_call_of(const rg_call *call) {
    const int64_t *n = call->shape->n, pad = fr_pad(n[FR_KIND]);
    void *const *arg = call->arg;
    const fr_call p = {.side = n[FR_SIDE],
        .width = fr_width(n[FR_SIDE]),
        .stored = fr_stored(n[FR_SIDE]),
        .trials = n[FR_TRIALS],
        .comparisons = n[FR_PARTICLES] * n[FR_TRIALS],
        .outer = n[FR_OUTER],
        .inner = n[FR_INNER],
        .grid = pad * n[FR_SIDE],
        .interpolation = fr_interpolation(n[FR_KIND]),
        .squared = (n[FR_KIND] & FR_SQUARED) != 0,
        .rings = (n[FR_KIND] & FR_RINGS) != 0,
        .pad = (float)pad,
        .X = (const float *)arg[FR_X],
        .c = (const float *)arg[FR_C],
        .F3 = (const float *)arg[FR_F3],
        .pose = (const float *)arg[FR_POSE],
        .setting = (const float *)arg[FR_SETTING]};
    return p;
}

// The column after the last of row j that can be in a band ending at b.
RG_HD int64_t fr_row_past(int64_t b, int64_t j) { return b * b > j * j ? fr_root(b * b - j * j - 1) + 1 : 0; }

// Returns the first node along an axis; w[] receives the weights of all.
RG_HD int64_t fr_axis(int interpolation, float at, float per_pad, float w[5]) {
    const int n = fr_nodes(interpolation);
    if (interpolation == FR_TRILINEAR) {
        const float first = floorf(at);
        w[0] = 1 - (at - first);
        w[1] = at - first;
        return (int64_t)first;
    }
    const float first = fr_nearest(at) - (float)(n / 2);
    for (int l = 0; l < n; l++) w[l] = interpolation == FR_NEAREST ? 1 : fr_sinc((at - first - (float)l) * per_pad);
    return (int64_t)first;
}

// S(M q) of coefficient (i, j).
RG_HD void fr_section(const fr_call *p, const float *pose, int64_t i, int64_t j, float S[2]) {
    const int n = fr_nodes(p->interpolation);
    float at[3], w[3][5], re = 0, im = 0;
    int64_t first[3];
    fr_place(pose, (float)i, (float)j, at);
    const int mate = at[0] < 0;
    for (int axis = 0; axis < 3; axis++)
        first[axis] = fr_axis(p->interpolation, (mate ? -at[axis] : at[axis]) * p->pad, 1 / p->pad, w[axis]);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int64_t node[3] = {first[0] + x, first[1] + y, first[2] + z};
                const float sign = fr_fold(p->grid, &node[0], &node[1], &node[2]) ? -1 : 1;
                const float *F = p->F3 + 2 * fr_voxel(p->grid, node[0], node[1], node[2]), b = w[0][x] * w[1][y] * w[2][z];
                re += b * F[0];
                im += sign * b * F[1];
            }
    S[0] = re;
    S[1] = mate ? -im : im;
}

// The factor of a section.
RG_HD float fr_factor(const fr_call *p, float c) { return p->squared ? c * c : 2 * c; }

// The score from sums over rings 1..N/2-1.
RG_HD float fr_score(const fr_call *p, const double *C, const double *B, const double *Q) {
    double sum = 0, square = 0, reference = 0, rings = 0;
    for (int64_t k = 1; k < fr_rings(p->side); k++) {
        if (!p->rings) {
            sum += C[k];
            square += B[k];
            reference += Q[k];
        } else if (B[k] > 0 || Q[k] > 0) {
            const double g = exp(-(double)p->setting[1] * (double)(k * k)), R = Q[k] > 0 ? C[k] / sqrt(Q[k]) : 0;
            sum += g * ((float)(k + 1) < p->setting[2] ? R : fabs(R));
            square += g * g * B[k];
            rings++;
        }
    }
    const double both = square * (p->rings ? rings : reference);
    return both > 0 ? (float)(sum / sqrt(both)) : 0;
}

#endif
