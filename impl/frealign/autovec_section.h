// SPDX-License-Identifier: MIT
// autovec_section.h: for the autovec variants, pieces of a row of coefficients as plain loops: the section, node by node for the
// whole piece, and the particle shifted. No branch depends on a coefficient.
#ifndef RG_FREALIGN_AUTOVEC_SECTION_H
#define RG_FREALIGN_AUTOVEC_SECTION_H

#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "call.h"

enum { FR_PIECE = 64 };

// Columns first .. past - 1 of row j that are in the band (fr_in_band).
RG_HD void fr_band_row(const fr_call *p, int64_t j, int64_t *first, int64_t *past)
{
    const int64_t rest = p->inner * p->inner - j * j, outer = fr_row_past(p->outer, j), ring = (fr_row_past(p->side - 1, 2 * j) + 1) / 2;
    *first = rest > 0 ? fr_root(rest - 1) + 1 : 0;
    *past = outer < ring ? outer : ring;
}

// S(M q) of coefficients (i .. i + n - 1, j), n <= FR_PIECE.
RG_HD void fr_section_piece(const fr_call *p, const float *pose, int64_t i, int n, int64_t j, float *restrict S)
{
    int first[3][FR_PIECE];
    float place[3][FR_PIECE], w[3][5][FR_PIECE], sign[FR_PIECE], re[FR_PIECE], im[FR_PIECE];
    const int side = (int)p->grid, half = side / 2, nodes = fr_nodes(p->interpolation), width = half + 1, column = (int)i;
    const float pad = p->pad, per_pad = 1 / pad, *restrict F = p->F3;
    for (int axis = 0; axis < 3; axis++) {
        const float across = pose[axis], down = pose[3 + axis] * (float)j;
        for (int e = 0; e < n; e++) place[axis][e] = across * (float)(column + e) + down; // rounded one by one, as fr_place does
    }
    for (int e = 0; e < n; e++) {
        sign[e] = place[0][e] < 0 ? -1 : 1;
        re[e] = im[e] = 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        float begin[FR_PIECE];
        for (int e = 0; e < n; e++) {
            place[axis][e] *= sign[e] * pad;
            begin[e] = p->interpolation == FR_TRILINEAR ? floorf(place[axis][e]) : fr_nearest(place[axis][e]) - (float)(nodes / 2);
            first[axis][e] = (int)begin[e];
        }
        for (int l = 0; l < nodes; l++)
            for (int e = 0; e < n; e++) {
                const float d = place[axis][e] - begin[e], linear = l ? d : 1 - d, sinc = fr_sinc((d - (float)l) * per_pad);
                w[axis][l][e] = p->interpolation == FR_TRILINEAR ? linear : p->interpolation == FR_NEAREST ? 1 : sinc;
            }
    }
    for (int z = 0; z < nodes; z++)
        for (int y = 0; y < nodes; y++)
            for (int x = 0; x < nodes; x++)
#pragma omp simd
                for (int e = 0; e < n; e++) {
                    const int right = first[0][e] + x, nx = right > half ? right - side : right, flip = nx < 0 ? -1 : 1;
                    const int row = flip * (first[1][e] + y), plane = flip * (first[2][e] + z);
                    const int row_up = row < 0 ? row + side : row, plane_up = plane < 0 ? plane + side : plane;
                    const int ny = row_up >= side ? row_up - side : row_up, nz = plane_up >= side ? plane_up - side : plane_up;
                    const int at = 2 * ((nz * side + ny) * width + flip * nx);
                    const float b = w[0][x][e] * w[1][y][e] * w[2][z][e];
                    re[e] += b * F[at];
                    im[e] += (float)flip * b * F[at + 1];
                }
    for (int e = 0; e < n; e++) {
        S[2 * e] = re[e];
        S[2 * e + 1] = sign[e] * im[e];
    }
}

// Indices of the reference have 32 bits, so that a vector holds as many as of floats.
static inline const char *fr_section_refuse(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return 2 * fr_voxels(fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE]) > INT32_MAX ? "indices of 32 bits: the reference has more" : NULL;
}

// e^{i s i} of all columns: half of the phase of a shift, whose other half is of a row.
RG_HD void fr_shift_columns(float shift, int64_t columns, float *table)
{
    for (int64_t i = 0; i < columns; i++) {
        table[2 * i] = cosf(shift * (float)i);
        table[2 * i + 1] = sinf(shift * (float)i);
    }
}

// X e^{i s.q} of n coefficients, Y may be X; table from the first one's column on, and the row's own phase.
RG_HD void fr_shift_piece(const float *X, const float *restrict table, float phase, int n, float *Y)
{
    const float co = cosf(phase), si = sinf(phase);
#pragma omp simd
    for (int e = 0; e < n; e++) {
        const float c = table[2 * e] * co - table[2 * e + 1] * si, s = table[2 * e] * si + table[2 * e + 1] * co;
        const float re = X[2 * e], im = X[2 * e + 1];
        Y[2 * e] = re * c - im * s;
        Y[2 * e + 1] = re * s + im * c;
    }
}

#endif
