// SPDX-License-Identifier: MIT
// gather of ctfapply (../gather.cuh).
#include "../gather.cuh"
#include "apply.cuh"

FR_APPLY("a block owns a ring, sums by trees in shared memory");
