// SPDX-License-Identifier: MIT
// runtime.cc: the CUDA runtime calls of variants, on the CPU's memory. Copies check that device memory has been allocated.
#include "runtime.h"
#include "../ledger.h"
#include "emulation.h"
#include "engine.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

static cudaError_t last_error, broken; // returned once; returned by every call

void rg_launch_status(int code) {
    if (code && !last_error) last_error = (cudaError_t)code;
}

static cudaError_t noted(cudaError_t code) {
    rg_launch_status(code);
    return code;
}

static cudaError_t sticky() { return rg_emulation_fault() ? cudaErrorLaunchFailure : broken; }

// 1: this call fails; 2: the device is broken from now on.
static int fault_of_call(bool takes, bool gives) {
    static int (*const fault)(int, int) = (int (*)(int, int))dlsym(RTLD_DEFAULT, "rg_fault_cuda");
    return fault ? fault(takes, gives) : 0;
}

cudaError_t rg_emu::call_fails(cudaError_t code, bool gives) {
    const int fault = fault_of_call(code == cudaErrorMemoryAllocation, gives);
    if (fault == 2) broken = cudaErrorIllegalAddress;
    const cudaError_t stuck = sticky();
    return stuck ? stuck : fault ? noted(code) : cudaSuccess;
}

// As on a GPU, the error of a faulted launch persists; others are returned once.
cudaError_t cudaGetLastError() {
    const cudaError_t stuck = sticky(), code = stuck ? stuck : last_error;
    last_error = cudaSuccess;
    return code;
}

cudaError_t cudaPeekAtLastError() {
    const cudaError_t stuck = sticky();
    return stuck ? stuck : last_error;
}

enum : size_t { ALIGN = 512 }; // as cudaMalloc's, on which textures rely

cudaError_t rg_emu::allocate(void **to, size_t bytes, const char *what) {
    const rg_device *device = rg_device_emulated();
    cudaError_t e = call_fails(cudaErrorMemoryAllocation);
    rg_ledger_block *entry = e ? nullptr : rg_ledger_take(device, bytes, what);
    *to = entry ? aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN) : nullptr;
    rg_ledger_place(entry, *to);
    if (!*to && !e) e = noted(cudaErrorMemoryAllocation);
    if (e == cudaErrorMemoryAllocation) {
        rg_device_facts facts;
        rg_ledger_refuse(device, bytes, what, device->facts(&facts) ? 0 : facts.free_bytes);
    }
    return e;
}

cudaError_t rg_emu::release(void *p) {
    if (!p) return cudaSuccess;
    rg_ledger_give(p);
    free(p);
    return call_fails(cudaErrorLaunchFailure, true);
}

const char *cudaGetErrorString(cudaError_t code) {
    const char *fault = rg_emulation_fault();
    switch (code) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid launch configuration";
    case cudaErrorInvalidPitchValue: return "invalid pitch";
    case cudaErrorInvalidChannelDescriptor: return "invalid channel descriptor";
    case cudaErrorInvalidFilterSetting: return "linear filtering of a texture that is read as integers";
    case cudaErrorInvalidNormSetting: return "normalised reading of 32-bit integers";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure: return fault ? fault : "launch failure";
    case cudaErrorNotSupported: return "not supported by the emulated GPU";
    }
    return "unknown error";
}

// Whether the device side of a copy lies in device memory; the CPU's memory cannot be checked here.
static bool device_side(const void *p, size_t bytes, bool is_device) {
    return !is_device || !bytes || rg_emu::memory_holds(p, bytes);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    cudaMemcpyKind kind, cudaStream_t stream) {
    if (!width || !height) return cudaSuccess;
    if (!rg_emu::stream_right(stream, "a copy")) return cudaErrorLaunchFailure;
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorLaunchFailure)) return e;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (width > to_pitch || width > from_pitch) return noted(cudaErrorInvalidPitchValue);
    if (!device_side(to, to_pitch * (height - 1) + width, to_device) ||
        !device_side(from, from_pitch * (height - 1) + width, from_device))
        return noted(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; y++) memcpy((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int byte, size_t width, size_t height, cudaStream_t stream) {
    if (!width || !height) return cudaSuccess;
    if (!rg_emu::stream_right(stream, "a memset")) return cudaErrorLaunchFailure;
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorLaunchFailure)) return e;
    if (width > pitch) return noted(cudaErrorInvalidPitchValue);
    if (!device_side(to, pitch * (height - 1) + width, true)) return noted(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; y++) memset((char *)to + y * pitch, byte, width);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
    return cudaMemset2DAsync(to, bytes, byte, bytes, 1, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
    const cudaError_t e = rg_emu::call_fails(cudaErrorLaunchFailure);
    return e ? e : cudaPeekAtLastError();
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return rg_emu::call_fails(cudaErrorLaunchFailure);
}

// A small GPU of compute capability 9.0.
enum { MULTIPROCESSORS = 4, THREADS = 2048, BLOCKS = 32 };

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int) {
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorLaunchFailure)) return e;
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 << 10; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = 32; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; return cudaSuccess;
    case cudaDevAttrL2CacheSize: *value = 4 << 20; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = THREADS; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 << 10; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; return cudaSuccess;
    }
    return noted(cudaErrorInvalidValue);
}

cudaError_t rg_func_set_attribute(const void *kernel, cudaFuncAttribute which, int value) {
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorInvalidValue)) return e;
    if (which == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    return noted((cudaError_t)rg_emu::shared_limit(kernel, value));
}

cudaError_t rg_occupancy(int *blocks, int block_threads, size_t shared_bytes) {
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorInvalidValue)) return e;
    if (block_threads < 1) return noted(cudaErrorInvalidValue);
    int most = THREADS / block_threads;
    if (shared_bytes && (size_t)most > (228u << 10) / (shared_bytes + 1024))
        most = (int)((228u << 10) / (shared_bytes + 1024)); // each block takes 1 KiB besides its own
    *blocks = most < BLOCKS ? most : BLOCKS;
    return cudaSuccess;
}
