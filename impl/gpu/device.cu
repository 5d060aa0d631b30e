// SPDX-License-Identifier: MIT
// device.cu: implements device.h for CUDA GPUs. All runtime calls of the harness are in this file.
#include "../base/memory.h"
#include "../suite.h"
#include "ledger.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <cufft.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <vector>

static rg_device gpus[RG_GPUS_MAX];
static thread_local int opened = -1; // the current GPU of this thread, as in the CUDA runtime

// Returns the error and clears the runtime's copy, so that no later call returns it again.
static int told(cudaError_t e) {
    if (e != cudaSuccess) cudaGetLastError();
    return (int)e;
}

// ---- memory --------------------------------------------------------------------------------------------------------------

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t free_bytes() {
    size_t bytes = 0, all;
    told(cudaMemGetInfo(&bytes, &all));
    return least(bytes, rg_ledger_left(&gpus[opened]));
}

// Records `bytes` in the ledger as `what` and, if the limit allows, calls make() to allocate them. Returns the code of make.
template <class MAKE, class HANDLE> static cudaError_t entered(size_t bytes, const char *what, HANDLE *to, MAKE make) {
    rg_ledger_block *entry = rg_ledger_take(&gpus[opened], bytes, what);
    *to = nullptr;
    const cudaError_t e = entry ? make() : cudaErrorMemoryAllocation;
    rg_ledger_place(entry, e == cudaSuccess ? (const void *)*to : nullptr);
    if (e == cudaErrorMemoryAllocation) rg_ledger_refuse(&gpus[opened], bytes, what, free_bytes());
    return e;
}

static int gpu_alloc(void **to, size_t bytes, const char *what) {
    return told(entered(bytes, what, to, [&] { return cudaMalloc(to, bytes); }));
}
static void gpu_release(void *p) {
    rg_ledger_give(p);
    told(cudaFree(p));
}

// Kernels' and transforms' own allocations come here, too: the linker renames their calls (--wrap in the Makefile).
extern "C" {
cudaError_t __real_cudaMallocArray(cudaArray_t *, const cudaChannelFormatDesc *, size_t width, size_t height, unsigned flags);
cudaError_t __real_cudaMalloc3DArray(cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned flags);
cudaError_t __real_cudaFreeArray(cudaArray_t);

static size_t array_bytes(const cudaChannelFormatDesc *t, size_t width, size_t height, size_t depth) {
    return (size_t)(t->x + t->y + t->z + t->w) / 8 * width * (height ? height : 1) * (depth ? depth : 1);
}

cudaError_t __wrap_cudaMallocArray(
    cudaArray_t *to, const cudaChannelFormatDesc *texel, size_t width, size_t height, unsigned flags) {
    return entered(array_bytes(texel, width, height, 0), "texture", to,
        [&] { return __real_cudaMallocArray(to, texel, width, height, flags); });
}

cudaError_t __wrap_cudaMalloc3DArray(cudaArray_t *to, const cudaChannelFormatDesc *texel, cudaExtent e, unsigned flags) {
    return entered(array_bytes(texel, e.width, e.height, e.depth), "texture", to,
        [&] { return __real_cudaMalloc3DArray(to, texel, e, flags); });
}

cudaError_t __wrap_cudaFreeArray(cudaArray_t array) {
    rg_ledger_give(array);
    return __real_cudaFreeArray(array);
}

cufftResult __real_cufftMakePlanMany64(cufftHandle, int, long long *, long long *, long long, long long, long long *, long long,
    long long, cufftType, long long, size_t *);
cufftResult __real_cufftSetAutoAllocation(cufftHandle, int);
cufftResult __real_cufftDestroy(cufftHandle);
}

// Work areas that plans would otherwise allocate themselves; nullptr: the caller provides one.
static std::map<cufftHandle, void *> areas;
static std::mutex areas_lock;

extern "C" cufftResult __wrap_cufftSetAutoAllocation(cufftHandle plan, int automatic) {
    const std::lock_guard<std::mutex> held(areas_lock);
    if (!automatic) areas[plan] = nullptr;
    return __real_cufftSetAutoAllocation(plan, automatic);
}

extern "C" cufftResult __wrap_cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *in, long long in_stride,
    long long in_distance, long long *out, long long out_stride, long long out_distance, cufftType type, long long batch,
    size_t *bytes) {
    const std::lock_guard<std::mutex> held(areas_lock);
    const bool own = !areas.count(plan);
    void *area = nullptr;
    cufftResult e = own ? __real_cufftSetAutoAllocation(plan, 0) : CUFFT_SUCCESS;
    if (!e)
        e = __real_cufftMakePlanMany64(
            plan, rank, n, in, in_stride, in_distance, out, out_stride, out_distance, type, batch, bytes);
    if (e || !own || !*bytes) return e;
    if (gpu_alloc(&area, *bytes, "work area of a transform")) return CUFFT_ALLOC_FAILED;
    areas[plan] = area;
    return cufftSetWorkArea(plan, area);
}

extern "C" cufftResult __wrap_cufftDestroy(cufftHandle plan) {
    const std::lock_guard<std::mutex> held(areas_lock);
    const cufftResult e = __real_cufftDestroy(plan);
    const auto area = areas.find(plan);
    if (area == areas.end()) return e;
    if (area->second) gpu_release(area->second);
    areas.erase(area);
    return e;
}

// cudaMemcpy from pageable memory returns when the last piece is staged, before it has arrived, and our streams do not wait for
// the stream that it uses.
static int gpu_upload(void *to, const void *from, size_t bytes) {
    cudaError_t e = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return told(e == cudaSuccess ? cudaStreamSynchronize(nullptr) : e);
}
static int gpu_download(void *to, const void *from, size_t bytes) {
    return told(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static int gpu_sync() {
    cudaError_t finished = cudaDeviceSynchronize(), last = cudaGetLastError();
    return (int)(finished != cudaSuccess ? finished : last);
}

static int gpu_fill(void *to, int byte, size_t bytes) {
    cudaError_t e = cudaMemset(to, byte, bytes);
    return told(e != cudaSuccess ? e : cudaDeviceSynchronize());
}

// ---- streams and events --------------------------------------------------------------------------------------------------

static int gpu_stream(void **to) {
    *to = nullptr;
    return told(cudaStreamCreateWithFlags((cudaStream_t *)to, cudaStreamNonBlocking));
}
static void gpu_stream_free(void *s) { told(cudaStreamDestroy((cudaStream_t)s)); }

static int gpu_event(void **to) {
    *to = nullptr;
    return told(cudaEventCreate((cudaEvent_t *)to));
}
static void gpu_event_free(void *e) { told(cudaEventDestroy((cudaEvent_t)e)); }
static int gpu_record(void *e, void *s) { return told(cudaEventRecord((cudaEvent_t)e, (cudaStream_t)s)); }

static int gpu_elapsed(void *from, void *to, double *ms) {
    float f = 0;
    cudaError_t e = cudaEventSynchronize((cudaEvent_t)to);
    if (e == cudaSuccess) e = cudaEventElapsedTime(&f, (cudaEvent_t)from, (cudaEvent_t)to);
    *ms = f;
    return told(e);
}

static int gpu_stream_urgent(void **to) {
    int lowest = 0, highest = 0;
    *to = nullptr;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    if (e == cudaSuccess) e = cudaStreamCreateWithPriority((cudaStream_t *)to, cudaStreamNonBlocking, highest);
    return told(e);
}
static int gpu_wait(void *s, void *e) { return told(cudaStreamWaitEvent((cudaStream_t)s, (cudaEvent_t)e, 0)); }

// ---- copies --------------------------------------------------------------------------------------------------------------

// The system clears the pages of this block on first access (as slowly as cudaHostAlloc), so several threads touch them.
static void touch(char *p, size_t room, size_t page, size_t piece) {
    std::vector<std::thread> touching;
    const auto clear = [=](size_t at) {
        for (size_t i = at; i < room && i < at + piece; i += page) ((volatile char *)p)[i] = 0;
    };
    for (size_t at = 0; at < room; at += piece) try {
            touching.emplace_back(clear, at);
        } catch (const std::system_error &) { // no thread is available
            clear(at);
        }
    for (std::thread &t : touching) t.join();
}

// Portable: a thread of any GPU may copy from it.
static int gpu_pinned(void **to, size_t bytes, const char *what) {
    const size_t page = 1 << 12, large = 1 << 21, unit = bytes < large ? page : large, room = (bytes + unit - 1) / unit * unit;
    char *p = (char *)aligned_alloc(unit, room);
    cudaError_t e = p ? cudaSuccess : cudaErrorMemoryAllocation;
    *to = nullptr;
    if (p) {
        madvise(p, room, MADV_HUGEPAGE); // a hint
        touch(p, room, page, (room / 16 / large + 1) * large);
        e = cudaHostRegister(p, room, cudaHostRegisterPortable);
    }
    if (e == cudaSuccess)
        *to = p;
    else
        free(p);
    if (e == cudaErrorMemoryAllocation) rg_ledger_refuse(rg_device_cpu(), bytes, what, (size_t)rg_memory_free());
    return told(e);
}
static void gpu_unpin(void *p) {
    told(cudaHostUnregister(p));
    free(p);
}
static int gpu_upload_on(void *to, const void *from, size_t bytes, void *s) {
    return told(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)s));
}

// Without access to the other GPU's memory the runtime copies through the host.
static int gpu_move(void *to, const void *from, size_t bytes) {
    cudaPointerAttributes at;
    cudaError_t e = cudaPointerGetAttributes(&at, from);
    if (e == cudaSuccess && at.device != opened) told(cudaDeviceEnablePeerAccess(at.device, 0)); // once, where possible
    e = e == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr) : e;
    return told(e == cudaSuccess ? cudaStreamSynchronize(nullptr) : e);
}
static_assert(sizeof(cudaIpcMemHandle_t) == RG_SHARED_NAME, "");
static int gpu_share(void *p, char name[RG_SHARED_NAME]) {
    cudaIpcMemHandle_t handle = {};
    const cudaError_t e = cudaIpcGetMemHandle(&handle, p);
    memcpy(name, &handle, sizeof handle);
    return told(e);
}
static void *gpu_open_shared(const char name[RG_SHARED_NAME]) {
    void *p = nullptr;
    cudaIpcMemHandle_t handle;
    memcpy(&handle, name, sizeof handle);
    return told(cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess)) ? nullptr : p;
}
static void gpu_close_shared(void *p) { told(cudaIpcCloseMemHandle(p)); }

static int gpu_flush(void *stream) {
    static struct {
        void *at;
        size_t bytes;
        unsigned char byte;
    } sinks[RG_GPUS_MAX];
    auto &sink = sinks[opened];
    if (!sink.at) {
        int l2 = 0, e = told(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, opened));
        sink.bytes = 2 * (size_t)(l2 > 0 ? l2 : 64 << 20);
        if (!e) e = gpu_alloc(&sink.at, sink.bytes, "what flushes the cache");
        if (e) return e;
    }
    return told(cudaMemsetAsync(sink.at, sink.byte++, sink.bytes, (cudaStream_t)stream));
}

// ---- facts ---------------------------------------------------------------------------------------------------------------

static int gpu_facts(rg_device_facts *f) {
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, opened);
    memset(f, 0, sizeof *f);
    if (e == cudaSuccess) e = cudaMemGetInfo(&f->free_bytes, &f->memory_bytes);
    if (e == cudaSuccess) e = cudaDriverGetVersion(&f->driver);
    if (e == cudaSuccess) e = cudaRuntimeGetVersion(&f->runtime);
    if (e == cudaSuccess) e = cudaDeviceGetPCIBusId(f->pci, sizeof f->pci, opened);
    if (e != cudaSuccess) return told(e);
    const size_t left = rg_ledger_left(&gpus[opened]), taken = rg_ledger_taken(&gpus[opened]);
    f->free_bytes = least(f->free_bytes, left);
    if (left < SIZE_MAX) f->memory_bytes = least(f->memory_bytes, left + taken);
    snprintf(f->name, sizeof f->name, "%s", p.name);
    f->sm = 10 * p.major + p.minor;
    f->multiprocessors = p.multiProcessorCount;
    f->l2_bytes = (size_t)p.l2CacheSize;
    f->shared_bytes = p.sharedMemPerBlockOptin;
    const unsigned char *u = (const unsigned char *)p.uuid.bytes;
    for (int i = 0; i < 16; i++) snprintf(f->uuid + 2 * i, 3, "%02x", u[i]);
    f->ecc = p.ECCEnabled != 0;
    f->ecc_known = true;
    return RG_OK;
}

static const char *gpu_error(int code) {
    return code < 0 ? rg_device_cpu()->error(code) : cudaGetErrorString((cudaError_t)code);
}

// Memory that the driver shows as used when this process has allocated nothing: its context and, on a shared card, other
// processes, of which at most CONTEXT_MOST is recorded.
static cudaError_t enter_context(int index) {
    enum : size_t { CONTEXT_MOST = 1 << 30 };
    size_t there = 0, all = 0;
    const cudaError_t e = cudaMemGetInfo(&there, &all);
    const size_t bytes = least(all - there, CONTEXT_MOST);
    rg_ledger_block *entry = e == cudaSuccess ? rg_ledger_take(&gpus[index], bytes, "context") : nullptr;
    rg_ledger_place(entry, &gpus[index]);
    if (!entry) rg_ledger_refuse(&gpus[index], bytes, "its context", least(there, rg_ledger_left(&gpus[index])));
    return e != cudaSuccess || entry ? e : cudaErrorMemoryAllocation;
}

static void name_functions(rg_device &gpu, int index) {
    static char names[RG_GPUS_MAX][16];
    snprintf(names[index], sizeof names[index], "gpu%d", index);
    gpu.name = names[index];
    gpu.is_gpu = true;
    gpu.is_emulated = false;
    gpu.alloc = gpu_alloc;
    gpu.release = gpu_release;
    gpu.upload = gpu_upload;
    gpu.download = gpu_download;
    gpu.fill = gpu_fill;
    gpu.sync = gpu_sync;
    gpu.stream_make = gpu_stream;
    gpu.stream_free = gpu_stream_free;
    gpu.event_make = gpu_event;
    gpu.event_free = gpu_event_free;
    gpu.event_record = gpu_record;
    gpu.event_ms = gpu_elapsed;
    gpu.stream_urgent = gpu_stream_urgent;
    gpu.stream_wait = gpu_wait;
    gpu.pinned = gpu_pinned;
    gpu.unpin = gpu_unpin;
    gpu.upload_on = gpu_upload_on;
    gpu.move = gpu_move;
    gpu.share = gpu_share;
    gpu.open_shared = gpu_open_shared;
    gpu.close_shared = gpu_close_shared;
    gpu.flush = gpu_flush;
    gpu.facts = gpu_facts;
    gpu.error = gpu_error;
}

extern "C" const rg_device *rg_gpu_open(int index, char why[200]) {
    static bool was_open[RG_GPUS_MAX];
    static std::mutex lock; // for was_open
    int count = rg_gpu_count(why);
    if (count < 1) return nullptr;
    if (index >= count || index >= RG_GPUS_MAX) {
        snprintf(why, 200, "no gpu%d: this machine has %d", index, count);
        return nullptr;
    }
    const std::lock_guard<std::mutex> held(lock);
    cudaError_t e = cudaSetDevice(index);
    opened = index;
    if (was_open[index]) { // the next call returns an error that has broken it since
        told(e);
        return &gpus[index];
    }
    name_functions(gpus[index], index);
    if (e == cudaSuccess) e = cudaFree(nullptr);
    if (e == cudaSuccess) e = enter_context(index);
    if (told(e)) {
        if (!rg_ledger_refused(why)) snprintf(why, 200, "gpu%d does not open: %s", index, cudaGetErrorString(e));
        return nullptr;
    }
    was_open[index] = true;
    return &gpus[index];
}
