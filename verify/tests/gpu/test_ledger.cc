// SPDX-License-Identifier: MIT
// test_ledger.cc: a device's ledger, its limit of memory, and that an error is reported once, on the emulated GPU.
#include "../../../impl/gpu/emulator/cufft.h"
#include "../../../impl/gpu/ledger.h"
#include "test_emulation.h"

// Called by the emulator at each of its calls (verify/faults has a library that replaces it): makes the n-th fail, or the
// device broken from then on.
static int countdown, answer;
extern "C" int rg_fault_cuda(int takes_memory, int gives_back);
extern "C" int rg_fault_cuda(int, int) { return countdown && --countdown == 0 ? answer : 0; }

static void fail_call(int n, int how) {
    countdown = n;
    answer = how;
}

static size_t bytes_of(const char *what, bool peak) {
    rg_ledger_row row[RG_LEDGER_ROWS];
    const int n = rg_ledger_rows(host(), row);
    for (int i = 0; i < n; i++)
        if (!strcmp(row[i].what, what)) return peak ? row[i].peak : row[i].bytes;
    return 0;
}

TEST(blocks_by_name) {
    void *a, *b, *c;
    const size_t before = rg_ledger_taken(host());
    assert_int_equal(host()->alloc(&a, 1000, "first"), 0);
    assert_int_equal(host()->alloc(&b, 500, "second"), 0);
    assert_int_equal(host()->alloc(&c, 700, "first"), 0);
    assert_int_equal(bytes_of("first", false), 1700);
    assert_int_equal(rg_ledger_taken(host()), before + 2200);
    host()->release(a);
    assert_int_equal(bytes_of("first", false), 700);
    assert_int_equal(bytes_of("first", true), 1700);
    assert_int_equal(rg_ledger_taken(host()), before + 1200);
    assert_int_equal(rg_ledger_peak(host()), before + 2200);
    rg_ledger_begin(host());
    assert_int_equal(rg_ledger_peak(host()), before + 1200);
    rg_ledger_row row[RG_LEDGER_ROWS];
    const int n = rg_ledger_rows(host(), row);
    for (int i = 1; i < n; i++) assert_true(row[i - 1].peak >= row[i].peak);
    host()->release(b);
    host()->release(c);
    assert_int_equal(rg_ledger_taken(host()), before);
}

// Memory that kernels and transforms allocate by calls of CUDA and cuFFT.
TEST(textures_and_work_areas) {
    const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cufftHandle plan;
    size_t work;
    long long side[1] = {64};
    assert_int_equal(cudaMallocArray(&array, &real, 30, 20), cudaSuccess);
    assert_int_equal(bytes_of("texture", false), 30 * 20 * 4);
    assert_int_equal(cudaFreeArray(array), cudaSuccess);
    assert_int_equal(bytes_of("texture", false), 0);
    for (int automatic = 0; automatic < 2; automatic++) {
        assert_int_equal(cufftCreate(&plan), CUFFT_SUCCESS);
        assert_int_equal(cufftSetAutoAllocation(plan, automatic), CUFFT_SUCCESS);
        assert_int_equal(
            cufftMakePlanMany64(plan, 1, side, nullptr, 1, 64, nullptr, 1, 64, CUFFT_C2C, 2, &work), CUFFT_SUCCESS);
        assert_int_equal(bytes_of("work area of a transform", false), automatic ? work : 0);
        assert_int_equal(cufftDestroy(plan), CUFFT_SUCCESS);
        assert_int_equal(bytes_of("work area of a transform", false), 0);
    }
}

TEST(memory_made_small) {
    void *a, *b;
    rg_device_facts facts;
    const size_t before = rg_ledger_taken(host());
    assert_int_equal(setenv("REGATHER_GPU_MEMORY", fmt("%zuB", before + 3000), 1), 0);
    assert_int_equal(host()->alloc(&a, 1000, "some"), 0);
    assert_int_equal(host()->facts(&facts), 0);
    assert_int_equal(facts.memory_bytes, before + 3000);
    assert_int_equal(facts.free_bytes, 2000);
    assert_int_equal(host()->alloc(&b, 2001, "slots"), cudaErrorMemoryAllocation);
    assert_null(b);
    assert_int_equal(host()->sync(), 0); // reported once
    char why[200];
    assert_true(rg_ledger_refused(why));
    assert_string_equal(
        why, fmt("no memory on host for 1.95 KiB of slots; 1.95 KiB are free of --gpu-memory %zuB", before + 3000));
    assert_false(rg_ledger_refused(why)); // cleared
    assert_int_equal(host()->alloc(&b, 2000, "slots"), 0);
    cudaArray_t array;
    const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    assert_int_equal(cudaMallocArray(&array, &real, 1, 1), cudaErrorMemoryAllocation);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    host()->release(a);
    host()->release(b);
    assert_int_equal(unsetenv("REGATHER_GPU_MEMORY"), 0);
    assert_int_equal(rg_ledger_left(host()), SIZE_MAX);
    assert_int_equal(rg_ledger_taken(host()), before);
}

TEST(errors_told_once) {
    void *made;
    for (int which = 0; which < 5; which++) {
        fail_call(1, 1);
        const int code = which == 0 ? host()->alloc(&made, 10, "block")
            : which == 1            ? host()->pinned(&made, 10, "block")
            : which == 2            ? host()->stream_make(&made)
            : which == 3            ? host()->event_make(&made)
                                    : host()->stream_urgent(&made);
        assert_int_equal(code, cudaErrorMemoryAllocation);
        assert_null(made);
        assert_int_equal(host()->sync(), 0);
    }
    fail_call(1, 1);
    assert_int_equal(host()->sync(), cudaErrorLaunchFailure);
    assert_int_equal(host()->sync(), 0);
}

// The last test, since the device stays broken: each call reports it.
TEST(a_broken_device) {
    void *a, *b;
    rg_device_facts facts;
    assert_int_equal(host()->alloc(&a, 10, "block"), 0);
    fail_call(3, 2);
    assert_int_equal(host()->fill(a, 0, 10), 0);
    assert_int_equal(host()->fill(a, 0, 10), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host()->fill(a, 0, 10), cudaErrorIllegalAddress);
        assert_int_equal(host()->alloc(&b, 10, "block"), cudaErrorIllegalAddress);
        assert_int_equal(host()->stream_make(&b), cudaErrorIllegalAddress);
        assert_int_equal(host()->facts(&facts), cudaErrorIllegalAddress);
        assert_int_equal(host()->sync(), cudaErrorIllegalAddress);
        assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    }
    host()->release(a);
    assert_int_equal(rg_ledger_taken(host()), 0);
}
