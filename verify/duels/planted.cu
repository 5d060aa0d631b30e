// SPDX-License-Identifier: MIT
// planted.cu: like planted.c, on a GPU: one thread an offset, which after its sum waits for a percentage of the sum's time.
#include "gpu/cuda.h"
#include "autocorr/index.h"

static const int64_t percents[] = {0, 1, 2, 3, 5, 10};
static const rg_param params[] = {{"percent", percents, RG_COUNT(percents), 0, "time of each thread added to that of its sum"}};

static __global__ void kernel(const uint8_t *a, int64_t *sums, int64_t width, int64_t height, int64_t r, int64_t percent) {
    const int64_t side = 2 * r + 1, e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= side * side) return;
#ifndef RG_EMULATED
    const long long began = clock64();
#endif
    const int64_t x0 = e % side - r, y0 = e / side - r;
    int64_t sum = 0;
    for (int64_t y = ac_first(y0); y < ac_past(height, y0); y++)
        for (int64_t x = ac_first(x0); x < ac_past(width, x0); x++) sum += a[y * width + x] * a[(y - y0) * width + x - x0];
    sums[ac_element(r, x0, y0)] = sum;
#ifndef RG_EMULATED // where nothing is timed
    const long long ended = clock64();
    while (100 * (clock64() - ended) < percent * (ended - began))
        ;
#else
    (void)percent;
#endif
}

static int run(rg_call *call) {
    enum { BLOCK = 128 };
    const int64_t *n = call->shape->n, r = n[AC_R], elements = (2 * r + 1) * (2 * r + 1);
    RG_LAUNCH(kernel, (unsigned)((elements + BLOCK - 1) / BLOCK), BLOCK, 0, call->stream, (const uint8_t *)call->arg[AC_A],
        (int64_t *)call->arg[AC_SUMS], n[AC_WIDTH], n[AC_HEIGHT], r, call->param[0]);
    return (int)cudaGetLastError();
}

static const char *refuse(const rg_shape *shape, const int64_t *) {
    return shape->n[AC_KIND] ? "8-bit autocorrelation only" : NULL;
}

RG_VARIANT(autocorr_planted) = {
    RG_VARIANT_OF("autocorr", "planted", RG_OTHER, RG_DEVICE, "slower by a known share"),
    RG_PARAMS(params),
    .refuse = refuse,
    .run = run,
};
RG_PLUGIN = {&RG_VARIANT_SYMBOL(autocorr_planted), NULL};
