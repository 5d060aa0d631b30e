// SPDX-License-Identifier: MIT
// batch.cu: batch of cc3m, presb, sigma2 and ccoef (../batch.cuh).
//
// ccoef needs no transform at all: by Parseval's theorem its three sums over pixels are sums over the half plane, where
// coefficients with i > 0 count twice, for their mates. One kernel reads D, c and the reference and writes three numbers per
// block.
#include "../batch.cuh"
#include "correlate.cuh"

#define IDEA "many particles and trials a launch, rings from a sorted list, sums in a fixed order"
FR_COMPARE(cc3m, FR_CC3M);
FR_COMPARE(presb, FR_PRESB);
FR_COMPARE(sigma2, FR_SIGMA2);

// ---- ccoef without transforms --------------------------------------------------------------------------------------------

template <int how> static __global__ void half_plane_sums(fr_input in, fr_memory f3, int64_t first, double *part) {
    __shared__ double tree[32 * fr_whole_sums::n];
    const int64_t call = first + blockIdx.y, stored = (int64_t)in.side * in.width;
    const float *pose = in.pose + call * FR_POSE_FLOATS;
    double v[fr_whole_sums::n] = {};
    for (int at = (int)(blockIdx.x * blockDim.x + threadIdx.x); at < in.outer * (2 * in.outer - 1);
         at += (int)(gridDim.x * blockDim.x)) {
        const int row = at / in.outer, i = at - row * in.outer, j = row - in.outer + 1;
        if (!fr_in_band(in.side, i, j, in.inner, in.outer)) continue;
        const int64_t e = call / in.trials * stored + (int64_t)(j < 0 ? j + in.side : j) * in.width + i;
        const float f = fr_factor(in, e, false);
        const float2 s = fr_section<how>(in, f3, pose, i, j), a = make_float2(f * s.x, f * s.y), d = fr_complex(in.x, e);
        const double twice = i ? 2 : 1;
        v[0] += twice * fr_square(a);
        v[1] += twice * fr_square(d);
        v[2] += twice * fr_real_product(fr_times(d, fr_turn(pose, i, j)), a);
    }
    fr_block_sum<fr_whole_sums::n>(v, tree);
    for (int k = 0; k < fr_whole_sums::n && threadIdx.x == 0; k++)
        part[((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * fr_whole_sums::n + k] = v[k];
}

// Enough blocks for the GPU whatever the number of calls; at least 4 positions per thread.
static int64_t parts_of(const rg_shape *s, int64_t calls) {
    const int64_t all = s->n[FR_OUTER] * (2 * s->n[FR_OUTER] - 1), most = (all + 4 * FR_THREADS - 1) / (4 * FR_THREADS);
    const int64_t wanted = (1056 + calls - 1) / calls;
    return most < wanted ? most : wanted;
}

static size_t scratch_ccoef(const rg_shape *s, const int64_t *param) {
    const int64_t calls = fr_calls_at_once(s, param[FR_P_CALLS]);
    return (size_t)(calls * (parts_of(s, calls) + 1)) * fr_whole_sums::n * sizeof(double);
}

static void cost_ccoef(const rg_shape *s, const int64_t *param, rg_cost *c) {
    fr_section_cost(s, param, TEXTURE, c);
    c->amount[RG_F32_MAD] -= (double)fr_calls(s) * fr_transforms_mad(s);
}

static int run_ccoef(rg_call *call) {
    const fr_input in = fr_input_of(call);
    const fr_memory f3 = {in.f3, in.pairs};
    const int64_t all = fr_calls(call->shape), step = fr_calls_at_once(call->shape, call->param[FR_P_CALLS]);
    const int64_t parts = parts_of(call->shape, step);
    double *part = (double *)call->scratch, *sums = part + step * parts * fr_whole_sums::n;
    for (int64_t first = 0; first < all; first += step) {
        const unsigned count = (unsigned)(all - first < step ? all - first : step);
        const dim3 grid((unsigned)parts, count);
#define SUM(how) RG_LAUNCH((half_plane_sums<how>), grid, FR_THREADS, 0, call->stream, in, f3, first, part)
        FR_FOR_INTERPOLATION(call->shape->n[FR_KIND], SUM)
        RG_LAUNCH((fr_combine<fr_whole_sums::n>), count, FR_THREADS, 0, call->stream, part, (int)parts, sums);
        RG_LAUNCH((fr_coefficients), fr_blocks(count, 64), 64, 0, call->stream, sums, (int)count,
            (float *)call->arg[FR_SCORE] + first);
        const int error = (int)cudaGetLastError();
        if (error) return error;
    }
    return RG_OK;
}

FR_DESCRIPTOR(ccoef, "sums over the half plane instead of pixels (Parseval): no transforms", RG_PARAMS(params),
    .scratch = scratch_ccoef, .cost = cost_ccoef, .run = run_ccoef);
