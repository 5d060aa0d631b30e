// SPDX-License-Identifier: MIT
// align2d:batch, align2d:batch_texture, align3d:batch, align3d:batch_texture: the host's part; the kernel is in batch.cuh.
//
// Bounds of one transform when many share a launch. batch_texture: a fetch a pixel in two dimensions, two in three. batch: two
// loads of 5 to 6 lines a warp of 8 x 4 pixels, four of 7 to 8 lines for 4 x 4 x 2 voxels; then instructions, 32 a pixel and 52
// a voxel; then the L2, from which the bricks come. Half a warp must not have 4 x 4 voxels of a plane (patch.cuh): a quarter of
// its pairs would stand at one place of their lines. Measured: data/machines/h200-16xeon.affine.tsv.
#include "batch.cuh"

enum { AF_STACK, AF_GROUP, AF_BATCH_UPLOAD };

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
    error = error ? error : af_texture_renew<AF_BATCH_UPLOAD>(call);
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
#define AF_STACKS(DIMS, standard, apart)                                                                                       \
    {"stack", stacks_##DIMS##d, RG_COUNT(stacks_##DIMS##d), standard, apart}
#define AF_GROUPS(standard) {"group", groups, RG_COUNT(groups), standard, "transforms a block goes through with its reference"}
#define PARAMS_2D AF_STACKS(2, 8, "pixels of a thread, 4 rows apart"), AF_GROUPS(32)
#define PARAMS_3D AF_STACKS(3, 5, "voxels of a thread, 2 planes apart"), AF_GROUPS(16)
static const rg_param params_2d[] = {PARAMS_2D}, fetched_params_2d[] = {PARAMS_2D, AF_UPLOAD};
static const rg_param params_3d[] = {PARAMS_3D}, fetched_params_3d[] = {PARAMS_3D, AF_UPLOAD};

#define AF_BATCH(DIMS, NAME, IDEA, FLAGS, PARAMS, SCRATCH, ...)                                                                \
    {                                                                                                                          \
        RG_VARIANT_OF("align" #DIMS "d", NAME, RG_GATHER, RG_DEVICE, IDEA), .needs = "sm_50", .flags = FLAGS,                  \
        RG_PARAMS(PARAMS), .refuse = refuse<DIMS>, .scratch = SCRATCH<DIMS>, __VA_ARGS__                                       \
    }
#define AF_BRICKED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch", IDEA, 0, params_##DIMS##d, scratch_bricked, .cost = cost_bricked<DIMS>, .run = run_bricked<DIMS>)
#define AF_FETCHED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch_texture", IDEA, RG_COPIES_FIRST, fetched_params_##DIMS##d, scratch_fetched,                          \
             .tolerance = tolerance_fetched<DIMS>, .cost = cost_fetched<DIMS>, .prepare = af_texture_prepare_##DIMS##d,        \
             .load = af_texture_load<AF_BATCH_UPLOAD>, .run = run_fetched<DIMS>, .finish = af_texture_finish)

RG_VARIANT(align2d_batch) = AF_BRICKED(2, "groups of transforms a block, reference in registers, image in bricks of pairs");
RG_VARIANT(align2d_batch_texture) = AF_FETCHED(2, "groups of transforms a block, reference in registers, texture hardware");
RG_VARIANT(align3d_batch) = AF_BRICKED(3, "groups of transforms a block, reference in registers, volume in bricks of pairs");
RG_VARIANT(align3d_batch_texture) = AF_FETCHED(3, "groups of transforms a block, reference in registers, texture hardware");
