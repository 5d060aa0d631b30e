// SPDX-License-Identifier: MIT
// cube.cuh: the memory that cuFFT allocates to transform a cube (rg_fft_cube), computed before any allocation.
#pragma once

#include "../../gpu/fft.cuh"

// Bytes of the work area of one in-place transform, as rg_fft_make plans it; 0 if that side has no plan.
static inline size_t pl_cube_work(cufftType type, int64_t side) {
    long long n[3] = {side, side, side}, real[3] = {side, side, 2 * (side / 2 + 1)}, half[3] = {side, side, side / 2 + 1};
    const long long halves = half[0] * half[1] * half[2];
    const bool back = type == CUFFT_C2R;
    size_t bytes = 0;
    cufftHandle plan;
    if (cufftCreate(&plan) != CUFFT_SUCCESS) return 0;
    const bool good = !cufftSetAutoAllocation(plan, 0) &&
        !cufftMakePlanMany64(plan, 3, n, back ? half : real, 1, back ? halves : 2 * halves, back ? real : half, 1,
            back ? 2 * halves : halves, type, 1, &bytes);
    cufftDestroy(plan);
    return good ? bytes : 0;
}
