// SPDX-License-Identifier: MIT
// device.cu: a CUDA GPU behind device.h. Every runtime call of the harness is here.
#include "../suite.h"
#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

enum { GPUS_MAX = 64 };
static thread_local int opened = -1; // the GPU of this thread, as in the CUDA runtime

static void *gpu_alloc(size_t bytes)
{
    void *p = nullptr;
    return cudaMalloc(&p, bytes) == cudaSuccess ? p : nullptr;
}
static void gpu_release(void *p) { cudaFree(p); }
// From pageable memory cudaMemcpy returns when the last piece is staged, not when it has arrived, and streams of ours do not
// wait for the one that it uses.
static int gpu_upload(void *to, const void *from, size_t bytes)
{
    cudaError_t e = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return (int)(e == cudaSuccess ? cudaStreamSynchronize(nullptr) : e);
}
static int gpu_download(void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

static int gpu_sync()
{
    cudaError_t finished = cudaDeviceSynchronize(), last = cudaGetLastError();
    return (int)(finished != cudaSuccess ? finished : last);
}

static int gpu_fill(void *to, int byte, size_t bytes)
{
    cudaError_t e = cudaMemset(to, byte, bytes);
    return (int)(e != cudaSuccess ? e : cudaDeviceSynchronize());
}

static void *gpu_stream()
{
    cudaStream_t s = nullptr;
    return cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess ? (void *)s : nullptr;
}
static void gpu_stream_free(void *s) { cudaStreamDestroy((cudaStream_t)s); }

static void *gpu_event()
{
    cudaEvent_t e = nullptr;
    return cudaEventCreate(&e) == cudaSuccess ? (void *)e : nullptr;
}
static void gpu_event_free(void *e) { cudaEventDestroy((cudaEvent_t)e); }
static int gpu_record(void *e, void *s) { return (int)cudaEventRecord((cudaEvent_t)e, (cudaStream_t)s); }

static int gpu_elapsed(void *from, void *to, double *ms)
{
    float f = 0;
    cudaError_t e = cudaEventSynchronize((cudaEvent_t)to);
    if (e == cudaSuccess) e = cudaEventElapsedTime(&f, (cudaEvent_t)from, (cudaEvent_t)to);
    *ms = f;
    return (int)e;
}

static void *gpu_stream_urgent()
{
    int least = 0, greatest = 0;
    cudaStream_t s = nullptr;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    return cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest) == cudaSuccess ? (void *)s : nullptr;
}
static int gpu_wait(void *s, void *e) { return (int)cudaStreamWaitEvent((cudaStream_t)s, (cudaEvent_t)e, 0); }

// Portable: a thread of any GPU may copy from it. What takes time is that the system clears the pages, one thread 3.5e9 B/s of
// them (cudaHostAlloc is as slow), so several touch them first.
static void *gpu_pinned(size_t bytes)
{
    const size_t page = 1 << 12, large = 1 << 21, unit = bytes < large ? page : large, room = (bytes + unit - 1) / unit * unit;
    const size_t piece = (room / 16 / large + 1) * large;
    char *p = (char *)aligned_alloc(unit, room);
    if (!p) return nullptr;
    madvise(p, room, MADV_HUGEPAGE); // as it likes
    std::vector<std::thread> touching;
    for (size_t at = 0; at < room; at += piece)
        touching.emplace_back([=] {
            for (size_t i = at; i < room && i < at + piece; i += page) ((volatile char *)p)[i] = 0;
        });
    for (std::thread &t : touching) t.join();
    if (cudaHostRegister(p, room, cudaHostRegisterPortable) == cudaSuccess) return p;
    cudaGetLastError();
    free(p);
    return nullptr;
}
static void gpu_unpin(void *p)
{
    cudaHostUnregister(p);
    free(p);
}
static int gpu_upload_on(void *to, const void *from, size_t bytes, void *s)
{
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)s);
}

// Without access to the other GPU's memory the runtime copies by way of the host.
static int gpu_move(void *to, const void *from, size_t bytes)
{
    cudaPointerAttributes at;
    cudaError_t e = cudaPointerGetAttributes(&at, from);
    if (e == cudaSuccess && at.device != opened && cudaDeviceEnablePeerAccess(at.device, 0) != cudaSuccess)
        cudaGetLastError(); // enabled already, or not possible
    e = e == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr) : e;
    return (int)(e == cudaSuccess ? cudaStreamSynchronize(nullptr) : e);
}
static_assert(sizeof(cudaIpcMemHandle_t) == RG_SHARED_NAME, "");
static int gpu_share(void *p, char name[RG_SHARED_NAME])
{
    cudaIpcMemHandle_t handle;
    const cudaError_t e = cudaIpcGetMemHandle(&handle, p);
    memcpy(name, &handle, sizeof handle);
    if (e != cudaSuccess) cudaGetLastError(); // the caller goes another way
    return (int)e;
}
static void *gpu_open_shared(const char name[RG_SHARED_NAME])
{
    void *p;
    cudaIpcMemHandle_t handle;
    memcpy(&handle, name, sizeof handle);
    if (cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) return p;
    cudaGetLastError();
    return nullptr;
}
static void gpu_close_shared(void *p) { cudaIpcCloseMemHandle(p); }

static int gpu_flush(void *stream)
{
    static void *sink;
    static size_t bytes;
    static unsigned char byte;
    if (!sink) {
        int l2 = 0;
        cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, opened);
        bytes = 2 * (size_t)(l2 > 0 ? l2 : 64 << 20);
        cudaError_t e = cudaMalloc(&sink, bytes);
        if (e != cudaSuccess) return (int)e;
    }
    return (int)cudaMemsetAsync(sink, byte++, bytes, (cudaStream_t)stream);
}

static int gpu_facts(rg_device_facts *f)
{
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, opened);
    memset(f, 0, sizeof *f);
    if (e != cudaSuccess) return (int)e;
    snprintf(f->name, sizeof f->name, "%s", p.name);
    f->sm = 10 * p.major + p.minor;
    f->multiprocessors = p.multiProcessorCount;
    cudaMemGetInfo(&f->free_bytes, &f->memory_bytes);
    f->l2_bytes = (size_t)p.l2CacheSize;
    f->shared_bytes = p.sharedMemPerBlockOptin;
    cudaDriverGetVersion(&f->driver);
    cudaRuntimeGetVersion(&f->runtime);
    cudaDeviceGetPCIBusId(f->pci, sizeof f->pci, opened);
    const unsigned char *u = (const unsigned char *)p.uuid.bytes;
    for (int i = 0; i < 16; i++) snprintf(f->uuid + 2 * i, 3, "%02x", u[i]);
    f->ecc = p.ECCEnabled != 0;
    f->ecc_known = true;
    return RG_OK;
}

static const char *gpu_error(int code)
{
    return code < 0 ? rg_device_cpu()->error(code) : cudaGetErrorString((cudaError_t)code);
}

// The driver interface is queried, because the runtime's own count would create a context in the querying process, and a
// context does not survive fork().
struct driver {
    int (*init)(unsigned), (*count)(int *), (*get)(int *, int), (*attribute)(int *, int, int), (*name)(char *, int, int),
        (*pci)(char *, int, int);
};

static const char *driver_open(driver *d)
{
    static void *library;
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return "no NVIDIA driver (libcuda.so.1 not found)";
    *(void **)&d->init = dlsym(library, "cuInit");
    *(void **)&d->count = dlsym(library, "cuDeviceGetCount");
    *(void **)&d->get = dlsym(library, "cuDeviceGet");
    *(void **)&d->attribute = dlsym(library, "cuDeviceGetAttribute");
    *(void **)&d->name = dlsym(library, "cuDeviceGetName");
    *(void **)&d->pci = dlsym(library, "cuDeviceGetPCIBusId");
    return d->init && d->count && d->get && d->attribute && d->name && d->pci ? nullptr
                                                                              : "the NVIDIA driver library is damaged";
}

// cuInit is not inherited usably by fork() either, so where processes are still to be forked a child asks and answers through a
// pipe.
#include <sys/wait.h>
#include <unistd.h>
struct answer {
    int count, sm; // sm, name and bus of the GPU that was queried for, 0 and "" when there is none
    char name[128], pci[24];
};

static void ask_driver(const driver &d, int index, answer *a)
{
    int device = 0, major = 0, minor = 0;
    if (index < 0 || d.get(&device, index) || d.attribute(&major, 75, device) || d.attribute(&minor, 76, device)) return;
    a->sm = 10 * major + minor;
    d.name(a->name, (int)sizeof a->name, device);
    d.pci(a->pci, (int)sizeof a->pci, device);
}

static const char *const NOT_STARTING = "the NVIDIA driver does not start (no GPU, or a driver that does not fit it)";

static bool query_here(int index, answer *a, const char **why)
{
    driver d;
    *a = answer{};
    if ((*why = driver_open(&d))) return false;
    if (d.init(0) || d.count(&a->count))
        *why = NOT_STARTING;
    else
        ask_driver(d, index, a);
    return !*why;
}

static bool query_in_child(int index, answer *a, const char **why)
{
    driver d;
    int end[2];
    *a = answer{};
    if ((*why = driver_open(&d))) return false;
    fflush(nullptr);
    pid_t child = pipe(end) ? -1 : fork();
    if (child == 0) {
        bool queried = query_here(index, a, why);
        _exit(queried && write(end[1], a, sizeof *a) == (ssize_t)sizeof *a ? 0 : 1);
    }
    bool answered = false;
    if (child > 0) {
        int status;
        close(end[1]);
        answered = read(end[0], a, sizeof *a) == (ssize_t)sizeof *a;
        close(end[0]);
        waitpid(child, &status, 0);
    }
    *why = answered ? nullptr : NOT_STARTING;
    return answered;
}

static bool queries_here;
extern "C" void rg_gpu_query_here() { queries_here = true; }

// Starting the driver takes a tenth of a second: each GPU is queried for once, and the first tells how many there are.
static const answer *gpu_answer(int index, const char **why)
{
    static answer of[GPUS_MAX];
    static const char *reason[GPUS_MAX];
    static bool queried[GPUS_MAX];
    static std::mutex lock; // a thread may be opening a GPU
    const std::lock_guard<std::mutex> held(lock);
    if (index < 0 || index >= GPUS_MAX) return nullptr;
    if (!queried[index] && !(queries_here ? query_here : query_in_child)(index, &of[index], &reason[index]))
        of[index] = answer{};
    queried[index] = true;
    *why = reason[index];
    return &of[index];
}

extern "C" int rg_gpu_count(char why[200])
{
    const char *reason;
    const int count = gpu_answer(0, &reason)->count;
    if (count < 1) snprintf(why, 200, "no GPU: %s", reason ? reason : "the driver lists none");
    return count > 0 ? count : 0;
}

extern "C" int rg_gpu_sm(int index)
{
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->sm : 0;
}

extern "C" const char *rg_gpu_name(int index)
{
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->name : "";
}

extern "C" const char *rg_gpu_pci(int index)
{
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->pci : "";
}

extern "C" const rg_device *rg_gpu_open(int index, char why[200])
{
    static char names[GPUS_MAX][16];
    static rg_device gpus[GPUS_MAX];
    int count = rg_gpu_count(why);
    if (count < 1) return nullptr;
    if (index >= count || index >= GPUS_MAX) {
        snprintf(why, 200, "no gpu%d: this machine has %d", index, count);
        return nullptr;
    }
    cudaError_t e = cudaSetDevice(index);
    if (e == cudaSuccess) e = cudaFree(nullptr);
    if (e != cudaSuccess) {
        snprintf(why, 200, "gpu%d does not open: %s", index, cudaGetErrorString(e));
        return nullptr;
    }
    opened = index;
    rg_device &gpu = gpus[index];
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
    return &gpu;
}
