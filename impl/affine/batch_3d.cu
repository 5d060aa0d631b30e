// SPDX-License-Identifier: MIT
// align3d:batch and align3d:batch_texture, see batch.cuh.
//
// Bounds for one transform of 90 x 90 x 90 on an H200 (132 multiprocessors, 1.98 GHz): 7.3e5 fetches of two planes at four a clock and
// multiprocessor, 1.4 us; for `batch` 52 instructions a voxel at 128 lanes, 1.1 us, four loads of 7 to 8 cycles a warp, 2.6 us, and
// 6 MB from the L2, 1.2 us. Straight from rows in global memory it took 7.0 us, 22.7 at 90 degrees about y.
#include "batch.cuh"

struct launcher {
    template <class Source> int operator()(const rg_call *call, const af_size &z, const af_batch &p, const Source &source) const
    {
        switch (call->param[AF_STACK]) {
        case 5: return af_batch_launch<3, 5>(call, z, p, source);
        case 8: return af_batch_launch<3, 8>(call, z, p, source);
        default: return af_batch_launch<3, 15>(call, z, p, source);
        }
    }
};

static int run_bricks(rg_call *call)
{
    const af_size z = af_size_3d(call->shape);
    const af_bricks bricks = af_bricks_of(z, (char *)call->scratch + af_batch_sums_bytes(z, call->param));
    af_batch p = af_batch_of(call, z);
    af_batch_axes(p, z, 1);
    int error = af_launch_typical(call, z);
    if (error) return error;
    RG_LAUNCH(af_bricks_fill, dim3(af_blocks(z.w + AF_BORDER, AF_BLOCK), (unsigned)(z.h + AF_BORDER), (unsigned)(z.d + AF_BORDER)), AF_BLOCK,
              0, call->stream, (const float *)call->arg[AL_IMAGE], z, p.typical, bricks);
    error = (int)cudaGetLastError();
    return error ? error : launcher()(call, z, p, af_bricked{bricks});
}

static int run_fetched(rg_call *call) { return af_batch_fetched<3>(call, af_size_3d(call->shape), launcher()); }

static const char *refuse(const rg_shape *s, const int64_t *)
{
    const af_size z = af_size_3d(s);
    return af_bricks_pairs(z) > INT32_MAX ? "more than 2^31 voxels with their border" : af_batch_refuse(z);
}
static size_t scratch_fetched(const rg_shape *s, const int64_t *param) { return af_batch_sums_bytes(af_size_3d(s), param); }
static size_t scratch(const rg_shape *s, const int64_t *param)
{
    return scratch_fetched(s, param) + af_bricks_pairs(af_size_3d(s)) * sizeof(float2);
}

static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *)
{
    const af_size z = af_size_3d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, seven interpolations of two instructions, three sums; or a fetch, which is two, in place of the interpolations.
static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_3d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (3 + 14 + 3);
}
static void cost_fetched(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_3d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (3 + 4);
    c->amount[RG_TEXTURE] = 2 * (double)af_pixels(&z) * (double)z.transforms;
}

static const int64_t stacks[] = {5, 8, 15}, groups[] = {1, 4, 8, 16, 32};
static const rg_param params[] = {
    {"stack", stacks, RG_COUNT(stacks), 5, "voxels of a thread, 2 planes apart"},
    {"group", groups, RG_COUNT(groups), 16, "transforms that a block goes through with its part of the reference"},
};

RG_VARIANT(align3d_batch) = {
    RG_ABI, sizeof(rg_variant), "align3d", "batch", "groups of transforms a block, reference in registers, volume in bricks of pairs",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch, NULL, cost, NULL, run_bricks, NULL,
};
RG_VARIANT(align3d_batch_texture) = {
    RG_ABI, sizeof(rg_variant), "align3d", "batch_texture", "groups of transforms a block, reference in registers, texture hardware",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch_fetched, tolerance_fetched, cost_fetched,
    af_texture_prepare_3d, run_fetched, af_texture_finish,
};
