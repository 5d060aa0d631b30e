// SPDX-License-Identifier: MIT
// gridding:owned: every voxel is owned by one block and by one lane at a time: no atomics, and the same bits in every run.
//
// The volume is cut into bricks of 16 x 16 x 16 voxels. A block keeps the sums of its brick in shared memory while all
// samples pass, and stores each voxel once. Samples come in three lists, by the axis nearest to their normal
// (owned_samples.cuh); for each list the 8 warps of a block divide the brick into prisms of 8 x 4 columns along that axis,
// each lane owning one column, and go their own way: 32 samples at a time are held against the prism, those whose plane +-b
// misses it are left out, and the others are inserted one after another (owned_brick.cuh). Barriers stand only between the
// lists. Bricks near the origin, which all samples cross, come first. Small volumes have too few bricks for a large GPU:
// there `parts` blocks share the samples of a brick, and a second kernel adds up their volumes, in order.
//
// Bound: fp32. A pair takes 12 operations (distance 1, weight 8, sums 3) and there are 28.7 pairs a stored pixel at b = 1.9:
// 3.3e13 operations/s give 9.7e10 pixels/s. Counting what is not pairs, 56 % of the pixels in a window lie outside of the
// disc and 28 % of the lanes have no voxel within b; each window needs some 45 further instructions, each sample of a prism
// 200. Prediction for an H200, not a measurement: 2.1e10 pixels/s if every cycle issued, 1.5e10 at 70 %. With few samples the
// 12 bytes of every voxel decide.
#include "owned_brick.cuh"

typedef struct volume {
    float *g, *w;
} volume;

typedef struct bricks {
    int x, y, z, parts;
} bricks;

// Order of n bricks of a side, the middle one first.
static __device__ __forceinline__ int from_middle(int i, int n) { return i % 2 ? n / 2 - (i + 1) / 2 : n / 2 + i / 2; }

// What stays the same for a warp while a list passes. Coordinates are those of the volume, -k .. k.
typedef struct prism {
    int axis, u0, v0, a0, last_a; // first voxel of the warp's columns; they end at last_a
    int u, v;                     // this lane's column
    bool exists;                  // it lies in the volume
    gr_place_in_brick foot, step; // where its first voxel is, and the next
} prism;

static __device__ prism prism_of(int axis, const int low[3], int k)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, u_axis = gr_u_axis(axis), v_axis = gr_v_axis(axis);
    const int u = warp % 2 * WARP_U + lane / 16 * 4 + lane % 4,
              v = warp / 2 * WARP_V + lane / 4 % 4; // half warps are squares
    const gr_place_in_brick along_u = gr_along(u_axis, u), along_v = gr_along(v_axis, v);
    prism p;
    p.axis = axis;
    p.u0 = low[u_axis] + warp % 2 * WARP_U;
    p.v0 = low[v_axis] + warp / 2 * WARP_V;
    p.a0 = low[axis];
    p.last_a = min(p.a0 + BRICK - 1, k);
    p.u = low[u_axis] + u;
    p.v = low[v_axis] + v;
    p.exists = p.u <= k && p.v <= k;
    p.foot.line = along_u.line + along_v.line;
    p.foot.turn = along_u.turn + along_v.turn;
    p.step = gr_along(axis, 1);
    return p;
}

static __device__ __forceinline__ bool misses(const prism &p, float4 foot)
{
    const float middle = foot.x * ((float)p.u0 + (WARP_U - 1) / 2.0f) + foot.y * ((float)p.v0 + (WARP_V - 1) / 2.0f);
    const float reach = fabsf(foot.x) * ((WARP_U - 1) / 2.0f) + fabsf(foot.y) * ((WARP_V - 1) / 2.0f) + foot.z + TILE_MARGIN;
    return middle + reach < (float)p.a0 || middle - reach > (float)p.last_a;
}

template <int N, int mode>
static __device__ void climb(const prism &p, const gr_tile &tile, const gr_view &view, const gr_input &in, float m,
                             float *sums)
{
    const gr_steps &x = view.x, &y = view.y, &h = view.height;
    const float u = (float)p.u, v = (float)p.v, middle = view.su * u + view.sv * v, half = view.half + RANGE_MARGIN;
    const int low = max((int)ceilf(middle - half), p.a0), high = min((int)floorf(middle + half), p.last_a);
    const int own = p.exists ? high - low + 1 : 0, all = __reduce_max_sync(~0u, own);
    const float per_b = in.per_b, kk = (float)(in.k * in.k);
    const float x_foot = x.u * u + x.v * v, y_foot = y.u * u + y.v * v, h_foot = h.u * u + h.v * v;
    const float most_x = (float)(tile.x0 + tile.width - N), most_y = (float)(tile.y0 + tile.height - N);
    for (int i = 0; i < all; i++) {
        const float a = (float)(low + i), height = (h_foot + h.a * a) * per_b;
        gr_foot_point f;
        f.x = x_foot + x.a * a;
        f.y = y_foot + y.a * a;
        f.rest = 1.0f - height * height;
        const float inner = fmaxf(f.rest, 1e-12f), r = in.b * 1.000002f * inner * rsqrtf(inner); // of the disc, slightly more
        f.first_x = fminf(ceilf(f.x - r), most_x);
        f.first_y = fminf(ceilf(f.y - r), most_y);
        const bool fits = f.x + r < f.first_x + (N - 1) && f.y + r < f.first_y + (N - 1);
        const bool small = __all_sync(~0u, fits || i >= own);
        if (i >= own)
            continue;
        const gr_terms t = small ? gr_window<N - 1, mode>(tile, f, per_b, kk) : gr_window<N, mode>(tile, f, per_b, kk);
        const int up = low + i - p.a0;
        const gr_place_in_brick place = {p.foot.line + up * p.step.line, p.foot.turn + up * p.step.turn};
        float *to = sums + gr_element(place);
        to[0] += t.re;
        to[BRICK_VOXELS] += t.im;
        to[2 * BRICK_VOXELS] += mode == WITH_CTF ? t.w : m * t.w;
    }
}

template <int N, bool has_ctf>
static __device__ __forceinline__ void insert_sample(const prism &p, gr_tile tile, const gr_lists &lists, int at,
                                                     const gr_input &in, float *sums)
{
    int image;
    const gr_view view = gr_entry(lists, at, &image);
    const float m = view.height.reach; // where the lists keep it
    gr_frame_tile(tile, view, p.u0, p.v0, N);
    const bool in_circle = gr_tile_in_circle(tile, in.k);
    __syncwarp(); // the tile before has been read
    if (has_ctf)
        gr_fill_tile<true, false>(tile, in, image, m);
    else if (in_circle)
        gr_fill_tile<false, true>(tile, in, image, m);
    else
        gr_fill_tile<false, false>(tile, in, image, m);
    __syncwarp();
    if (has_ctf)
        climb<N, WITH_CTF>(p, tile, view, in, m, sums);
    else if (in_circle)
        climb<N, INSIDE>(p, tile, view, in, m, sums);
    else
        climb<N, AT_EDGE>(p, tile, view, in, m, sums);
}

// Samples first .. past - 1 of the lists.
template <int N, bool has_ctf>
static __device__ void pass(const prism &p, const gr_tile &tile, const gr_lists &lists, int first, int past,
                            const gr_input &in, float *sums)
{
    const int lane = (int)threadIdx.x % 32;
    for (int at = first; at < past; at += 32) {
        const bool hit = at + lane < past && !misses(p, lists.foot[at + lane]);
        for (unsigned hits = __ballot_sync(~0u, hit); hits; hits &= hits - 1)
            insert_sample<N, has_ctf>(p, tile, lists, at + __ffs((int)hits) - 1, in, sums);
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
    const int x = (int)threadIdx.x % BRICK, y = (int)threadIdx.x / BRICK;
    for (int z = 0; z < BRICK && low[Z_AXIS] + z <= in.k; z++) {
        if (low[X_AXIS] + x > in.k || low[Y_AXIS] + y > in.k)
            break;
        const gr_place_in_brick place = {BRICK * (BRICK * z + y) + x, 4 * z};
        const float *from = sums + gr_element(place);
        const int64_t e = gr_voxel(in.k, low[X_AXIS] + x, low[Y_AXIS] + y, low[Z_AXIS] + z);
        to.g[2 * e] = empty ? 0 : from[0];
        to.g[2 * e + 1] = empty ? 0 : from[BRICK_VOXELS];
        to.w[e] = empty ? 0 : from[2 * BRICK_VOXELS];
    }
}

template <int N, bool has_ctf>
static __global__ void __launch_bounds__(WARPS * 32, has_ctf ? 2 : 3)
    insert(gr_input in, gr_lists lists, bricks n, int tile_pixels, volume to, int64_t part_floats)
{
    RG_SHARED_DYNAMIC(float, sums);
    const int b = (int)blockIdx.x, part = (int)blockIdx.y, warp = (int)threadIdx.x / 32;
    const int low[AXES] = {b % n.x * BRICK, from_middle(b / n.x % n.y, n.y) * BRICK - in.k,
                           from_middle(b / (n.x * n.y), n.z) * BRICK - in.k};
    const bool empty = is_beyond(low, in);
    gr_tile tile;
    tile.pixel = (float2 *)(sums + 3 * BRICK_VOXELS) + warp * tile_pixels;
    tile.c = sums + 3 * BRICK_VOXELS + 2 * WARPS * tile_pixels + warp * tile_pixels;
    for (int i = (int)threadIdx.x; i < 3 * BRICK_VOXELS; i += WARPS * 32)
        sums[i] = 0;
    for (int axis = 0; axis < AXES && !empty; axis++) {
        const int64_t first = lists.first[axis], size = lists.first[axis + 1] - first;
        __syncthreads(); // lanes give their columns away
        pass<N, has_ctf>(prism_of(axis, low, in.k), tile, lists, (int)(first + size * part / n.parts),
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
    bricks n = {k / BRICK + 1, across, across, (int)param[PARTS]};
    if (n.parts)
        return n;
    const int64_t samples = s->n[GR_IMAGES] * s->n[GR_OPERATORS],
                  within = ((int64_t)n.x * n.y * n.z + 1) / 2; // of the sphere
    for (n.parts = 1; n.parts < PARTS_MAX && within * n.parts < BLOCKS_WANTED && samples >= 2 * n.parts * PART_SAMPLES;)
        n.parts *= 2;
    return n;
}

static size_t shared_bytes(const gr_input &in)
{
    return 4 * (3 * BRICK_VOXELS + (in.ctf ? 3 : 2) * WARPS * (size_t)gr_tile_pixels(in.b));
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
    const size_t bytes = shared_bytes(in);
    int error = (int)cudaFuncSetAttribute(insert<N, has_ctf>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    error =
        error ? error : (int)cudaFuncSetAttribute(insert<N, has_ctf>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error)
        return error;
    const dim3 grid((unsigned)(n.x * n.y * n.z), (unsigned)n.parts);
    RG_LAUNCH((insert<N, has_ctf>), grid, WARPS * 32, bytes, call->stream, in, lists, n, gr_tile_pixels(in.b), to,
              3 * gr_voxels(in.k));
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
    "bricks of 16^3 voxels in shared memory, a lane a column, no atomics, repeatable",
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
