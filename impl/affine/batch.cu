// SPDX-License-Identifier: MIT
// align2d and align3d: batch, batch_mixed, batch_texture: the host part; the kernel is in batch.cuh.
//
// Bounds of one transform when many share a launch. batch_texture: a fetch a pixel in two dimensions, two in three. batch: two
// loads of 5 to 6 lines a warp of 8 x 4 pixels, four of 7 to 8 lines for 4 x 4 x 2 voxels; then instructions, 32 a pixel and 52
// a voxel; then the L2, from which the bricks come. Half a warp must not have 4 x 4 voxels of a plane (patch.cuh): a quarter of
// its pairs would have the same place in their lines. batch_mixed: the unit for lines gets three pixels of eight, the one for
// texels the others, at half the rate of an interpolated fetch because it returns four times as much. The rest is instructions,
// of which a pixel from the texture needs two thirds. Measured: data/machines/h100-16xeon.tsv.
#include "batch.cuh"

enum { AF_STACK, AF_GROUP, AF_BATCH_UPLOAD };

template <int DIMS> static af_size size_of(const rg_shape *s) { return DIMS == 2 ? af_size_2d(s) : af_size_3d(s); }

// Transforms of a launch: whole groups whose partial sums fit in AF_PARTIALS_MOST.
static int64_t part_of(const af_size &z, const int64_t *param) {
    const int64_t group = param[AF_GROUP],
                  fit = AF_PARTIALS_MOST / (int64_t)sizeof(af_sums) / af_stack_blocks(z, (int)param[AF_STACK]);
    int64_t groups = fit / group > 1 ? fit / group : 1;
    if (groups > AF_GRID_MOST) groups = AF_GRID_MOST;
    return groups * group < z.transforms ? groups * group : z.transforms;
}

static size_t sums_bytes(const af_size &z, const int64_t *param) {
    const size_t bytes = af_scratch(af_stack_blocks(z, (int)param[AF_STACK]), part_of(z, param));
    return (bytes + 255) / 256 * 256;
}

// first: the source's coordinate of pixel 0.
static af_batch problem_of(const rg_call *call, const af_size &z, float first) {
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
                    reach = z.outside == AF_ZERO ? 1
            : z.outside == AF_IGNORE             ? 2 * AF_MARGIN
                                                 : INFINITY;
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
static int launch(const rg_call *call, const af_size &z, af_batch p, const Source &source) {
    const unsigned blocks = (unsigned)af_stack_blocks(z, STACK);
    const int64_t part = part_of(z, call->param);
    for (int64_t first = 0; first < z.transforms; first += part) {
        p.transforms = (int)(z.transforms - first < part ? z.transforms - first : part);
        const dim3 grid(blocks, af_blocks(p.transforms, p.group));
        if (z.outside == AF_IGNORE)
            RG_LAUNCH((batch<DIMS, 1, STACK, Source>), grid, AF_BLOCK, 0, call->stream, p, source);
        else
            RG_LAUNCH((batch<DIMS, 0, STACK, Source>), grid, AF_BLOCK, 0, call->stream, p, source);
        int error = (int)cudaGetLastError();
        error = error ? error : af_launch_finish(call, first, p.transforms, (int)blocks);
        if (error) return error;
        p.matrix += part * af_numbers(DIMS);
    }
    return RG_OK;
}

static const int64_t stacks_2d[] = {4, 8, 16}, stacks_3d[] = {5, 8, 15}; // as in the switches

template <class Source> static int launch_for(const rg_call *call, const af_size &z, const af_batch &p, const Source &source) {
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

template <int DIMS> static int run_fetched(rg_call *call) {
    const af_size z = size_of<DIMS>(call->shape);
    int error = af_launch_typical(call, z);
    error = error ? error : af_texture_renew<AF_BATCH_UPLOAD>(call);
    return error ? error : launch_for(call, z, problem_of(call, z, 0.5f), af_fetched<DIMS>{af_texture_of(call)});
}

// Computes the typical values, then the bricks, which need them.
template <int DIMS> static int fill_bricks(const rg_call *call, const af_size &z, const af_bricks &bricks) {
    const int error = af_launch_typical(call, z);
    if (error) return error;
    const dim3 grid(
        af_blocks(z.w + AF_BORDER, AF_BLOCK), (unsigned)(z.h + AF_BORDER), DIMS == 2 ? 1 : (unsigned)(z.d + AF_BORDER));
    RG_LAUNCH(
        af_bricks_fill, grid, AF_BLOCK, 0, call->stream, (const float *)call->arg[AL_IMAGE], z, af_typicals(call), bricks);
    return (int)cudaGetLastError();
}

template <int DIMS> static int run_bricked(rg_call *call) {
    const af_size z = size_of<DIMS>(call->shape);
    const af_bricks bricks = af_bricks_of(z, (char *)call->scratch + sums_bytes(z, call->param));
    const int error = fill_bricks<DIMS>(call, z, bricks);
    return error ? error : launch_for(call, z, problem_of(call, z, 1), af_bricked<DIMS>{bricks});
}

// ---- mixed ---------------------------------------------------------------------------------------------------------------
// The texture is an image, or the planes of a volume one below the other, with an empty one before and after them, each plane
// followed by a row of zeros.

enum { TEXTURE_ROWS_MOST = 32768 };
template <int DIMS> static int64_t texture_rows(const af_size &z) { return DIMS == 2 ? z.h : (int64_t)(z.d + 2) * (z.h + 1); }

static size_t planes_bytes(const af_size &z) {
    return z.dims == 2 ? 0 : ((size_t)texture_rows<3>(z) * (size_t)z.w * sizeof(float) + 255) / 256 * 256;
}

// Grid: x in blocks of AF_BLOCK texels, rows.
static __global__ void fill_planes(const float *volume, af_size z, float *to) {
    const int x = (int)(blockIdx.x * AF_BLOCK + threadIdx.x), row = (int)blockIdx.y;
    const int y = row % (z.h + 1), d = row / (z.h + 1) - 1;
    const bool within = y < z.h && d >= 0 && d < z.d;
    if (x < z.w) to[(int64_t)row * z.w + x] = within ? volume[((int64_t)d * z.h + y) * z.w + x] : 0;
}

// For a volume, the array exceeds RG_COPIES_FIRST by the rows and planes of zeros. It is made here, since no other kernel needs
// a texture that returns four neighbours.
template <int DIMS> static int prepare_mixed(rg_call *call) {
    const af_size z = size_of<DIMS>(call->shape);
    const cudaChannelFormatDesc kind = cudaCreateChannelDesc<float>();
    rg_texture *t = (rg_texture *)calloc(1, sizeof *t);
    if (!t) return RG_E_STATE;
    call->state = t;
    t->n[0] = (size_t)z.w, t->n[1] = (size_t)texture_rows<DIMS>(z), t->texel = sizeof(float);
    const int error = (int)cudaMallocArray(&t->array, &kind, t->n[0], t->n[1], cudaArrayTextureGather);
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = t->array;
    return error
        ? error
        : rg_texture_of(t, &from, z.outside == AF_ZERO ? cudaAddressModeBorder : cudaAddressModeClamp, cudaFilterModeLinear);
}

template <int DIMS> static int copy_mixed(const rg_call *call) {
    if (DIMS == 2) return af_texture_copy(call);
    const af_size z = size_of<DIMS>(call->shape);
    float *planes = (float *)((char *)call->scratch + sums_bytes(z, call->param));
    RG_LAUNCH(fill_planes, dim3(af_blocks(z.w, AF_BLOCK), (unsigned)texture_rows<DIMS>(z)), AF_BLOCK, 0, call->stream,
        (const float *)call->arg[AL_IMAGE], z, planes);
    const int error = (int)cudaGetLastError();
    return error ? error : rg_texture_fill((const rg_texture *)call->state, planes, call->stream);
}

template <int DIMS> static int load_mixed(rg_call *call) {
    return call->param[AF_BATCH_UPLOAD] ? RG_OK : copy_mixed<DIMS>(call);
}

template <int DIMS> static int run_mixed(rg_call *call) {
    const af_size z = size_of<DIMS>(call->shape);
    const af_bricks bricks = af_bricks_of(z, (char *)call->scratch + sums_bytes(z, call->param) + planes_bytes(z));
    int error = fill_bricks<DIMS>(call, z, bricks);
    error = error ? error : call->param[AF_BATCH_UPLOAD] ? copy_mixed<DIMS>(call) : RG_OK;
    const af_mixed<DIMS> source = {{bricks}, af_texture_of(call), (float)(z.h + 1)};
    return error ? error : launch_for(call, z, problem_of(call, z, 1), source);
}

template <int DIMS> static const char *refuse(const rg_shape *s, const int64_t *) {
    const af_size z = size_of<DIMS>(s);
    if (af_bricks_pairs(z) > INT32_MAX) return "more than 2^31 pixels with their border";
    return z.transforms > INT32_MAX ? "more than 2^31 transforms: hand them over in parts" : NULL;
}

template <int DIMS> static const char *refuse_mixed(const rg_shape *s, const int64_t *param) {
    return texture_rows<DIMS>(size_of<DIMS>(s)) > TEXTURE_ROWS_MOST
        ? "the planes, one below the other, are more than the 32,768 rows of a texture"
        : refuse<DIMS>(s, param);
}

template <int DIMS> static size_t scratch_fetched(const rg_shape *s, const int64_t *param) {
    return sums_bytes(size_of<DIMS>(s), param);
}
template <int DIMS> static size_t scratch_bricked(const rg_shape *s, const int64_t *param) {
    const af_size z = size_of<DIMS>(s);
    return sums_bytes(z, param) + af_bricks_pairs(z) * sizeof(float2);
}

template <int DIMS> static size_t scratch_mixed(const rg_shape *s, const int64_t *param) {
    const af_size z = size_of<DIMS>(s);
    return sums_bytes(z, param) + planes_bytes(z) + af_bricks_pairs(z) * sizeof(float2);
}

template <int DIMS> static rg_tolerance tolerance_fetched(const rg_shape *s, const int64_t *) {
    const af_size z = size_of<DIMS>(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Coordinates, three or seven interpolations of two instructions, three sums. A fetch replaces the interpolations: in three
// dimensions it counts as two, and the typical value is subtracted.
template <int DIMS> static void cost_bricked(const rg_shape *s, const int64_t *, rg_cost *c) {
    const af_size z = size_of<DIMS>(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (DIMS == 2 ? 2 + 6 + 3 : 3 + 14 + 3);
}
template <int DIMS> static void cost_fetched(const rg_shape *s, const int64_t *, rg_cost *c) {
    const af_size z = size_of<DIMS>(s);
    const double pixels = (double)af_pixels(&z) * (double)z.transforms;
    c->amount[RG_F32_MAD] = pixels * (DIMS + 4);
    c->amount[RG_TEXTURE] = pixels * (DIMS - 1);
}

static const int64_t groups[] = {1, 4, 8, 16, 32};
#define AF_STACKS(DIMS, standard, apart)                                                                                       \
    { "stack", stacks_##DIMS##d, RG_COUNT(stacks_##DIMS##d), standard, apart }
#define AF_GROUPS(standard)                                                                                                    \
    { "group", groups, RG_COUNT(groups), standard, "transforms a block goes through with its reference" }
#define PARAMS_2D AF_STACKS(2, 8, "pixels of a thread, 4 rows apart"), AF_GROUPS(32)
#define PARAMS_3D AF_STACKS(3, 5, "voxels of a thread, 2 planes apart"), AF_GROUPS(16)
static const rg_param params_2d[] = {PARAMS_2D}, fetched_params_2d[] = {PARAMS_2D, AF_UPLOAD};
static const rg_param params_3d[] = {PARAMS_3D}, fetched_params_3d[] = {PARAMS_3D, AF_UPLOAD};
static const rg_param mixed_params_2d[] = {PARAMS_2D, AF_UPLOAD};
static const rg_param mixed_params_3d[] = {AF_STACKS(3, 8, "voxels of a thread, 2 planes apart"), AF_GROUPS(16), AF_UPLOAD};

#define AF_BATCH(DIMS, NAME, NEEDS, IDEA, FLAGS, PARAMS, REFUSE, SCRATCH, ...)                                                 \
    {                                                                                                                          \
        RG_VARIANT_OF("align" #DIMS "d", NAME, RG_GATHER, RG_DEVICE, IDEA),                                                    \
            .needs = NEEDS, .flags = FLAGS, RG_PARAMS(PARAMS), .refuse = REFUSE<DIMS>, .scratch = SCRATCH<DIMS>, __VA_ARGS__   \
    }
#define AF_BRICKED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch", "sm_50", IDEA, 0, params_##DIMS##d, refuse, scratch_bricked, .cost = cost_bricked<DIMS>,           \
        .run = run_bricked<DIMS>)
#define AF_MIXED(DIMS, IDEA)                                                                                                   \
    AF_BATCH(DIMS, "batch_mixed", "sm_60", IDEA, RG_COPIES_FIRST, mixed_params_##DIMS##d, refuse_mixed, scratch_mixed,         \
        .cost = cost_bricked<DIMS>, .prepare = prepare_mixed<DIMS>, .load = load_mixed<DIMS>, .run = run_mixed<DIMS>,          \
        .finish = af_texture_finish)
#define AF_FETCHED(DIMS, IDEA)                                                                                                 \
    AF_BATCH(DIMS, "batch_texture", "sm_50", IDEA, RG_COPIES_FIRST, fetched_params_##DIMS##d, refuse, scratch_fetched,         \
        .tolerance = tolerance_fetched<DIMS>, .cost = cost_fetched<DIMS>, .prepare = af_texture_prepare_##DIMS##d,             \
        .load = af_texture_load<AF_BATCH_UPLOAD>, .run = run_fetched<DIMS>, .finish = af_texture_finish)

RG_VARIANT(align2d_batch) = AF_BRICKED(2, "groups of transforms a block, reference in registers, image in bricks of pairs");
RG_VARIANT(align2d_batch_mixed) = AF_MIXED(2, "as batch, some pixels from the bricks, some from a texture's four neighbours");
RG_VARIANT(align2d_batch_texture) = AF_FETCHED(2, "groups of transforms a block, reference in registers, texture hardware");
RG_VARIANT(align3d_batch) = AF_BRICKED(3, "groups of transforms a block, reference in registers, volume in bricks of pairs");
RG_VARIANT(align3d_batch_mixed) = AF_MIXED(3, "as batch, some voxels from the bricks, some from a texture's four neighbours");
RG_VARIANT(align3d_batch_texture) = AF_FETCHED(3, "groups of transforms a block, reference in registers, texture hardware");
