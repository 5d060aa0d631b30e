// SPDX-License-Identifier: MIT
// autocorr:gather_two_pass, the paper's earlier version for GPUs without atomics (sec. 2.2): every block stores its partial
// sums, and a second kernel adds them up. The paper found it slower than atomics (reference/published/lu2009.tsv); here it
// hardly is, because multiplication takes much longer. The first kernel is gather's.
//
// Partial sums: [chunk of lines, and part of it][Y0][X0], 64 bits; in an autocorrelation of the half plane Y0 >= 0 only.
#include "gather_lines.cuh"

struct partial_sums {
    unsigned long long *all, *mine;
    int64_t first, part_sums; // first element of sums in a part, elements a part
    bool again;               // the thread alone owns its elements of a part: it stores first, then adds
    __device__ void begin(int part) { mine = all + (part * part_sums - first); }
    __device__ void emptied() { again = true; }
    __device__ void add(int64_t e, unsigned long long part) { mine[e] = again ? mine[e] + part : part; }
};

// Blocks without lines have not stored anything.
static __global__ void add_up(partial_sums from, ac_plane p, ac_tiles t, int parts, unsigned long long *sums) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, e = i + from.first;
    if (i >= from.part_sums) return;
    int y0 = (int)ac_y0(p.r, e), least = ac_y0_least(p), tile_y0 = least + (y0 - least) / t.y0s * t.y0s;
    unsigned long long sum = 0;
    for (int c = 0; c < t.chunks; c++) {
        ac_block block = ac_block_at(p, t, tile_y0, c);
        for (int part = 0; part < parts && block.first < block.past; part++)
            sum += from.all[(c * parts + part) * from.part_sums + i];
    }
    sums[e] = sum;
    if (!p.cross && y0 > 0) sums[ac_mirror(p.r, e)] = sum;
}

enum { THREADS, LINES, ROWS };
static const int64_t threads[] = {64, 128, 256}, lines[] = {4, 8}, rows[] = {0, 8, 16, 32, 64};
static const rg_param params[] = {
    {"block", threads, RG_COUNT(threads), 128, "most threads a block; small offsets need fewer"},
    {"lines", lines, RG_COUNT(lines), 8, "Y0 a thread"},
    {"rows", rows, RG_COUNT(rows), 0, "lines of the photograph a block; 0: so many that there are about 6144 blocks"},
};

static ac_gather layout(const ac_plane &p, const int64_t *param) {
    return ac_gather_of(p, (int)param[LINES], (int)param[THREADS], (int)param[ROWS]);
}

static int64_t part_sums(const ac_plane &p) { return ac_side(p.r) * ac_y0_count(p); }

static size_t scratch(const rg_shape *s, const int64_t *param) {
    ac_plane p = ac_plane_of(s, NULL);
    ac_gather g = layout(p, param);
    return ac_plane_bytes(s) + 8 * (size_t)part_sums(p) * (size_t)g.tile.chunks * (size_t)g.parts;
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    ac_plane p = ac_plane_of(s, NULL);
    ac_gather g = layout(p, param);
    ac_gather_cost(p, g, (int)param[LINES], c);
    // Stored once, updated for each further pair of byte planes, read once.
    double touched = 2.0 + 2 * (p.planes * p.planes - 1);
    c->amount[RG_MEM_BYTES] += 8.0 * (double)part_sums(p) * g.tile.chunks * g.parts * touched;
    c->amount[RG_MEM_BYTES] += 8.0 * (double)ac_side(p.r) * (double)ac_side(p.r);
}

static int run(rg_call *call) {
    ac_plane p = ac_plane_of(call->shape, call->scratch);
    ac_gather g = layout(p, call->param);
    unsigned long long *all = (unsigned long long *)((unsigned char *)call->scratch + ac_plane_bytes(call->shape));
    partial_sums out = {all, NULL, ac_element(p.r, -p.r, ac_y0_least(p)), part_sums(p), false};
    int error = ac_pack_all(call, p, NULL);
    error = error ? error : ac_gather_launch(call, p, g, (int)call->param[LINES], out);
    if (error) return error;
    RG_LAUNCH((add_up), (unsigned)((out.part_sums + 255) / 256), 256, 0, call->stream, out, p, g.tile, g.parts,
        (unsigned long long *)call->arg[AC_SUMS]);
    return (int)cudaGetLastError();
}

RG_VARIANT(autocorr_gather_two_pass) = {
    RG_VARIANT_OF("autocorr", "gather_two_pass", RG_GATHER, RG_DEVICE,
        "gather without atomics: partial sums to memory, a second kernel adds"),
    .needs = "sm_61",
    RG_PARAMS(params),
    .refuse = ac_plane_refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
