// SPDX-License-Identifier: MIT
// test_emulation.h: device memory and the result of launches, for the tests of the emulated GPU.
#pragma once

#include "../../../impl/gpu/cuda.h"
#include "../../../impl/gpu/device.h"
#include "../../../impl/gpu/emulator/emulation.h"
#include "../test.h"

static inline const rg_device *host() { return rg_device_emulated(); }

// Device memory for n elements, zeroed, released at the end of the test.
template <class T> struct Memory {
    T *p;
    size_t n;
    explicit Memory(size_t n_) : n(n_) {
        void *at;
        assert_int_equal(host()->alloc(&at, n * sizeof(T), "memory"), 0);
        p = (T *)at;
        host()->fill(p, 0, n * sizeof(T));
    }
    ~Memory() { host()->release(p); }
    T &operator[](size_t i) { return p[i]; }
};

static __global__ __attribute__((unused)) void reverse(const int *in, int *out) {
    RG_SHARED_DYNAMIC(int, line);
    line[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = line[blockDim.x - 1 - threadIdx.x];
}

// Asserts that the fault of the last launch names kernel and thread and contains these words.
static inline void assert_fault(const char *kernel, const char *words) {
    const char *fault = rg_emulation_fault();
    assert_non_null(fault);
    const bool named = !strncmp(fault, kernel, strlen(kernel)) && strstr(fault, "block (") && strstr(fault, "thread (");
    if (!named || !strstr(fault, words)) fail_msg("the fault is \"%s\", expected %s ... %s", fault, kernel, words);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_not_equal(host()->sync(), 0);
    rg_emulation_reset();
}

static inline void assert_fine() {
    if (rg_emulation_fault()) fail_msg("unexpected fault: %s", rg_emulation_fault());
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}
