// SPDX-License-Identifier: MIT
// machine.h: describes this machine: its head for result files, its sustained rates, its sensors.
#pragma once

#include "../../data/formats/result_words.h"
#include "../../impl/gpu/device.h"
#include "../../impl/suite.h"

#ifdef __cplusplus
extern "C" {
#endif

// The head of a result file: cpu, cores, caches, memory, gpu, driver, runtime, compilers and flags, governor, ecc, power cap,
// git revision and dirty flag, seed, command, date, suite version. Keys are stable. Unknown values read "unknown (reason)";
// without a GPU its values read "none (CPU run)". Key `machine` identifies the machine by what does not change between runs.
// `command` and `cflags` omit the folders of absolute paths, because people exchange result files.
typedef struct rg_head {
    int n;
    char **key, **value;
} rg_head;
void rg_head_make(rg_head *, const rg_device *gpu_or_null, uint64_t seed, const char *command);
void rg_head_add(rg_head *, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rg_head_free(rg_head *);

// Measured rates, one per resource; NaN: the resource does not exist there or was not probed.
typedef struct rg_rates {
    double per_s[RG_RESOURCES];
    double l2_bytes_per_s; // GPU: the copy with both arrays in L2
    double mma_i8_per_s;   // GPU: mma.sync m16n8k32 u8 and wgmma m64n256k32 u8 (sm_90a only); the larger one is
    double wgmma_i8_per_s; // per_s[RG_MATRIX_I8_MAD]
    const char *isa;       // CPU: "avx512", "avx2" or "portable"; GPU: ""
} rg_rates;
extern const char *const rg_resource_unit[RG_RESOURCES]; // "B/s", "multiply-adds/s", "atomics/s", ...
enum { RG_ALL_RESOURCES = (1 << RG_RESOURCES) - 1 };     // for `wanted`: a bit per resource; the others stay NaN
// Probes this CPU with `threads` pinned threads, about 0.1 s per resource. Keeps the affinity of the calling thread.
void rg_probe_cpu(int threads, unsigned wanted, rg_rates *);
// Probes an open GPU, about 0.15 s per resource. RG_OK or a device error. All NaN in a build without CUDA and for other
// devices.
int rg_probe_gpu(const rg_device *, unsigned wanted, rg_rates *);
// Returns which code of this binary the driver chose for an open GPU: the architecture of the SASS and of the PTX that it came
// from, as 90; they differ if PTX was compiled at start. A device error if no code fits.
int rg_gpu_code(const rg_device *, int *sass_sm, int *ptx_sm);

// Clocks, temperature, power and throttle reasons of the CPU or a GPU (NVML, loaded at run time).
typedef struct rg_sensors {
    double sm_MHz, mem_MHz, cpu_MHz, temp_C, power_W; // NaN: unreadable
    unsigned throttle;                                // why the clock is throttled: bits of rg_throttle
} rg_sensors;
void rg_sensors_read(const rg_device *, rg_sensors *);
void rg_sensors_read_closed(int gpu, rg_sensors *); // of a GPU, by its CUDA index, without creating a context

// Energy by counter: NVML total energy for GPUs, RAPL package for CPUs. source names the counter ("NVML total energy, board")
// or says why there is none; joules is then NaN. The caller must repeat the work to fill at least RG_ENERGY_WINDOW_S.
enum { RG_PACKAGES_MAX = 16, RG_ENERGY_WINDOW_S = 5 }; // NVML's counter ticks at 10 to 100 ms: 5 s keep that below 2 %
typedef struct rg_energy {
    char source[120];
    rg_energy_word word;
    double start_J, start_s; // start_J is NaN: no counter
    int gpus;                // number of boards measured together; 0: the device
    int n_packages;          // RAPL: each package's counter wraps at its own range
    uint64_t package_uJ[RG_PACKAGES_MAX], range_uJ[RG_PACKAGES_MAX];
} rg_energy;
void rg_energy_start(const rg_device *, rg_energy *);
// The same for the first `gpus` boards together, without a context on them: an open device holds the facts of the last opened
// GPU only.
void rg_energy_start_gpus(int gpus, rg_energy *);
// If the counter gives no total (it stopped, was reset or wrapped twice), joules is NaN and source says so. Pass the device
// that it started with, NULL for boards together.
void rg_energy_stop(const rg_device *, rg_energy *, double *joules, double *seconds, double *mean_W);
// Joules of the first `gpus` boards together, since their drivers were loaded, without a context on them; NaN with the reason.
double rg_energy_of_gpus(int gpus, char why[160]);

#ifdef __cplusplus
}
#endif
