// SPDX-License-Identifier: MIT
// gather_lines.cuh: the inner kernel of gather and gather_two_pass: the idea of Lu et al. 2009 (lines of the photograph in
// shared memory, threads along X0) for any width and offset, exact.
//
// A thread owns 4 X0 times K adjacent Y0, 4 K sums. For four pixels of a line of b it makes the four words that its X0 need by
// funnel shifts, and multiplies each with K lines of a by dp4a: 16 K products for one word of b, three shifts and K broadcast
// words of a. A block owns `groups` of 4 X0 times `slots` of K Y0 and walks over its lines of b, STAGE at a time, in segments
// of a line. With few offsets, `parts` threads share an offset and divide the lines among them. 32-bit sums are emptied into
// the sink, in 64 bits, before they can overflow.
//
// Bound: dp4a, one instruction in two cycles of a scheduler; 12 shared-memory loads and 12 shifts for 128 of them.
#ifndef RG_AUTOCORR_GATHER_LINES_CUH
#define RG_AUTOCORR_GATHER_LINES_CUH

#include "tiles.cuh"

enum { AC_STAGE = 8, AC_SEGMENT = 768, AC_SLOT_LINES = 32, AC_BLOCKS_WANTED = 6144 };

typedef struct ac_gather {
    ac_tiles tile;
    int threads, groups, slots, parts;
    int segment, b_pitch; // pixels of a line of a, and bytes of a line of b, in shared memory
} ac_gather;

// Groups of 4 X0 begin at multiples of 4, so that the word of b at a group's first X0 is aligned.
static inline ac_gather ac_gather_of(const ac_plane &p, int k, int threads, int rows) {
    ac_gather g;
    int x0_first = -(p.r + 3) / 4 * 4, groups = (p.r - x0_first) / 4 + 1, tiles = (groups + threads - 1) / threads;
    g.groups = (groups + tiles - 1) / tiles;
    int most = AC_SLOT_LINES / k, needed = (ac_y0_count(p) + k - 1) / k;
    g.slots = threads / g.groups < most ? threads / g.groups : most;
    g.slots = g.slots < needed ? g.slots : needed;
    g.parts = threads / (g.groups * g.slots) < AC_STAGE ? threads / (g.groups * g.slots) : AC_STAGE;
    g.threads = (g.groups * g.slots * g.parts + 31) / 32 * 32;
    g.tile = ac_tiles_of(p, x0_first, 4 * g.groups, k * g.slots, rows, AC_BLOCKS_WANTED, AC_STAGE);
    int segments = (p.width + AC_SEGMENT - 1) / AC_SEGMENT;
    g.segment = ((p.width + segments - 1) / segments + 15) / 16 * 16;
    g.b_pitch = g.segment + (4 * g.groups + 15 + 15) / 16 * 16;
    return g;
}

static inline size_t ac_gather_shared(const ac_gather &g) {
    return (size_t)(AC_STAGE + g.tile.y0s - 1) * AC_SEGMENT + (size_t)AC_STAGE * g.b_pitch;
}

// Multiplies one line of b with K lines of a, 16 pixels a step, from a[x] to a[past]; b points at the word that meets a[x] at
// the thread's first X0. Shifting in the last bytes of the previous word gives the following X0.
template <int K>
static __device__ __forceinline__ void ac_walk(
    unsigned (&sum)[K][4], const unsigned char *a, const unsigned *b, int x, int past) {
    unsigned before = x < past ? b[-1] : 0u;
#pragma unroll 1 // unrolling would only hold more words of a in registers
    for (; x < past; x += 16, b += 4) {
        unsigned word[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            word[i][0] = b[i];
#pragma unroll
            for (int j = 1; j < 4; j++) word[i][j] = __funnelshift_l(before, word[i][0], 8 * j);
            before = word[i][0];
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            uint4 line = *reinterpret_cast<const uint4 *>(a + k * AC_SEGMENT + x);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum[k][j] = __dp4a(line.x, word[0][j], sum[k][j]);
                sum[k][j] = __dp4a(line.y, word[1][j], sum[k][j]);
                sum[k][j] = __dp4a(line.z, word[2][j], sum[k][j]);
                sum[k][j] = __dp4a(line.w, word[3][j], sum[k][j]);
            }
        }
    }
}

// Empties the sums of the thread at (x0, y0) into the sink, times 2^shift.
template <int K, class sink>
static __device__ void ac_empty(unsigned (&sum)[K][4], sink &out, const ac_plane &p, int x0, int y0, int shift) {
    int64_t e = ac_element(p.r, x0, y0);
#pragma unroll
    for (int k = 0; k < K; k++, e += ac_side(p.r))
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (x0 + j >= -p.r && x0 + j <= p.r && y0 + k <= p.r) out.add(e + j, (unsigned long long)sum[k][j] << shift);
            sum[k][j] = 0;
        }
    out.emptied();
}

// The pixels of a that have a partner at any X0 from x0 to x0 + 3.
RG_HD void ac_pixels(const ac_plane &p, int x0, int *first, int *past) {
    *first = (int)ac_first(x0);
    *past = x0 + 3 >= 0 ? p.width : (int)ac_past(p.width, x0 + 3);
}

// All lanes of a warp walk over the same pixels, the union of those they need, so that words of a are broadcast.
static __device__ __forceinline__ void ac_warp_range(const ac_plane &p, bool active, int x0, int *first, int *past) {
    ac_pixels(p, x0, first, past);
    int from = active ? *first : p.width, to = active ? *past : 0;
    for (int lane = 16; lane; lane /= 2) {
        int other_from = __shfl_xor_sync(0xffffffffu, from, lane), other_to = __shfl_xor_sync(0xffffffffu, to, lane);
        from = from < other_from ? from : other_from;
        to = to > other_to ? to : other_to;
    }
    *first = from / 16 * 16;
    *past = to;
}

template <int K, class sink> static __global__ void __launch_bounds__(256, 2) ac_lines(ac_plane p, ac_gather g, sink out) {
    RG_SHARED_DYNAMIC(unsigned char, line_a);
    unsigned char *line_b = line_a + (AC_STAGE + g.tile.y0s - 1) * AC_SEGMENT;
    ac_block block = ac_block_of(p, g.tile, (int)blockIdx.x);
    int slot = (int)threadIdx.x / g.groups % g.slots, part = (int)threadIdx.x / (g.groups * g.slots);
    int x0 = block.x0 + 4 * ((int)threadIdx.x % g.groups), y0 = block.y0 + K * slot;
    bool active = part < g.parts && x0 <= p.r;
    int first, past;
    ac_warp_range(p, active, x0, &first, &past);
    out.begin(block.chunk * g.parts + part);
    unsigned sum[K][4] = {};
    for (int pair = 0; pair < p.planes * p.planes; pair++) {
        const unsigned char *a = p.a + pair / p.planes * p.plane, *b = p.b + pair % p.planes * p.plane;
        int shift = 8 * (pair / p.planes + pair % p.planes), products = 0;
        for (int y = block.first; y < block.past; y += AC_STAGE) {
            int lines = block.past - y < AC_STAGE ? block.past - y : AC_STAGE;
            for (int x = 0; x < p.width; x += g.segment) {
                int b_x = (x - block.x0 - 4 * g.groups) & ~15;
                __syncthreads(); // the previous segment's lines are still being read
                int thread = (int)threadIdx.x;
                ac_fill(line_a, AC_SEGMENT, a, p, x, y + block.y0, g.segment, lines + g.tile.y0s - 1, thread, g.threads);
                ac_fill(line_b, g.b_pitch, b, p, b_x, y, g.b_pitch, lines, thread, g.threads);
                __syncthreads();
                int from = (first > x ? first : x) - x, to = (past < x + g.segment ? past : x + g.segment) - x;
                for (int q = part; active && q < lines; q += g.parts)
                    ac_walk<K>(sum, line_a + (q + slot * K) * AC_SEGMENT,
                        reinterpret_cast<const unsigned *>(line_b + q * g.b_pitch + (from + x - x0 - b_x)), from, to);
                products += AC_STAGE * g.segment;
                bool last = x + g.segment >= p.width && y + AC_STAGE >= block.past;
                if (last || products + AC_STAGE * g.segment > AC_PRODUCTS_MAX) {
                    if (active) ac_empty<K>(sum, out, p, x0, y0, shift);
                    products = 0;
                }
            }
        }
    }
}

template <class sink> static int ac_gather_launch(const rg_call *call, const ac_plane &p, const ac_gather &g, int k, sink out) {
    unsigned grid = (unsigned)ac_blocks(g.tile);
    size_t shared = ac_gather_shared(g);
    if (k == 4)
        RG_LAUNCH((ac_lines<4, sink>), grid, (unsigned)g.threads, shared, call->stream, p, g, out);
    else if (k == 8)
        RG_LAUNCH((ac_lines<8, sink>), grid, (unsigned)g.threads, shared, call->stream, p, g, out);
    else
        return RG_E_PARAM;
    return (int)cudaGetLastError();
}

// Steps of 16 pixels of the warps, in all tiles of X0, if every part had one line of b. A warp issues for 32 lanes, over the
// range of its X0.
static inline double ac_gather_steps(const ac_plane &p, const ac_gather &g) {
    double steps = 0;
    for (int tile_x0 = g.tile.x0_first; tile_x0 <= p.r; tile_x0 += g.tile.x0s)
        for (int warp = 0; warp < g.threads; warp += 32) {
            int first = p.width, past = 0;
            for (int i = warp; i < warp + 32 && i < g.groups * g.slots * g.parts; i++) {
                int x0 = tile_x0 + 4 * (i % g.groups), from, to;
                if (x0 > p.r) continue;
                ac_pixels(p, x0, &from, &to);
                first = from < first ? from : first;
                past = to > past ? to : past;
            }
            steps += past > first ? (past - first / 16 * 16 + 15) / 16 : 0;
        }
    return steps;
}

// Each step: 16 k dp4a of 4 multiply-adds a lane; k broadcast loads of a and 4 of b, 128 bytes of shared memory each.
static inline void ac_gather_cost(const ac_plane &p, const ac_gather &g, int k, rg_cost *c) {
    double lines = ac_lines_walked(p, g.tile) * p.planes * p.planes, steps = ac_gather_steps(p, g) / g.parts;
    double stage = g.tile.rows < AC_STAGE ? g.tile.rows : AC_STAGE, segments = (p.width + g.segment - 1) / g.segment;
    double fill = g.tile.tiles_x * segments * ((1 + (g.tile.y0s - 1) / stage) * g.segment + g.b_pitch);
    c->amount[RG_I8_MAD] = lines * steps * 16 * k * 4 * 32;
    c->amount[RG_SHARED_BYTES] = lines * (steps * (k + 4) * 128 + fill);
    c->amount[RG_MEM_BYTES] = 2.0 * (double)p.plane * p.planes * (p.cross ? 2 : 1);
}

#endif
