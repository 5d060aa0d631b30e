// SPDX-License-Identifier: MIT
// plain.h: shared by the two plain C variants, naive_scatter and naive_gather: the unpacked call, the weight of a distance.
#ifndef RG_GRIDDING_PLAIN_H
#define RG_GRIDDING_PLAIN_H

#include "bound.h"
#include "call.h"
#include "invariant.h"

// w(d) from d^2, 0 beyond b.
RG_HD float gr_weight(const gr_call *p, float dd) {
    const float u = dd * p->per_bb;
    if (dd > p->bb) return 0;
    return p->table ? p->table[gr_table_index(u < 1 ? u : 1)] : gr_kernel(u < 1 ? 1 - u : 0);
}

static const int64_t gr_plain_weights[] = {0, 1};
static const rg_param gr_plain_params[] = {
    {"table", gr_plain_weights, 2, 1, "1: weights from a table of 10,000, as in the paper; 0: computed"},
};

static size_t gr_plain_scratch(const rg_shape *s, const int64_t *param) {
    (void)s;
    return param[0] ? GR_TABLE * sizeof(float) : 0;
}

static rg_tolerance gr_plain_tolerance(const rg_shape *s, const int64_t *param) { return gr_bound(s, param[0] != 0); }

static int gr_plain_prepare(rg_call *call) {
    if (call->param[0]) gr_table_fill((float *)call->scratch);
    return RG_OK;
}

// Per pair of pixel and voxel within b: three for the distance, the polynomial where it is computed, and three sums.
static void gr_plain_cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    c->amount[RG_F32_MAD] = gr_pairs(s) * (3 + 3 + (param[0] ? 1 : GR_KERNEL_MADS));
}

#endif
