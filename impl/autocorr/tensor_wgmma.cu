// SPDX-License-Identifier: MIT
// autocorr:tensor_wgmma, the Toeplitz product of tensor.cu in Hopper's warpgroup instructions, which alone reach the full rate
// of the matrix units: 64 X0 by up to 256 Y0 a warpgroup, T made in registers, lines of a in shared memory.
//
// The instruction reads 8 lines, 16 bytes each, as 128 bytes in a row. So shared memory holds [16 pixels][line of a]: the next
// line of b, which moves every Y0 down by a line, only moves the start by 16 bytes. A lane of T wants 16 neighbouring pixels of
// 64 for two products of depth 32, so the four words m, m + 4, m + 8, m + 12 of 64 pixels stand together. A block is one
// warpgroup; two share a multiprocessor, so that one multiplies while the other loads. Tiles far from X0 = 0 overlap less of a
// line and get more lines a block, so that all blocks take equally long: one wave of them fills the GPU.
//
// Bound: the matrix units. 750 x 1500, R = 250: 1.32e11 products with edges, predicted 135 us at 9.9e14/s and 10 us beside
// them; 195 us on an H200 with equal lines a block (its multiprocessors then wait 14 % of the time for the last), predicted 175
// us so, measured 181: the first lines of all blocks load, and their sums are emptied, at the same time.
#include "tiles.cuh"
#include "../core/cuda_hopper.h"

enum { X0S = 64, SEGMENT = 256, STEP = 64, THREADS = 128, TABLE = X0S + 4 /* no bank conflicts */ };
enum { WAVE = 264 }; // blocks at once: two on each multiprocessor of an H200

typedef struct wgmma_layout {
    int columns, tiles_y;            // Y0 a tile, tiles of Y0
    int rows, load, most;            // lines a block, or 0: about so many steps of 64 pixels a block; the most lines that gives
    int segment, window, b_pitch;    // pixels; lines of a, and bytes of a line of b, in shared memory
} wgmma_layout;

// The pixels of a, in whole steps, that have a partner at some X0 of the tile.
RG_HD void pixels(const ac_photo &p, int x0, int *first, int *past)
{
    *first = (int)ac_first(x0) / STEP * STEP;
    *past = x0 + X0S - 1 >= 0 ? p.width : (int)ac_past(p.width, x0 + X0S - 1);
}

RG_HD int steps_of(const ac_photo &p, int x0)
{
    int first, past;
    pixels(p, x0, &first, &past);
    return past > first ? (past - first + STEP - 1) / STEP : 0;
}

// Lines a block of the tile from x0 on, and blocks for each tile of Y0.
RG_HD int rows_of(const ac_photo &p, const wgmma_layout &l, int x0)
{
    int steps = steps_of(p, x0), rows = l.rows ? l.rows : steps ? l.load / steps : AC_ROWS_MOST;
    return rows < 1 ? 1 : rows < AC_ROWS_MOST ? rows : AC_ROWS_MOST;
}
RG_HD int chunks_of(const ac_photo &p, const wgmma_layout &l, int x0)
{
    int rows = rows_of(p, l, x0);
    return (p.height + rows - 1) / rows;
}

// The i-th block: all of one tile of X0, then the next.
RG_HD ac_block block_of(const ac_photo &p, const wgmma_layout &l, int i)
{
    int x0 = -p.r;
    for (int n; i >= (n = chunks_of(p, l, x0) * l.tiles_y); x0 += X0S)
        i -= n;
    ac_tiles t = {x0, X0S, l.columns, 1, l.tiles_y, chunks_of(p, l, x0), rows_of(p, l, x0)};
    return ac_block_at(p, t, ac_y0_least(p) + l.columns * (i % l.tiles_y), i / l.tiles_y);
}

// Lines of a from (x, y) on: each thread brings 64 pixels of a line and turns their 4 x 4 words. All threads of the block.
static __device__ void fill_window(unsigned char *to, const wgmma_layout &l, const unsigned char *plane, const ac_photo &p,
                                   int x, int y, int lines)
{
#pragma unroll 2
    for (int i = (int)threadIdx.x; i < l.segment / STEP * lines; i += THREADS) {
        int step = i / lines, line = i - step * lines;
        uint4 v[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            v[c] = ac_load16(plane, p, x + STEP * step + 16 * c, y + line);
        uint4 *at = reinterpret_cast<uint4 *>(to) + (4 * step * l.window + line);
        at[0] = make_uint4(v[0].x, v[1].x, v[2].x, v[3].x);
        at[l.window] = make_uint4(v[0].y, v[1].y, v[2].y, v[3].y);
        at[2 * l.window] = make_uint4(v[0].z, v[1].z, v[2].z, v[3].z);
        at[3 * l.window] = make_uint4(v[0].w, v[1].w, v[2].w, v[3].w);
    }
}

// The words of a line of b that hold what the lane's two rows of T need for 64 pixels.
static __device__ __forceinline__ void load_words(unsigned (&word)[7], const unsigned char *from)
{
#pragma unroll
    for (int i = 0; i < 7; i++)
        word[i] = reinterpret_cast<const unsigned *>(from)[i];
}

// T of 64 pixels as two parts of depth 32: the bytes of row + 8 begin 8 before those of the row.
static __device__ __forceinline__ void make_t(unsigned (&t)[2][4], const unsigned (&word)[7], int shift)
{
    unsigned run[6];
#pragma unroll
    for (int i = 0; i < 6; i++)
        run[i] = __funnelshift_r(word[i], word[i + 1], shift);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        t[half][0] = run[2 * half + 2];
        t[half][1] = run[2 * half];
        t[half][2] = run[2 * half + 3];
        t[half][3] = run[2 * half + 1];
    }
}

// All lines of b in shared memory against the window: pixels from..to of the segment. While one step of 64 pixels is
// multiplied, the words of the next are loaded; its T is made afterwards, since registers made meanwhile would serialise the
// products.
template <int N>
static __device__ __forceinline__ void multiply(int (&sum)[N / 2], const unsigned char *window, const unsigned char *b,
                                                const wgmma_layout &l, int lines, int from, int to, int shift)
{
    unsigned t[2][4], word[7], depth = 16u * (unsigned)l.window;
    load_words(word, b + from);
    for (int q = 0; q < lines; q++, b += l.b_pitch) {
        const unsigned char *following = b + (q + 1 < lines ? l.b_pitch : 0);
        for (int k = from; k < to; k += STEP) {
            const unsigned char *at = window + k * l.window + 16 * q;
            make_t(t, word, shift);
            rg_wgmma_begin(t);
            rg_wgmma_u8<N>(sum, t[0], {at, depth});
            rg_wgmma_u8<N>(sum, t[1], {at + 2 * depth, depth});
            load_words(word, k + STEP < to ? b + k + STEP : following + from);
            rg_wgmma_wait(sum);
        }
    }
}

// Empties the sums through shared memory, so that neighbours in X0 are added by neighbours. All threads of the block.
template <int N>
static __device__ void empty(int (&sum)[N / 2], unsigned *table, unsigned long long *sums, const ac_photo &p, int x0, int y0,
                             int shift)
{
    int row = (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4, column = (int)threadIdx.x % 4 * 2;
    __syncthreads(); // the window is still being read
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        table[(column + i / 4 * 8 + i % 2) * TABLE + row + i % 4 / 2 * 8] = (unsigned)sum[i];
        sum[i] = 0;
    }
    __syncthreads();
    int x = x0 + (int)threadIdx.x % X0S;
    for (int y = (int)threadIdx.x / X0S; y < N; y += THREADS / X0S)
        if (x <= p.r && y0 + y <= p.r)
            atomicAdd(&sums[ac_element(p.r, x, y0 + y)], (unsigned long long)table[y * TABLE + x - x0] << shift);
}

template <int N>
static __global__ void __launch_bounds__(THREADS, 2) tensor_wgmma(ac_photo p, wgmma_layout l, unsigned long long *sums)
{
    RG_SHARED_DYNAMIC(unsigned char, window);
    unsigned char *line_b = window + l.segment * l.window;
    ac_block block = block_of(p, l, (int)blockIdx.x);
    int lane = (int)threadIdx.x % 32, lines = block.past - block.first, first, past;
    pixels(p, block.x0, &first, &past);
    int sum[N / 2] = {};
    for (int pair = 0; pair < p.planes * p.planes && lines > 0; pair++) {
        const unsigned char *a = p.a + pair / p.planes * p.plane, *b = p.b + pair % p.planes * p.plane;
        int shift = 8 * (pair / p.planes + pair % p.planes), products = 0;
        for (int x = 0; x < p.width; x += l.segment) {
            int from = first > x ? first - x : 0, to = (past < x + l.segment ? past : x + l.segment) - x;
            if (from < to) {
                int b_x = (x - block.x0 - X0S - 2) & ~15;
                int start = x + 16 * (lane % 4) - (block.x0 + (int)threadIdx.x / 32 * 16 + lane / 4 + 8) - b_x;
                __syncthreads(); // the segment before is still being read
                fill_window(window, l, a, p, x, block.first + block.y0, lines + N - 1);
                ac_fill(line_b, l.b_pitch, b, p, b_x, block.first, l.b_pitch, lines, (int)threadIdx.x, THREADS);
                rg_fence_shared();
                __syncthreads();
                multiply<N>(sum, window, line_b + start / 4 * 4, l, lines, from, to, start % 4 * 8);
                products += l.most * l.segment;
            }
            if (x + l.segment >= p.width || products + l.most * l.segment > AC_PRODUCTS_MAX) {
                empty<N>(sum, reinterpret_cast<unsigned *>(window), sums, p, block.x0, block.y0, shift);
                products = 0;
            }
        }
    }
}

enum { COLUMNS, ROWS };
static const int64_t column_values[] = {0, 32, 64, 96, 128, 192, 256}, row_values[] = {0, 16, 32, 48, 64};
static const rg_param params[] = {
    {"columns", column_values, RG_COUNT(column_values), 0, "Y0 a block; 0: what should take the least time"},
    {"rows", row_values, RG_COUNT(row_values), 0, "lines of b a block; 0: so many that all blocks take equally long"},
};

// Making T takes a warpgroup as long as multiplying by about 32 columns more.
static int columns(const ac_photo &p, const int64_t *param)
{
    int best = 0, y0s = ac_y0_count(p);
    double least = 0;
    for (int i = 1; i < RG_COUNT(column_values); i++) {
        int n = (int)column_values[i];
        double time = (double)((y0s + n - 1) / n) * (n + 32);
        if (!best || time <= least) {
            best = n;
            least = time;
        }
    }
    return param[COLUMNS] ? (int)param[COLUMNS] : best;
}

static int64_t blocks_of(const ac_photo &p, const wgmma_layout &l)
{
    int64_t blocks = 0;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S)
        blocks += (int64_t)chunks_of(p, l, x0) * l.tiles_y;
    return blocks;
}

// The least load whose blocks fit in the fewest waves that lines a block allow.
static int least_load(const ac_photo &p, wgmma_layout l)
{
    int64_t all = 0, most = 0;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) {
        all += (int64_t)steps_of(p, x0) * p.height * l.tiles_y;
        most = steps_of(p, x0) > most ? steps_of(p, x0) : most;
    }
    most *= AC_ROWS_MOST;
    for (int64_t wave = (all + most * WAVE - 1) / (most * WAVE);; wave++)
        for (int64_t load = (all + wave * WAVE - 1) / (wave * WAVE); load <= most; load += 1 + load / 64) {
            l.load = (int)load;
            if (load == most || blocks_of(p, l) <= wave * WAVE)
                return l.load;
        }
}

static wgmma_layout layout_of(const ac_photo &p, const int64_t *param)
{
    wgmma_layout l = {columns(p, param), 0, (int)param[ROWS], 0, 0, 0, 0, 0};
    int segments = (p.width + SEGMENT - 1) / SEGMENT;
    l.tiles_y = (ac_y0_count(p) + l.columns - 1) / l.columns;
    l.load = l.rows ? 0 : least_load(p, l);
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S)
        l.most = rows_of(p, l, x0) > l.most ? rows_of(p, l, x0) : l.most;
    l.segment = ((p.width + segments - 1) / segments + STEP - 1) / STEP * STEP;
    l.window = l.most + l.columns - 1;
    l.b_pitch = l.segment + X0S + 32;
    return l;
}

static size_t scratch(const rg_shape *s, const int64_t *) { return ac_photo_bytes(s); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    ac_photo p = ac_photo_of(s, NULL);
    wgmma_layout l = layout_of(p, param);
    double steps = 0, n = l.columns, emptied = 0, pairs = p.planes * p.planes;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) {
        for (int tile = 0; tile < l.tiles_y; tile++) {
            ac_tiles whole = {x0, X0S, l.columns, 1, l.tiles_y, 1, p.height};
            ac_block block = ac_block_at(p, whole, ac_y0_least(p) + l.columns * tile, 0);
            steps += block.past > block.first ? pairs * steps_of(p, x0) * (block.past - block.first) : 0;
        }
        emptied += pairs * chunks_of(p, l, x0) * (double)(p.r - x0 + 1 < X0S ? p.r - x0 + 1 : X0S) * ac_y0_count(p);
    }
    double sums = (double)ac_side(p.r) * (double)ac_side(p.r);
    c->amount[RG_MATRIX_I8_MAD] = steps * X0S * n * STEP;
    // The matrix units read 64 bytes of every column; the four warps 7 words a lane.
    c->amount[RG_SHARED_BYTES] = steps * (n * STEP + 4 * 7 * 128);
    c->amount[RG_ATOMIC] = emptied;
    c->amount[RG_MEM_BYTES] = 2.0 * (double)p.plane * p.planes * (p.cross ? 2 : 1) + 16 * sums;
}

template <int N>
static int launch(const rg_call *call, const ac_photo &p, const wgmma_layout &l, unsigned long long *sums)
{
    size_t lines = (size_t)l.segment * l.window + (size_t)l.most * l.b_pitch, table = sizeof(unsigned) * N * TABLE;
    size_t shared = lines > table ? lines : table;
    int error = (int)cudaFuncSetAttribute((const void *)tensor_wgmma<N>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)shared);
    if (error)
        return error;
    RG_LAUNCH((tensor_wgmma<N>), (unsigned)blocks_of(p, l), THREADS, shared, call->stream, p, l, sums);
    return (int)cudaGetLastError();
}

static int run(rg_call *call)
{
    ac_photo p = ac_photo_of(call->shape, call->scratch);
    wgmma_layout l = layout_of(p, call->param);
    unsigned long long *sums = (unsigned long long *)call->arg[AC_SUMS];
    int error = ac_pack_all(call, p, sums);
    if (error)
        return error;
    switch (l.columns) {
    case 32: error = launch<32>(call, p, l, sums); break;
    case 64: error = launch<64>(call, p, l, sums); break;
    case 96: error = launch<96>(call, p, l, sums); break;
    case 128: error = launch<128>(call, p, l, sums); break;
    case 192: error = launch<192>(call, p, l, sums); break;
    case 256: error = launch<256>(call, p, l, sums); break;
    default: error = RG_E_PARAM;
    }
    return error ? error : ac_mirror_all(call, p, sums);
}

RG_VARIANT(autocorr_tensor_wgmma) = {
    RG_ABI, sizeof(rg_variant), "autocorr", "tensor_wgmma", "the Toeplitz product in Hopper's warpgroup instructions",
    RG_OTHER, RG_DEVICE, "sm_90a", 0, params, RG_COUNT(params), ac_photo_refuse, scratch, NULL, cost, NULL, run, NULL,
};
