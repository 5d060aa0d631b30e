// SPDX-License-Identifier: MIT
// align2d:batch, align2d:batch_texture, align3d:batch, align3d:batch_texture: the host's part; the kernel is in batch.cuh.
//
// Bounds for one transform on an H200 (132 multiprocessors, 1.98 GHz), and what was measured with many at once.
//
// 2048 x 2048, 125 at once. batch_texture: 4.2e6 fetches at four a clock and multiprocessor, 4.0 us; measured 4.2 us at 45
// degrees, 4.6 at 0, 4.3 drawn from all of the paper's ranges, 86 to 95 % of it. batch: two loads of 5 to 6 cycles a warp, 5.2
// us, 40 MB from the L2, some 7 us, 32 instructions a pixel at 128 lanes, 4.0 us; measured 7.0 us at 45 degrees, 7.3 drawn
// (8.7 while warps that lie outside went through all their pixels, and more than 64 registers a thread left room for
// three blocks).
//
// 90 x 90 x 90, 729 at once. batch_texture: fetches of two planes, 1.4 us; measured 1.5 us for turns by 90 degrees about any
// axis, 2.2 at 45 about y, 1.9 over all rotations. batch: four loads of 7 to 8 lines a warp, 2.6 us, 52 instructions a voxel,
// 1.1 us, 6 MB from the L2, 1.2 us; measured 2.6 us at 0 degrees and at 90 about any axis, 2.5 at 45 about y, 2.7 over all, by
// stack=8 and group=32 2.4 to 2.6. At 90 about y it was 3.3 while half a warp had 4 x 4 voxels of a plane (patch.cuh): 4 of
// its 16 pairs at one place of their lines, the L1's data 99 % of the time at work; predicted 2.6 without. Instructions are
// next, of which 83 % of what can be issued were at 0 degrees: pairs moved about within bricks so that fewer collide (the L1's
// data 41 to 46 % at work) took 3.0 to 3.2 us for their longer addresses.
// 46,656 transforms (G4) take 124 ms with copies, by the texture unit 86 ms. The slow spot at 90 degrees about y (G5) is one
// of rows: from the rows of the volume in global memory batch took 22.7 us there, 3.2 at 0 degrees and 7.0 over all.
//
// Others were slower. 2048 x 2048 from the rows of the image 10.5 us, 18 at 90 degrees, from windows in shared memory
// (gather.cu) 11.7 us, 15 at 45. The four corners by the texture unit (tex2Dgather), interpolated exactly in registers: it
// gives two pixels a clock, not four, so 8.5 us at every angle and 2.9 to 3.6 us in three dimensions.
#include "batch.cuh"

enum { AF_STACK, AF_GROUP };

template <int DIMS> static af_size size_of(const rg_shape *s) { return DIMS == 2 ? af_size_2d(s) : af_size_3d(s); }

// How many transforms are launched at a time: whole groups whose partial sums fit AF_PARTIALS_MOST.
static int64_t part_of(const af_size &z, const int64_t *param)
{
    const int64_t group = param[AF_GROUP],
                  fit = AF_PARTIALS_MOST / (int64_t)sizeof(af_sums) / af_stack_blocks(z, (int)param[AF_STACK]);
    int64_t groups = fit / group > 1 ? fit / group : 1;
    if (groups > AF_GRID_MOST) groups = AF_GRID_MOST;
    return groups * group < z.transforms ? groups * group : z.transforms;
}

static size_t sums_bytes(const af_size &z, const int64_t *param)
{
    const size_t bytes = af_scratch(af_stack_blocks(z, (int)param[AF_STACK]), part_of(z, param));
    return (bytes + 255) / 256 * 256;
}

// first: the coordinate that the source gives pixel 0.
static af_batch problem_of(const rg_call *call, const af_size &z, float first)
{
    const int side[3] = {z.w, z.h, z.d};
    af_batch p = {};
    p.reference = (const float *)call->arg[AL_REFERENCE];
    p.matrix = (const float *)call->arg[AL_MATRIX];
    p.typical = af_typicals(call);
    p.partial = af_partials(call);
    p.w = z.w, p.h = z.h, p.d = z.d;
    p.group = (int)call->param[AF_GROUP];
    for (int a = 0; a < 3; a++) {
        const float border = z.outside == AF_ZERO ? 1 : 0,
                    reach = z.outside == AF_ZERO ? 1 : z.outside == AF_IGNORE ? 2 * AF_MARGIN : INFINITY;
        p.low[a] = af_low(side[a]);
        p.high[a] = af_high(side[a]);
        p.clamp_low[a] = p.low[a] - border;
        p.clamp_high[a] = p.high[a] + border;
        p.none_low[a] = p.low[a] - reach;
        p.none_high[a] = p.high[a] + reach;
        p.offset[a] = first - p.low[a];
    }
    return p;
}

template <int DIMS, int STACK, class Source>
static int launch(const rg_call *call, const af_size &z, af_batch p, const Source &source)
{
    const unsigned blocks = (unsigned)af_stack_blocks(z, STACK);
    const int64_t part = part_of(z, call->param);
    for (int64_t first = 0; first < z.transforms; first += part) {
        p.transforms = (int)(z.transforms - first < part ? z.transforms - first : part);
        const dim3 grid(blocks, af_blocks(p.transforms, p.group));
        if (z.outside == AF_IGNORE) RG_LAUNCH((batch<DIMS, 1, STACK, Source>), grid, AF_BLOCK, 0, call->stream, p, source);
        else RG_LAUNCH((batch<DIMS, 0, STACK, Source>), grid, AF_BLOCK, 0, call->stream, p, source);
        int error = (int)cudaGetLastError();
        error = error ? error : af_launch_finish(call, first, p.transforms, (int)blocks);
        if (error) return error;
        p.matrix += part * af_numbers(DIMS);
    }
    return RG_OK;
}

static const int64_t stacks_2d[] = {4, 8, 16}, stacks_3d[] = {5, 8, 15}; // as in the switches

template <class Source> static int launch_for(const rg_call *call, const af_size &z, const af_batch &p, const Source &source)
{
    if constexpr (Source::DIMENSIONS == 2) {
        switch (call->param[AF_STACK]) {
        case 4: return launch<2, 4>(call, z, p, source);
        case 8: return launch<2, 8>(call, z, p, source);
        default: return launch<2, 16>(call, z, p, source);
        }
    } else {
        switch (call->param[AF_STACK]) {
        case 5: return launch<3, 5>(call, z, p, source);
        case 8: return launch<3, 8>(call, z, p, source);
        default: return launch<3, 15>(call, z, p, source);
        }
    }
}

template <int DIMS> static int run_fetched(rg_call *call)
{
    const af_size z = size_of<DIMS>(call->shape);
    int error = af_launch_typical(call, z);
    error = error ? error : af_texture_copy(call, z, call->arg[AL_IMAGE]);
    return error ? error : launch_for(call, z, problem_of(call, z, 0.5f), af_fetched<DIMS>{af_texture_of(call)});
}

template <int DIMS> static int run_bricked(rg_call *call)
{
    const af_size z = size_of<DIMS>(call->shape);
    const af_bricks bricks = af_bricks_of(z, (char *)call->scratch + sums_bytes(z, call->param));
    int error = af_launch_typical(call, z);
    if (error) return error;
    const dim3 grid(af_blocks(z.w + AF_BORDER, AF_BLOCK), (unsigned)(z.h + AF_BORDER),
                    DIMS == 2 ? 1 : (unsigned)(z.d + AF_BORDER));
    RG_LAUNCH(af_bricks_fill, grid, AF_BLOCK, 0, call->stream, (const float *)call->arg[AL_IMAGE], z, af_typicals(call),
              bricks);
    error = (int)cudaGetLastError();
    return error ? error : launch_for(call, z, problem_of(call, z, 1), af_bricked<DIMS>{bricks});
}

template <int DIMS> static const char *refuse(const rg_shape *s, const int64_t *)
{
    const af_size z = size_of<DIMS>(s);
    if (af_bricks_pairs(z) > INT32_MAX) return "more than 2^31 pixels with their border";
    return z.transforms > INT32_MAX ? "more than 2^31 transforms: hand them over in parts" : NULL;
}

template <int DIMS> static size_t scratch_fetched(const rg_shape *s, const int64_t *param)
{
    return sums_bytes(size_of<DIMS>(s), param);
}
template <int DIMS> static size_t scratch_bricked(const rg_shape *s, const int64_t *param)
{
    const af_size z = size_of<DIMS>(s);
    return sums_bytes(z, param) + af_bricks_pairs(z) * sizeof(float2);
}

template <int DIMS> static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *)
{
    const af_size z = size_of<DIMS>(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, three or seven interpolations of two instructions, three sums; or in place of the interpolations a fetch, which
// in three dimensions is two, and the typical value.
template <int DIMS> static void cost_bricked(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = size_of<DIMS>(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (DIMS == 2 ? 2 + 6 + 3 : 3 + 14 + 3);
}
template <int DIMS> static void cost_fetched(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const af_size z = size_of<DIMS>(s);
    const double pixels = (double)af_pixels(&z) * (double)z.transforms;
    c->amount[RG_F32_MAD] = pixels * (DIMS + 4);
    c->amount[RG_TEXTURE] = pixels * (DIMS - 1);
}

static const int64_t groups[] = {1, 4, 8, 16, 32};
#define AF_GROUPS(standard) {"group", groups, RG_COUNT(groups), standard, "transforms a block goes through with its reference"}
static const rg_param params_2d[] = {{"stack", stacks_2d, RG_COUNT(stacks_2d), 8, "pixels of a thread, 4 rows apart"},
                                     AF_GROUPS(32)};
static const rg_param params_3d[] = {{"stack", stacks_3d, RG_COUNT(stacks_3d), 5, "voxels of a thread, 2 planes apart"},
                                     AF_GROUPS(16)};

#define AF_BATCH(DIMS, NAME, IDEA, FLAGS, SCRATCH, TOLERANCE, COST, PREPARE, RUN, FINISH)                                      \
    {                                                                                                                          \
        RG_ABI, sizeof(rg_variant), "align" #DIMS "d", NAME, IDEA, RG_GATHER, RG_DEVICE, "sm_50", FLAGS, params_##DIMS##d,     \
            RG_COUNT(params_##DIMS##d), refuse<DIMS>, SCRATCH<DIMS>, TOLERANCE, COST<DIMS>, PREPARE, RUN<DIMS>, FINISH         \
    }
#define AF_BRICKED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch", IDEA, 0, scratch_bricked, NULL, cost_bricked, NULL, run_bricked, NULL)
#define AF_FETCHED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch_texture", IDEA, RG_COPIES_FIRST, scratch_fetched, tolerance_fetched<DIMS>, cost_fetched,             \
             af_texture_prepare_##DIMS##d, run_fetched, af_texture_finish)

RG_VARIANT(align2d_batch) = AF_BRICKED(2, "groups of transforms a block, reference in registers, image in bricks of pairs");
RG_VARIANT(align2d_batch_texture) = AF_FETCHED(2, "groups of transforms a block, reference in registers, texture hardware");
RG_VARIANT(align3d_batch) = AF_BRICKED(3, "groups of transforms a block, reference in registers, volume in bricks of pairs");
RG_VARIANT(align3d_batch_texture) = AF_FETCHED(3, "groups of transforms a block, reference in registers, texture hardware");
