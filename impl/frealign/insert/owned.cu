// SPDX-License-Identifier: MIT
// owned.cu: pinsert_s:owned. Each node of the volume is owned by one thread at a time: no atomics, and the same bits in every
// run.
//
// A first kernel computes the term that each coefficient adds at weight 1, and a frame for each sample. Then each block handles
// a brick of 16 x 16 x 16 nodes. Each of its groups of 256 threads keeps sums of the brick in shared memory and handles every
// groups-th sample whose plane meets the brick. A thread walks along a column of nodes, parallel to the axis that is steepest
// to the plane: 4 to 7 coefficients lie next to a column, in the inverse image of a square. Samples are handled axis by axis,
// so that a column changes its owner only three times. At the end the groups' sums are added in order, and to the volume.
//
// Bound: terms are written and read once, 32 bytes a coefficient beside its 12; nodes in shared memory take 192 bytes. The
// limit reached first is instruction issue, with half of the lanes idle: some columns miss the plane, others differ in length.
// The middle bricks meet every sample and end last. If few samples meet a brick, clearing and storing it dominates. Measured:
// data/machines/h100-16xeon.tsv.
#include "insert.cuh"

enum { BRICK = 16, GROUP = BRICK * BRICK, GROUPS_MOST = 4, CHUNK_MOST = GROUP * GROUPS_MOST };
// Strides of the axes in shared memory: 16 adjacent columns lie in different banks, along each axis.
enum { ROW = BRICK + 1, PLANE = ROW * BRICK, SUMS = PLANE * BRICK };
// The largest distance of p from a node, plus more than the rounding error of an inverse image.
static const float REACH = 1.01f;

// A sample seen along its steepest axis, from column (u, v): m (i, j) is p; the foot of the column has i and j equal to di and
// dj times (u, v), and the height slope (u, v).
typedef struct fr_frame {
    float m[3][2]; // axes u, v, along
    float di[2], dj[2], slope[2], normal[3], rim;
    int axis;
} fr_frame;

typedef struct fr_owned {
    int side, outer, samples; // samples: of this launch
    const float4 *terms;      // [sample][j + outer][i]
    const fr_frame *frame;
    float *volume;
} fr_owned;

RG_HD int fr_u_axis(int axis) { return axis == 0 ? 1 : 0; }
RG_HD int fr_v_axis(int axis) { return axis == 2 ? 1 : 2; }
RG_HD int fr_stride(int axis) { return axis == 0 ? 1 : axis == 1 ? ROW : PLANE; }
static inline int64_t fr_disc(const rg_shape *s) { return (2 * s->n[FR_OUTER] + 1) * (s->n[FR_OUTER] + 1); }

static __device__ fr_frame fr_frame_of(const float *m, int outer) {
    fr_frame f;
    int axis = 2;
    for (int a = 0; a < 3; a++) {
        const int u = (a + 1) % 3, v = (a + 2) % 3;
        f.normal[a] = m[u] * m[3 + v] - m[v] * m[3 + u];
    }
    for (int a = 1; a >= 0; a--)
        if (fabsf(f.normal[a]) > fabsf(f.normal[axis])) axis = a;
    const int from[3] = {fr_u_axis(axis), fr_v_axis(axis), axis};
    for (int a = 0; a < 3; a++)
        for (int q = 0; q < 2; q++) f.m[a][q] = m[3 * q + from[a]];
    const float one = 1 / (f.m[0][0] * f.m[1][1] - f.m[0][1] * f.m[1][0]);
    f.di[0] = one * f.m[1][1];
    f.di[1] = -one * f.m[0][1];
    f.dj[0] = -one * f.m[1][0];
    f.dj[1] = one * f.m[0][0];
    for (int a = 0; a < 2; a++) f.slope[a] = f.m[2][0] * f.di[a] + f.m[2][1] * f.dj[a];
    const float ii = m[0] * m[0] + m[1] * m[1] + m[2] * m[2], jj = m[3] * m[3] + m[4] * m[4] + m[5] * m[5];
    const float ij = m[0] * m[3] + m[1] * m[4] + m[2] * m[5], half = (ii - jj) / 2;
    f.rim = (float)outer * sqrtf((ii + jj) / 2 + sqrtf(half * half + ij * ij)) * 1.0001f; // upper bound of |p|
    f.axis = axis;
    return f;
}

template <bool squared>
static __global__ void fr_make_terms(fr_insertion in, int first, int samples, float4 *terms, fr_frame *frame) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int side = (int)in.side, outer = (int)in.outer, j = row - outer, rows = 2 * outer + 1;
    for (int n = (int)blockIdx.z; n < samples; n += (int)gridDim.z) {
        if (i == 0 && row == 0) frame[n] = fr_frame_of(in.pose + (int64_t)(first + n) * FR_POSE_FLOATS, outer);
        if (i > outer || j > outer) continue;
        fr_terms t = {0, 0, 0};
        if (i * i + j * j <= outer * outer && 2 * j != -side) t = fr_terms_of<squared>(in, first + n, i, j);
        terms[((int64_t)n * rows + row) * (outer + 1) + i] = make_float4(t.re, t.im, t.den, 0.0f);
    }
}

// The weight, along one axis, of the node for a coefficient at p.
template <int how> static __device__ __forceinline__ float fr_axis_weight(float p, float node) {
    const float d = p - node;
    if (how == FR_NEAREST) return fr_nearest(p) == node ? 1.0f : 0.0f;
    if (how == FR_TRILINEAR) return fmaxf(1 - fabsf(d), 0.0f);
    return fabsf(d) < 1 ? fr_sinc(d) : 0.0f;
}

// A brick, or an image of it modulo the side: `low` is its first node; `first` to `last` lie in the volume.
typedef struct fr_extent {
    int low[3], first[3], last[3];
} fr_extent;

// Whether the plane can reach nodes of the box.
static __device__ __forceinline__ bool fr_meets(const fr_frame &f, const fr_extent &box) {
    float middle = 0, room = 0, distance = 0;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const float first = (float)box.first[a] - REACH, last = (float)box.last[a] + REACH;
        const float near = fmaxf(fmaxf(first, -last), 0.0f);
        middle += f.normal[a] * (first + last);
        room += fabsf(f.normal[a]) * (last - first);
        distance += near * near;
    }
    return !(fabsf(middle) > room * 1.0001f) && !(distance > f.rim * f.rim);
}

// Finds which samples from `first` on, one per thread, have this axis and meet the box. Writes their numbers in order; returns
// how many.
static __device__ int fr_find(const fr_owned &o, const fr_extent &box, int axis, int first, int *hit, int *in_warp) {
    const int t = (int)threadIdx.x, lane = t % 32, mine = first + t;
    const bool met = mine < o.samples && o.frame[mine].axis == axis && fr_meets(o.frame[mine], box);
    const unsigned mets = __ballot_sync(~0u, met);
    __syncthreads(); // until the previous hits have been used
    if (lane == 0) in_warp[t / 32] = __popc(mets);
    __syncthreads();
    int before = __popc(mets & ((1u << lane) - 1u)), all = 0;
    for (int w = 0; w < (int)blockDim.x / 32; w++) {
        before += w < t / 32 ? in_warp[w] : 0;
        all += in_warp[w];
    }
    if (met) hit[before] = mine;
    __syncthreads();
    return all;
}

static __device__ __forceinline__ void fr_narrow(float middle, float half, float &first, float &last) {
    first = fmaxf(first, middle - half);
    last = fminf(last, middle + half);
}

// Adds one sample to column (u, v); `sums` is the column's element number `low`.
template <int how, bool squared>
static __device__ __forceinline__ void fr_add_column(
    const fr_owned &o, const fr_frame &f, int sample, float u, float v, int low, int first, int last, int stride, float *sums) {
    const float height = f.slope[0] * u + f.slope[1] * v, climb = (fabsf(f.slope[0]) + fabsf(f.slope[1]) + 1) * REACH;
    if (height + climb < (float)first || height - climb > (float)last) return;
    const float b = (float)o.outer, i0 = f.di[0] * u + f.di[1] * v, j0 = f.dj[0] * u + f.dj[1] * v;
    const float wide = (fabsf(f.di[0]) + fabsf(f.di[1])) * REACH, tall = (fabsf(f.dj[0]) + fabsf(f.dj[1])) * REACH;
    const float one_u = 1 / f.m[0][0], one_v = 1 / f.m[1][0];
    const int rows = 2 * o.outer + 1, j_last = (int)floorf(fminf(j0 + tall, b));
    for (int j = (int)ceilf(fmaxf(j0 - tall, -b)); j <= j_last; j++) {
        float from = -b, to = b;
        fr_narrow(i0, wide, from, to);
        fr_narrow((u - f.m[0][1] * (float)j) * one_u, fabsf(one_u) * REACH, from, to);
        fr_narrow((v - f.m[1][1] * (float)j) * one_v, fabsf(one_v) * REACH, from, to);
        const int i_last = (int)floorf(to);
        for (int i = (int)ceilf(from); i <= i_last; i++) {
            const float fi = (float)i, fj = (float)j;
            const float across = fr_axis_weight<how>(fr_product_sum(f.m[0][0], fi, f.m[0][1], fj), u) *
                fr_axis_weight<how>(fr_product_sum(f.m[1][0], fi, f.m[1][1], fj), v);
            if (across == 0) continue;
            const float p = fr_product_sum(f.m[2][0], fi, f.m[2][1], fj);
            const float base = how == FR_NEAREST ? fr_nearest(p) : floorf(p);
            const bool mate = i < 0 || (i == 0 && 2 * j == -o.side);
            const float4 t = o.terms[((int64_t)sample * rows + (mate ? -j : j) + o.outer) * (o.outer + 1) + (mate ? -i : i)];
#pragma unroll
            for (int k = 0; k < (how == FR_NEAREST ? 1 : 2); k++) {
                const int node = (int)base + k;
                if (node < first || node > last) continue;
                const float w = across * fr_axis_weight<how>(p, (float)node), share = squared ? w * w : w;
                float *to_sums = sums + (node - low) * stride;
                to_sums[0] += share * t.x;
                to_sums[SUMS] += mate ? -(share * t.y) : share * t.y;
                to_sums[2 * SUMS] += share * t.z;
            }
        }
    }
}

// Adds all samples to the nodes of the box; returns whether there were any, also before (`used`). Clears the sums before the
// first.
template <int how, bool squared>
static __device__ bool fr_pass(const fr_owned &o, const fr_extent &box, bool used, float *sums, int *hit, int *in_warp) {
    const int group = (int)threadIdx.x / GROUP, groups = (int)blockDim.x / GROUP, column = (int)threadIdx.x % GROUP;
    for (int axis = 0; axis < 3; axis++) {
        const int u_axis = fr_u_axis(axis), v_axis = fr_v_axis(axis), stride = fr_stride(axis);
        const int iu = column % BRICK, iv = column / BRICK, u = box.low[u_axis] + iu, v = box.low[v_axis] + iv;
        const bool inside = u >= box.first[u_axis] && u <= box.last[u_axis] && v >= box.first[v_axis] && v <= box.last[v_axis];
        float *own = sums + 3 * SUMS * group + iu * fr_stride(u_axis) + iv * fr_stride(v_axis);
        for (int first = 0; first < o.samples; first += (int)blockDim.x) {
            const int hits = fr_find(o, box, axis, first, hit, in_warp);
            if (hits && !used) {
                for (int e = (int)threadIdx.x; e < 3 * SUMS * groups; e += (int)blockDim.x) sums[e] = 0;
                used = true;
                __syncthreads();
            }
            for (int h = group; inside && h < hits; h += groups) {
                const fr_frame f = o.frame[hit[h]];
                fr_add_column<how, squared>(
                    o, f, hit[h], (float)u, (float)v, box.low[axis], box.first[axis], box.last[axis], stride, own);
            }
        }
    }
    return used;
}

static __device__ void fr_store(const fr_owned &o, const fr_extent &box, const float *sums) {
    const int half = o.side / 2, groups = (int)blockDim.x / GROUP;
    for (int e = (int)threadIdx.x; e < BRICK * BRICK * BRICK; e += (int)blockDim.x) {
        const int ix = e % BRICK, iy = e / BRICK % BRICK, iz = e / BRICK / BRICK;
        const int x = box.low[0] + ix, y = box.low[1] + iy, z = box.low[2] + iz;
        if (x > half || y > half || z > half) continue;
        float *to = o.volume + FR_RECORD * fr_voxel(o.side, x, y, z);
        for (int part = 0; part < 3; part++) {
            float sum = 0;
            for (int g = 0; g < groups; g++) sum += sums[(3 * g + part) * SUMS + ix + iy * ROW + iz * PLANE];
            to[part] += sum;
        }
    }
}

// One block per brick, the middle ones first. Nodes -N/2 share records with N/2: a brick with the latter also handles the
// former.
template <int how, bool squared> static __global__ void __launch_bounds__(CHUNK_MOST, 1) fr_insert_owned(fr_owned o) {
    __shared__ int hit[CHUNK_MOST], in_warp[CHUNK_MOST / 32];
    RG_SHARED_DYNAMIC(float, sums);
    const int half = o.side / 2, n[3] = {(int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z};
    fr_extent brick;
    for (int a = 0; a < 3; a++) {
        const int across = a == 0 ? half / BRICK + 1 : (o.side + BRICK - 1) / BRICK;
        const int number = n[a] % 2 ? across / 2 - (n[a] + 1) / 2 : across / 2 + n[a] / 2;
        brick.low[a] = a == 0 ? n[a] * BRICK : number * BRICK - half + 1;
    }
    bool used = false;
    for (int wrapped = 0; wrapped < 4; wrapped++) {
        fr_extent box = brick;
        bool empty = false;
        for (int a = 0; a < 3; a++) {
            box.low[a] -= a > 0 && (wrapped >> (a - 1) & 1) ? o.side : 0;
            box.first[a] = max(box.low[a], a == 0 ? 0 : -half);
            box.last[a] = min(box.low[a] + BRICK - 1, half);
            empty |= box.first[a] > box.last[a];
        }
        if (!empty) used = fr_pass<how, squared>(o, box, used, sums, hit, in_warp);
    }
    __syncthreads();
    if (used) fr_store(o, brick, sums);
}

static const int64_t groups_values[] = {1, 2, 4}, samples_values[] = {1, 16, 64, 256, 1024};
enum { GROUPS, SAMPLES };
static const rg_param params[] = {
    {"groups", groups_values, RG_COUNT(groups_values), 2, "groups of 256 threads a brick, each with sums of its own"},
    {"samples", samples_values, RG_COUNT(samples_values), 256, "particles and operators inserted at the same time"},
};

static int64_t at_once(const rg_shape *s, const int64_t *param) {
    const int64_t all = s->n[FR_PARTICLES] * s->n[FR_TRIALS];
    return all < param[SAMPLES] ? all : param[SAMPLES];
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    return (size_t)at_once(s, param) * ((size_t)fr_disc(s) * sizeof(float4) + sizeof(fr_frame));
}

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double plane = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]), samples = (double)fr_calls(s);
    const double nodes = fr_interpolation(s->n[FR_KIND]) == FR_NEAREST ? 1 : 8, touched = samples * plane * 4 / 3;
    const double all = (double)fr_voxels(s->n[FR_SIDE]);
    c->amount[RG_F32_MAD] = samples * plane * (60 + 8 * nodes);
    c->amount[RG_SHARED_BYTES] = samples * plane * 24 * nodes;
    c->amount[RG_MEM_BYTES] = plane * (32 * samples + 12 * (double)s->n[FR_PARTICLES]) + 32 * (touched < all ? touched : all);
}

template <int how, bool squared> static int launch(const rg_call *call) {
    const fr_insertion in = fr_insertion_of(call);
    const int64_t most = at_once(call->shape, call->param), groups = call->param[GROUPS];
    float4 *terms = (float4 *)call->scratch;
    fr_frame *frame = (fr_frame *)(terms + most * fr_disc(call->shape));
    fr_owned o = {(int)in.side, (int)in.outer, 0, terms, frame, (float *)call->arg[FR_INSERT_VOLUME]};
    const int bytes = (int)(groups * 3 * SUMS * (int64_t)sizeof(float)), samples = (int)fr_calls(call->shape);
    const unsigned across = (unsigned)((in.side + BRICK - 1) / BRICK);
    const dim3 block(32, 8), rows((unsigned)(in.outer / 32 + 1), (unsigned)(2 * in.outer / 8 + 1), (unsigned)most);
    const dim3 bricks((unsigned)(in.side / 2 / BRICK + 1), across, across);
    const auto kernel = fr_insert_owned<how, squared>;
    int error = (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    for (int first = 0; !error && first < samples; first += o.samples) {
        o.samples = samples - first < most ? samples - first : (int)most;
        RG_LAUNCH((fr_make_terms<squared>), rows, block, 0, call->stream, in, first, o.samples, terms, frame);
        RG_LAUNCH((fr_insert_owned<how, squared>), bricks, (unsigned)(groups * GROUP), bytes, call->stream, o);
        error = (int)cudaGetLastError();
    }
    return error;
}

static int run(rg_call *call) {
    const int64_t kind = call->shape->n[FR_KIND];
    const bool squared = (kind & FR_SQUARED) != 0;
    if (fr_interpolation(kind) == FR_TRILINEAR)
        return squared ? launch<FR_TRILINEAR, true>(call) : launch<FR_TRILINEAR, false>(call);
    if (fr_interpolation(kind) == FR_NEAREST) return squared ? launch<FR_NEAREST, true>(call) : launch<FR_NEAREST, false>(call);
    return squared ? launch<FR_BOX2, true>(call) : launch<FR_BOX2, false>(call);
}

RG_VARIANT(pinsert_s_owned) = {
    RG_VARIANT_OF("pinsert_s", "owned", RG_GATHER, RG_DEVICE,
        "bricks of 16^3 nodes in shared memory, a thread a column of them, no atomics, repeatable"),
    .needs = "sm_90",
    RG_PARAMS(params),
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
