// SPDX-License-Identifier: MIT
// emulation.h: what the harness sees of the emulated GPU. Kernels see host_cuda.h instead.
//
// The .cu files, compiled as C++ with -DRG_EMULATED, run their blocks one after another on one CPU thread, a fiber for each
// CUDA thread. Block and thread order are drawn from the seed. Kernel code is compiled with the *instrumentation* of
// ThreadSanitizer (-fsanitize=thread, never its run-time library): every load and store calls into memory.cc, which checks it
// against the buffers of the device and remembers who touched the byte last, since which barrier. A fault ends the launch.
#pragma once

#include "../../suite.h"

#ifdef __cplusplus
extern "C" {
#endif

// Block and thread order of the launches that follow. Every launch draws on from it, so two equal runs need a new call between.
void rg_emulation_seed(uint64_t seed);

// The first fault since rg_emulation_reset: "kernel, block (2,0,0), thread (31,0,0): ...", or NULL. Sticky, as on a GPU.
const char *rg_emulation_fault(void);
void rg_emulation_reset(void);

// Narrows what kernels may touch of the allocation that holds base to these bytes: the arena's guards then lie outside.
void rg_emulation_extent(const void *base, size_t bytes);

// From now on kernels, copies and transforms have to be queued on this stream; NULL: on any.
void rg_emulation_stream(const void *);

// Loads, stores and atomics of kernels so far, and 32 for every switch to a thread: work, as a number that is the same in
// every run.
double rg_emulation_accesses(void);

#ifdef __cplusplus
}
#endif
