// SPDX-License-Identifier: MIT
// autocorr:tensor_wgmma, the Toeplitz product of tensor.cu with Hopper's warpgroup instructions, the only ones that reach the
// full rate of the matrix units: 64 X0 by up to 256 Y0 a warpgroup, T made in registers, lines of a in shared memory.
//
// The instruction reads 8 lines, 16 bytes each, as 128 consecutive bytes. So shared memory holds [16 pixels][line of a], and
// the next line of b, which moves every Y0 down by a line, only moves the start by 16 bytes. A lane of T needs 16 neighbouring
// pixels of 64 for two products of depth 32, so the four words m, m + 4, m + 8, m + 12 of 64 pixels are adjacent: ac_pack
// writes a second copy of the photograph in this order. A block has two warpgroups, and a multiprocessor one block: each
// warpgroup takes every second line of b, so that one multiplies while the other makes T. The next segment of 128 pixels is
// copied meanwhile. Tiles far from X0 = 0 overlap less of a line, and the last lines have no partner in half of the Y0. Their
// blocks get more lines, so that all blocks take equally long and one wave of them fills the GPU.
//
// Bound: the matrix units, counting the edges of tiles; besides, a block's first lines, its last sums and, between lines, T.
// With one warpgroup a block, loads and stores of all blocks would coincide. Measured: data/machines/h100-16xeon.tsv.
#include "tiles.cuh"
#include "../gpu/hopper.h"

enum { X0S = 64, SEGMENT = 128, STEP = 64, GROUP = 128, THREADS = 2 * GROUP };
enum { WAVE = 132 };      // blocks at once: one on each multiprocessor of an H200
enum { ROWS_MOST = 112 }; // twice as many lines, at half the Y0, still fit in a stage of shared memory

enum { AFTER = 3 }; // lines of zeros after a block's, see wgmma_pair

typedef struct wgmma_layout {
    int columns, tiles_y;       // Y0 a tile, tiles of Y0
    int rows, load;             // lines of all Y0 a block, or 0: about `load` steps of 64 pixels a block
    int64_t work;               // of the tile of Y0 with most lines, see wgmma_lines
    int most;                   // upper bound of the lines of any block, AFTER included
    int window, b_pitch, stage; // lines of a, bytes of a line of b, and bytes of both, in shared memory
} wgmma_layout;

// Lines of b with a partner at some Y0 of a tile. From `split` on they only have partners in its first half, at half the work.
typedef struct wgmma_lines {
    int first, split, past;
} wgmma_lines;

typedef struct wgmma_block {
    int x0, y0; // first of the tile
    wgmma_lines line;
} wgmma_block;

// With fewer columns, making T takes longer than multiplying by half of them, so that nothing is saved.
RG_HD constexpr bool halves(int columns) { return columns == 256; }

RG_HD wgmma_lines lines_of(const ac_plane &p, const wgmma_layout &l, int y0) {
    wgmma_lines n;
    n.first = y0 + l.columns > 0 ? 0 : 1 - y0 - l.columns;
    n.past = y0 > 0 ? p.height - y0 : p.height;
    n.past = n.past > n.first ? n.past : n.first;
    n.split = halves(l.columns) ? p.height - y0 - l.columns / 2 : n.past;
    n.split = n.split < n.first ? n.first : n.split < n.past ? n.split : n.past;
    return n;
}

// Work of lines, and the line at which a given work is done. At half the Y0 a line takes more than half as long because of T.
enum { WORK = 16, WORK_HALF = 9 };
RG_HD int64_t work_of(wgmma_lines n) { return (int64_t)WORK * (n.split - n.first) + WORK_HALF * (n.past - n.split); }
RG_HD int line_at(wgmma_lines n, int64_t work) {
    int64_t full = (int64_t)WORK * (n.split - n.first);
    return (int)(work <= full ? n.first + work / WORK : n.split + (work - full) / WORK_HALF);
}

// The pixels of a, in whole steps, that have a partner at some X0 of the tile.
RG_HD void pixels(const ac_plane &p, int x0, int *first, int *past) {
    *first = (int)ac_first(x0) / STEP * STEP;
    *past = x0 + X0S - 1 >= 0 ? p.width : (int)ac_past(p.width, x0 + X0S - 1);
}

RG_HD int steps_of(const ac_plane &p, int x0) {
    int first, past;
    pixels(p, x0, &first, &past);
    return past > first ? (past - first + STEP - 1) / STEP : 0;
}

// Lines (at all Y0) in a block of the tile from x0 on, and blocks for each tile of Y0.
RG_HD int rows_of(const ac_plane &p, const wgmma_layout &l, int x0) {
    int steps = steps_of(p, x0), rows = l.rows ? l.rows : steps ? l.load / steps : ROWS_MOST;
    return rows < 1 ? 1 : rows < ROWS_MOST ? rows : ROWS_MOST;
}
RG_HD int chunks_of(const ac_plane &p, const wgmma_layout &l, int x0) {
    int64_t work = WORK * rows_of(p, l, x0);
    return (int)((l.work + work - 1) / work);
}

// The i-th block: tiles of X0 one after another.
RG_HD wgmma_block block_of(const ac_plane &p, const wgmma_layout &l, int i) {
    wgmma_block b = {-p.r, 0, {}};
    int n;
    for (; i >= (n = chunks_of(p, l, b.x0)) * l.tiles_y; b.x0 += X0S) i -= n * l.tiles_y;
    b.y0 = ac_y0_least(p) + l.columns * (i % l.tiles_y);
    wgmma_lines all = lines_of(p, l, b.y0);
    b.line.first = line_at(all, work_of(all) * (i / l.tiles_y) / n);
    b.line.past = line_at(all, work_of(all) * (i / l.tiles_y + 1) / n);
    b.line.split = all.split < b.line.first ? b.line.first : all.split < b.line.past ? all.split : b.line.past;
    return b;
}

// Begins to copy the data that a block needs for the 64-pixel steps of a from x on. All threads of the block must call it.
static __device__ void fetch(unsigned char *stage, const wgmma_layout &l, const ac_plane &p, const unsigned char *turned,
    const unsigned char *b, const wgmma_block &block, int x, int b_x) {
    int lines = block.line.past - block.line.first, y = block.line.first + block.y0;
    int window = lines + AFTER + l.columns - 1 < l.window ? lines + AFTER + l.columns - 1 : l.window;
    static_assert(THREADS / 32 == SEGMENT / 16, "a warp for each 16 pixels");
    int unit = (int)threadIdx.x / 32;
    const unsigned char *column = turned + (int64_t)(x / 16 + unit) * p.height * 16;
    bool across = x + unit / 4 * STEP < p.pitch;
    for (int line = (int)threadIdx.x % 32; line < window; line += 32) {
        bool inside = across && y + line >= 0 && y + line < p.height;
        rg_copy16(stage + (unit * l.window + line) * 16, inside ? column + (int64_t)(y + line) * 16 : turned, inside);
    }
    unsigned char *line_b = stage + SEGMENT * l.window;
    int at = (int)threadIdx.x % 16 * 16;
    for (int line = (int)threadIdx.x / 16; line < lines + AFTER && at < l.b_pitch; line += THREADS / 16) {
        bool inside = line < lines && b_x + at >= 0 && b_x + at < p.pitch;
        int64_t from = inside ? (int64_t)(block.line.first + line) * p.pitch + b_x + at : 0;
        rg_copy16(line_b + line * l.b_pitch + at, b + from, inside);
    }
}

// Loads the words of a line of b that the lane's two rows of T need for 64 pixels.
static __device__ __forceinline__ void load_words(unsigned (&word)[7], const unsigned char *from) {
#pragma unroll
    for (int i = 0; i < 7; i++) word[i] = reinterpret_cast<const unsigned *>(from)[i];
}

// T of 64 pixels as two parts of depth 32. The bytes of row + 8 begin 8 before those of the row.
static __device__ __forceinline__ void make_t(unsigned (*t)[4], const unsigned (&word)[7], int shift) {
    unsigned run[6];
#pragma unroll
    for (int i = 0; i < 6; i++) run[i] = __funnelshift_r(word[i], word[i + 1], shift);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        t[half][0] = run[2 * half + 2];
        t[half][1] = run[2 * half];
        t[half][2] = run[2 * half + 3];
        t[half][3] = run[2 * half + 1];
    }
}

// Two steps of 64 pixels are multiplied together: of one line, or, if the segment has only one step, of two lines.
typedef struct wgmma_pair {
    int lines;     // lines that a pair advances a warpgroup, which has every second
    int b, window; // from the first step to the second: bytes of b, columns of the window
} wgmma_pair;

// Multiplies every second line of b from q on by the window, at M of the N Y0. While a pair of steps is multiplied, the words
// of the next are loaded; its T is made afterwards, since registers written meanwhile would serialise the products. Returns the
// first remaining line. Where pairs are two lines, the second may be one past the end: zeros, or lines that follow.
template <int N, int M>
static __device__ __forceinline__ int multiply(int (&sum)[N / 2], rg_wgmma_b window, const unsigned char *b,
    const wgmma_layout &l, wgmma_pair pair, int q, int lines, int shift) {
    unsigned t[4][4], word[2][7];
    const unsigned char *line = b + (q < lines ? q : 0) * l.b_pitch;
    load_words(word[0], line);
    load_words(word[1], line + pair.b);
    for (; q < lines; q += pair.lines) {
        make_t(t, word[0], shift);
        make_t(t + 2, word[1], shift);
        rg_wgmma_begin(t);
        rg_wgmma_u8<M>(sum, t[0], window + q);
        rg_wgmma_u8<M>(sum, t[1], window + (q + 2 * l.window));
        rg_wgmma_u8<M>(sum, t[2], window + (q + pair.window));
        rg_wgmma_u8<M>(sum, t[3], window + (q + pair.window + 2 * l.window));
        line += q + pair.lines < lines ? pair.lines * l.b_pitch : 0;
        load_words(word[0], line);
        load_words(word[1], line + pair.b);
        rg_wgmma_wait(sum);
    }
    return q;
}

// Empties the sums: each warpgroup gets the other's for half of the Y0, and adds both to memory. All threads must call it.
template <int N>
static __device__ void empty(
    int (&sum)[N / 2], unsigned *table, unsigned long long *sums, const ac_plane &p, int x0, int y0, int shift) {
    int group = (int)threadIdx.x / GROUP, thread = (int)threadIdx.x % GROUP, lane = thread % 32;
    int x = x0 + thread / 32 * 16 + lane / 4, y = y0 + group * (N / 2) + lane % 4 * 2;
    __syncthreads(); // the stage is still being read
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        table[((1 - group) * (N / 4) + i) * GROUP + thread] = (unsigned)(group ? sum[i] : sum[N / 4 + i]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        unsigned long long both = (unsigned)(group ? sum[N / 4 + i] : sum[i]);
        both += table[(group * (N / 4) + i) * GROUP + thread];
        int at_x = x + i % 4 / 2 * 8, at_y = y + i / 4 * 8 + i % 2;
        if (at_x <= p.r && at_y <= p.r) atomicAdd(&sums[ac_element(p.r, at_x, at_y)], both << shift);
    }
#pragma unroll
    for (int i = 0; i < N / 2; i++) sum[i] = 0;
}

template <int N>
static __global__ void __launch_bounds__(THREADS, 1)
    tensor_wgmma(ac_plane p, wgmma_layout l, const unsigned char *turned, unsigned long long *sums) {
    RG_SHARED_DYNAMIC(unsigned char, shared);
    wgmma_block block = block_of(p, l, (int)blockIdx.x);
    wgmma_lines line = block.line;
    int group = (int)threadIdx.x / GROUP, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x % GROUP / 32, first, past;
    pixels(p, block.x0, &first, &past);
    int begin = first / SEGMENT * SEGMENT, segments = past > first ? (past - begin + SEGMENT - 1) / SEGMENT : 0;
    int most = (line.past - line.first + 1) / 2 * SEGMENT; // products of a job in a sum of a warpgroup
    int jobs = line.past > line.first ? p.planes * p.planes * segments : 0, products = 0, sum[N / 2] = {};
    auto fetch_job = [&](int job) {
        int pair = job / segments, x = begin + job % segments * SEGMENT;
        fetch(shared + job % 2 * l.stage, l, p, turned + pair / p.planes * p.plane, p.b + pair % p.planes * p.plane, block, x,
            (x - block.x0 - X0S - 2) & ~15);
    };
    if (jobs) fetch_job(0);
    rg_copies_end();
    for (int job = 0; job < jobs; job++) {
        if (job + 1 < jobs) fetch_job(job + 1);
        rg_copies_end();
        rg_copies_wait<1>();
        rg_fence_shared();
        __syncthreads();
        const unsigned char *stage = shared + job % 2 * l.stage, *line_b = stage + SEGMENT * l.window;
        int planes = job / segments, x = begin + job % segments * SEGMENT, b_x = (x - block.x0 - X0S - 2) & ~15;
        int start = x + 16 * (lane % 4) - (block.x0 + warp * 16 + lane / 4 + 8) - b_x;
        int from = first > x ? first - x : 0, to = (past < x + SEGMENT ? past : x + SEGMENT) - x;
        rg_wgmma_b window = rg_wgmma_matrix(stage + from * l.window, 16u * (unsigned)l.window);
        const unsigned char *b = line_b + start / 4 * 4 + from;
        wgmma_pair pair = {2, STEP, 4 * l.window};
        if (to - from <= STEP) pair = {4, 2 * l.b_pitch, 2};
        int q = multiply<N, N>(sum, window, b, l, pair, group, line.split - line.first, start % 4 * 8);
        if constexpr (halves(N)) multiply<N, N / 2>(sum, window, b, l, pair, q, line.past - line.first, start % 4 * 8);
        products += most;
        if ((job + 1) % segments == 0 || products + most > AC_PRODUCTS_MAX) {
            empty<N>(sum, reinterpret_cast<unsigned *>(shared + job % 2 * l.stage), sums, p, block.x0, block.y0,
                8 * (planes / p.planes + planes % p.planes));
            products = 0;
        }
        __syncthreads(); // the stage is free again
    }
}

enum { COLUMNS, ROWS };
static const int64_t column_values[] = {0, 32, 64, 96, 128, 160, 192, 224, 256}, row_values[] = {0, 16, 32, 64, 112};
static const rg_param params[] = {
    {"columns", column_values, RG_COUNT(column_values), 0, "Y0 a block; 0: what should take the least time"},
    {"rows", row_values, RG_COUNT(row_values), 0, "lines of b a block; 0: so many that all blocks take equally long"},
};

// Making T takes a warpgroup as long as multiplying by about 32 more columns.
static int columns(const ac_plane &p, const int64_t *param) {
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

static int64_t blocks_of(const ac_plane &p, const wgmma_layout &l) {
    int64_t blocks = 0;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) blocks += (int64_t)chunks_of(p, l, x0) * l.tiles_y;
    return blocks;
}

// The smallest load whose blocks fit in the fewest waves that ROWS_MOST lines a block allow.
static int least_load(const ac_plane &p, wgmma_layout l) {
    int64_t all = 0, most = 0;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) {
        all += steps_of(p, x0) * (l.work + WORK - 1) / WORK * l.tiles_y;
        most = steps_of(p, x0) > most ? steps_of(p, x0) : most;
    }
    most *= ROWS_MOST;
    for (int64_t wave = (all + most * WAVE - 1) / (most * WAVE);; wave++)
        for (int64_t load = (all + wave * WAVE - 1) / (wave * WAVE); load <= most; load += 1 + load / 64) {
            l.load = (int)load;
            if (load == most || blocks_of(p, l) <= wave * WAVE) return l.load;
        }
}

static wgmma_layout layout_of(const ac_plane &p, const int64_t *param) {
    wgmma_layout l = {columns(p, param), 0, (int)param[ROWS], 0, 0, 0, 0, 0, 0};
    l.tiles_y = (ac_y0_count(p) + l.columns - 1) / l.columns;
    for (int tile = 0; tile < l.tiles_y; tile++) {
        int64_t work = work_of(lines_of(p, l, ac_y0_least(p) + l.columns * tile));
        l.work = work > l.work ? work : l.work;
    }
    l.load = l.rows ? 0 : least_load(p, l);
    int rows = 1;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) rows = rows_of(p, l, x0) > rows ? rows_of(p, l, x0) : rows;
    // f lines of all Y0 and h <= columns / 2 of half of them make a block, WORK f + WORK_HALF h about WORK rows.
    l.most = rows + 2 + AFTER + (halves(l.columns) ? (rows < l.columns / 2 ? rows : l.columns / 2) : 0);
    l.window = rows + 2 + AFTER + l.columns;
    l.b_pitch = SEGMENT + X0S + 32;
    size_t lines = (size_t)SEGMENT * l.window + (size_t)l.most * l.b_pitch, table = sizeof(unsigned) * l.columns / 2 * GROUP;
    l.stage = (int)(((lines > table ? lines : table) + 127) / 128 * 128);
    return l;
}

static size_t turned_at(const rg_shape *s) { return (ac_plane_bytes(s) + 255) / 256 * 256; }

static size_t scratch(const rg_shape *s, const int64_t *) {
    ac_plane p = ac_plane_of(s, NULL);
    return turned_at(s) + (size_t)p.planes * (size_t)p.plane;
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    ac_plane p = ac_plane_of(s, NULL);
    wgmma_layout l = layout_of(p, param);
    double mads = 0, shared = 0, emptied = 0, pairs = p.planes * p.planes;
    for (int x0 = -p.r; x0 <= p.r; x0 += X0S) {
        for (int tile = 0; tile < l.tiles_y; tile++) {
            wgmma_lines n = lines_of(p, l, ac_y0_least(p) + l.columns * tile);
            double steps = pairs * steps_of(p, x0), full = n.split - n.first + (n.past - n.split) / 2.0;
            mads += steps * full * X0S * STEP * l.columns;
            // The matrix units read 64 bytes of every column; the four warps 7 words a lane.
            shared += steps * (full * l.columns * STEP + (n.past - n.first) * 4 * 7 * 128);
        }
        emptied += pairs * chunks_of(p, l, x0) * (double)(p.r - x0 + 1 < X0S ? p.r - x0 + 1 : X0S) * ac_y0_count(p);
    }
    double sums = (double)ac_side(p.r) * (double)ac_side(p.r);
    c->amount[RG_MATRIX_I8_MAD] = mads;
    c->amount[RG_SHARED_BYTES] = shared;
    c->amount[RG_ATOMIC] = emptied;
    c->amount[RG_MEM_BYTES] = (double)p.plane * p.planes * (p.cross ? 5 : 3) + 16 * sums;
}

template <int N>
static int launch(
    const rg_call *call, const ac_plane &p, const wgmma_layout &l, const unsigned char *turned, unsigned long long *sums) {
    size_t shared = 2 * (size_t)l.stage;
    int error =
        (int)cudaFuncSetAttribute((const void *)tensor_wgmma<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error) return error;
    RG_LAUNCH((tensor_wgmma<N>), (unsigned)blocks_of(p, l), THREADS, shared, call->stream, p, l, turned, sums);
    return (int)cudaGetLastError();
}

static int run(rg_call *call) {
    ac_plane p = ac_plane_of(call->shape, call->scratch);
    wgmma_layout l = layout_of(p, call->param);
    unsigned char *turned = (unsigned char *)call->scratch + turned_at(call->shape);
    unsigned long long *sums = (unsigned long long *)call->arg[AC_SUMS];
    int error = ac_pack_all(call, p, sums, turned);
    if (error) return error;
    switch (l.columns) {
    case 32: error = launch<32>(call, p, l, turned, sums); break;
    case 64: error = launch<64>(call, p, l, turned, sums); break;
    case 96: error = launch<96>(call, p, l, turned, sums); break;
    case 128: error = launch<128>(call, p, l, turned, sums); break;
    case 160: error = launch<160>(call, p, l, turned, sums); break;
    case 192: error = launch<192>(call, p, l, turned, sums); break;
    case 224: error = launch<224>(call, p, l, turned, sums); break;
    case 256: error = launch<256>(call, p, l, turned, sums); break;
    default: error = RG_E_PARAM;
    }
    return error ? error : ac_mirror_all(call, p, sums);
}

RG_VARIANT(autocorr_tensor_wgmma) = {
    RG_VARIANT_OF("autocorr", "tensor_wgmma", RG_OTHER, RG_DEVICE, "the Toeplitz product in Hopper's warpgroup instructions"),
    .needs = "sm_90a",
    RG_PARAMS(params),
    .refuse = ac_plane_refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
