// SPDX-License-Identifier: MIT
// gridding:owned: one block at a time owns a voxel: no atomics on the volume, and the same bits in every run.
//
// The volume is cut into bricks of 16 x 16 x 16 voxels. A block keeps the sums of its brick in shared memory while the samples
// of its unit (owned_plan.cuh) pass, and stores each voxel once. It tests 256 samples at a time, skips those whose plane +-b
// misses the brick, and inserts the others one after another: its threads copy the pixels that the brick can need and list the
// voxels within b of the image (owned_list.cuh), one thread a column. After a barrier each warp processes 32 voxels of a list
// at a time, one lane a voxel, and each lane adds the pixels about its voxel's foot (owned_brick.cuh).
//
// Bound: fp32. A pair takes 8 operations (distance 1, weight 4, sums 3) and there are 28.7 pairs a stored pixel at b = 1.9. In
// practice issue slots limit it: windows use more than half of them, with 13.3 pixels visited for 7.6 in the disc; then lists,
// where half of the columns are empty, as a plane cuts half of a brick's on average; then copying pixels, clearing and storing,
// and the two barriers of each hit. Shared memory comes close: every pixel of a window is a load of 8 bytes. With few images
// storing is the bound (owned_store.cuh). Measured: data/machines/h100-16xeon.tsv.
#include "owned_store.cuh"

enum { GROUP = 24 };   // hits whose data are made together
enum { HITS_FEW = 4 }; // of a unit that spends more time on storing than on inserting

// What a block keeps besides the parts that depend on b.
typedef struct state {
    gr_hit hit[GROUP];
    int sample[THREADS], in_warp[THREADS / 32];
    int number[2][2]; // voxels in the lists of this hit and of the next
    gr_unit unit;
    int next; // its number
} state;

typedef struct job {
    gr_input in;
    gr_views views;
    gr_bricks bricks;
    const gr_unit *units;
    gr_counters *count;
    gr_classes classes;
    gr_volume to;
    int tile_pixels, list_most;
} job;

static __device__ gr_memory memory_of(const job &j, float *memory) {
    gr_memory own;
    own.sums = memory;
    own.column = (gr_column *)(memory + SLOT_FLOATS);
    own.tile.pixel = (float2 *)(own.column + THREADS);
    own.tile.c = (float *)(own.tile.pixel + j.tile_pixels);
    own.lists.voxel = (unsigned short *)(own.tile.c + (j.in.ctf ? j.tile_pixels : 0));
    own.lists.most = j.list_most;
    return own;
}

static __device__ __forceinline__ bool misses(float4 foot, const int low[AXES], int k) {
    const int axis = __float_as_int(foot.w);
    const float half = (BRICK - 1) / 2.0f;
    const float u = (float)gr_along(low, gr_u_axis(axis)) + half, v = (float)gr_along(low, gr_v_axis(axis)) + half;
    const int a = gr_along(low, axis);
    const float middle = foot.x * u + foot.y * v, reach = (fabsf(foot.x) + fabsf(foot.y)) * half + foot.z + TILE_MARGIN;
    return middle + reach < (float)a || middle - reach > (float)min(a + BRICK - 1, k);
}

// Lists the samples from `first` on, one a thread, that meet the brick, in order, and counts them.
static __device__ int find_hits(const job &j, const int low[AXES], int first, int past, state &s) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, mine = first + (int)threadIdx.x;
    const bool hit = mine < past && !misses(j.views.foot[mine], low, j.in.k);
    const unsigned hits = __ballot_sync(~0u, hit);
    if (lane == 0) s.in_warp[warp] = __popc(hits);
    __syncthreads();
    int before = __popc(hits & ((1u << lane) - 1u)), all = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? s.in_warp[w] : 0;
        all += s.in_warp[w];
    }
    if (hit) s.sample[before] = mine;
    __syncthreads();
    return all;
}

// Inserts a hit whose first pixels are in `load`, and meanwhile fetches those of the next hit, if any.
template <int N, bool has_ctf>
static __device__ __forceinline__ void insert_hit(
    const job &j, const gr_memory &own, const gr_hit *hit, bool more, gr_load &load, int number[2], int next[2]) {
    gr_list_voxels(*hit, j.classes, j.bricks.reach, own.lists, own.column, number);
    gr_keep_tile<N, has_ctf>(*hit, j.in, load, own.tile);
    if (threadIdx.x < 2) next[threadIdx.x] = 0;
    __syncthreads();
    if (more) gr_fetch<has_ctf>(hit[1], j.in, 0, 0, load);
    if (has_ctf)
        gr_add_lists<N, WITH_CTF>(*hit, own, j.in, number);
    else if (hit->in_circle)
        gr_add_lists<N, INSIDE>(*hit, own, j.in, number);
    else
        gr_add_lists<N, AT_EDGE>(*hit, own, j.in, number);
    __syncthreads();
}

// Inserts samples first .. past - 1; returns how many meet the brick.
template <int N, bool has_ctf>
static __device__ int pass(const job &j, const gr_memory &own, const int low[AXES], int first, int past, state &s) {
    int turn = 0, all = 0;
    gr_load load = {}; // because the first batch is stored whole
    if (threadIdx.x < 2) s.number[0][threadIdx.x] = 0;
    for (; first < past; first += THREADS) {
        const int hits = find_hits(j, low, first, past, s);
        all += hits;
        for (int group = 0; group < hits; group += GROUP) {
            const int n = min(GROUP, hits - group);
            if ((int)threadIdx.x < n)
                s.hit[threadIdx.x] = gr_hit_of(j.views, j.in, s.sample[group + (int)threadIdx.x], low, gr_pitch(N));
            __syncthreads();
            gr_fetch<has_ctf>(s.hit[0], j.in, 0, 0, load);
            for (int i = 0; i < n; i++, turn ^= 1)
                insert_hit<N, has_ctf>(j, own, s.hit + i, i + 1 < n, load, s.number[turn], s.number[turn ^ 1]);
        }
    }
    return all;
}

// Stores the sums of a unit with this many hits, and clears them for the next.
static __device__ void store(const job &j, const gr_unit &unit, const int low[AXES], int hits, float *sums) {
    if (unit.parts > 1) {
        gr_store_slot(gr_slots_of(j.units, j.count->units) + (int64_t)unit.slot * SLOT_FLOATS, sums);
        return;
    }
    if (hits <= HITS_FEW) gr_prefetch_ends(j.to, j.in.k, low);
    gr_store(j.to, j.in.k, low, sums);
}

template <int N, bool has_ctf> static __global__ void __launch_bounds__(THREADS, N > 5 ? 2 : 3) insert(job j) {
    __shared__ state s;
    RG_SHARED_DYNAMIC(float, memory);
    const gr_memory own = memory_of(j, memory);
    const int units = j.count->units;
    rg_take_turn();
    int next = threadIdx.x == 0 ? atomicAdd(&j.count->next, 1) : 0;
    for (bool first = true;; first = false) {
        if (threadIdx.x == 0) {
            s.next = next;
            if (next < units) s.unit = j.units[next];
        }
        __syncthreads();
        if (s.next >= units) return;
        for (int i = (int)threadIdx.x; first && i < SLOT_FLOATS; i += THREADS) own.sums[i] = 0;
        const gr_unit unit = s.unit;
        int low[AXES];
        gr_brick_low(j.bricks, unit.brick, low);
        gr_clear_beyond(j.to, j.bricks, s.next, units);
        const int hits = pass<N, has_ctf>(j, own, low, (int)((int64_t)j.in.samples * unit.part / unit.parts),
            (int)((int64_t)j.in.samples * (unit.part + 1) / unit.parts), s);
        __syncthreads();
        if (threadIdx.x == 0) next = atomicAdd(&j.count->next, 1);
        store(j, unit, low, hits, own.sums);
    }
}

// ---- parameters ----------------------------------------------------------------------------------------------------------

enum { HITS };
enum { BLOCKS = 1024 }; // no fewer than run together on any GPU of sm_80 or later
static const int64_t hits[] = {0, 8, 16, 32, 64, 128, 256, 512};
static const rg_param params[] = {
    {"hits", hits, RG_COUNT(hits), 0, "samples that a block inserts into a brick before others share it; 0: by the size"},
};

// A window of N pixels holds every disc of radius b when N >= 2 b: weights are 0 at its edge.
static int window_of(const rg_shape *s) {
    const int64_t tenths = s->n[GR_RADIUS];
    return tenths <= 10 ? 2 : tenths <= 20 ? 4 : tenths <= 25 ? 5 : 6;
}

static size_t shared_bytes(const job &j) {
    return sizeof(float) * SLOT_FLOATS + sizeof(gr_column) * THREADS + (j.in.ctf ? 12 : 8) * (size_t)j.tile_pixels +
        sizeof(unsigned short) * (size_t)j.list_most;
}

static const char *refuse(const rg_shape *s, const int64_t *) { return gr_samples_refuse(s); }

static size_t lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Layout of scratch: counters, views of the samples, units, slots.
typedef struct places {
    gr_counters *count;
    gr_views views;
    gr_unit *units;
} places;

static places places_of(const rg_call *call) {
    const int64_t samples = call->shape->n[GR_IMAGES] * call->shape->n[GR_OPERATORS];
    unsigned char *views = (unsigned char *)call->scratch + lines(sizeof(gr_counters));
    const places p = {
        (gr_counters *)call->scratch, gr_views_of(views, samples), (gr_unit *)(views + lines(gr_views_bytes(samples)))};
    return p;
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    int64_t units, slots;
    gr_count_units(gr_bricks_of(s, param[HITS]), &units, &slots);
    return lines(sizeof(gr_counters)) + lines(gr_views_bytes(s->n[GR_IMAGES] * s->n[GR_OPERATORS])) +
        sizeof(gr_unit) * (size_t)(units + 15) + sizeof(float) * SLOT_FLOATS * (size_t)slots;
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *) { return gr_squares_bound(s); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    int64_t units, slots;
    gr_count_units(gr_bricks_of(s, param[HITS]), &units, &slots);
    c->amount[RG_F32_MAD] = (4 + GR_SQUARES_OPERATIONS) * gr_pairs(s);
    c->amount[RG_SHARED_BYTES] = (s->n[GR_KIND] & GR_HAS_CTF ? 12 : 8) * gr_pairs(s);
    c->amount[RG_MEM_BYTES] =
        gr_input_bytes(s) + 12.0 * (double)gr_voxels(gr_k(s->n[GR_SIDE])) + 2.0 * sizeof(float) * SLOT_FLOATS * (double)slots;
}

static int plan(rg_call *call) {
    const gr_bricks n = gr_bricks_of(call->shape, call->param[HITS]);
    const places p = places_of(call);
    RG_LAUNCH(gr_plan, 1, PLANNERS, 0, call->stream, n, gr_bricks_all(n), p.units, p.count);
    const int error = (int)cudaGetLastError();
    return error ? error : rg_find_early(call, gr_plan);
}

template <int N, bool has_ctf> static int launch(const rg_call *call, job j) {
    const double b = (double)call->shape->n[GR_RADIUS] / 10;
    j.classes = gr_classes_of(N, b);
    j.tile_pixels = gr_tile_pixels(N);
    j.list_most = gr_list_most(b);
    const size_t bytes = shared_bytes(j);
    RG_LAUNCH(gr_make_views, gr_blocks(j.in.samples, 256), 256, 0, call->stream, j.in, j.classes, N, j.views, j.count);
    const auto kernel = insert<N, has_ctf>;
    int error = (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    error = error ? error : (int)cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error) return error;
    RG_LAUNCH_EARLY(call->state, (insert<N, has_ctf>), BLOCKS, THREADS, bytes, call->stream, j);
    return (int)cudaGetLastError();
}

template <int N> static int launch_window(const rg_call *call, const job &j) {
    return j.in.ctf ? launch<N, true>(call, j) : launch<N, false>(call, j);
}

static int run(rg_call *call) {
    job j = {};
    j.in = gr_input_of(call);
    j.in.per_b *= GR_SQUARES_ROOT; // of distances and heights: t is TOP less their squares
    j.bricks = gr_bricks_of(call->shape, call->param[HITS]);
    j.to.g = (float *)call->arg[GR_G];
    j.to.w = (float *)call->arg[GR_W];
    const places p = places_of(call);
    j.count = p.count;
    j.views = p.views;
    j.units = p.units;
    const int N = window_of(call->shape);
    const int error = N == 2 ? launch_window<2>(call, j)
        : N == 4             ? launch_window<4>(call, j)
        : N == 5             ? launch_window<5>(call, j)
                             : launch_window<6>(call, j);
    if (error || j.in.samples <= gr_hits_last(j.bricks)) // then no brick is shared
        return error;
    RG_LAUNCH_EARLY(call->state, gr_add_parts, BLOCKS, THREADS, 0, call->stream, j.bricks, j.units, j.count, j.to);
    return (int)cudaGetLastError();
}

RG_VARIANT(gridding_owned) = {
    RG_VARIANT_OF("gridding", "owned", RG_GATHER, RG_DEVICE,
        "bricks of 16^3 voxels in shared memory, their voxels listed and dealt to lanes, no atomics, repeatable"),
    .needs = "sm_80",
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = plan,
    .run = run,
};
