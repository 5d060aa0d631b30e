// SPDX-License-Identifier: MIT
// add.h: to += from, queued on a stream of the GPU. Private to sums.c.
#pragma once

#include "../../suite.h"

RG_C int pl_add_emulated(void *stream, int64_t n, const float *from, float *to);
RG_C int pl_add_gpu(void *stream, int64_t n, const float *from, float *to); // in a build with CUDA
