// SPDX-License-Identifier: MIT
// gridding.h: what the gridding kernels that are wrong on purpose share: a right scatter, each step of which can be replaced.
// A file defines the steps that it spoils, and includes this.
#ifndef RG_BROKEN_GRIDDING_H
#define RG_BROKEN_GRIDDING_H

#include "../../../impl/gridding/bound.h"
#include "../../../impl/gridding/call.h"
#include "../plugin.h"

#ifndef PLACE // of pixel (x, y) in the volume
#define PLACE(m, x, y, r) gr_place(m, x, y, r)
#endif
#ifndef FIRST // voxel of the window around c, and the last one
#define FIRST(c, b, k) gr_first(c, b, -(k))
#define LAST(c, b, k) gr_last(c, b, k)
#endif
#ifndef IS_STORED // voxels that get the pixel, and those whose mates get its conjugate
#define IS_STORED(vx) ((vx) >= 0)
#define IS_MATE(vx, x) ((vx) <= 0 && (x) > 0)
#endif
#ifndef WEIGHT // of a pair whose d^2 is u b^2, u <= 1
#define WEIGHT(u) gr_kernel(1 - (u))
#define TABLE 0
#endif
#ifndef COLUMNS // of row y that take part
#define COLUMNS(k, y) gr_row(k, y)
#endif
#ifndef TAKES_PART // the pixel at r
#define TAKES_PART(r, b, k) 1
#endif
#ifndef WEIGHT_OF_CTF
#define WEIGHT_OF_CTF(c) ((c) * (c))
#define CONJUGATE(im) (-(im))
#endif

#ifndef ADD
#define ADD add
RG_HD void add(const gr_call *p, int64_t voxel, float re, float im, float w)
{
    p->G[2 * voxel] += re;
    p->G[2 * voxel + 1] += im;
    p->W[voxel] += w;
}
#endif

RG_HD void add_pixel(const gr_call *p, int64_t x, float re, float im, float weight, const float r[3])
{
    const int k = (int)p->k;
    for (int vz = FIRST(r[2], p->b, k); vz <= LAST(r[2], p->b, k); vz++)
        for (int vy = FIRST(r[1], p->b, k); vy <= LAST(r[1], p->b, k); vy++)
            for (int vx = FIRST(r[0], p->b, k); vx <= LAST(r[0], p->b, k); vx++) {
                const float dx = (float)vx - r[0], dy = (float)vy - r[1], dz = (float)vz - r[2];
                const float dd = dx * dx + dy * dy + dz * dz, u = dd * p->per_bb;
                if (dd > p->bb) continue;
                const float w = WEIGHT(u < 1 ? u : 1);
                if (IS_STORED(vx)) ADD(p, gr_voxel(k, vx, vy, vz), w * re, w * im, w * weight);
                if (IS_MATE(vx, x)) ADD(p, gr_voxel(k, -vx, -vy, -vz), w * re, CONJUGATE(w * im), w * weight);
            }
}

RG_HD void add_row(const gr_call *p, int64_t i, const float *m, int64_t y)
{
    for (int64_t x = 0; x < COLUMNS(p->k, y); x++) {
        const int64_t at = i * gr_pixels(p->k) + gr_pixel(p->k, x, y);
        const float c = p->ctf ? p->ctf[at] : 1, image_weight = p->weight ? p->weight[i] : 1, mc = image_weight * c;
        float r[3];
        PLACE(m, (float)x, (float)y, r);
        if (TAKES_PART(r, p->b, p->k))
            add_pixel(p, x, mc * p->image[2 * at], mc * p->image[2 * at + 1], image_weight * WEIGHT_OF_CTF(c), r);
    }
}

static int scatter(rg_call *call)
{
    const gr_call p = gr_call_of(call, 0);
    gr_clear(&p);
    for (int64_t sample = 0; sample < p.images * p.operators; sample++)
        for (int64_t y = -p.k; y <= p.k; y++) add_row(&p, sample / p.operators, p.rotation + 9 * sample, y);
    return RG_OK;
}

#ifndef HOOKS
#define HOOKS .run = scatter
#endif

// A kernel with a table is given the table's tolerance: it must be caught all the same.
static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) { return (void)param, gr_bound(s, TABLE); }

#define BROKEN_GRIDDING(NAME, IDEA) BROKEN_PLUGIN_OF("gridding", NAME, IDEA, .tolerance = tolerance, HOOKS)

#endif
