// SPDX-License-Identifier: MIT
// cufft.cc: cuFFT's calls, implemented by FFTW. FFTW plans once the arrays are known, so a plan here holds the request. FFTW
// needs no work area; each transform overwrites it, as cuFFT would.
#include "cufft.h"
#include "engine.h"
#include <cstring>
#include <fftw3.h>
#include <vector>

namespace {

struct Layout {
    int embed[3], stride, distance;
};

struct Plan {
    bool used, planned, own_area;
    cufftType type;
    int rank, n[3], batch;
    Layout in, out;
    void *area;
    size_t work;
    const void *stream;
};

std::vector<Plan> plans;

// cuFFT has its own runtime: its errors do not appear in the program's.
bool fails(cudaError_t code = cudaErrorLaunchFailure, bool gives = false) {
    if (!rg_emu::call_fails(code, gives)) return false;
    cudaGetLastError();
    return true;
}

Plan *plan_of(cufftHandle h) {
    return h > 0 && (size_t)h <= plans.size() && plans[(size_t)h - 1].used ? &plans[(size_t)h - 1] : nullptr;
}

// embed NULL: dense rows, of n/2 + 1 complex numbers on the complex side of a real transform.
Layout layout_of(const Plan &p, const long long *embed, long long stride, long long distance, bool halved) {
    Layout l = {{1, 1, 1}, embed ? (int)stride : 1, (int)distance};
    long long dense = 1;
    for (int d = 0; d < p.rank; d++) {
        const bool last = d == p.rank - 1;
        l.embed[d] = embed ? (int)embed[d] : halved && last ? p.n[d] / 2 + 1 : p.n[d];
        dense *= l.embed[d];
    }
    if (!embed) l.distance = (int)dense;
    return l;
}

// The number of elements from the first to the last one used.
size_t span(const Plan &p, const Layout &l, bool halved) {
    size_t last = (size_t)(p.batch - 1) * (size_t)l.distance, step = (size_t)l.stride;
    for (int d = p.rank - 1; d >= 0; d--) {
        const int n = halved && d == p.rank - 1 ? p.n[d] / 2 + 1 : p.n[d];
        last += (size_t)(n - 1) * step;
        step *= (size_t)l.embed[d];
    }
    return last + 1;
}

bool real_input(cufftType t) { return t == CUFFT_D2Z || t == CUFFT_R2C; }
bool real_output(cufftType t) { return t == CUFFT_Z2D || t == CUFFT_C2R; }

// The plan h, if it is complete and of this type and its arrays lie in device memory; else NULL, with the reason in why.
Plan *ready(
    cufftHandle h, cufftType type, const void *in, size_t in_bytes, const void *out, size_t out_bytes, cufftResult *why) {
    Plan *p = plan_of(h);
    *why = fails()                             ? CUFFT_EXEC_FAILED
        : !p || !p->planned || p->type != type ? CUFFT_INVALID_PLAN
        : !p->own_area && !p->area             ? CUFFT_NO_WORKSPACE
                                               : CUFFT_SUCCESS;
    if (*why) return nullptr;
    const bool real_in = real_input(type), real_out = real_output(type);
    if (!rg_emu::memory_holds(in, span(*p, p->in, real_out) * in_bytes) ||
        !rg_emu::memory_holds(out, span(*p, p->out, real_in) * out_bytes) ||
        (!p->own_area && !rg_emu::memory_holds(p->area, p->work))) {
        *why = CUFFT_EXEC_FAILED;
        return nullptr;
    }
    if (!rg_emu::stream_right(p->stream, "a transform")) {
        *why = CUFFT_EXEC_FAILED;
        return nullptr;
    }
    memset(p->area, 0xFF, p->work);
    return p;
}

} // namespace

cufftResult cufftCreate(cufftHandle *h) {
    if (fails()) return CUFFT_ALLOC_FAILED;
    Plan p = {};
    p.used = p.own_area = true;
    plans.push_back(p);
    *h = (cufftHandle)plans.size();
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle h) {
    Plan *p = plan_of(h);
    if (!p) return CUFFT_INVALID_PLAN;
    p->used = false;
    if (p->own_area) rg_emu::release(p->area);
    return fails(cudaErrorLaunchFailure, true) ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle h, int automatic) {
    Plan *p = plan_of(h);
    if (!p || p->planned || fails()) return CUFFT_INVALID_PLAN;
    p->own_area = automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle h, void *area) {
    Plan *p = plan_of(h);
    if (!p || !p->planned || fails()) return CUFFT_INVALID_PLAN;
    if (p->own_area) rg_emu::release(p->area);
    p->area = area;
    p->own_area = false;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle h, cudaStream_t stream) {
    Plan *p = fails() ? nullptr : plan_of(h);
    if (p) p->stream = stream;
    return p ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftMakePlanMany64(cufftHandle h, int rank, long long *n, long long *in_embed, long long in_stride,
    long long in_distance, long long *out_embed, long long out_stride, long long out_distance, cufftType type, long long batch,
    size_t *work_bytes) {
    Plan *p = plan_of(h);
    if (!p || p->planned) return CUFFT_INVALID_PLAN;
    if (fails()) return CUFFT_INTERNAL_ERROR;
    if (rank < 1 || rank > 3 || batch < 1) return CUFFT_INVALID_VALUE;
    p->type = type;
    p->rank = rank;
    p->batch = (int)batch;
    for (int d = 0; d < rank; d++) {
        if (n[d] < 1 || n[d] > INT32_MAX) return CUFFT_INVALID_VALUE;
        p->n[d] = (int)n[d];
    }
    const bool real_in = real_input(type), real_out = real_output(type);
    p->in = layout_of(*p, in_embed, in_stride, in_distance, real_out);
    p->out = layout_of(*p, out_embed, out_stride, out_distance, real_in);
    *work_bytes = p->work = span(*p, real_in ? p->out : p->in, real_in || real_out) * sizeof(double2);
    if (p->own_area && rg_emu::allocate(&p->area, p->work, "work area of a transform")) {
        cudaGetLastError();
        return CUFFT_ALLOC_FAILED;
    }
    p->planned = true;
    return CUFFT_SUCCESS;
}

static cufftResult transform(fftw_plan fft) {
    if (!fft) return CUFFT_EXEC_FAILED;
    fftw_execute(fft);
    fftw_destroy_plan(fft);
    return CUFFT_SUCCESS;
}

static cufftResult transform(fftwf_plan fft) {
    if (!fft) return CUFFT_EXEC_FAILED;
    fftwf_execute(fft);
    fftwf_destroy_plan(fft);
    return CUFFT_SUCCESS;
}

// FFTW_ESTIMATE does not change the arrays while it plans. FFTW's complex numbers are cuFFT's under another name.
#define EXEC(TYPE, IN, FFTW_IN, OUT, FFTW_OUT, PLAN)                                                                           \
    cufftResult cufftExec##TYPE(cufftHandle h, IN *in, OUT *out) {                                                             \
        cufftResult why;                                                                                                       \
        const Plan *p = ready(h, CUFFT_##TYPE, in, sizeof *in, out, sizeof *out, &why);                                        \
        return !p ? why                                                                                                        \
                  : transform(PLAN(p->rank, p->n, p->batch, (FFTW_IN *)in, p->in.embed, p->in.stride, p->in.distance,          \
                        (FFTW_OUT *)out, p->out.embed, p->out.stride, p->out.distance, FFTW_ESTIMATE));                        \
    }
EXEC(D2Z, cufftDoubleReal, double, cufftDoubleComplex, fftw_complex, fftw_plan_many_dft_r2c)
EXEC(Z2D, cufftDoubleComplex, fftw_complex, cufftDoubleReal, double, fftw_plan_many_dft_c2r)
EXEC(R2C, cufftReal, float, cufftComplex, fftwf_complex, fftwf_plan_many_dft_r2c)
EXEC(C2R, cufftComplex, fftwf_complex, cufftReal, float, fftwf_plan_many_dft_c2r)

cufftResult cufftExecC2C(cufftHandle h, cufftComplex *in, cufftComplex *out, int direction) {
    cufftResult why;
    const Plan *p = ready(h, CUFFT_C2C, in, sizeof *in, out, sizeof *out, &why);
    return !p ? why
              : transform(fftwf_plan_many_dft(p->rank, p->n, p->batch, (fftwf_complex *)in, p->in.embed, p->in.stride,
                    p->in.distance, (fftwf_complex *)out, p->out.embed, p->out.stride, p->out.distance,
                    direction < 0 ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE));
}
