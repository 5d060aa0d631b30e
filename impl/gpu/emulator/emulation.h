// SPDX-License-Identifier: MIT
// emulation.h: the harness's interface to the emulated GPU. Kernels use host_cuda.h instead.
//
// The .cu files, compiled as C++ with -DRG_EMULATED, run their blocks one after another on one CPU thread, with one fiber per
// CUDA thread. The seed determines the order of blocks and threads. Kernel code is compiled with the *instrumentation* of
// ThreadSanitizer (-fsanitize=thread, never its run-time library): every load and store calls memory.cc, which checks it
// against the buffers of the device and records which thread last accessed the byte, and after which barrier. A fault ends the
// launch.
#pragma once

#include "../../suite.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the order of blocks and threads of later launches. Each launch continues the sequence: equal runs need a new call
// between them.
void rg_emulation_seed(uint64_t seed);

// The first fault since rg_emulation_reset: "kernel, block (2,0,0), thread (31,0,0): ...", or NULL. Sticky, as on a GPU.
const char *rg_emulation_fault(void);
void rg_emulation_reset(void);

// Restricts kernels to these bytes of the allocation that holds base, so that the arena's guards lie outside.
void rg_emulation_extent(const void *base, size_t bytes);

// From now on kernels, copies and transforms must be queued on this stream; NULL: on any.
void rg_emulation_stream(const void *);

// Loads, stores and atomics of kernels so far, plus 32 for every switch of threads: a measure of work that is the same in every
// run.
double rg_emulation_accesses(void);

#ifdef __cplusplus
}
#endif
