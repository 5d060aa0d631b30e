// SPDX-License-Identifier: MIT
// none.c: the functions of gpu.cu in a build without CUDA.
#include "../machine/machine.h"

#if !HAVE_CUDA
#include <math.h>

int rg_probe_gpu(const rg_device *device, unsigned wanted, rg_rates *rates) {
    (void)device, (void)wanted;
    *rates = (rg_rates){.l2_bytes_per_s = NAN, .mma_i8_per_s = NAN, .wgmma_i8_per_s = NAN, .isa = ""};
    for (int i = 0; i < RG_RESOURCES; i++) rates->per_s[i] = NAN;
    return RG_OK;
}

int rg_gpu_code(const rg_device *device, int *sass_sm, int *ptx_sm) {
    (void)device;
    *sass_sm = *ptx_sm = 0;
    return RG_E_LIBRARY;
}
#endif
