// SPDX-License-Identifier: MIT
// device_emulated.cc: the emulated GPU as a device of the harness. Its memory is the CPU's, known to memory.cc.
#include "../device.h"
#include "emulation.h"
#include "engine.h"
#include "runtime.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

enum : size_t { ALIGN = 512 }; // as cudaMalloc's, which textures count on

void *allocate(size_t bytes)
{
    void *p = rg_emu::call_fails() ? nullptr : aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
    if (p) rg_emu::memory_add(p, bytes);
    return p;
}

void release(void *p)
{
    rg_emu::memory_remove(p);
    free(p);
}

void *pinned(size_t bytes) { return rg_emu::call_fails() ? nullptr : malloc(bytes); }

int fault() { return rg_emulation_fault() || rg_emu::call_fails() ? (int)cudaErrorLaunchFailure : RG_OK; }

int sync() // as of a GPU, a launch that was refused is told here, where nobody has asked before
{
    const int code = fault();
    return code ? code : (int)cudaGetLastError();
}

int copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return fault();
}

int fill(void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
    return fault();
}

// Streams differ, though all work is done at once, so that work queued on another one than meant can be told.
void *stream_make()
{
    static char stream[1024];
    static unsigned made;
    return rg_emu::call_fails() ? nullptr : &stream[made++ % sizeof stream];
}
void stream_free(void *) {}

// Times of an emulated GPU mean nothing: whoever asks for one gets an error.
void *event_make() { return nullptr; }
void event_free(void *) {}
int event_record(void *, void *) { return cudaErrorNotSupported; }
int event_ms(void *, void *, double *) { return cudaErrorNotSupported; }
int stream_wait(void *, void *) { return RG_OK; }
int upload_on(void *to, const void *from, size_t bytes, void *) { return copy(to, from, bytes); }
int flush(void *) { return cudaErrorNotSupported; }

int facts(rg_device_facts *f)
{
    rg_device_cpu()->facts(f);
    snprintf(f->name, sizeof f->name, "emulated GPU");
    f->sm = 90;
    f->shared_bytes = 227 << 10;
    return cudaDeviceGetAttribute(&f->multiprocessors, cudaDevAttrMultiProcessorCount, 0);
}

const char *error(int code) { return code < 0 ? rg_device_cpu()->error(code) : cudaGetErrorString((cudaError_t)code); }

} // namespace

const rg_device *rg_device_emulated(void)
{
    static const rg_device device = {"host", true, true, allocate, release, copy, copy, fill, sync, stream_make, stream_free,
        event_make, event_free, event_record, event_ms, stream_make, stream_wait, pinned, free, upload_on, copy, flush, facts,
        error};
    return &device;
}
