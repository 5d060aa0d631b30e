// SPDX-License-Identifier: MIT
// batch of ctfapply (../batch.cuh).
#include "../batch.cuh"
#include "apply.cuh"

FR_APPLY("many particles a launch, rings from a sorted list");
