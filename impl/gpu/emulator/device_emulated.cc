// SPDX-License-Identifier: MIT
// device_emulated.cc: implements device.h for the emulated GPU. Its memory is the CPU's, registered with memory.cc.
#include "../../base/memory.h"
#include "../ledger.h"
#include "emulation.h"
#include "engine.h"
#include "runtime.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Returns the error and clears it, as on a GPU, so that no later call returns it again.
int told(cudaError_t e) {
    if (e != cudaSuccess) cudaGetLastError();
    return (int)e;
}

int allocate(void **to, size_t bytes, const char *what) {
    const cudaError_t e = rg_emu::allocate(to, bytes, what);
    if (!e) rg_emu::memory_add(*to, bytes);
    return told(e);
}

void release(void *p) {
    rg_emu::memory_remove(p);
    told(rg_emu::release(p));
}

int pinned(void **to, size_t bytes, const char *what) {
    const cudaError_t e = rg_emu::call_fails(cudaErrorMemoryAllocation);
    *to = e ? nullptr : malloc(bytes);
    if (!*to) rg_ledger_refuse(rg_device_cpu(), bytes, what, (size_t)rg_memory_free());
    return told(*to || e ? e : cudaErrorMemoryAllocation);
}

int fault(bool gives = false) { return told(rg_emu::call_fails(cudaErrorLaunchFailure, gives)); }

int sync() // as on a GPU, returns the error of a refused launch that no earlier call returned
{
    const cudaError_t finished = rg_emu::call_fails(cudaErrorLaunchFailure), last = cudaGetLastError();
    return finished ? finished : last;
}

int copy(void *to, const void *from, size_t bytes) {
    const int code = fault();
    if (!code) memcpy(to, from, bytes);
    return code;
}

int fill(void *to, int byte, size_t bytes) {
    const int code = fault();
    if (!code) memset(to, byte, bytes);
    return code;
}

// Each stream is distinct, although all work is done at once, so that work queued on the wrong stream is detected.
int stream_make(void **to) {
    static char stream[1024];
    static unsigned made;
    const cudaError_t e = rg_emu::call_fails(cudaErrorMemoryAllocation);
    *to = e ? nullptr : &stream[made++ % sizeof stream];
    return told(e);
}
void stream_free(void *) { fault(true); }

// Times of an emulated GPU are meaningless: requests for them return an error.
int event_make(void **to) {
    static char event;
    const cudaError_t e = rg_emu::call_fails(cudaErrorMemoryAllocation);
    *to = e ? nullptr : &event;
    return told(e);
}
void event_free(void *) { fault(true); }
int event_record(void *, void *) { return cudaErrorNotSupported; }
int event_ms(void *, void *, double *) { return cudaErrorNotSupported; }
int stream_wait(void *, void *) { return fault(); }
int upload_on(void *to, const void *from, size_t bytes, void *) { return copy(to, from, bytes); }
int flush(void *) { return cudaErrorNotSupported; }

int facts(rg_device_facts *f) {
    const int code = rg_device_cpu()->facts(f);
    const size_t left = rg_ledger_left(rg_device_emulated()), taken = rg_ledger_taken(rg_device_emulated());
    if (code) return code;
    if (left < f->free_bytes) f->free_bytes = left;
    if (left < SIZE_MAX) f->memory_bytes = left + taken;
    snprintf(f->name, sizeof f->name, "emulated GPU");
    f->sm = 90;
    f->shared_bytes = 227 << 10;
    return told(cudaDeviceGetAttribute(&f->multiprocessors, cudaDevAttrMultiProcessorCount, 0));
}

const char *error(int code) { return code < 0 ? rg_device_cpu()->error(code) : cudaGetErrorString((cudaError_t)code); }

} // namespace

const rg_device *rg_device_emulated(void) {
    static const rg_device device = {"host", true, true, allocate, release, copy, copy, fill, sync, stream_make, stream_free,
        event_make, event_free, event_record, event_ms, stream_make, stream_wait, pinned, free, upload_on, copy, flush, facts,
        error};
    return &device;
}
