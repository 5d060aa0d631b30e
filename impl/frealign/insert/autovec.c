// SPDX-License-Identifier: MIT
// autovec.c: pinsert_s: records, positions and weights of a piece of a row as loops that a compiler vectorises; nodes are added
// to one by one. Threads own slabs of planes and skip the pieces that do not reach theirs, so that a node's terms are added in
// one order, whatever the number of threads.
//
// Bound: fp32 in theory; in practice the stores, which scatter over the volume.
#include "../autovec_section.h"
#include "index.h"
#include "insert.h"

enum { COLUMNS = FR_SIDE_MAX / 2 + 1 };

// The terms of a piece of a row: records and positions of the coefficients themselves.
typedef struct piece {
    int n;
    float record[3][FR_PIECE], place[3][FR_PIECE];
} piece;

RG_HD void fill_piece(const fr_insertion *p, const float *pose, const float *restrict D, const float *restrict all_c, int64_t i,
    int64_t j, float row_weight, const float *restrict column_weight, const float *restrict table, piece *restrict to) {
    float Y[2 * FR_PIECE];
    const int squared = p->squared, column = (int)i;
    fr_shift_piece(D, table + 2 * i, pose[7] * (float)j, to->n, Y);
    for (int e = 0; e < to->n; e++) {
        const float c = all_c[e], wc = row_weight * column_weight[i + e] * c, w = row_weight * column_weight[i + e];
        const float share = squared ? w * wc : 2 * wc;
        to->record[0][e] = share * Y[2 * e];
        to->record[1][e] = share * Y[2 * e + 1];
        to->record[2][e] = squared ? wc * wc : wc * c;
    }
    for (int axis = 0; axis < 3; axis++) {
        const float across = pose[axis], down = pose[3 + axis] * (float)j;
        for (int e = 0; e < to->n; e++) to->place[axis][e] = across * (float)(column + e) + down;
    }
}

// Adds the piece (mate 1), or its mates (-1) from element `from` on, to the nodes of planes first <= z < past.
RG_HD void add_piece(const fr_insertion *p, const piece *a, float mate, int from, int64_t first, int64_t past) {
    const int64_t half = p->side / 2;
    const int n = a->n, nearest = p->interpolation == FR_NEAREST, linear = p->interpolation == FR_TRILINEAR;
    int node[3][FR_PIECE];
    float w[3][2][FR_PIECE];
    for (int axis = 0; axis < 3; axis++) {
        const float *restrict place = a->place[axis];
        float low[FR_PIECE];
        for (int e = 0; e < n; e++) {
            const float at = mate * place[e], whole = floorf(at), near = fr_nearest(at);
            low[e] = nearest ? near : whole;
            node[axis][e] = (int)low[e];
        }
        for (int e = 0; e < n; e++) {
            const float d = mate * place[e] - low[e], near = fr_sinc(d), far = fr_sinc(d - 1), rest = 1 - d;
            const float one = linear ? rest : near;
            w[axis][0][e] = nearest ? 1 : one;
            w[axis][1][e] = linear ? d : far;
        }
    }
    for (int e = from; e < n; e++)
        for (int corner = 0; corner < (nearest ? 1 : 8); corner++) {
            const int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
            const int64_t x = node[0][e] + dx, y = node[1][e] + dy, z = node[2][e] + dz, plane = z == -half ? half : z;
            const float b = w[0][dx][e] * w[1][dy][e] * w[2][dz][e], share = p->squared ? b * b : b;
            if (x < 0 || x > half || y < -half || y > half || z < -half || z > half || plane < first || plane >= past) continue;
            float *to = p->volume + FR_RECORD * fr_voxel(p->side, x, y, z);
            to[0] += share * a->record[0][e];
            to[1] += share * mate * a->record[1][e];
            to[2] += share * a->record[2][e];
        }
}

// Whether a piece, or its mate, can reach the planes: z of its ends, and one more on either side.
RG_HD int reaches(const piece *a, float mate, int64_t half, int64_t first, int64_t past) {
    const float z0 = mate * a->place[2][0], z1 = mate * a->place[2][a->n - 1], low = z0 < z1 ? z0 : z1,
                high = z0 < z1 ? z1 : z0;
    return (low - 1 < (float)past && high + 1 >= (float)first) || (past > half && low - 1 <= (float)-half);
}

RG_HD void insert_slab(const fr_insertion *p, int64_t first, int64_t past) {
    float table[2 * COLUMNS], column_weight[COLUMNS];
    for (int64_t sample = 0; sample < p->samples; sample++) {
        const int64_t particle = sample / p->trials;
        const float *pose = p->pose + FR_POSE_FLOATS * sample, *weight = p->weight + 2 * particle;
        fr_shift_columns(pose[6], p->side / 2 + 1, table);
        for (int64_t i = 0; i <= p->side / 2; i++) column_weight[i] = expf(weight[1] * (float)(i * i));
        for (int64_t j = -p->side / 2 + 1; j <= p->side / 2; j++) {
            const float row_weight = weight[0] * expf(weight[1] * (float)(j * j));
            for (int64_t i = 0, end = fr_insert_past(p->outer, j); i < end; i += FR_PIECE) {
                const int64_t e = particle * p->stored + fr_element(p->side, i, j);
                piece a = {.n = end - i < FR_PIECE ? (int)(end - i) : FR_PIECE};
                fill_piece(p, pose, p->D + 2 * e, p->c + e, i, j, row_weight, column_weight, table, &a);
                if (reaches(&a, 1, p->side / 2, first, past)) add_piece(p, &a, 1, 0, first, past);
                if (reaches(&a, -1, p->side / 2, first, past)) add_piece(p, &a, -1, fr_mates(p->side, i, j) == 1, first, past);
            }
        }
    }
}
RG_AUTOVEC(insert_slab, (const fr_insertion *p, int64_t first, int64_t past), (p, first, past))

static int run(rg_call *call) {
    const fr_insertion p = fr_insertion_of(call);
    const int64_t slabs = call->threads > 1 ? (p.side < 6 * call->threads ? p.side : 6 * call->threads) : 1;
    insert_slab_fn *slab = insert_slab_for(rg_cpu_has(RG_AUTOVEC_WIDE));
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t s = 0; s < slabs; s++)
        slab(&p, s * p.side / slabs - p.side / 2 + 1, (s + 1) * p.side / slabs - p.side / 2 + 1);
    return RG_OK;
}

// Three sums at each of eight nodes of either mate.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double coefficients = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER] * s->n[FR_PARTICLES] * s->n[FR_TRIALS]);
    c->amount[RG_F32_MAD] = coefficients * 2 * (fr_interpolation(s->n[FR_KIND]) == FR_NEAREST ? 1 : 8) * 3;
}

RG_VARIANT(pinsert_s_autovec) = {
    RG_VARIANT_OF("pinsert_s", "autovec", RG_SIMD, RG_HOST,
        "records, places and weights as a compiler vectorises them, no intrinsics; any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .cost = cost,
    .run = run,
};
