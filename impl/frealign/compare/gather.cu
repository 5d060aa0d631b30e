// SPDX-License-Identifier: MIT
// gather of cc3m, presb, sigma2 and ccoef (../gather.cuh).
#include "../gather.cuh"
#include "correlate.cuh"

#define IDEA "the paper's: thread a pixel, reference in texture memory, sums by trees in shared memory"
FR_COMPARE(cc3m, FR_CC3M);
FR_COMPARE(presb, FR_PRESB);
FR_COMPARE(sigma2, FR_SIGMA2);
FR_COMPARE(ccoef, FR_CCOEF);
