// SPDX-License-Identifier: MIT
// gridding:owned: every voxel is owned by one block and by one lane at a time: no atomics, and the same bits in every run.
//
// The volume is cut into bricks of 16 x 16 x 16 voxels. A block keeps the sums of its brick in shared memory while all
// samples pass, and stores each voxel once. Samples come in three lists, by the axis nearest to their normal
// (owned_samples.cuh); for each list the 4 warps of a block divide the brick into prisms of 8 x 8 columns along that axis and
// go their own way: 32 samples at a time are held against the prism, those whose plane +-b misses it are left out, and the
// others are inserted one after another (owned_brick.cuh). Barriers stand only between the lists. Bricks near the origin,
// which all samples cross, come first. Small volumes have too few bricks for a large GPU: there `parts` blocks share the
// samples of a brick, and a second kernel adds up their volumes, in order.
//
// Bound: fp32. A pair takes 12 operations (distance 1, weight 8, sums 3) and there are 28.7 pairs a stored pixel at b = 1.9:
// 3.3e13 operations/s give 9.7e10 pixels/s. What is left, counted in the machine code for b = 1.9: of the 16 or 9 pixels of a
// window 7.6 lie in the disc; a window takes 310 instructions (210 the small one) where 12 a pair were 190 (110); listing the
// voxels and copying the tile take 650 for 190 voxels; the last 32 voxels of a list are half empty. Together 430 instructions
// a voxel, 3.8 voxels a stored pixel. Prediction for an H200, not a measurement: 2.1e10 pixels/s if every cycle issued,
// 1.5e10 at 75 %. With few samples the 12 bytes of every voxel decide instead: 52 images of side 841 cannot pass 1.7e10.
#include "owned_list.cuh"

typedef struct volume {
    float *g, *w;
} volume;

typedef struct bricks {
    int x, y, z, parts;
    int tile_pixels, list_voxels; // that a warp has room for
} bricks;

// Order of n bricks of a side, the middle one first.
static __device__ __forceinline__ int from_middle(int i, int n) { return i % 2 ? n / 2 - (i + 1) / 2 : n / 2 + i / 2; }

template <int N, int mode>
static __device__ __forceinline__ void add_voxels(const gr_prism &p, const gr_tile &tile, const gr_view &view,
                                                  const gr_input &in, float m, const unsigned short *list, int n, float *sums)
{
    const gr_steps &x = view.x, &y = view.y, &h = view.height;
    const float u0 = (float)p.u0, v0 = (float)p.v0, a0 = (float)p.a0, kk = (float)(in.k * in.k);
    const float x0 = x.u * u0 + x.v * v0 + x.a * a0, y0 = y.u * u0 + y.v * v0 + y.a * a0, h0 = h.u * u0 + h.v * v0 + h.a * a0;
    const float most_x = (float)(tile.x0 + tile.width - N), most_y = (float)(tile.y0 + tile.height - N);
    for (int i = (int)threadIdx.x % 32; i < n; i += 32) {
        const int entry = list[i], iu = entry & 7, iv = entry >> 3 & 7, ia = entry >> 6;
        const float u = (float)iu, v = (float)iv, a = (float)ia, height = (h0 + h.u * u + h.v * v + h.a * a) * in.per_b;
        gr_foot f;
        f.x = x0 + x.u * u + x.v * v + x.a * a;
        f.y = y0 + y.u * u + y.v * v + y.a * a;
        f.rest = 1.0f - height * height;
        const float inner = fmaxf(f.rest, 1e-12f), r = in.b * 1.000002f * inner * rsqrtf(inner); // of the disc, slightly more
        f.first_x = fminf(ceilf(f.x - r), most_x);
        f.first_y = fminf(ceilf(f.y - r), most_y);
        const gr_terms t = gr_window<N, mode>(tile, f, in.per_b, kk);
        const gr_place_in_brick place = {p.at.line + iu * p.u.line + iv * p.v.line + ia * p.a.line,
                                         p.at.turn + iu * p.u.turn + iv * p.v.turn + ia * p.a.turn};
        float *to = sums + gr_element(place);
        to[0] += t.re;
        to[BRICK_VOXELS] += t.im;
        to[2 * BRICK_VOXELS] += mode == WITH_CTF ? t.w : m * t.w;
    }
}

template <int N, int mode>
static __device__ __forceinline__ void add_lists(const gr_prism &p, const gr_tile &tile, const gr_view &view,
                                                 const gr_input &in, float m, const unsigned short *list, gr_numbers n,
                                                 float *sums)
{
    add_voxels<N, mode>(p, tile, view, in, m, list, n.full, sums);
    add_voxels<N - 1, mode>(p, tile, view, in, m, list + n.full, n.small, sums);
}

// What a warp has in shared memory beside the sums.
typedef struct workspace {
    gr_tile tile;
    unsigned short *list;
} workspace;

static __device__ workspace workspace_of(const bricks &n, float *memory, bool has_ctf)
{
    const int warp = (int)threadIdx.x / 32, floats = has_ctf ? 3 : 2;
    workspace own;
    own.tile.pixel = (float2 *)memory + warp * n.tile_pixels;
    own.tile.c = memory + (2 * WARPS + warp) * n.tile_pixels;
    own.list = (unsigned short *)(memory + floats * WARPS * n.tile_pixels) + warp * n.list_voxels;
    return own;
}

template <int N, bool has_ctf>
static __device__ __forceinline__ void insert_sample(const gr_prism &p, workspace own, const gr_lists &lists, int at,
                                                     const gr_input &in, float full, float *sums)
{
    int image;
    const gr_view view = gr_entry(lists, at, &image);
    const float m = view.height.reach; // where the lists keep it
    gr_frame_tile(own.tile, view, p.u0, p.v0, N);
    const bool in_circle = gr_tile_in_circle(own.tile, in.k);
    __syncwarp(); // tile and list before have been read, and the sums written
    const gr_numbers n = gr_list_voxels_of(p, view, full, own.list);
    if (has_ctf)
        gr_fill_tile<true, false>(own.tile, in, image, m);
    else if (in_circle)
        gr_fill_tile<false, true>(own.tile, in, image, m);
    else
        gr_fill_tile<false, false>(own.tile, in, image, m);
    __syncwarp();
    if (has_ctf)
        add_lists<N, WITH_CTF>(p, own.tile, view, in, m, own.list, n, sums);
    else if (in_circle)
        add_lists<N, INSIDE>(p, own.tile, view, in, m, own.list, n, sums);
    else
        add_lists<N, AT_EDGE>(p, own.tile, view, in, m, own.list, n, sums);
}

// Samples first .. past - 1 of the lists.
template <int N, bool has_ctf>
static __device__ void pass(const gr_prism &p, const workspace &own, const gr_lists &lists, int first, int past,
                            const gr_input &in, float *sums)
{
    const int lane = (int)threadIdx.x % 32;
    // The height below which the small window does not hold the disc, as a fraction of b; -1 where it always does.
    const float held = ((N - 1) / 2.0f - RANGE_MARGIN) * in.per_b, full = held < 1 ? sqrtf(1.0f - held * held) : -1.0f;
    if (p.columns_u <= 0 || p.columns_v <= 0)
        return;
    for (int at = first; at < past; at += 32) {
        const bool hit = at + lane < past && !gr_misses(p, lists.foot[at + lane]);
        for (unsigned hits = __ballot_sync(~0u, hit); hits; hits &= hits - 1)
            insert_sample<N, has_ctf>(p, own, lists, at + __ffs((int)hits) - 1, in, full, sums);
    }
}

// The nearest voxel of a brick is farther from the origin than any pixel reaches.
static __device__ bool is_beyond(const int low[3], const gr_input &in)
{
    float nearest = 0;
    for (int i = 0; i < AXES; i++) {
        const float d = fmaxf(fmaxf((float)low[i], -(float)(low[i] + BRICK - 1)), 0);
        nearest += d * d;
    }
    const float most = (float)in.k + in.b + TILE_MARGIN;
    return nearest > most * most;
}

static __device__ void store(const int low[3], const gr_input &in, const float *sums, bool empty, volume to)
{
    for (int i = (int)threadIdx.x; i < BRICK_VOXELS; i += WARPS * 32) {
        const int x = i % BRICK, y = i / BRICK % BRICK, z = i / (BRICK * BRICK);
        if (low[X_AXIS] + x > in.k || low[Y_AXIS] + y > in.k || low[Z_AXIS] + z > in.k)
            continue;
        const gr_place_in_brick place = {i, gr_along(Z_AXIS, z).turn};
        const float *from = sums + gr_element(place);
        const int64_t e = gr_voxel(in.k, low[X_AXIS] + x, low[Y_AXIS] + y, low[Z_AXIS] + z);
        to.g[2 * e] = empty ? 0 : from[0];
        to.g[2 * e + 1] = empty ? 0 : from[BRICK_VOXELS];
        to.w[e] = empty ? 0 : from[2 * BRICK_VOXELS];
    }
}

template <int N, bool has_ctf>
static __global__ void __launch_bounds__(WARPS * 32, has_ctf ? 2 : 3)
    insert(gr_input in, gr_lists lists, bricks n, volume to, int64_t part_floats)
{
    RG_SHARED_DYNAMIC(float, sums);
    const int b = (int)blockIdx.x, part = (int)blockIdx.y;
    const int low[AXES] = {b % n.x * BRICK, from_middle(b / n.x % n.y, n.y) * BRICK - in.k,
                           from_middle(b / (n.x * n.y), n.z) * BRICK - in.k};
    const bool empty = is_beyond(low, in);
    const workspace own = workspace_of(n, sums + 3 * BRICK_VOXELS, has_ctf);
    for (int i = (int)threadIdx.x; i < 3 * BRICK_VOXELS; i += WARPS * 32)
        sums[i] = 0;
    for (int axis = 0; axis < AXES && !empty; axis++) {
        const int64_t first = lists.first[axis], size = lists.first[axis + 1] - first;
        __syncthreads(); // warps give their columns away
        pass<N, has_ctf>(gr_prism_of(axis, low, in.k), own, lists, (int)(first + size * part / n.parts),
                         (int)(first + size * (part + 1) / n.parts), in, sums);
    }
    __syncthreads();
    volume mine = {to.g + part * part_floats, to.w + part * part_floats};
    store(low, in, sums, empty, mine);
}

static __global__ void add_parts(const float *parts, int n, int64_t voxels, float *g, float *w)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= 3 * voxels)
        return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += parts[3 * voxels * i + e];
    *(e < 2 * voxels ? g + e : w + e - 2 * voxels) = sum;
}

// ---- parameters ----------------------------------------------------------------------------------------------------------

enum { PARTS };
enum { BLOCKS_WANTED = 1200, PART_SAMPLES = 8, PARTS_MAX = 16 };
static const int64_t parts[] = {0, 1, 2, 4, 8, 16};
static const rg_param params[] = {
    {"parts", parts, RG_COUNT(parts), 0,
     "blocks that share the samples of a brick; 0: so many that about 1200 blocks have work"},
};

static bricks bricks_of(const rg_shape *s, const int64_t *param)
{
    const int k = (int)gr_k(s->n[GR_SIDE]), across = (2 * k + BRICK) / BRICK;
    const double b = (double)s->n[GR_RADIUS] / 10;
    bricks n = {k / BRICK + 1, across, across, (int)param[PARTS], gr_tile_pixels(b), gr_list_voxels(b)};
    if (n.parts)
        return n;
    const int64_t samples = s->n[GR_IMAGES] * s->n[GR_OPERATORS],
                  within = ((int64_t)n.x * n.y * n.z + 1) / 2; // of the sphere
    for (n.parts = 1; n.parts < PARTS_MAX && within * n.parts < BLOCKS_WANTED && samples >= 2 * n.parts * PART_SAMPLES;)
        n.parts *= 2;
    return n;
}

static size_t shared_bytes(const bricks &n, bool has_ctf)
{
    const size_t tile = (has_ctf ? 12 : 8) * (size_t)n.tile_pixels, list = sizeof(unsigned short) * (size_t)n.list_voxels;
    return 3 * sizeof(float) * BRICK_VOXELS + WARPS * (tile + list);
}

static const char *refuse(const rg_shape *s, const int64_t *) { return gr_samples_refuse(s); }

static size_t lists_bytes(const rg_shape *s)
{
    return (gr_lists_bytes(s->n[GR_IMAGES] * s->n[GR_OPERATORS]) + 255) / 256 * 256;
}

static size_t scratch(const rg_shape *s, const int64_t *param)
{
    const bricks n = bricks_of(s, param);
    return lists_bytes(s) + (n.parts > 1 ? 12 * (size_t)gr_voxels(gr_k(s->n[GR_SIDE])) * (size_t)n.parts : 0);
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    const int parts_now = bricks_of(s, param).parts;
    c->amount[RG_F32_MAD] = 12 * gr_pairs(s);
    c->amount[RG_SHARED_BYTES] = (s->n[GR_KIND] & GR_HAS_CTF ? 12 : 8) * gr_pairs(s);
    c->amount[RG_MEM_BYTES] =
        gr_input_bytes(s) + 12.0 * (double)gr_voxels(gr_k(s->n[GR_SIDE])) * (parts_now > 1 ? 2 * parts_now + 1 : 1);
}

template <int N, bool has_ctf>
static int launch(const rg_call *call, const gr_input &in, const gr_lists &lists, bricks n, volume to)
{
    const size_t bytes = shared_bytes(n, has_ctf);
    int error = (int)cudaFuncSetAttribute(insert<N, has_ctf>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    error =
        error ? error : (int)cudaFuncSetAttribute(insert<N, has_ctf>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error)
        return error;
    const dim3 grid((unsigned)(n.x * n.y * n.z), (unsigned)n.parts);
    RG_LAUNCH((insert<N, has_ctf>), grid, WARPS * 32, bytes, call->stream, in, lists, n, to, 3 * gr_voxels(in.k));
    return (int)cudaGetLastError();
}

template <int N> static int launch_window(const rg_call *call, const gr_input &in, const gr_lists &lists, bricks n, volume to)
{
    return in.ctf ? launch<N, true>(call, in, lists, n, to) : launch<N, false>(call, in, lists, n, to);
}

// A window of N pixels holds every disc of radius b when N > 2 b; its edges count.
static int launch_radius(const rg_call *call, const gr_input &in, const gr_lists &lists, bricks n, volume to)
{
    const int64_t tenths = call->shape->n[GR_RADIUS];
    return tenths < 10   ? launch_window<2>(call, in, lists, n, to)
           : tenths < 20 ? launch_window<4>(call, in, lists, n, to)
           : tenths < 25 ? launch_window<5>(call, in, lists, n, to)
                         : launch_window<7>(call, in, lists, n, to);
}

static int run(rg_call *call)
{
    const gr_input in = gr_input_of(call);
    const bricks n = bricks_of(call->shape, call->param);
    const gr_lists lists = gr_lists_of(call->scratch, in.samples);
    const int64_t voxels = gr_voxels(in.k);
    float *apart = (float *)((unsigned char *)call->scratch + lists_bytes(call->shape)), *g = (float *)call->arg[GR_G];
    float *w = (float *)call->arg[GR_W];
    const volume to = {n.parts > 1 ? apart : g, n.parts > 1 ? apart + 2 * voxels : w};
    int error = gr_sort_all(call, in, lists);
    error = error ? error : launch_radius(call, in, lists, n, to);
    if (error || n.parts == 1)
        return error;
    RG_LAUNCH(add_parts, gr_blocks(3 * voxels, 256), 256, 0, call->stream, (const float *)apart, n.parts, voxels, g, w);
    return (int)cudaGetLastError();
}

RG_VARIANT(gridding_owned) = {
    RG_ABI,
    sizeof(rg_variant),
    "gridding",
    "owned",
    "bricks of 16^3 voxels in shared memory, a lane a gr_column, no atomics, repeatable",
    RG_GATHER,
    RG_DEVICE,
    "sm_80",
    0,
    params,
    RG_COUNT(params),
    refuse,
    scratch,
    NULL,
    cost,
    NULL,
    run,
    NULL,
};
