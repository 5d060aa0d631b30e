// SPDX-License-Identifier: MIT
// gridding:gather: Algorithm 2 of Strelak et al. 2019 with every parameter of their Table 2, GRID_DIM_Z to 512 and a
// polynomial for the weights (PRECOMP_INT 2) as additions.
//
// The samples are inserted along the axis nearest to their normal (view.cuh). The other two axes span the iteration plane, with
// one thread for each column of voxels. The thread walks over the voxels within b of the image, sums the pixels within b of
// each, and adds the sums to G and W: by two atomics (three before sm_90), or, where ATOMICS is 0, plainly, with a launch for
// each sample. Differences from the paper: half of the volume is stored, so that the plane of columns along y and z has only
// x >= 0, and columns along x begin at 0; pixels are searched in 4 x 4 about the voxel's foot, for b >= 2 or with SHARED_IMG in
// the square around the disc in which the ball of radius b cuts the image, where the paper uses a square of side 2b; SHARED_IMG
// loads the rectangle of the columns' discs, which always fits in eq. 5, instead of that of a box; the grid's first dimension
// is GRID_DIM_Z, so that blocks of all samples reach the same columns at nearly the same time and share their sums in L2.
//
// The published optima (Table 3), in the order of the parameters; presets.tsv has them as text for --params:
//     P100 20,1,1,1,1,0,4   GTX 1070 16,1,1,1,1,0,2   GTX 750 8,1,8,1,0,0,4   GTX 680 16,1,1,0,0,0,8
//
// Bound: fp32, 8 operations for each of 28.7 pairs a stored pixel (owned.cu). In practice issue slots limit it: less than half
// of the pixels of a 4 x 4 window are within b, and each is loaded from L1. One atomic of 8 bytes adds the real and the
// imaginary part. Measured: data/machines/h100-16xeon.tsv.
#include "view.cuh"
#include <algorithm>

typedef struct volume {
    float *g, *w;
    bool atomics, aligned; // aligned: g is, to 8 bytes
} volume;

// Pixels first .. last, in the image or as terms in shared memory, which are 0 beyond the circle.
typedef struct patch {
    int first_x, last_x, first_y, last_y;
    gr_terms *terms;
} patch;

// An image and its CTF from pixel (0, 0) on, and whether one load can read a pixel.
typedef struct pixels {
    const float *image, *ctf;
    bool aligned;
} pixels;

static __device__ __forceinline__ pixels pixels_of(const gr_input &in, const gr_sample &s) {
    const int64_t origin = gr_pixel(in.k, 0, 0);
    pixels p = {s.image + 2 * origin, s.ctf + (s.ctf ? origin : 0), (uintptr_t)in.image % sizeof(float2) == 0};
    return p;
}

// The terms of a stored pixel, without m.
template <bool has_ctf> static __device__ __forceinline__ gr_terms stored_terms(const pixels &p, int element, bool aligned) {
    const float2 f = gr_pixel_at(p.image, element, aligned);
    const float c = has_ctf ? p.ctf[element] : 1.0f;
    const gr_terms t = {c * f.x, c * f.y, c * c};
    return t;
}

// The terms of pixel (x, y) of the disc, without m. Its element relative to (0, 0) is y (k + 1) + x; that of its mate is the
// negative.
template <bool has_ctf> static __device__ __forceinline__ gr_terms terms_at(const pixels &p, int k, int x, int y) {
    const int element = y * (k + 1) + x;
    gr_terms t = stored_terms<has_ctf>(p, x < 0 ? -element : element, p.aligned);
    t.im = x < 0 ? -t.im : t.im;
    return t;
}

template <bool has_ctf> static __device__ void fill(const patch &p, const gr_input &in, const pixels &from) {
    const int width = p.last_x - p.first_x + 1, n = width * (p.last_y - p.first_y + 1);
    const int threads = (int)(blockDim.x * blockDim.y);
    __syncthreads(); // the previous sample has been read
    for (int i = (int)(threadIdx.y * blockDim.x + threadIdx.x); i < n; i += threads) {
        const int x = p.first_x + i % width, y = p.first_y + i / width;
        gr_terms none = {0, 0, 0};
        p.terms[i] = x * x + y * y <= in.k * in.k ? terms_at<has_ctf>(from, in.k, x, y) : none;
    }
    __syncthreads();
}

// How the pixels of a 4 x 4 window about a foot (x, y), or about its opposite where x < 0, are stored: all within the circle;
// some beyond it; or, near x = 0, some as their mates. ANYWHERE handles every window and alignment.
enum { INSIDE, AT_EDGE, ANYWHERE };
static __device__ __forceinline__ int place_of(const gr_input &in, bool aligned, float x, float y) {
    const float safe = (float)in.k - 2.83f; // a corner is at most 2 sqrt(2) from the foot
    return !aligned || fabsf(x) < 1 ? ANYWHERE : safe > 0 && x * x + y * y <= safe * safe ? INSIDE : AT_EDGE;
}

// The sum over such a window; rest: q of the weight at the foot. Reads no pixel beyond the circle.
template <int way, bool has_ctf, int place>
static __device__ __forceinline__ gr_terms small_window(
    const gr_input &in, const float *table, const pixels &from, float x, float y, float rest) {
    const float sign = place != ANYWHERE && x < 0 ? -1.0f : 1.0f, first_x = floorf(sign * x) - 1,
                first_y = floorf(sign * y) - 1;
    const float kk = (float)(in.k * in.k);
    const int at = (int)first_y * (in.k + 1) + (int)first_x;
    float across[4], column[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float gx = first_x + (float)i, dx = gx - sign * x;
        across[i] = dx * dx * in.per_bb;
        column[i] = gx * gx;
    }
    gr_terms sum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float gy = first_y + (float)j, dy = gy - sign * y, row = rest - dy * dy * in.per_bb, room = kk - gy * gy;
        const int line = at + j * (in.k + 1);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            gr_terms t = {0, 0, 0};
            if (place == INSIDE || column[i] <= room)
                t = place == ANYWHERE ? terms_at<has_ctf>(from, in.k, (int)first_x + i, (int)gy)
                                      : stored_terms<has_ctf>(from, line + i, true);
            const float w = gr_weight_of<way>(table, __saturatef(row - across[i]));
            sum.re += w * t.re;
            sum.im += w * t.im;
            sum.w += w * t.w;
        }
    }
    sum.im *= sign;
    return sum;
}

// The window of a voxel with foot (x, y) on the image; rest: q of the weight there.
template <int way, bool shared, bool has_ctf>
static __device__ __forceinline__ gr_terms window(
    const gr_input &in, const float *table, const pixels &from, const patch &p, float x, float y, float rest) {
    if (!shared && in.b < 2) {
        const int place = place_of(in, from.aligned, x, y);
        return place == INSIDE ? small_window<way, has_ctf, INSIDE>(in, table, from, x, y, rest)
            : place == AT_EDGE ? small_window<way, has_ctf, AT_EDGE>(in, table, from, x, y, rest)
                               : small_window<way, has_ctf, ANYWHERE>(in, table, from, x, y, rest);
    }
    gr_terms sum = {0, 0, 0};
    const float r = sqrtf(fmaxf(rest - in.edge, 0) / in.per_bb) * 1.000002f;
    const int first_x = gr_first(x, r, p.first_x), last_x = gr_last(x, r, p.last_x), last_y = gr_last(y, r, p.last_y);
    for (int j = gr_first(y, r, p.first_y); j <= last_y; j++) {
        const float dy = (float)j - y, row = rest - dy * dy * in.per_bb;
        for (int i = first_x; i <= last_x; i++) {
            const float dx = (float)i - x, q = row - dx * dx * in.per_bb;
            if (q < in.edge || (!shared && i * i + j * j > in.k * in.k)) continue;
            const float w = gr_weight_of<way>(table, q);
            const gr_terms t = shared ? p.terms[(j - p.first_y) * (p.last_x - p.first_x + 1) + i - p.first_x]
                                      : terms_at<has_ctf>(from, in.k, i, j);
            sum.re += w * t.re;
            sum.im += w * t.im;
            sum.w += w * t.w;
        }
    }
    return sum;
}

static __device__ __forceinline__ void add(const volume &to, int64_t voxel, const gr_terms &t) {
    if (to.atomics) {
        gr_add_to_g(to.g, to.aligned, voxel, t.re, t.im);
        atomicAdd(&to.w[voxel], t.w);
    } else {
        to.g[2 * voxel] += t.re;
        to.g[2 * voxel + 1] += t.im;
        to.w[voxel] += t.w;
    }
}

template <int way, bool shared, bool has_ctf>
static __device__ __forceinline__ void walk(const gr_input &in, const float *table, const pixels &from, const patch &p,
    const gr_view &view, float m, int axis, int u, int v, const volume &to) {
    const gr_steps &x = view.x, &y = view.y, &h = view.height;
    const float fu = (float)u, fv = (float)v, middle = view.su * fu + view.sv * fv, half = view.half + RANGE_MARGIN;
    const float x0 = x.u * fu + x.v * fv, y0 = y.u * fu + y.v * fv, h0 = h.u * fu + h.v * fv;
    const float reach = (float)in.k + in.b + RANGE_MARGIN, room = reach * reach - fu * fu - fv * fv;
    if (room < 0) // the column is beyond reach
        return;
    const float most = sqrtf(room);
    const int last = min(gr_last(middle, half, in.k), (int)most);
    for (int a = max(gr_first(middle, half, gr_lowest(axis, in.k)), -(int)most); a <= last; a++) {
        const float fa = (float)a, height = h0 + h.a * fa;
        gr_terms sum = window<way, shared, has_ctf>(
            in, table, from, p, x0 + x.a * fa, y0 + y.a * fa, in.top - height * height * in.per_bb);
        if (sum.w == 0) // no pixel within b
            continue;
        sum.re *= m;
        sum.im *= m;
        sum.w *= m;
        add(to,
            gr_voxel(in.k, axis == X_AXIS ? a : u,
                axis == Y_AXIS       ? a
                    : axis == Z_AXIS ? v
                                     : u,
                axis == Z_AXIS ? a : v),
            sum);
    }
}

// Samples first + blockIdx.x, and every gridDim.x-th after it, below past. The largest block leaves a thread 64 registers;
// rational weights with an image in shared memory would use more, so these have a bound. The others (0: no bound) use fewer
// without one.
template <int way, bool shared, bool has_ctf>
static __global__ void __launch_bounds__(way == GR_RATIONAL && shared ? 32 * 32 : 0)
    gather(gr_input in, const float *global_table, int tile, int first, int past, volume to) {
    __shared__ float copy[way == GR_SHARED_TABLE ? GR_TABLE : 1];
    RG_SHARED_DYNAMIC(gr_terms, terms);
    const float *table = gr_block_table<way>(global_table, copy);
    const int2 at = gr_tiled(tile);
    const int side = (int)blockDim.x;
    for (int i = first + (int)blockIdx.x; i < past; i += (int)gridDim.x) {
        const gr_sample s = gr_sample_of(in, i);
        const int axis = gr_nearest_axis(s.rotation), v0 = (int)blockIdx.z * side - in.k;
        const int u0 = (int)blockIdx.y * side + gr_lowest(gr_u_axis(axis), in.k);
        if (u0 > in.k) // only the half x >= 0 is stored
            continue;
        const gr_view view = gr_view_of(s.rotation, axis, in.b);
        const pixels from = pixels_of(in, s);
        patch p = {-in.k, in.k, -in.k, in.k, terms};
        if (shared) {
            gr_span(view, view.x, u0, v0, side, side, &p.first_x, &p.last_x);
            gr_span(view, view.y, u0, v0, side, side, &p.first_y, &p.last_y);
            fill<has_ctf>(p, in, from);
        }
        if (u0 + at.x <= in.k && v0 + at.y <= in.k)
            walk<way, shared, has_ctf>(in, table, from, p, view, s.m, axis, u0 + at.x, v0 + at.y, to);
    }
}

// ---- parameters ----------------------------------------------------------------------------------------------------------

enum { BLOCK_DIM, ATOMICS, GRID_DIM_Z, PRECOMP_INT, SHARED_INT, SHARED_IMG, TILE_SIZE, PARAMS };
static const int64_t block_dim[] = {8, 12, 16, 20, 24, 28, 32}, grid_dim_z[] = {1, 4, 8, 16, 32, 128, 512}, flag[] = {0, 1},
                     tile_size[] = {1, 2, 4, 8};
static const rg_param params[PARAMS] = {
    {"BLOCK_DIM", block_dim, RG_COUNT(block_dim), 8, "side of the square blocks, in columns of voxels"},
    {"ATOMICS", flag, RG_COUNT(flag), 1, "voxels updated by atomics (1), or plainly, in a launch a sample (0)"},
    {"GRID_DIM_Z", grid_dim_z, RG_COUNT(grid_dim_z), 512, "samples inserted at the same time; 1 if ATOMICS is 0"},
    {"PRECOMP_INT", gr_precomp, RG_COUNT(gr_precomp), GR_SQUARES, GR_PRECOMP_DOC},
    {"SHARED_INT", flag, RG_COUNT(flag), 0, "the table in shared memory (1); only if PRECOMP_INT is 1"},
    {"SHARED_IMG", flag, RG_COUNT(flag), 0, "the block's part of the image in shared memory (1); not with SHARED_INT"},
    {"TILE_SIZE", tile_size, RG_COUNT(tile_size), 8,
        "columns of the tiles that threads form; divides BLOCK_DIM, 1 with SHARED_IMG"},
};

static const char *refuse(const rg_shape *s, const int64_t *param) {
    if (param[GRID_DIM_Z] > 1 && !param[ATOMICS]) return "GRID_DIM_Z must be 1 with ATOMICS=0";
    if (param[SHARED_INT] && param[PRECOMP_INT] != GR_GLOBAL_TABLE) return "SHARED_INT=1 needs PRECOMP_INT=1";
    if (param[SHARED_IMG] && param[SHARED_INT]) return "SHARED_IMG=1 needs SHARED_INT=0";
    if (param[SHARED_IMG] && param[TILE_SIZE] > 1) return "TILE_SIZE must be 1 with SHARED_IMG=1";
    if (param[BLOCK_DIM] % param[TILE_SIZE]) return "TILE_SIZE must divide BLOCK_DIM";
    return gr_samples_refuse(s);
}

static size_t scratch(const rg_shape *, const int64_t *) { return gr_table_bytes(); }

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) { return gr_tolerance(s, param[PRECOMP_INT]); }

// Eq. 5 with a bound of the side that holds: feet of columns i and j apart lie at most sqrt(6) max(i, j) apart along x or y,
// and discs reach sqrt(3) b beyond, so a side has at most sqrt(6) (B - 1) + 2 sqrt(3) b + 1 pixels.
static size_t image_bytes(const rg_shape *s, const int64_t *param) {
    const size_t side = (size_t)ceil(sqrt(6.0) * ((double)param[BLOCK_DIM] + 2 * (double)s->n[GR_RADIUS] / 10));
    return param[SHARED_IMG] ? side * side * sizeof(gr_terms) : 0;
}

// Two atomics for each voxel within b of an image, which is a slab of 2b voxels a pixel; the pairs fill a ball of 4/3 pi b^3.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const double b = (double)s->n[GR_RADIUS] / 10, voxels = gr_pairs(s) * 1.5 / (3.14159265358979323846 * b * b);
    c->amount[RG_F32_MAD] = gr_pairs(s) * gr_pair_mads(param[PRECOMP_INT]);
    c->amount[RG_ATOMIC] = param[ATOMICS] ? 2 * voxels : 0;
    c->amount[RG_SHARED_BYTES] = gr_pairs(s) * ((param[SHARED_INT] ? 4 : 0) + (param[SHARED_IMG] ? sizeof(gr_terms) : 0));
    // Voxels are cleared, read and written once.
    c->amount[RG_MEM_BYTES] = gr_input_bytes(s) + 24.0 * (double)gr_voxels(gr_k(s->n[GR_SIDE]));
}

template <int way, bool shared, bool has_ctf>
static int launch_kernel(const rg_call *call, const gr_input &in, const volume &to, int first, int past) {
    const int64_t *p = call->param;
    const unsigned side = (unsigned)p[BLOCK_DIM], across = gr_blocks(2 * in.k + 1, side);
    const size_t bytes = image_bytes(call->shape, p);
    if (shared) {
        const int error =
            (int)cudaFuncSetAttribute(gather<way, shared, has_ctf>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error) return error;
    }
    const unsigned samples = (unsigned)std::min<int64_t>(p[GRID_DIM_Z], past - first);
    RG_LAUNCH((gather<way, shared, has_ctf>), dim3(samples, across, across), dim3(side, side), bytes, call->stream, in,
        (const float *)call->scratch, (int)p[TILE_SIZE], first, past, to);
    return (int)cudaGetLastError();
}

template <int way, bool shared>
static int launch(const rg_call *call, const gr_input &in, const volume &to, int first, int past) {
    return in.ctf ? launch_kernel<way, shared, true>(call, in, to, first, past)
                  : launch_kernel<way, shared, false>(call, in, to, first, past);
}

static int insert(const rg_call *call, const gr_input &in, const volume &to, int first, int past) {
    const int64_t *p = call->param;
    if (p[SHARED_INT]) return launch<GR_SHARED_TABLE, false>(call, in, to, first, past);
    if (p[PRECOMP_INT] == GR_GLOBAL_TABLE)
        return p[SHARED_IMG] ? launch<GR_GLOBAL_TABLE, true>(call, in, to, first, past)
                             : launch<GR_GLOBAL_TABLE, false>(call, in, to, first, past);
    if (p[PRECOMP_INT] == GR_RATIONAL)
        return p[SHARED_IMG] ? launch<GR_RATIONAL, true>(call, in, to, first, past)
                             : launch<GR_RATIONAL, false>(call, in, to, first, past);
    return p[SHARED_IMG] ? launch<GR_SQUARES, true>(call, in, to, first, past)
                         : launch<GR_SQUARES, false>(call, in, to, first, past);
}

static int run(rg_call *call) {
    const gr_input in = gr_weighted_input_of(call, call->param[PRECOMP_INT]);
    const volume to = {(float *)call->arg[GR_G], (float *)call->arg[GR_W], call->param[ATOMICS] != 0,
        (uintptr_t)call->arg[GR_G] % sizeof(float2) == 0};
    int error = RG_OK;
    const int step = to.atomics ? in.samples : 1; // without atomics, samples that share a voxel must not run together
    for (int first = 0; first < in.samples && !error; first += step) error = insert(call, in, to, first, first + step);
    return error;
}

RG_VARIANT(gridding_gather) = {
    RG_VARIANT_OF("gridding", "gather", RG_GATHER, RG_DEVICE,
        "thread per column of an iteration plane, each voxel within b gathers its pixels"),
    .needs = "sm_70",
    .flags = RG_UNORDERED,
    .param = params,
    .n_params = PARAMS,
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = gr_prepare_table,
    .clear = gr_clear_volumes,
    .run = run,
};
