// SPDX-License-Identifier: MIT
// energy.c: reads energy counters over a window that the caller fills with work. GPUs: NVML's total energy of the board, in mJ,
// refreshed about every 10 to 100 ms, hence windows of seconds. CPUs: RAPL of whole packages; core and DRAM zones overlap them
// or lie beside them and are never added.
#include "../machine/sensors.h"
#include "../../impl/base/core.h"

static const char rapl_root[] = "/sys/class/powercap";

uint64_t rg_rapl_difference(uint64_t from_uJ, uint64_t to_uJ, uint64_t range_uJ) {
    return to_uJ >= from_uJ ? to_uJ - from_uJ : range_uJ - from_uJ + to_uJ;
}

static bool read_number(uint64_t *value, const char *path) {
    char text[64], *end;
    if (!rg_line(text, sizeof text, "%s", path)) return false;
    *value = strtoull(text, &end, 10);
    return end != text && *end == '\0';
}

int rg_rapl_read(const char *root, uint64_t energy_uJ[RG_PACKAGES_MAX], uint64_t range_uJ[RG_PACKAGES_MAX], char why[120]) {
    int n = 0;
    for (int zone = 0; zone < RG_PACKAGES_MAX; zone++) {
        char name[64], path[256];
        // intel-rapl:N holds packages (on AMD too) and `psys`, the platform; sub-zones have a second number.
        if (!rg_line(name, sizeof name, "%s/intel-rapl:%d/name", root, zone) || strncmp(name, "package", 7) != 0) continue;
        snprintf(path, sizeof path, "%s/intel-rapl:%d/max_energy_range_uj", root, zone);
        if (!read_number(&range_uJ[n], path)) {
            snprintf(why, 120, "RAPL: %s tells no max_energy_range_uj", name);
            return -1;
        }
        snprintf(path, sizeof path, "%s/intel-rapl:%d/energy_uj", root, zone);
        if (!read_number(&energy_uJ[n], path)) {
            // Closed to users since Linux 5.10 (CVE-2020-8694).
            snprintf(why, 120, "RAPL not readable: sudo chmod a+r %s/intel-rapl:*/energy_uj", root);
            return -1;
        }
        n++;
    }
    if (n == 0) snprintf(why, 120, "no RAPL package in %s (virtual machine, or: sudo modprobe intel_rapl_msr)", root);
    return n;
}

// Board energy in joules since the driver was loaded, NaN with the reason.
static double board_joules(const rg_nvml *nvml, void *gpu, char why[160]) {
    unsigned long long mJ;
    if (!gpu) return NAN;
    if (!nvml->energy_mJ || nvml->energy_mJ(gpu, &mJ) != 0) {
        snprintf(why, 160, "this GPU has no NVML energy counter");
        return NAN;
    }
    return (double)mJ / 1e3;
}

static double gpu_joules(const rg_device *device, char why[160]) {
    const rg_nvml *nvml;
    void *gpu = rg_nvml_gpu(device, &nvml, why);
    return board_joules(nvml, gpu, why);
}

double rg_energy_of_gpus(int gpus, char why[160]) {
    double sum = 0;
    for (int i = 0; i < gpus; i++) {
        const rg_nvml *nvml;
        void *gpu = rg_nvml_closed_gpu(i, &nvml, why);
        sum += board_joules(nvml, gpu, why);
    }
    return sum;
}

void rg_energy_start(const rg_device *device, rg_energy *e) {
    char why[160] = "";
    memset(e, 0, sizeof *e);
    e->start_J = NAN;
    if (device && device->is_gpu && !device->is_emulated) {
        e->start_J = gpu_joules(device, why);
        e->word = isnan(e->start_J) ? RG_ENERGY_NO_COUNTER : RG_ENERGY_NVML;
        snprintf(e->source, sizeof e->source, "%.119s", isnan(e->start_J) ? why : "NVML total energy, board");
    } else {
        const int n = rg_rapl_read(rapl_root, e->package_uJ, e->range_uJ, why);
        e->word = n > 0 ? RG_ENERGY_RAPL : n < 0 ? RG_ENERGY_RAPL_CLOSED : RG_ENERGY_NO_RAPL;
        e->n_packages = n > 0 ? n : 0;
        if (e->n_packages) {
            e->start_J = 0;
            snprintf(e->source, sizeof e->source, "RAPL, %d package%s", e->n_packages, rg_plural(e->n_packages));
        } else {
            snprintf(e->source, sizeof e->source, "%.119s", why);
        }
    }
    e->start_s = rg_seconds();
}

void rg_energy_start_gpus(int gpus, rg_energy *e) {
    char why[160] = "";
    *e = (rg_energy){.gpus = gpus, .start_J = rg_energy_of_gpus(gpus, why)};
    e->word = isnan(e->start_J) ? RG_ENERGY_NO_COUNTER : RG_ENERGY_NVML;
    if (isnan(e->start_J))
        snprintf(e->source, sizeof e->source, "%.119s", why);
    else
        snprintf(e->source, sizeof e->source, "NVML total energy, board x %d", gpus);
    e->start_s = rg_seconds();
}

static double package_joules(const rg_energy *e, double seconds) {
    uint64_t now[RG_PACKAGES_MAX], range[RG_PACKAGES_MAX];
    char why[120];
    double sum = 0;
    if (rg_rapl_read(rapl_root, now, range, why) != e->n_packages) return NAN;
    for (int i = 0; i < e->n_packages; i++) {
        // No package draws 1 kW: in a window shorter than range / 1 kW the counter cannot have wrapped twice.
        if (seconds * 1e3 > (double)e->range_uJ[i] / 1e6) return NAN;
        sum += (double)rg_rapl_difference(e->package_uJ[i], now[i], e->range_uJ[i]) / 1e6;
    }
    return sum;
}

void rg_energy_stop(const rg_device *device, rg_energy *e, double *joules, double *seconds, double *mean_W) {
    char why[160];
    *seconds = rg_seconds() - e->start_s;
    if (isnan(e->start_J))
        *joules = NAN;
    else if (e->n_packages)
        *joules = package_joules(e, *seconds);
    else
        *joules = (e->gpus ? rg_energy_of_gpus(e->gpus, why) : gpu_joules(device, why)) - e->start_J;
    // The counter of a driver reloaded in between starts again at 0: partial totals are not returned.
    if (!isnan(e->start_J) && !(*joules > 0)) {
        *joules = NAN;
        e->word = RG_ENERGY_NO_TOTAL;
        snprintf(e->source, sizeof e->source, "%s gave no total over %.3g s: it stood still, was reset or wrapped",
            e->n_packages ? "RAPL" : "NVML total energy", *seconds);
    }
    *mean_W = *joules / *seconds;
}
