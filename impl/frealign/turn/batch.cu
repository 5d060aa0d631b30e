// SPDX-License-Identifier: MIT
// batch of ccp (../batch.cuh).
#include "../batch.cuh"
#include "turns.cuh"

FR_TURN("only the lags needed, many directions a launch");
