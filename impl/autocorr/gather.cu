// SPDX-License-Identifier: MIT
// autocorr:gather, after Lu et al. 2009, sec. 4.3 and listing 1: lines in shared memory, threads along X0, 64-bit atomic sums.
// The kernel is in gather_lines.cuh. Blocks that own the same offsets over different lines add to the same sums atomically.
//
// Bound: dp4a. Measured: data/machines/h100-16xeon.tsv.
// Three launches: pack the photograph and clear the sums, multiply, copy the half plane (autocorrelations only).
#include "gather_lines.cuh"

struct atomic_sums {
    unsigned long long *sums;
    __device__ void begin(int) {}
    __device__ void emptied() {}
    __device__ void add(int64_t e, unsigned long long part) { atomicAdd(&sums[e], part); }
};

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

static size_t scratch(const rg_shape *s, const int64_t *) { return ac_plane_bytes(s); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    ac_plane p = ac_plane_of(s, NULL);
    ac_gather g = layout(p, param);
    ac_gather_cost(p, g, (int)param[LINES], c);
    double sums = (double)ac_side(p.r) * (double)ac_side(p.r);
    c->amount[RG_ATOMIC] = (double)ac_side(p.r) * ac_y0_count(p) * g.tile.chunks * g.parts * p.planes * p.planes;
    c->amount[RG_MEM_BYTES] += 16 * sums;
}

static int run(rg_call *call) {
    ac_plane p = ac_plane_of(call->shape, call->scratch);
    atomic_sums out = {(unsigned long long *)call->arg[AC_SUMS]};
    int error = ac_pack_all(call, p, out.sums);
    error = error ? error : ac_gather_launch(call, p, layout(p, call->param), (int)call->param[LINES], out);
    return error ? error : ac_mirror_all(call, p, out.sums);
}

RG_VARIANT(autocorr_gather) = {
    RG_VARIANT_OF(
        "autocorr", "gather", RG_GATHER, RG_DEVICE, "lines in shared memory, 4 X0 x 8 Y0 a thread by dp4a, atomic sums"),
    .needs = "sm_61",
    RG_PARAMS(params),
    .refuse = ac_plane_refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
