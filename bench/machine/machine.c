// SPDX-License-Identifier: MIT
// machine.c: makes the head of a result file: the facts about machine and build that a reader of its numbers needs.
#include "machine.h"
#include "sensors.h"
#include "../../data/formats/result.h"
#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <sys/utsname.h>
#include <time.h>

#if __has_include("revision.h")
#include "revision.h" // written by the Makefile
#endif
#ifndef RG_GIT_REVISION
#define RG_GIT_REVISION "unknown (not built by the Makefile)"
#endif
#ifndef RG_GIT_DATE
#define RG_GIT_DATE ""
#endif
#ifndef RG_CC
#define RG_CC __VERSION__
#endif
#ifndef RG_CFLAGS
#define RG_CFLAGS "unknown (not built by the Makefile)"
#endif
#ifndef RG_NVCC
#define RG_NVCC ""
#endif
#ifndef RG_NVCCFLAGS
#define RG_NVCCFLAGS ""
#endif

#define MAD "multiply-adds/s"
const char *const rg_resource_unit[RG_RESOURCES] = {[RG_MEM_BYTES] = "B/s",
    [RG_SHARED_BYTES] = "B/s",
    [RG_F32_MAD] = MAD,
    [RG_F64_MAD] = MAD,
    [RG_I32_MAD] = MAD,
    [RG_I16_MAD] = MAD,
    [RG_I8_MAD] = MAD,
    [RG_MATRIX_I8_MAD] = MAD,
    [RG_ATOMIC] = "atomics/s",
    [RG_ATOMIC_16B] = "atomics/s",
    [RG_ATOMIC_MEM] = "atomics/s",
    [RG_TEXTURE] = "fetches/s"};

void rg_head_add(rg_head *head, const char *key, const char *format, ...) {
    char text[1024];
    RG_FORMAT(text, sizeof text, format);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ') { // one line a key, even with line breaks in a command line
            *c = ' ';
        }
    }
    head->key = rg_grow(head->key, head->n, sizeof *head->key);
    head->value = rg_grow(head->value, head->n, sizeof *head->value);
    head->key[head->n] = rg_print("%s", key);
    head->value[head->n] = rg_print("%s", text);
    head->n++;
}

void rg_head_free(rg_head *head) {
    for (int i = 0; i < head->n; i++) {
        free(head->key[i]);
        free(head->value[i]);
    }
    free(head->key);
    free(head->value);
    *head = (rg_head){0};
}

// Copies text; of each absolute path ("/a/b/c" at the start of a word, after '=', -I or -L) only the last part is kept. n > 0.
static void without_folders(char *out, size_t n, const char *text) {
    char *const end = out + n - 1;
    char before = ' ', before_that = ' ';
    while (*text && out < end) {
        bool starts = strchr(" ='\"", before) || (before_that == '-' && (before == 'I' || before == 'L'));
        if (*text == '/' && starts) {
            const char *past = text + strcspn(text, " '\"");
            const char *last = text;
            for (const char *c = text; c < past; c++)
                if (*c == '/' && c + 1 < past) last = c + 1;
            text = last;
        }
        before_that = before;
        before = *text;
        *out++ = *text++;
    }
    *out = '\0';
}

// The least observed step of rg_seconds(), ns.
static double host_tick_ns(void) {
    double least = INFINITY;
    for (int i = 0; i < 200; i++) {
        double from = rg_seconds(), to = from;
        while (to <= from) to = rg_seconds();
        least = fmin(least, 1e9 * (to - from));
    }
    return least;
}

// The least difference between elapsed times of pairs of events with nothing between them, ns; NaN if the device fails.
static double event_tick_ns(const rg_device *gpu) {
    enum { PAIRS = 200 };
    void *event[2] = {NULL, NULL}, *stream = NULL;
    double ms[PAIRS], least = INFINITY;
    int code = gpu->stream_make(&stream);
    for (int i = 0; i < 2 && !code; i++) code = gpu->event_make(&event[i]);
    for (int i = 0; i < PAIRS && !code; i++) {
        code = gpu->event_record(event[0], stream);
        code = code ? code : gpu->event_record(event[1], stream);
        code = code ? code : gpu->event_ms(event[0], event[1], &ms[i]);
        for (int k = 0; k < i && !code; k++)
            if (ms[k] != ms[i]) least = fmin(least, 1e6 * fabs(ms[i] - ms[k]));
    }
    for (int i = 0; i < 2; i++)
        if (event[i]) gpu->event_free(event[i]);
    if (stream) gpu->stream_free(stream);
    return code || isinf(least) ? NAN : least;
}

static void head_run(rg_head *head, uint64_t seed, const char *command) {
    char text[1024];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    rg_head_add(head, "suite", "regather %s", RG_VERSION);
    rg_head_add(head, "format", RG_RESULT_FORMAT);
    rg_head_add(head, "revision", "%s", RG_GIT_REVISION);
    rg_head_add(head, "revision_date", "%s", *RG_GIT_DATE ? RG_GIT_DATE : "unknown (not built from a git tree)");
    rg_head_add(head, "date", "%s", text);
    without_folders(text, sizeof text, command ? command : "unknown (not given)");
    rg_head_add(head, "command", "%s", text);
    rg_head_add(head, "seed", "%" PRIu64, seed);
    rg_head_add(head, "clock_tick_ns", "%.4g", host_tick_ns());
}

static void head_cpu(rg_head *head) {
    char text[160];
    rg_topology t;
    struct utsname os;
    rg_topology_read(&t);
    rg_cpu_model(text);
    rg_head_add(head, "cpu", "%s", text);
    if (!rg_proc_field("/proc/cpuinfo", "vendor_id", text, sizeof text))
        snprintf(text, sizeof text, "unknown (/proc/cpuinfo names no vendor)");
    rg_head_add(head, "cpu_vendor", "%s", text);
    if (t.sockets)
        rg_head_add(head, "sockets", "%d", t.sockets);
    else
        rg_head_add(head, "sockets", "unknown (/sys tells no topology)");
    rg_head_add(head, "cores", "%d of %d usable, %d threads", rg_cpu_cores(), t.cores, t.threads);
    rg_cpu_simd(text);
    rg_head_add(head, "simd", "%s", text);
    rg_topology_caches(&t, text);
    rg_head_add(head, "caches", "%s", text);
    if (!rg_proc_field("/proc/meminfo", "MemTotal", text, sizeof text)) snprintf(text, sizeof text, "unknown (/proc/meminfo)");
    rg_head_add(head, "memory", "%s", text);
    rg_cpu_governor(text);
    rg_head_add(head, "governor", "%s", text);
    rg_head_add(head, "kernel", "%s", uname(&os) == 0 ? os.release : "unknown (uname)");
}

static void head_build(rg_head *head) {
    char text[1024];
    rg_head_add(head, "compiler", "%s", RG_CC);
    without_folders(text, sizeof text, RG_CFLAGS);
    rg_head_add(head, "cflags", "%s", text);
    rg_head_add(head, "nvcc", "%s", RG_NVCC[0] ? RG_NVCC : "none (built without CUDA)");
    rg_head_add(head, "nvcc_flags", "%s", RG_NVCCFLAGS[0] && RG_NVCC[0] ? RG_NVCCFLAGS : "none (built without CUDA)");
}

static const char *const gpu_key[] = {
    "gpu", "gpu_sm", "gpu_memory", "gpu_driver", "cuda_runtime", "gpu_ecc", "gpu_power_cap", "gpu_clocks", "gpu_tick_ns"};

// Facts that only NVML has: driver version, power cap, clocks.
static void head_board(rg_head *head, const rg_device *gpu, const rg_device_facts *facts) {
    char why[160] = "not told by this GPU", driver[96] = "";
    const rg_nvml *nvml;
    void *board = rg_nvml_gpu(gpu, &nvml, why);
    unsigned sm, mem, sm_max, mem_max, cap_mW;
    if (!board || !nvml->driver || nvml->driver(driver, sizeof driver) != 0) snprintf(driver, sizeof driver, "unknown version");
    rg_head_add(head, "gpu_driver", "%s (CUDA %d.%d)", driver, facts->driver / 1000, facts->driver % 1000 / 10);
    rg_head_add(head, "cuda_runtime", "%d.%d", facts->runtime / 1000, facts->runtime % 1000 / 10);
    rg_head_add(head, "gpu_ecc", "%s", !facts->ecc_known ? "unknown (not told by this GPU)" : facts->ecc ? "on" : "off");
    if (board && nvml->power_cap_mW && nvml->power_cap_mW(board, &cap_mW) == 0)
        rg_head_add(head, "gpu_power_cap", "%g W", cap_mW / 1e3);
    else
        rg_head_add(head, "gpu_power_cap", "unknown (%s)", why);
    if (board && nvml->clock && nvml->max_clock && nvml->clock(board, RG_NVML_CLOCK_SM, &sm) == 0 &&
        nvml->clock(board, RG_NVML_CLOCK_MEM, &mem) == 0 && nvml->max_clock(board, RG_NVML_CLOCK_SM, &sm_max) == 0 &&
        nvml->max_clock(board, RG_NVML_CLOCK_MEM, &mem_max) == 0) {
        rg_head_add(head, "gpu_clocks", "SM %u of %u MHz, memory %u of %u MHz", sm, sm_max, mem, mem_max);
    } else {
        rg_head_add(head, "gpu_clocks", "unknown (%s)", why);
    }
}

static void head_gpu(rg_head *head, const rg_device *gpu) {
    rg_device_facts facts;
    int code = gpu ? gpu->facts(&facts) : RG_OK;
    if (!gpu || !gpu->is_gpu || gpu->is_emulated || code != RG_OK) {
        for (int i = 0; i < RG_COUNT(gpu_key); i++) {
            if (code == RG_OK)
                rg_head_add(head, gpu_key[i], "none (CPU run)");
            else
                rg_head_add(head, gpu_key[i], "unknown (%s)", gpu->error(code));
        }
        return;
    }
    rg_head_add(head, "gpu", "%s", facts.name);
    rg_head_add(head, "gpu_sm", "%d, %d multiprocessors", facts.sm, facts.multiprocessors);
    rg_head_add(
        head, "gpu_memory", "%.1f GiB, L2 %.0f MiB", (double)facts.memory_bytes / 0x1p30, (double)facts.l2_bytes / 0x1p20);
    head_board(head, gpu, &facts);
    const double tick_ns = event_tick_ns(gpu);
    if (isnan(tick_ns))
        rg_head_add(head, "gpu_tick_ns", "unknown (events of equal times only)");
    else
        rg_head_add(head, "gpu_tick_ns", "%.4g", tick_ns);
}

void rg_head_make(rg_head *head, const rg_device *gpu, uint64_t seed, const char *command) {
    char model[128];
    rg_device_facts facts;
    *head = (rg_head){0};
    head_run(head, seed, command);
    // Model, usable cores and GPU: nothing that a reboot, an update of the kernel or the day's clock changes.
    rg_cpu_model(model);
    if (gpu && gpu->is_gpu && !gpu->is_emulated && gpu->facts(&facts) == RG_OK)
        rg_head_add(head, "machine", "%s, %d cores, %s", model, rg_cpu_cores(), facts.name);
    else
        rg_head_add(head, "machine", "%s, %d cores", model, rg_cpu_cores());
    head_cpu(head);
    head_build(head);
    head_gpu(head, gpu);
}
