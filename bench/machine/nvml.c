// SPDX-License-Identifier: MIT
// nvml.c: loads the driver's management library at run time, so that one binary runs with and without an NVIDIA driver and is
// built without its header. Wraps only what sensors, energy, heads and doctor need.
#include "sensors.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// nvmlReturn_t in words; the numbers are NVML's ABI.
static const char *reason(int code) {
    switch (code) {
    case 1: return "not initialised in this process";
    case 3: return "not supported by this GPU";
    case 4: return "no permission";
    case 6: return "GPU not found by NVML";
    case 9: return "NVIDIA driver not loaded";
    case 15: return "GPU is lost";
    case 18: return "driver and library versions differ: reboot or reload the driver";
    default: return "error without words here";
    }
}

// The last request; NULL after every nvmlInit, which may return other handles.
static void *last_gpu;

const rg_nvml *rg_nvml_load(char why[160]) {
    static rg_nvml nvml;
    static void *library;
    static char failed[160];
    static pid_t tried_in; // after fork() the child has the library, but not initialised
    static bool ready;
    if (tried_in != getpid()) {
        tried_in = getpid();
        last_gpu = NULL;
        ready = false;
        library = library ? library : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            snprintf(failed, sizeof failed, "libnvidia-ml.so.1 not found: no NVIDIA driver");
        } else {
            // POSIX lets dlsym's object pointer be stored through a function pointer's address.
#define F(field, symbol, arguments) *(void **)&nvml.field = dlsym(library, symbol);
            RG_NVML_FUNCTIONS(F)
#undef F
            int code = nvml.init ? nvml.init() : 3;
            ready = code == 0;
            if (!ready) snprintf(failed, sizeof failed, "NVML: %s (%d)", reason(code), code);
        }
    }
    if (!ready) {
        snprintf(why, 160, "%s", failed);
        return NULL;
    }
    return &nvml;
}

static void *by_pci(const rg_nvml *nvml, const char *pci, char why[160]) {
    void *gpu = NULL;
    const int code = nvml->by_pci ? nvml->by_pci(pci, &gpu) : 3;
    if (code != 0) snprintf(why, 160, "NVML: %s (%d)", reason(code), code);
    return code ? NULL : gpu;
}

void *rg_nvml_gpu(const rg_device *device, const rg_nvml **nvml, char why[160]) {
    // Called at every sample, while facts() takes milliseconds, so the last answer is kept.
    static char named[sizeof "gpu999999"];
    rg_device_facts facts;
    *nvml = rg_nvml_load(why);
    if (!*nvml) return NULL;
    if (last_gpu && strcmp(named, device->name) == 0) return last_gpu;
    int code = device->facts(&facts);
    if (code != RG_OK) {
        snprintf(why, 160, "%s", device->error(code));
        return NULL;
    }
    void *gpu = by_pci(*nvml, facts.pci, why);
    if (!gpu) return NULL;
    snprintf(named, sizeof named, "%s", device->name);
    last_gpu = gpu;
    return gpu;
}

void *rg_nvml_closed_gpu(int index, const rg_nvml **nvml, char why[160]) {
    *nvml = rg_nvml_load(why);
    return *nvml ? by_pci(*nvml, rg_gpu_pci(index), why) : NULL;
}

bool rg_gpu_held_down(const rg_device *device) {
    // nvmlClocksThrottleReason: SwPowerCap, HwSlowdown, SwThermalSlowdown, HwThermalSlowdown, HwPowerBrakeSlowdown.
    static const unsigned long long held = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
    char why[160];
    const rg_nvml *nvml;
    unsigned long long mask = 0;
    void *gpu = rg_nvml_gpu(device, &nvml, why);
    return gpu && nvml->throttle && nvml->throttle(gpu, &mask) == 0 && (mask & held);
}

double rg_gpus_used_bytes(void) {
    char why[160];
    const rg_nvml *nvml = rg_nvml_load(why);
    unsigned n = 0;
    double sum = 0;
    if (!nvml || !nvml->count || !nvml->by_index || !nvml->memory || nvml->count(&n) || !n) return NAN;
    for (unsigned i = 0; i < n; i++) {
        void *gpu;
        rg_nvml_memory memory;
        if (nvml->by_index(i, &gpu) || nvml->memory(gpu, &memory)) return NAN;
        sum += (double)memory.used;
    }
    return sum;
}

unsigned rg_throttle_of(unsigned long long mask) {
    const int named = RG_THROTTLE_DISPLAY - RG_THROTTLE_IDLE + 1; // in NVML's order
    const unsigned known = (unsigned)(mask & ((1ull << named) - 1)) << RG_THROTTLE_IDLE;
    return !mask ? 1u << RG_THROTTLE_NONE : known | (mask >> named ? 1u << RG_THROTTLE_OTHER : 0);
}
