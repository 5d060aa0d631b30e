// SPDX-License-Identifier: MIT
// align2d:batch and align2d:batch_texture, see batch.cuh.
//
// Bounds for one transform of 2048 x 2048 on an H200 (132 multiprocessors, 1.98 GHz): 4.2e6 fetches at four a clock and
// multiprocessor, 4.0 us, for `batch_texture`; for `batch` two loads of 5 to 6 cycles a warp, 5.2 us, 40 MB from the L2, some 7
// us, and 32 instructions a pixel at 128 lanes, 4.0 us. Measured, 125 transforms at once: batch_texture 4.9 us, 82 % of its
// bound and the same at every angle; batch 8.3 to 8.5 us from 0 to 90 degrees, 9.3 us drawn from all of the paper's ranges: 52
// instructions a pixel, 69 % of what can be issued (since then offsets of bricks take fewer). Two others were slower: from the
// rows of the image in global memory 10.5 us, 18 at 90 degrees; from windows in shared memory (gather.cu) 11.7 us, 15 at 45.
#include "batch.cuh"

struct launcher {
    template <class Source> int operator()(const rg_call *call, const af_size &z, const af_batch &p, const Source &source) const
    {
        switch (call->param[AF_STACK]) {
        case 4: return af_batch_launch<2, 4>(call, z, p, source);
        case 8: return af_batch_launch<2, 8>(call, z, p, source);
        default: return af_batch_launch<2, 16>(call, z, p, source);
        }
    }
};

static int run_bricked(rg_call *call) { return af_batch_bricked<2>(call, af_size_2d(call->shape), launcher()); }
static int run_fetched(rg_call *call) { return af_batch_fetched<2>(call, af_size_2d(call->shape), launcher()); }

static const char *refuse(const rg_shape *s, const int64_t *) { return af_batch_refuse(af_size_2d(s)); }
static size_t scratch(const rg_shape *s, const int64_t *param) { return af_batch_scratch(af_size_2d(s), param); }
static size_t scratch_fetched(const rg_shape *s, const int64_t *param) { return af_batch_sums_bytes(af_size_2d(s), param); }

static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *)
{
    const af_size z = af_size_2d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, three interpolations of two instructions, three sums; or a fetch in place of the interpolations.
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
    {"group", groups, RG_COUNT(groups), 32, "transforms that a block goes through with its part of the reference"},
};

RG_VARIANT(align2d_batch) = {
    RG_ABI,
    sizeof(rg_variant),
    "align2d",
    "batch",
    "groups of transforms a block, reference in registers, image in bricks of pairs",
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
RG_VARIANT(align2d_batch_texture) = {
    RG_ABI,
    sizeof(rg_variant),
    "align2d",
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
    af_texture_prepare_2d,
    run_fetched,
    af_texture_finish,
};
