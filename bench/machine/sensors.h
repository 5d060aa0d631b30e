// SPDX-License-Identifier: MIT
// sensors.h: shared by machine.c, sensors.c, energy.c and doctor.c: NVML, loaded at run time; small files of /sys and /proc;
// the topology of the CPU; decoders, which tests call with their own numbers.
#pragma once

#include "machine.h"
#include <stdbool.h>

// ---- NVML ----------------------------------------------------------------------------------------------------------------

// Functions of libnvidia-ml.so.1 by their public ABI. They return 0 for success; one that the driver lacks is NULL.
typedef struct rg_nvml_memory {
    unsigned long long total, free, used;
} rg_nvml_memory;
#define RG_NVML_FUNCTIONS(F)                                                                                                   \
    F(init, "nvmlInit_v2", (void))                                                                                             \
    F(driver, "nvmlSystemGetDriverVersion", (char *, unsigned))                                                                \
    F(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", (int *))                                                              \
    F(count, "nvmlDeviceGetCount_v2", (unsigned *))                                                                            \
    F(by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned, void **))                                                          \
    F(by_pci, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, void **))                                                     \
    F(name, "nvmlDeviceGetName", (void *, char *, unsigned))                                                                   \
    F(capability, "nvmlDeviceGetCudaComputeCapability", (void *, int *, int *))                                                \
    F(memory, "nvmlDeviceGetMemoryInfo", (void *, rg_nvml_memory *))                                                           \
    F(clock, "nvmlDeviceGetClockInfo", (void *, int, unsigned *))                                                              \
    F(max_clock, "nvmlDeviceGetMaxClockInfo", (void *, int, unsigned *))                                                       \
    F(temperature, "nvmlDeviceGetTemperature", (void *, int, unsigned *))                                                      \
    F(power_mW, "nvmlDeviceGetPowerUsage", (void *, unsigned *))                                                               \
    F(power_cap_mW, "nvmlDeviceGetEnforcedPowerLimit", (void *, unsigned *))                                                   \
    F(energy_mJ, "nvmlDeviceGetTotalEnergyConsumption", (void *, unsigned long long *))                                        \
    F(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", (void *, unsigned long long *))                                   \
    F(ecc, "nvmlDeviceGetEccMode", (void *, int *, int *))                                                                     \
    F(uuid, "nvmlDeviceGetUUID", (void *, char *, unsigned))
enum { RG_NVML_CLOCK_SM = 1, RG_NVML_CLOCK_MEM = 2 }; // nvmlClockType_t
typedef struct rg_nvml {
#define F(field, symbol, arguments) int(*field) arguments;
    RG_NVML_FUNCTIONS(F)
#undef F
} rg_nvml;
// Loads NVML once and initialises it once per process; not thread safe. NULL with the reason in why ("libnvidia-ml.so.1 not
// found", ...).
const rg_nvml *rg_nvml_load(char why[160]);
// The NVML handle of an open GPU (by PCI bus number, because NVML and CUDA may count GPUs differently); NULL with the reason.
void *rg_nvml_gpu(const rg_device *, const rg_nvml **, char why[160]);
// The same by CUDA index, without a context, which would keep the GPU awake and, in the compute mode of one process, block
// others.
void *rg_nvml_closed_gpu(int index, const rg_nvml **, char why[160]);

// Returns whether the clock of an open GPU is throttled now by power or heat; false if NVML does not say.
bool rg_gpu_held_down(const rg_device *);

double rg_gpus_used_bytes(void); // on all GPUs of the machine together, by all processes; NaN: no NVML

unsigned rg_throttle_of(unsigned long long mask); // converts nvmlClocksThrottleReason* bits to bits of rg_throttle

// ---- energy --------------------------------------------------------------------------------------------------------------

// Microjoules between two readings of a counter that runs from 0 to range and starts again; it must wrap at most once.
uint64_t rg_rapl_difference(uint64_t from_uJ, uint64_t to_uJ, uint64_t range_uJ);
// Reads the package counters below root ("/sys/class/powercap") and returns their number; 0: none, -1: unreadable, both with
// the reason and the fix in why.
int rg_rapl_read(const char *root, uint64_t energy_uJ[RG_PACKAGES_MAX], uint64_t range_uJ[RG_PACKAGES_MAX], char why[120]);

// ---- the CPU -------------------------------------------------------------------------------------------------------------

// Reads the first line of a small file without its newline; false: unreadable or empty.
bool rg_line(char *text, size_t bytes, const char *path_format, ...) __attribute__((format(printf, 3, 4)));
// Reads the value of the first line "key : value" of /proc/cpuinfo or /proc/meminfo; false: absent.
bool rg_proc_field(const char *file, const char *key, char *value, size_t bytes);

// Core seconds spent by all processes of this machine or taken by its hypervisor; NaN if /proc/stat does not say.
double rg_cpu_spent_s(void);
double rg_cpu_own_s(void);    // spent by the threads of this process
double rg_cpu_others_s(void); // spent by all others

enum { RG_CACHES_MAX = 8 };
typedef struct rg_cache {
    int level, count; // count: number of these caches in the machine
    char kind;        // 'd'ata, 'i'nstruction or 'u'nified
    size_t bytes;     // of one cache
} rg_cache;
typedef struct rg_topology {
    int sockets, cores, threads; // 0 when unknown
    int n_caches;
    rg_cache cache[RG_CACHES_MAX];
} rg_topology;
void rg_topology_read(rg_topology *);
size_t rg_topology_last_cache(const rg_topology *);           // bytes of all caches of the last level together; 0: unknown
void rg_topology_caches(const rg_topology *, char text[160]); // "L1d 32 KiB x 2, L2 ..."; "unknown (...)"

void rg_cpu_simd(char text[96]);      // "avx2 avx512 avx512vnni"
void rg_cpu_governor(char text[128]); // "performance", or "unknown (...)"
