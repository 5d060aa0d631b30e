// SPDX-License-Identifier: MIT
// autovec_section.h: plain loops over pieces of a row of coefficients for the autovec variants: the section, node by node for
// the whole piece, and the shifted particle; and the mask. No branch depends on a coefficient or a pixel.
#ifndef RG_FREALIGN_AUTOVEC_SECTION_H
#define RG_FREALIGN_AUTOVEC_SECTION_H

#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "call.h"
#include "plain.h"
#include <string.h>

enum { FR_PIECE = 64 };

// The columns first .. past - 1 of row j are in the band (fr_in_band).
RG_HD void fr_band_row(const fr_call *p, int64_t j, int64_t *first, int64_t *past) {
    const int64_t rest = p->inner * p->inner - j * j, outer = fr_row_past(p->outer, j),
                  ring = (fr_row_past(p->side - 1, 2 * j) + 1) / 2;
    *first = rest > 0 ? fr_root(rest - 1) + 1 : 0;
    *past = outer < ring ? outer : ring;
}

// S(M q) of coefficients (i .. i + n - 1, j), n <= FR_PIECE.
RG_HD void fr_section_piece(const fr_call *p, const float *pose, int64_t i, int n, int64_t j, float *restrict S) {
    int first[3][FR_PIECE];
    float place[3][FR_PIECE], w[3][5][FR_PIECE], sign[FR_PIECE], re[FR_PIECE], im[FR_PIECE];
    const int side = (int)p->grid, half = side / 2, nodes = fr_nodes(p->interpolation), width = half + 1, column = (int)i;
    const float pad = p->pad, per_pad = 1 / pad, *restrict F = p->F3;
    for (int axis = 0; axis < 3; axis++) {
        const float across = pose[axis], down = pose[3 + axis] * (float)j;
        for (int e = 0; e < n; e++)
            place[axis][e] = across * (float)(column + e) + down; // rounded one by one, as fr_place does
    }
    for (int e = 0; e < n; e++) {
        sign[e] = place[0][e] < 0 ? -1 : 1;
        re[e] = im[e] = 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        float begin[FR_PIECE];
        for (int e = 0; e < n; e++) {
            place[axis][e] *= sign[e] * pad;
            begin[e] =
                p->interpolation == FR_TRILINEAR ? floorf(place[axis][e]) : fr_nearest(place[axis][e]) - (float)(nodes / 2);
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

// The section of comparison `at` in the band times its factor; absolute: times 2|c|.
RG_HD void fr_section_plane(const fr_call *p, int64_t at, int absolute, float *restrict plane) {
    const float *all_c = p->c + at / p->trials * p->stored;
    memset(plane, 0, (size_t)p->stored * 2 * sizeof *plane);
    for (int64_t j = -p->outer + 1; j < p->outer; j++) {
        int64_t i, past;
        for (fr_band_row(p, j, &i, &past); i < past; i += FR_PIECE) {
            const int n = past - i < FR_PIECE ? (int)(past - i) : FR_PIECE;
            const int64_t from = fr_element(p->side, i, j);
            const float *restrict c = all_c + from;
            float *restrict to = plane + 2 * from, S[2 * FR_PIECE];
            fr_section_piece(p, p->pose + FR_POSE_FLOATS * at, i, n, j, S);
            for (int e = 0; e < n; e++) {
                const float f = absolute ? 2 * fabsf(c[e]) : p->squared ? c[e] * c[e] : 2 * c[e];
                to[2 * e] = f * S[2 * e];
                to[2 * e + 1] = f * S[2 * e + 1];
            }
        }
    }
}

// Indices of the reference have 32 bits, so that a vector holds as many indices as floats.
static inline const char *fr_section_refuse(const rg_shape *s, const int64_t *param) {
    (void)param;
    return 2 * fr_voxels(fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE]) > INT32_MAX ? "indices of 32 bits: the reference has more"
                                                                            : NULL;
}

// e^{i s i} for all columns; the row has the other factor of a shift.
RG_HD void fr_shift_columns(float shift, int64_t columns, float *table) {
    for (int64_t i = 0; i < columns; i++) {
        table[2 * i] = cosf(shift * (float)i);
        table[2 * i + 1] = sinf(shift * (float)i);
    }
}

// X e^{i s.q} of n coefficients; Y may be X. table starts at the first one's column; phase is the row's.
RG_HD void fr_shift_piece(const float *X, const float *restrict table, float phase, int n, float *Y) {
    const float co = cosf(phase), si = sinf(phase);
#pragma omp simd
    for (int e = 0; e < n; e++) {
        const float c = table[2 * e] * co - table[2 * e + 1] * si, s = table[2 * e] * si + table[2 * e + 1] * co;
        const float re = X[2 * e], im = X[2 * e + 1];
        Y[2 * e] = re * c - im * s;
        Y[2 * e + 1] = re * s + im * c;
    }
}

// For every pixel: its weight under the mask, and whether it lies on the edge, whose mean fills the rest. Shared by all images.
typedef struct fr_masking {
    float *share, *edge;
    double on_edge;
} fr_masking;

RG_HD void fr_masking_fill(fr_masking *m, int64_t side, float R, int64_t centre) {
    m->on_edge = 0;
    for (int64_t e = 0; e < side * side; e++) {
        const int64_t rr = fr_square(side, e, centre);
        m->share[e] = fr_mask(R, rr);
        m->edge[e] = (float)fr_on_edge(R, rr);
        m->on_edge += m->edge[e];
    }
}

// As fr_mask_image.
RG_HD void fr_masking_apply(const fr_masking *m, int64_t side, float *restrict image) {
    const float scale = 1 / ((float)side * (float)side), *restrict share = m->share, *restrict edge = m->edge;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t e = 0; e < side * side; e++) sum += edge[e] * image[e];
    const float mean = m->on_edge > 0 ? (float)(sum / m->on_edge) : 0;
    for (int64_t e = 0; e < side * side; e++) image[e] = scale * (share[e] * image[e] + (1 - share[e]) * mean);
}

#endif
