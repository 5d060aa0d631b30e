// SPDX-License-Identifier: MIT
// gather of ccp (../gather.cuh).
#include "../gather.cuh"
#include "turns.cuh"

FR_TURN("lags by transforms, norms by trees, reference in texture memory");
