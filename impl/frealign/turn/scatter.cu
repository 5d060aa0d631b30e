// SPDX-License-Identifier: MIT
// scatter of ccp (../scatter.cuh).
#include "../scatter.cuh"
#include "turns.cuh"

FR_TURN("lags by transforms, norms by atomics");
