// SPDX-License-Identifier: MIT
// scatter of cc3m, presb, sigma2 and ccoef (../scatter.cuh).
#include "../scatter.cuh"
#include "correlate.cuh"

#define IDEA "thread a pixel, sums by double-precision atomics"
FR_COMPARE(cc3m, FR_CC3M);
FR_COMPARE(presb, FR_PRESB);
FR_COMPARE(sigma2, FR_SIGMA2);
FR_COMPARE(ccoef, FR_CCOEF);
