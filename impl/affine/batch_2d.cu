// SPDX-License-Identifier: MIT
// align2d:batch and align2d:batch_texture, see batch.cuh.
//
// Bounds for one transform of 2048 x 2048 on an H200 (132 multiprocessors, 1.98 GHz): 4.2e6 fetches at four a clock and multiprocessor,
// 4.0 us; 16.8 MB from the L2, some 3 us; 22 instructions a pixel at 128 lanes, 2.8 us. Predicted for `batch`: four loads of 1.4 to 2
// cycles a warp and 3 to 6 to fill the window, 6 us. Straight from rows in global memory it took 10.5 us, 18 at 90 degrees.
#include "batch.cuh"

struct launcher {
    template <class Source> int operator()(const rg_call *call, const af_size &z, const af_batch &p, const Source &source) const
    {
        switch (call->param[AF_STACK]) {
        case 4: return af_batch_launch<2, 4>(call, z, p, source);
        default: return af_batch_launch<2, 8>(call, z, p, source);
        }
    }
};

static int run_windows(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    af_batch p = af_batch_of(call, z);
    const int error = af_launch_typical(call, z);
    for (int a = 0; a < 2; a++) { // coordinates from the centre
        p.low[a] = af_low(a ? z.h : z.w);
        p.high[a] = af_high(a ? z.h : z.w);
    }
    return error ? error : launcher()(call, z, p, af_windowed{(const float *)call->arg[AL_IMAGE]});
}

static int run_fetched(rg_call *call) { return af_batch_fetched<2>(call, af_size_2d(call->shape), launcher()); }

static const char *refuse(const rg_shape *s, const int64_t *) { return af_batch_refuse(af_size_2d(s)); }
static size_t scratch(const rg_shape *s, const int64_t *param) { return af_batch_sums_bytes(af_size_2d(s), param); }

static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *)
{
    const af_size z = af_size_2d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, three interpolations of two instructions, three sums; or a fetch in place of the interpolations.
static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_2d(s);
    const double pixels = (double)af_pixels(&z) * (double)z.transforms;
    c->amount[RG_F32_MAD] = pixels * (2 + 6 + 3);
    c->amount[RG_SHARED_BYTES] = pixels * 4 * (4 + 1.4); // four corners, and the window is larger than the tile
}
static void cost_fetched(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = af_size_2d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (2 + 4);
    c->amount[RG_TEXTURE] = (double)af_pixels(&z) * (double)z.transforms;
}

static const int64_t stacks[] = {4, 8}, groups[] = {1, 4, 8, 16, 32};
static const rg_param params[] = {
    {"stack", stacks, RG_COUNT(stacks), 8, "pixels of a thread, 4 rows apart"},
    {"group", groups, RG_COUNT(groups), 16, "transforms that a block goes through with its part of the reference"},
};

RG_VARIANT(align2d_batch) = {
    RG_ABI, sizeof(rg_variant), "align2d", "batch", "groups of transforms a block, reference in registers, windows of the image in shared memory",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch, NULL, cost, NULL, run_windows, NULL,
};
RG_VARIANT(align2d_batch_texture) = {
    RG_ABI, sizeof(rg_variant), "align2d", "batch_texture", "groups of transforms a block, reference in registers, texture hardware",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, scratch, tolerance_fetched, cost_fetched,
    af_texture_prepare_2d, run_fetched, af_texture_finish,
};
