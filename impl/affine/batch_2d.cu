// SPDX-License-Identifier: MIT
// align2d:batch and align2d:batch_texture, see batch.cuh.
#include "batch.cuh"

struct launcher {
    template <class Source> int operator()(const rg_call *call, const af_size &z, const Source &source) const
    {
        switch (call->param[AF_STACK]) {
        case 4: return af_batch_launch<2, 4>(call, z, source);
        case 8: return af_batch_launch<2, 8>(call, z, source);
        default: return af_batch_launch<2, 16>(call, z, source);
        }
    }
};

static int run_padded(rg_call *call) { return af_batch_padded(call, af_size_2d(call->shape), launcher()); }
static int run_fetched(rg_call *call) { return af_batch_fetched(call, af_size_2d(call->shape), launcher()); }

static const char *refuse(const rg_shape *s, const int64_t *) { return af_batch_refuse(af_size_2d(s)); }
static size_t scratch(const rg_shape *s, const int64_t *param) { return af_batch_scratch(af_size_2d(s), param); }
static size_t scratch_fetched(const rg_shape *s, const int64_t *param) { return af_batch_sums_bytes(af_size_2d(s), param); }

static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *)
{
    const af_size z = af_size_2d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, three interpolations (two instructions each), three sums; or a fetch in place of the interpolations.
static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_2d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (2 + 6 + 3);
}
static void cost_fetched(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_2d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (2 + 4);
    c->amount[RG_TEXTURE] = (double)af_pixels(&z) * (double)z.transforms;
}

static const int64_t stacks[] = {4, 8, 16}, groups[] = {1, 4, 8, 16, 32};
static const rg_param params[] = {
    {"stack", stacks, RG_COUNT(stacks), 8, "pixels of a thread, 4 rows apart"},
    {"group", groups, RG_COUNT(groups), 16, "transforms that a block goes through with its part of the reference"},
};

RG_VARIANT(align2d_batch) = {
    RG_ABI, sizeof(rg_variant), "align2d", "batch", "groups of transforms a block, reference in registers, exact interpolation",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch, NULL, cost, NULL, run_padded, NULL,
};
RG_VARIANT(align2d_batch_texture) = {
    RG_ABI, sizeof(rg_variant), "align2d", "batch_texture", "groups of transforms a block, reference in registers, texture hardware",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch_fetched, tolerance_fetched, cost_fetched,
    af_texture_prepare_2d, run_fetched, af_texture_finish,
};
