// SPDX-License-Identifier: MIT
// driver.cu: queries the driver for GPUs without creating a context.
#include "device.h"

#include <cstdio>
#include <dlfcn.h>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

// The driver interface is queried, because the runtime's own count would create a context in the querying process, and a
// context does not survive fork().
struct driver {
    int (*init)(unsigned), (*count)(int *), (*get)(int *, int), (*attribute)(int *, int, int), (*name)(char *, int, int),
        (*pci)(char *, int, int);
};

static const char *driver_open(driver *d) {
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

// cuInit does not survive fork() either: as long as processes are still to be forked, a child queries and answers through a
// pipe.
struct answer {
    int count, sm; // sm, name and bus of the GPU that was queried for, 0 and "" if there is none
    char name[128], pci[24];
};

static void ask_driver(const driver &d, int index, answer *a) {
    int device = 0, major = 0, minor = 0;
    if (index < 0 || d.get(&device, index) || d.attribute(&major, 75, device) || d.attribute(&minor, 76, device)) return;
    a->sm = 10 * major + minor;
    d.name(a->name, (int)sizeof a->name, device);
    d.pci(a->pci, (int)sizeof a->pci, device);
}

static const char *const NOT_STARTING = "the NVIDIA driver does not start (no GPU, or a driver that does not fit it)";

static bool query_here(int index, answer *a, const char **why) {
    driver d;
    *a = answer{};
    if ((*why = driver_open(&d))) return false;
    if (d.init(0) || d.count(&a->count))
        *why = NOT_STARTING;
    else
        ask_driver(d, index, a);
    return !*why;
}

static bool query_in_child(int index, answer *a, const char **why) {
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

// Starting the driver is slow: each GPU is queried once, and the first answer has the number of GPUs.
static const answer *gpu_answer(int index, const char **why) {
    static answer of[RG_GPUS_MAX];
    static const char *reason[RG_GPUS_MAX];
    static bool queried[RG_GPUS_MAX];
    static std::mutex lock; // a thread may be opening a GPU
    const std::lock_guard<std::mutex> held(lock);
    if (index < 0 || index >= RG_GPUS_MAX) return nullptr;
    if (!queried[index] && !(queries_here ? query_here : query_in_child)(index, &of[index], &reason[index]))
        of[index] = answer{};
    queried[index] = true;
    *why = reason[index];
    return &of[index];
}

extern "C" int rg_gpu_count(char why[200]) {
    const char *reason;
    const int count = gpu_answer(0, &reason)->count;
    if (count < 1) snprintf(why, 200, "no GPU: %s", reason ? reason : "the driver lists none");
    return count > 0 ? count : 0;
}

extern "C" int rg_gpu_sm(int index) {
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->sm : 0;
}

extern "C" const char *rg_gpu_name(int index) {
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->name : "";
}

extern "C" const char *rg_gpu_pci(int index) {
    const char *why;
    const answer *a = gpu_answer(index, &why);
    return a ? a->pci : "";
}
