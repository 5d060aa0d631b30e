// SPDX-License-Identifier: MIT
// call.h: a call of a host variant, unpacked.
#ifndef RG_GRIDDING_CALL_H
#define RG_GRIDDING_CALL_H

#include "index.h"
#include "invariant.h"
#include <string.h>

typedef struct gr_call {
    int64_t k, images, operators;
    float b, bb, per_bb;                          // radius, its square, and 1 over that
    const float *image, *ctf, *weight, *rotation; // ctf, weight: NULL where absent
    const float *table;                           // of the kernel, NULL where it is computed
    float *G, *W;
} gr_call;

// table: whether scratch holds the table.
RG_HD gr_call gr_call_of(const rg_call *call, int table) {
    const int64_t *n = call->shape->n;
    void *const *arg = call->arg;
    const double b = (double)n[GR_RADIUS] / 10;
    const gr_call p = {.k = gr_k(n[GR_SIDE]),
        .images = n[GR_IMAGES],
        .operators = n[GR_OPERATORS],
        .b = (float)b,
        .bb = (float)(b * b),
        .per_bb = (float)(1 / (b * b)),
        .image = (const float *)arg[GR_IMAGE],
        .ctf = n[GR_KIND] & GR_HAS_CTF ? (const float *)arg[GR_CTF] : NULL,
        .weight = n[GR_KIND] & GR_HAS_WEIGHT ? (const float *)arg[GR_WEIGHT] : NULL,
        .rotation = (const float *)arg[GR_ROTATION],
        .table = table ? (const float *)call->scratch : NULL,
        .G = (float *)arg[GR_G],
        .W = (float *)arg[GR_W]};
    return p;
}

RG_HD void gr_clear(const gr_call *p) {
    memset(p->G, 0, (size_t)gr_voxels(p->k) * 2 * sizeof *p->G);
    memset(p->W, 0, (size_t)gr_voxels(p->k) * sizeof *p->W);
}

// Pairs of pixel and stored voxel within b: on average 4/3 pi b^3 voxels a pixel of the disc, half of them stored.
RG_HD double gr_pairs(const rg_shape *s) {
    const double b = (double)s->n[GR_RADIUS] / 10;
    return gr_inserted(s) * 4.18879 * b * b * b;
}

#endif
