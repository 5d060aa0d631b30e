// SPDX-License-Identifier: MIT
// autocorr:tensor, eq. 1 on the 8-bit matrix units. With the pixels (x, y) of b as the contraction, the sums are one matrix
// product, S(X0, Y0) = sum over (x, y) of T[X0][x, y] U[x, y][Y0] with T = b(x - X0, y) and U = a(x, y + Y0): T is a Toeplitz
// matrix, each row the line of b moved by a pixel. So the accumulators are offsets, and the matrix unit itself sums the banded
// product of lines with lines along its diagonals; a lane makes its part of T from one run of bytes.
//
// A warp owns 64 X0 x 8 N Y0 in 16 x 8 products. The order of pixels in the contraction is free, so a lane has 16 neighbours
// x = 16 (lane % 4) .. + 15 of 64 for two products of depth 32. 32-bit sums are emptied before they can overflow.
//
// Bound: the matrix units through mma.sync, counting the edges of tiles; two warps a scheduler do not keep them busy all the
// time. Measured: data/machines/h100-16xeon.tsv.
#include "tiles.cuh"

enum { STAGE = 32, SEGMENT = 192, X0S = 64, RUN = 19, BLOCKS_WANTED = 264 };

typedef struct tensor_layout {
    ac_tiles tile;
    int warps_x, warps_y, parts, b_pitch; // parts: warps with the same offsets, which divide the lines
} tensor_layout;

// Adds to sum one line of b (b: the word with the lane's first byte, `shift` bits into it) against 8 N lines of a, over the 64
// pixels from x on. Row X0 + 16 i + lane / 4 of T needs bytes 12 - 4 i words on; row + 8 those 2 words before.
template <int N>
static __device__ __forceinline__ void multiply(int (&sum)[4][N][4], const unsigned char *a, const unsigned *b, int shift) {
    unsigned run[RUN - 1], word = b[0];
#pragma unroll
    for (int i = 0; i < RUN - 1; i++) {
        unsigned next = b[i + 1];
        run[i] = __funnelshift_r(word, next, shift);
        word = next;
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
        uint4 line = *reinterpret_cast<const uint4 *>(a + 8 * n * SEGMENT);
        unsigned u[2][2] = {{line.x, line.y}, {line.z, line.w}};
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const unsigned *f = run + 12 - 4 * i + 2 * half;
                unsigned t[4] = {f[2], f[0], f[3], f[1]};
                rg_mma_u8(sum[i][n], t, u[half]);
            }
    }
}

template <int N>
static __device__ void empty(int (&sum)[4][N][4], unsigned long long *sums, const ac_plane &p, int x0, int y0, int shift) {
    int lane = threadIdx.x % 32;
    x0 += lane / 4;
    y0 += lane % 4 * 2;
    unsigned long long *to = sums + ac_element(p.r, x0, y0);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int j = 0; j < 2; j++, to += j % 2 ? ac_side(p.r) : 7 * ac_side(p.r)) // Y0 + 8 n + j
#pragma unroll
            for (int i = 0; i < 8; i++) { // X0 + 8 i
                int &part = sum[i / 2][n][i % 2 * 2 + j];
                if (x0 + 8 * i <= p.r && y0 + 8 * n + j <= p.r)
                    atomicAdd(to + 8 * i, (unsigned long long)(unsigned)part << shift);
                part = 0;
            }
}

// The pixels of a, in whole steps of 64, that have a partner at some X0 of a warp.
RG_HD void pixels(const ac_plane &p, int x0, int *first, int *past) {
    *first = (int)ac_first(x0) / 64 * 64;
    *past = x0 + X0S - 1 >= 0 ? p.width : (int)ac_past(p.width, x0 + X0S - 1);
}

template <int N>
static __global__ void __launch_bounds__(256, 1) tensor(ac_plane p, tensor_layout l, unsigned long long *sums) {
    RG_SHARED_DYNAMIC(unsigned char, line_a);
    unsigned char *line_b = line_a + (STAGE + l.tile.y0s - 1) * SEGMENT;
    ac_block block = ac_block_of(p, l.tile, (int)blockIdx.x);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int part = warp / (l.warps_x * l.warps_y), skip_y = 8 * N * (warp / l.warps_x % l.warps_y);
    int x0 = block.x0 + X0S * (warp % l.warps_x), y0 = block.y0 + skip_y;
    int first, past;
    pixels(p, x0, &first, &past);
    bool active = x0 <= p.r && y0 <= p.r;
    int sum[4][N][4] = {};
    for (int pair = 0; pair < p.planes * p.planes; pair++) {
        const unsigned char *a = p.a + pair / p.planes * p.plane, *b = p.b + pair % p.planes * p.plane;
        int shift = 8 * (pair / p.planes + pair % p.planes), products = 0;
        for (int y = block.first; y < block.past; y += STAGE) {
            int lines = block.past - y < STAGE ? block.past - y : STAGE;
            for (int x = 0; x < p.width; x += SEGMENT) {
                int b_x = (x - block.x0 - X0S * l.warps_x - 2) & ~15;
                __syncthreads(); // the previous segment's lines are still being read
                int thread = (int)threadIdx.x, threads = (int)blockDim.x;
                ac_fill(line_a, SEGMENT, a, p, x, y + block.y0, SEGMENT, lines + l.tile.y0s - 1, thread, threads);
                ac_fill(line_b, l.b_pitch, b, p, b_x, y, l.b_pitch, lines, thread, threads);
                __syncthreads();
                int from = first > x ? first - x : 0, to = (past < x + SEGMENT ? past : x + SEGMENT) - x;
                int start = x + 16 * (lane % 4) - (x0 + 56 + lane / 4) - b_x;
                for (int q = part; q < lines; q += l.parts) {
                    if (!active || y + q + y0 >= p.height || y + q + y0 + 8 * N <= 0) continue;
                    const unsigned char *at_a = line_a + (q + skip_y + lane / 4) * SEGMENT + 16 * (lane % 4);
                    const unsigned char *at_b = line_b + q * l.b_pitch + start / 4 * 4;
                    for (int k = from; k < to; k += 64)
                        multiply<N>(sum, at_a + k, reinterpret_cast<const unsigned *>(at_b + k), start % 4 * 8);
                }
                products += STAGE * SEGMENT;
                bool last = x + SEGMENT >= p.width && y + STAGE >= block.past;
                if (last || products + STAGE * SEGMENT > AC_PRODUCTS_MAX) {
                    if (active) empty<N>(sum, sums, p, x0, y0, shift);
                    products = 0;
                }
            }
        }
    }
}

enum { LINES, ROWS };
static const int64_t lines_of[] = {2, 4, 8}, rows_of[] = {0, 16, 32, 64};
static const rg_param params[] = {
    {"n", lines_of, RG_COUNT(lines_of), 8, "products of 8 Y0 a warp"},
    {"rows", rows_of, RG_COUNT(rows_of), 0, "lines of the photograph a block; 0: so many that there are about 264 blocks"},
};

// Eight warps: two along Y0, as many along X0 as there are offsets, the others along the lines.
static tensor_layout layout_of(const ac_plane &p, const int64_t *param) {
    tensor_layout l;
    int n = (int)param[LINES], x = (2 * p.r + X0S) / X0S, y = (ac_y0_count(p) + 8 * n - 1) / (8 * n);
    l.warps_y = y < 2 ? y : 2;
    l.warps_x = x < 8 / l.warps_y ? x : 8 / l.warps_y;
    l.parts = 8 / (l.warps_x * l.warps_y);
    l.tile = ac_tiles_of(p, -p.r, X0S * l.warps_x, 8 * n * l.warps_y, (int)param[ROWS], BLOCKS_WANTED, l.parts);
    l.b_pitch = SEGMENT + X0S * l.warps_x + 32;
    return l;
}

static size_t scratch(const rg_shape *s, const int64_t *) { return ac_plane_bytes(s); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    ac_plane p = ac_plane_of(s, NULL);
    tensor_layout l = layout_of(p, param);
    double steps = 0, lines = ac_lines_walked(p, l.tile) * p.planes * p.planes, n = (double)param[LINES];
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) {
        int first, past;
        pixels(p, x0, &first, &past);
        steps += past > first ? l.warps_y * ((past - first + 63) / 64) : 0;
    }
    double sums = (double)ac_side(p.r) * (double)ac_side(p.r);
    c->amount[RG_MATRIX_I8_MAD] = lines * steps * X0S * 8 * n * 64;
    c->amount[RG_SHARED_BYTES] = lines * steps * 128 * (RUN + 4 * n);
    c->amount[RG_ATOMIC] = (double)ac_side(p.r) * ac_y0_count(p) * l.tile.chunks * l.parts * p.planes * p.planes;
    c->amount[RG_MEM_BYTES] = 2.0 * (double)p.plane * p.planes * (p.cross ? 2 : 1) + 16 * sums;
}

static int run(rg_call *call) {
    ac_plane p = ac_plane_of(call->shape, call->scratch);
    tensor_layout l = layout_of(p, call->param);
    unsigned long long *sums = (unsigned long long *)call->arg[AC_SUMS];
    int error = ac_pack_all(call, p, sums);
    if (error) return error;
    unsigned grid = (unsigned)ac_blocks(l.tile), threads = 32u * (unsigned)(l.warps_x * l.warps_y * l.parts);
    size_t shared = (size_t)(STAGE + l.tile.y0s - 1) * SEGMENT + (size_t)STAGE * l.b_pitch;
    switch (call->param[LINES]) {
    case 2: RG_LAUNCH((tensor<2>), grid, threads, shared, call->stream, p, l, sums); break;
    case 4: RG_LAUNCH((tensor<4>), grid, threads, shared, call->stream, p, l, sums); break;
    case 8: RG_LAUNCH((tensor<8>), grid, threads, shared, call->stream, p, l, sums); break;
    default: return RG_E_PARAM;
    }
    error = (int)cudaGetLastError();
    return error ? error : ac_mirror_all(call, p, sums);
}

RG_VARIANT(autocorr_tensor) = {
    RG_VARIANT_OF("autocorr", "tensor", RG_OTHER, RG_DEVICE, "8-bit matrix units: lines as a Toeplitz matrix times lines"),
    .needs = "sm_80",
    RG_PARAMS(params),
    .refuse = ac_plane_refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
