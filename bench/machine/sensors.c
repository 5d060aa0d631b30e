// SPDX-License-Identifier: MIT
// sensors.c: reads clocks, temperature, power and throttle reasons. Values that cannot be read are NaN.
#include "sensors.h"
#include "../../impl/base/core.h"

#include <ctype.h>
#include <sched.h>
#include <time.h>

bool rg_line(char *text, size_t bytes, const char *path_format, ...) {
    char path[256];
    RG_FORMAT(path, sizeof path, path_format);
    FILE *f = fopen(path, "r");
    bool got = f && fgets(text, (int)bytes, f);
    if (f) fclose(f);
    if (!got) {
        text[0] = '\0';
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

double rg_cpu_spent_s(void) {
    char text[256];
    double user, nice, system, idle, wait, irq, softirq, steal;
    if (!rg_line(text, sizeof text, "/proc/stat") ||
        sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal) != 8)
        return NAN;
    return (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

double rg_cpu_own_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rg_cpu_others_s(void) { return rg_cpu_spent_s() - rg_cpu_own_s(); }

// The value of "key : value" if the line has that key, else NULL.
static char *field_value(char *line, const char *key) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) return NULL;
    char *at = line + length;
    while (*at == ' ' || *at == '\t') at++;
    if (*at != ':') return NULL;
    at++;
    while (isspace((unsigned char)*at)) at++;
    at[strcspn(at, "\n")] = '\0';
    return at;
}

bool rg_proc_field(const char *file, const char *key, char *value, size_t bytes) {
    FILE *f = fopen(file, "r");
    char *line = NULL, *found = NULL;
    size_t room = 0;
    while (f && !found && getline(&line, &room, f) > 0) found = field_value(line, key);
    if (found) snprintf(value, bytes, "%s", found);
    free(line);
    if (f) fclose(f);
    return found && value[0];
}

// Clock of the core that this thread is on: cpufreq, else the line "cpu MHz" of that core in /proc/cpuinfo.
static double cpu_MHz(void) {
    char text[64];
    int core = sched_getcpu();
    if (core < 0) core = 0;
    if (rg_line(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core)) {
        double kHz = strtod(text, NULL);
        return kHz > 0 ? kHz / 1e3 : NAN;
    }
    FILE *f = fopen("/proc/cpuinfo", "r");
    RG_FREED char *line = NULL;
    size_t room = 0;
    double MHz = NAN;
    bool here = false;
    while (f && !(here && MHz > 0) && getline(&line, &room, f) > 0) {
        const char *value;
        if ((value = field_value(line, "processor")))
            here = atoi(value) == core;
        else if (here && (value = field_value(line, "cpu MHz")))
            MHz = strtod(value, NULL);
    }
    if (f) fclose(f);
    return MHz > 0 ? MHz : NAN;
}

// Hottest first sensor of the hwmon drivers that read a processor.
static double cpu_temp_C(void) {
    double hottest = NAN;
    for (int i = 0; i < 64; i++) {
        char text[64];
        if (!rg_line(text, sizeof text, "/sys/class/hwmon/hwmon%d/name", i)) continue;
        if (strcmp(text, "coretemp") && strcmp(text, "k10temp") && strcmp(text, "zenpower") && strcmp(text, "cpu_thermal"))
            continue;
        if (rg_line(text, sizeof text, "/sys/class/hwmon/hwmon%d/temp1_input", i)) {
            double C = strtod(text, NULL) / 1e3;
            if (!(C <= hottest)) hottest = C;
        }
    }
    return hottest;
}

static void gpu_sensors(const rg_nvml *nvml, void *gpu, rg_sensors *s) {
    if (!gpu) return;
    unsigned value;
    unsigned long long mask;
    if (nvml->clock && nvml->clock(gpu, RG_NVML_CLOCK_SM, &value) == 0) s->sm_MHz = value;
    if (nvml->clock && nvml->clock(gpu, RG_NVML_CLOCK_MEM, &value) == 0) s->mem_MHz = value;
    if (nvml->temperature && nvml->temperature(gpu, 0, &value) == 0) s->temp_C = value;
    if (nvml->power_mW && nvml->power_mW(gpu, &value) == 0) s->power_W = value / 1e3;
    if (nvml->throttle && nvml->throttle(gpu, &mask) == 0) s->throttle = rg_throttle_of(mask);
}

void rg_sensors_read(const rg_device *device, rg_sensors *s) {
    *s = (rg_sensors){NAN, NAN, NAN, NAN, NAN, 1u << RG_THROTTLE_UNKNOWN};
    s->cpu_MHz = cpu_MHz();
    if (device && device->is_gpu && !device->is_emulated) {
        char why[160];
        const rg_nvml *nvml;
        void *gpu = rg_nvml_gpu(device, &nvml, why);
        gpu_sensors(nvml, gpu, s);
        return;
    }
    s->temp_C = cpu_temp_C();
    // CPU power is energy over a window (energy.c): it cannot be read at one moment, nor can the reason for a lower clock.
}

void rg_sensors_read_closed(int gpu, rg_sensors *s) {
    char why[160];
    const rg_nvml *nvml;
    *s = (rg_sensors){NAN, NAN, NAN, NAN, NAN, 1u << RG_THROTTLE_UNKNOWN};
    s->cpu_MHz = cpu_MHz();
    void *board = rg_nvml_closed_gpu(gpu, &nvml, why);
    gpu_sensors(nvml, board, s);
}
