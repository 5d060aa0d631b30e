// SPDX-License-Identifier: MIT
// scatter of ctfapply (../scatter.cuh).
#include "../scatter.cuh"
#include "apply.cuh"

FR_APPLY("thread a pixel, rings and the mask's mean by atomics");
