// SPDX-License-Identifier: MIT
// naive_gather.c: Algorithm 2 of Strelak et al. 2019 in plain C, on one core: each voxel is read and written once an image.
//
// For every image and operator it chooses the plane of the volume (xy, xz or yz) in which the image's projection is largest.
// From each point of the plane it walks along the third axis, over the voxels between the two planes at height +-b, computes
// the voxel's place t in the image, and sums the pixels within b, in three dimensions. Pixels with x < 0 are conjugates of
// stored ones, and only voxels with x >= 0 are visited, so nothing is added for mates (index.h). The pairs are those of
// Algorithm 1, in another order.
#include "plain.h"

// Adds the pixels around t, the place of a voxel in the frame of image i, to the voxel.
static void gather_voxel(const gr_call *p, int64_t i, const float t[3], int64_t voxel) {
    const int k = (int)p->k, x1 = gr_last(t[0], p->b, k), y1 = gr_last(t[1], p->b, k);
    float re = 0, im = 0, weight = 0;
    for (int y = gr_first(t[1], p->b, -k); y <= y1; y++)
        for (int x = gr_first(t[0], p->b, -k); x <= x1; x++) {
            if (!gr_in_circle(k, x, y)) continue;
            const float dx = (float)x - t[0], dy = (float)y - t[1];
            const float w = gr_weight(p, dx * dx + dy * dy + t[2] * t[2]);
            if (w == 0) continue;
            const int64_t at = i * gr_pixels(k) + (x < 0 ? gr_pixel(k, -x, -y) : gr_pixel(k, x, y));
            const float c = p->ctf ? p->ctf[at] : 1, wc = w * c;
            re += wc * p->image[2 * at];
            im += x < 0 ? -wc * p->image[2 * at + 1] : wc * p->image[2 * at + 1];
            weight += wc * c;
        }
    const float m = p->weight ? p->weight[i] : 1;
    p->G[2 * voxel] += m * re;
    p->G[2 * voxel + 1] += m * im;
    p->W[voxel] += m * weight;
}

// Axis (0, 1, 2) along which the image's normal (third column of m) is longest; the other two span the iteration plane.
static int steepest(const float *m) {
    const float x = fabsf(m[2]), y = fabsf(m[5]), z = fabsf(m[8]);
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

// Walks along axis w through plane point v (whose component w is ignored).
static void gather_line(const gr_call *p, int64_t i, const float *m, int w, int v[3]) {
    const float n[3] = {m[2], m[5], m[8]};
    const int u0 = (w + 1) % 3, u1 = (w + 2) % 3;
    const float middle = -(n[u0] * (float)v[u0] + n[u1] * (float)v[u1]) / n[w]; // height 0
    // A hundredth of a voxel more than +-b: only the distance below decides, not rounding here.
    const float reach = p->b / fabsf(n[w]) + 0.01f;
    const int last = gr_last(middle, reach, (int)p->k);
    for (v[w] = gr_first(middle, reach, w == 0 ? 0 : -(int)p->k); v[w] <= last; v[w]++) {
        float t[3];
        gr_project(m, (float)v[0], (float)v[1], (float)v[2], t);
        gather_voxel(p, i, t, gr_voxel(p->k, v[0], v[1], v[2]));
    }
}

static int run(rg_call *call) {
    const gr_call plan = gr_call_of(call, call->param[0] != 0), *p = &plan;
    const int k = (int)p->k;
    gr_clear(p);
    for (int64_t i = 0; i < p->images; i++)
        for (int64_t j = 0; j < p->operators; j++) {
            const float *m = gr_rotation(p->rotation, p->operators, i, j);
            const int w = steepest(m), u = w == 0 ? 1 : 0, outer = w == 2 ? 1 : 2;
            int v[3];
            for (v[outer] = -k; v[outer] <= k; v[outer]++)
                for (v[u] = u == 0 ? 0 : -k; v[u] <= k; v[u]++) gather_line(p, i, m, w, v);
        }
    return RG_OK;
}

RG_VARIANT(gridding_naive_gather) = {
    RG_VARIANT_OF("gridding", "naive_gather", RG_NAIVE, RG_HOST,
        "Algorithm 2 in plain C: each voxel near an image collects the pixels around it"),
    RG_PARAMS(gr_plain_params),
    .scratch = gr_plain_scratch,
    .tolerance = gr_plain_tolerance,
    .cost = gr_plain_cost,
    .prepare = gr_plain_prepare,
    .run = run,
};
