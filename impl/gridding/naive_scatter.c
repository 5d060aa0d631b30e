// SPDX-License-Identifier: MIT
// naive_scatter.c: Algorithm 1 of Strelak et al. 2019 in plain C, on one core: the baseline of every speed-up.
//
// For every image, operator and pixel inside the circle: computes its place r in the volume, then adds the pixel times the
// weight of its distance to all voxels of the cube around r. Half planes are stored: a voxel with x < 0 is the mate of the
// stored one at -v, which gets the conjugate; on the plane x = 0 both happen (index.h). Weights come from a table of 10,000, as
// in the paper and in Xmipp, or are computed. Loads and stores go all over the volume; nothing is vectorised or blocked for the
// cache.
#include "plain.h"

static void add(const gr_call *p, int64_t voxel, float re, float im, float w) {
    p->G[2 * voxel] += re;
    p->G[2 * voxel + 1] += im;
    p->W[voxel] += w;
}

// Adds stored pixel (x, y), of value m c F and weight m c^2, to the voxels around r.
static void scatter_pixel(const gr_call *p, int64_t x, float re, float im, float weight, const float r[3]) {
    const int k = (int)p->k;
    const int x1 = gr_last(r[0], p->b, k), y1 = gr_last(r[1], p->b, k), z1 = gr_last(r[2], p->b, k);
    for (int vz = gr_first(r[2], p->b, -k); vz <= z1; vz++)
        for (int vy = gr_first(r[1], p->b, -k); vy <= y1; vy++)
            for (int vx = gr_first(r[0], p->b, -k); vx <= x1; vx++) {
                const float dx = (float)vx - r[0], dy = (float)vy - r[1], dz = (float)vz - r[2];
                const float w = gr_weight(p, dx * dx + dy * dy + dz * dz);
                if (w == 0) continue;
                if (vx >= 0) add(p, gr_voxel(k, vx, vy, vz), w * re, w * im, w * weight);
                if (vx <= 0 && x > 0) add(p, gr_voxel(k, -vx, -vy, -vz), w * re, -w * im, w * weight);
            }
}

static int run(rg_call *call) {
    const gr_call plan = gr_call_of(call, call->param[0] != 0), *p = &plan;
    gr_clear(p);
    for (int64_t i = 0; i < p->images; i++)
        for (int64_t j = 0; j < p->operators; j++) {
            const float *m = gr_rotation(p->rotation, p->operators, i, j);
            for (int64_t y = -p->k; y <= p->k; y++)
                for (int64_t x = 0, past = gr_row(p->k, y); x < past; x++) {
                    const int64_t at = i * gr_pixels(p->k) + gr_pixel(p->k, x, y);
                    const float c = p->ctf ? p->ctf[at] : 1, mc = (p->weight ? p->weight[i] : 1) * c;
                    float r[3];
                    gr_place(m, (float)x, (float)y, r);
                    scatter_pixel(p, x, mc * p->image[2 * at], mc * p->image[2 * at + 1], mc * c, r);
                }
        }
    return RG_OK;
}

RG_VARIANT(gridding_naive_scatter) = {
    RG_VARIANT_OF(
        "gridding", "naive_scatter", RG_NAIVE, RG_HOST, "Algorithm 1 in plain C: each pixel is added to the voxels around it"),
    RG_PARAMS(gr_plain_params),
    .scratch = gr_plain_scratch,
    .tolerance = gr_plain_tolerance,
    .cost = gr_plain_cost,
    .prepare = gr_plain_prepare,
    .run = run,
};
