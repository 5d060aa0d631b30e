// SPDX-License-Identifier: MIT
// gridding:owned: every voxel is owned by one block at a time: no atomics on the volume, and the same bits in every run.
//
// The volume is cut into bricks of 16 x 16 x 16 voxels. A block keeps the sums of its brick in shared memory while the samples
// of its unit (owned_plan.cuh) pass, and stores each voxel once. It looks at 256 samples at a time, leaves out those whose
// plane +-b misses the brick, and inserts the others one after another: its threads copy the pixels that the brick can need
// and list the voxels within b of the image (owned_list.cuh), a thread a column; after a barrier warps take 32 voxels of a
// list at a time, a lane a voxel, and each adds the pixels about its foot (owned_brick.cuh).
//
// Bound: fp32. A pair takes 11 operations (distance 1, weight 7, sums 3) and there are 28.7 pairs a stored pixel at b = 1.9:
// 3.3e13 operations/s give 1.05e11 pixels/s. What is met first are issue slots, 1.05e12 instructions of a warp a second.
// Outcome on an H200 node with 16 Xeon cores with 13 instructions a window pixel, where 1.5e10 was predicted: 5.9e9 at side
// 257 with 52 images, 1.02e10 at 129 with 2000, 1.21e10 at 257 and 1.38e10 at 841 with 1000; 64 instructions a stored pixel
// (counted at 513 with 200 images), three in four slots used. 35 of them are windows, 12.6 pixels looked at for 7.6 in the
// disc; 16 list voxels and copy pixels, of which half are not needed, as a plane cuts half of a brick's columns on average; 7
// clear and store the brick, fewer with more images. Since then 12 instructions a window pixel (the machine code has 256 a
// voxel of 4 x 4 pixels, 192 of them for pixels), and units in a fixed order, small ones last, which a simulation of 396
// blocks finds 4 % faster at 257 and 10 % at 129. Predicted 1.3e10 at 257 with 1000 images; outcome 1.30e10, and 6.6e9 with 52
// images, 1.08e10 at 129 with 2000, 1.40e10 at 513 with 500, 1.24e10 at 841 with 300; 3.8e9 at 1025 with 52, where clearing and
// storing bricks is most of it and `gather` does 4.2e9. 2e10 would be 50 instructions a pixel in 19 of 20 slots: listing and
// copying, not weights, is where to save next.
#include "owned_brick.cuh"

enum { GROUP = 24 }; // hits whose data are made together

// What a block keeps beside what depends on b.
typedef struct state {
    gr_hit hit[GROUP];
    int sample[THREADS], in_warp[THREADS / 32];
    int number[2][3]; // voxels in the lists of this hit and of the next
    gr_unit unit;
} state;

typedef struct job {
    gr_input in;
    gr_views views;
    gr_bricks bricks;
    const gr_unit *units;
    gr_counters *count;
    gr_classes classes;
    gr_volume to;
    int tile_pixels, list_most, small_most;
} job;

static __device__ gr_memory memory_of(const job &j, float *memory)
{
    gr_memory own;
    own.sums = memory;
    own.column = (gr_column *)(memory + SLOT_FLOATS);
    own.tile.pixel = (float2 *)(own.column + THREADS);
    own.tile.c = (float *)(own.tile.pixel + j.tile_pixels);
    own.lists.voxel = (unsigned short *)(own.tile.c + (j.in.ctf ? j.tile_pixels : 0));
    own.lists.small = own.lists.voxel + j.list_most;
    own.lists.most = j.list_most;
    return own;
}

static __device__ __forceinline__ bool misses(float4 foot, const int low[AXES], int k)
{
    const int axis = __float_as_int(foot.w);
    const float half = (BRICK - 1) / 2.0f;
    const float u = (float)low[gr_u_axis(axis)] + half, v = (float)low[gr_v_axis(axis)] + half;
    const float middle = foot.x * u + foot.y * v, reach = (fabsf(foot.x) + fabsf(foot.y)) * half + foot.z + TILE_MARGIN;
    return middle + reach < (float)low[axis] || middle - reach > (float)min(low[axis] + BRICK - 1, k);
}

// The samples from `first` on, one a thread, that meet the brick: their numbers in order, and how many.
static __device__ int find_hits(const job &j, const int low[AXES], int first, int past, state &s)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, mine = first + (int)threadIdx.x;
    const bool hit = mine < past && !misses(j.views.foot[mine], low, j.in.k);
    const unsigned hits = __ballot_sync(~0u, hit);
    if (lane == 0)
        s.in_warp[warp] = __popc(hits);
    __syncthreads();
    int before = __popc(hits & ((1u << lane) - 1u)), all = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? s.in_warp[w] : 0;
        all += s.in_warp[w];
    }
    if (hit)
        s.sample[before] = mine;
    __syncthreads();
    return all;
}

// Inserts a hit whose first pixels are in `load`, and fetches those of the hit after it meanwhile; whether `number` was used.
template <int N, bool has_ctf>
static __device__ __forceinline__ int insert_hit(const job &j, const gr_memory &own, const gr_hit &hit, const gr_hit *after,
                                                  gr_load &load, int number[3], int next[3])
{
    if (hit.tile.z == 0) {
        if (after)
            gr_fetch<has_ctf>(*after, j.in, 0, 0, load);
        return 0;
    }
    gr_list_voxels(hit, j.classes, j.bricks.reach, own.lists, own.column, number);
    gr_keep_tile<has_ctf>(hit, j.in, load, own.tile);
    if (threadIdx.x < 3)
        next[threadIdx.x] = 0;
    __syncthreads();
    if (after)
        gr_fetch<has_ctf>(*after, j.in, 0, 0, load);
    if (has_ctf)
        gr_add_lists<N, WITH_CTF>(hit, own, j.in, number);
    else if (hit.in_circle)
        gr_add_lists<N, INSIDE>(hit, own, j.in, number);
    else
        gr_add_lists<N, AT_EDGE>(hit, own, j.in, number);
    __syncthreads();
    return 1;
}

// Samples first .. past - 1.
template <int N, bool has_ctf>
static __device__ void pass(const job &j, const gr_memory &own, const int low[AXES], int first, int past, state &s)
{
    int turn = 0;
    if (threadIdx.x < 3)
        s.number[0][threadIdx.x] = 0;
    for (; first < past; first += THREADS) {
        const int hits = find_hits(j, low, first, past, s);
        for (int group = 0; group < hits; group += GROUP) {
            const int n = min(GROUP, hits - group);
            if ((int)threadIdx.x < n)
                s.hit[threadIdx.x] = gr_hit_of(j.views, j.in, s.sample[group + (int)threadIdx.x], low, j.classes, N);
            __syncthreads();
            gr_load load;
            gr_fetch<has_ctf>(s.hit[0], j.in, 0, 0, load);
            for (int i = 0; i < n; i++)
                turn ^= insert_hit<N, has_ctf>(j, own, s.hit[i], i + 1 < n ? &s.hit[i + 1] : NULL, load, s.number[turn],
                                               s.number[turn ^ 1]);
        }
    }
}

static __device__ void store(const job &j, const gr_unit &unit, const int low[AXES], const float *sums, bool empty)
{
    if (unit.parts > 1) {
        float *to = gr_slots_of(j.units, j.count->units) + (int64_t)unit.slot * SLOT_FLOATS;
        for (int i = (int)threadIdx.x; i < SLOT_FLOATS; i += THREADS)
            to[i] = sums[i];
        return;
    }
    // A thread goes along z: its voxels are a plane of the volume apart.
    const int x = low[X_AXIS] + (int)threadIdx.x % BRICK, y = low[Y_AXIS] + (int)threadIdx.x / BRICK, k = j.in.k;
    if (x > k || y > k)
        return;
    int64_t e = gr_voxel(k, x, y, low[Z_AXIS]);
    const int64_t plane = (int64_t)(2 * k + 1) * (k + 1);
    const int past = min(BRICK, k + 1 - low[Z_AXIS]);
    for (int z = 0; z < past; z++, e += plane) {
        const float *from = sums + gr_element((int)threadIdx.x + z * BRICK * BRICK);
        j.to.g[2 * e] = empty ? 0 : from[0];
        j.to.g[2 * e + 1] = empty ? 0 : from[BRICK_VOXELS];
        j.to.w[e] = empty ? 0 : from[2 * BRICK_VOXELS];
    }
}

template <int N, bool has_ctf> static __global__ void __launch_bounds__(THREADS, N > 5 || has_ctf ? 2 : 3) insert(job j)
{
    __shared__ state s;
    RG_SHARED_DYNAMIC(float, memory);
    const gr_memory own = memory_of(j, memory);
    for (;;) {
        if (threadIdx.x == 0) {
            const int next = atomicAdd(&j.count->next, 1);
            const gr_unit none = {-1, 0, 0, 0};
            s.unit = next < j.count->units ? j.units[next] : none;
        }
        __syncthreads();
        const gr_unit unit = s.unit;
        if (unit.brick < 0)
            return;
        int low[AXES];
        gr_brick_low(j.bricks, unit.brick, low);
        const bool empty = gr_is_beyond(j.bricks, low);
        if (!empty) {
            for (int i = (int)threadIdx.x; i < SLOT_FLOATS; i += THREADS)
                own.sums[i] = 0;
            pass<N, has_ctf>(j, own, low, (int)((int64_t)j.in.samples * unit.part / unit.parts),
                             (int)((int64_t)j.in.samples * (unit.part + 1) / unit.parts), s);
            __syncthreads();
        }
        store(j, unit, low, own.sums, empty);
        __syncthreads();
    }
}

// ---- parameters ----------------------------------------------------------------------------------------------------------

enum { HITS };
enum { BLOCKS = 1024 }; // at least as many as run together on any GPU of sm_80 or later
static const int64_t hits[] = {0, 8, 16, 32, 64, 128, 256, 512};
static const rg_param params[] = {
    {"hits", hits, RG_COUNT(hits), 0, "samples that a block inserts into a brick before others share it; 0: by the size"},
};

// A window of N pixels holds every disc of radius b when N > 2 b; its edges count.
static int window_of(const rg_shape *s)
{
    const int64_t tenths = s->n[GR_RADIUS];
    return tenths < 10 ? 2 : tenths < 20 ? 4 : tenths < 25 ? 5 : 7;
}

static size_t shared_bytes(const job &j)
{
    return sizeof(float) * SLOT_FLOATS + sizeof(gr_column) * THREADS + (j.in.ctf ? 12 : 8) * (size_t)j.tile_pixels +
           sizeof(unsigned short) * (size_t)(j.list_most + j.small_most);
}

static const char *refuse(const rg_shape *s, const int64_t *) { return gr_samples_refuse(s); }

static size_t lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

// In scratch: counters, views of the samples, units, slots.
typedef struct places {
    gr_counters *count;
    gr_views views;
    gr_unit *units;
} places;

static places places_of(const rg_call *call)
{
    const int64_t samples = call->shape->n[GR_IMAGES] * call->shape->n[GR_OPERATORS];
    unsigned char *views = (unsigned char *)call->scratch + lines(sizeof(gr_counters));
    const places p = {(gr_counters *)call->scratch, gr_views_of(views, samples),
                      (gr_unit *)(views + lines(gr_views_bytes(samples)))};
    return p;
}

static size_t scratch(const rg_shape *s, const int64_t *param)
{
    int64_t units, slots;
    gr_count_units(gr_bricks_of(s, param[HITS]), &units, &slots);
    return lines(sizeof(gr_counters)) + lines(gr_views_bytes(s->n[GR_IMAGES] * s->n[GR_OPERATORS])) +
           sizeof(gr_unit) * (size_t)(units + 15) + sizeof(float) * SLOT_FLOATS * (size_t)slots;
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *) { return gr_tolerance(s, false); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    int64_t units, slots;
    gr_count_units(gr_bricks_of(s, param[HITS]), &units, &slots);
    c->amount[RG_F32_MAD] = (4 + GR_QUARTIC_OPERATIONS) * gr_pairs(s);
    c->amount[RG_SHARED_BYTES] = (s->n[GR_KIND] & GR_HAS_CTF ? 12 : 8) * gr_pairs(s);
    c->amount[RG_MEM_BYTES] = gr_input_bytes(s) + 12.0 * (double)gr_voxels(gr_k(s->n[GR_SIDE])) +
                              2.0 * sizeof(float) * SLOT_FLOATS * (double)slots;
}

static int plan(rg_call *call)
{
    const gr_bricks n = gr_bricks_of(call->shape, call->param[HITS]);
    const places p = places_of(call);
    RG_LAUNCH(gr_plan, 1, PLANNERS, 0, call->stream, n, gr_bricks_all(n), p.units, p.count);
    return (int)cudaGetLastError();
}

template <int N, bool has_ctf> static int launch(const rg_call *call, job j)
{
    const double b = (double)call->shape->n[GR_RADIUS] / 10;
    j.classes = gr_classes_of(N, b);
    j.tile_pixels = gr_tile_pixels(b, N);
    j.list_most = gr_list_most(b);
    j.small_most = gr_small_most(b, N);
    const size_t bytes = shared_bytes(j);
    const auto kernel = insert<N, has_ctf>;
    int error = (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    error = error ? error : (int)cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error)
        return error;
    RG_LAUNCH((insert<N, has_ctf>), BLOCKS, THREADS, bytes, call->stream, j);
    return (int)cudaGetLastError();
}

template <int N> static int launch_window(const rg_call *call, const job &j)
{
    return j.in.ctf ? launch<N, true>(call, j) : launch<N, false>(call, j);
}

static int run(rg_call *call)
{
    job j = {};
    j.in = gr_input_of(call);
    j.bricks = gr_bricks_of(call->shape, call->param[HITS]);
    j.to.g = (float *)call->arg[GR_G];
    j.to.w = (float *)call->arg[GR_W];
    const places p = places_of(call);
    j.count = p.count;
    j.views = p.views;
    j.units = p.units;
    int error = (int)cudaMemsetAsync(&j.count->next, 0, sizeof(int), (cudaStream_t)call->stream);
    if (error)
        return error;
    RG_LAUNCH(gr_make_views, gr_blocks(j.in.samples, 256), 256, 0, call->stream, j.in, j.views);
    const int N = window_of(call->shape);
    error = N == 2 ? launch_window<2>(call, j) : N == 4 ? launch_window<4>(call, j) : N == 5 ? launch_window<5>(call, j)
                                                                                          : launch_window<7>(call, j);
    if (error || j.in.samples <= gr_hits_last(j.bricks)) // then no brick is shared
        return error;
    RG_LAUNCH(gr_add_parts, BLOCKS, 256, 0, call->stream, j.bricks, j.units, j.count, j.to);
    return (int)cudaGetLastError();
}

RG_VARIANT(gridding_owned) = {
    RG_ABI,
    sizeof(rg_variant),
    "gridding",
    "owned",
    "bricks of 16^3 voxels in shared memory, their voxels listed and dealt to lanes, no atomics, repeatable",
    RG_GATHER,
    RG_DEVICE,
    "sm_80",
    0,
    params,
    RG_COUNT(params),
    refuse,
    scratch,
    tolerance,
    cost,
    plan,
    run,
    NULL,
};
