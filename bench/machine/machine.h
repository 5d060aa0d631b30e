// SPDX-License-Identifier: MIT
// machine.h: what this machine is, what it can sustain, and what it is doing now.
#pragma once

#include "../../data/formats/result_words.h"
#include "../../impl/gpu/device.h"
#include "../../impl/suite.h"

#ifdef __cplusplus
extern "C" {
#endif

// Head of a result file: cpu, cores, caches, memory, gpu, driver, runtime, compilers and flags, governor, ecc, power cap, git
// revision and dirty flag, seed, command, date, suite version. Keys are stable; unknown values read "unknown (reason)", those
// of a GPU "none (CPU run)" without one. Key `machine` names the machine by what does not change between runs. Folders of
// absolute paths are left out of `command` and `cflags`: result files are handed around.
typedef struct rg_head {
    int n;
    char **key, **value;
} rg_head;
void rg_head_make(rg_head *, const rg_device *gpu_or_null, uint64_t seed, const char *command);
void rg_head_add(rg_head *, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rg_head_free(rg_head *);

// Measured rates, one per resource: NaN where the resource does not exist there or was not probed.
typedef struct rg_rates {
    double per_s[RG_RESOURCES];
    double l2_bytes_per_s; // GPU: the copy with both arrays in L2
    double mma_i8_per_s;   // GPU: mma.sync m16n8k32 u8 and wgmma m64n256k32 u8 (sm_90a only); the larger of the two is
    double wgmma_i8_per_s; // per_s[RG_MATRIX_I8_MAD]
    const char *isa;       // CPU: "avx512", "avx2" or "portable"; GPU: ""
} rg_rates;
extern const char *const rg_resource_unit[RG_RESOURCES]; // "B/s", "multiply-adds/s", "atomics/s", ...
enum { RG_ALL_RESOURCES = (1 << RG_RESOURCES) - 1 };     // for `wanted`: one bit a resource, the others stay NaN
// Probes this CPU with `threads` pinned threads, about 0.1 s a resource; the calling thread's own affinity stays as it is.
void rg_probe_cpu(int threads, unsigned wanted, rg_rates *);
// Probes an open GPU, about 0.15 s a resource. RG_OK or a device error. Only NaN in a build without CUDA and for any other
// device.
int rg_probe_gpu(const rg_device *, unsigned wanted, rg_rates *);
// Which code of this binary the driver chose for an open GPU: the SASS's architecture and that of the PTX it came from, as 90;
// they differ when PTX was compiled at start. A device error when no code of the binary fits.
int rg_gpu_code(const rg_device *, int *sass_sm, int *ptx_sm);

// Clocks, temperature, power and why the clock is held down, for the CPU or one GPU (NVML, loaded at run time).
typedef struct rg_sensors {
    double sm_MHz, mem_MHz, cpu_MHz, temp_C, power_W; // NaN when unreadable
    unsigned throttle;                                // why the clock is held down: bits of rg_throttle
} rg_sensors;
void rg_sensors_read(const rg_device *, rg_sensors *);
void rg_sensors_read_closed(int gpu, rg_sensors *); // of a GPU without a context on it, as CUDA counts

// Energy by counter: NVML total energy for GPUs, RAPL package for CPUs. source names it ("NVML total energy, board") or says
// why there is none; joules is NaN then. A window of at least RG_ENERGY_WINDOW_S is wanted: the
// caller repeats the work to fill it.
enum { RG_PACKAGES_MAX = 16, RG_ENERGY_WINDOW_S = 5 }; // NVML's counter ticks at 10 to 100 ms: 5 s keep that below 2 %
typedef struct rg_energy {
    char source[120];
    rg_energy_word word;
    double start_J, start_s; // start_J is NaN when there is no counter
    int gpus;                // of so many boards together, 0: of the device
    int n_packages;          // RAPL: each package's counter wraps at its own range
    uint64_t package_uJ[RG_PACKAGES_MAX], range_uJ[RG_PACKAGES_MAX];
} rg_energy;
void rg_energy_start(const rg_device *, rg_energy *);
// Of the first `gpus` boards together, without a context on them: an open device knows the facts of the last opened GPU alone.
void rg_energy_start_gpus(int gpus, rg_energy *);
// When the counter gives no total after all (stood still, reset, wrapped twice), joules is NaN and source says so.
// The device is the one it started with, NULL for boards together.
void rg_energy_stop(const rg_device *, rg_energy *, double *joules, double *seconds, double *mean_W);
// Joules of the first `gpus` boards together, since their drivers were loaded, without a context on them; NaN with the reason.
double rg_energy_of_gpus(int gpus, char why[160]);

#ifdef __cplusplus
}
#endif
