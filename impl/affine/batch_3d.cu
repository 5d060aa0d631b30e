// SPDX-License-Identifier: MIT
// align3d:batch and align3d:batch_texture, see batch.cuh.
//
// Bounds for one transform of 90 x 90 x 90 on an H200 (132 multiprocessors, 1.98 GHz): 7.3e5 fetches of two planes at four a
// clock and multiprocessor, 1.4 us, for `batch_texture`; for `batch` four loads of 7 to 8 cycles a warp, 2.6 us, 52
// instructions a voxel at 128 lanes, 1.1 us, 6 MB from the L2, 1.2 us. Measured, 729 transforms at once: batch_texture 1.5 us
// for turns by 90 degrees about any axis, 2.4 at 45 about y, 2.1 over all rotations; batch 2.7 to 3.3 and 3.0: the L1, 98 %
// busy, decides. 46,656 transforms (G4) take 96 ms and 136 ms. The slow spot at 90 degrees about y (G5) is one of rows: from
// the rows of the volume in global memory batch took 22.7 us there, 3.2 at 0 degrees and 7.0 over all.
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

static int run_bricked(rg_call *call) { return af_batch_bricked<3>(call, af_size_3d(call->shape), launcher()); }
static int run_fetched(rg_call *call) { return af_batch_fetched<3>(call, af_size_3d(call->shape), launcher()); }

static const char *refuse(const rg_shape *s, const int64_t *) { return af_batch_refuse(af_size_3d(s)); }
static size_t scratch(const rg_shape *s, const int64_t *param) { return af_batch_scratch(af_size_3d(s), param); }
static size_t scratch_fetched(const rg_shape *s, const int64_t *param) { return af_batch_sums_bytes(af_size_3d(s), param); }

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
    RG_ABI,
    sizeof(rg_variant),
    "align3d",
    "batch",
    "groups of transforms a block, reference in registers, volume in bricks of pairs",
    RG_GATHER,
    RG_DEVICE,
    "sm_50",
    0,
    params,
    RG_COUNT(params),
    refuse,
    scratch,
    NULL,
    cost,
    NULL,
    run_bricked,
    NULL,
};
RG_VARIANT(align3d_batch_texture) = {
    RG_ABI,
    sizeof(rg_variant),
    "align3d",
    "batch_texture",
    "groups of transforms a block, reference in registers, texture hardware",
    RG_GATHER,
    RG_DEVICE,
    "sm_50",
    0,
    params,
    RG_COUNT(params),
    refuse,
    scratch_fetched,
    tolerance_fetched,
    cost_fetched,
    af_texture_prepare_3d,
    run_fetched,
    af_texture_finish,
};
