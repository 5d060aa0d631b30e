// SPDX-License-Identifier: MIT
// device_cpu.c: implements device.h for the CPU, opens devices by name, and gives the text of errors.
#include "../base/core.h"
#include "../base/memory.h"
#include "ledger.h"
#include "../suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Large blocks in huge pages where the system provides them: a page fault for every 4 KiB costs more than clearing the page.
static int cpu_alloc(void **to, size_t bytes, const char *what) {
    enum { HUGE_PAGE = 2 << 20 };
    const size_t unit = bytes < 4 * HUGE_PAGE ? 256 : HUGE_PAGE, room = (bytes + unit - 1) / unit * unit;
    *to = aligned_alloc(unit, room);
    if (*to && unit == HUGE_PAGE) madvise(*to, room, MADV_HUGEPAGE); // a hint
    if (!*to) rg_ledger_refuse(rg_device_cpu(), bytes, what, (size_t)rg_memory_free());
    return *to ? RG_OK : RG_E_STATE;
}

static int cpu_copy(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes), RG_OK; }

// All threads fill a large block: a page is placed near the thread that touches it first, and that thread waits for it.
static int cpu_fill(void *to, int byte, size_t bytes) {
    const size_t piece = 8 << 20;
#pragma omp parallel for if (bytes > 4 * piece)
    for (size_t at = 0; at < bytes; at += piece) memset((char *)to + at, byte, bytes - at < piece ? bytes - at : piece);
    return RG_OK;
}

static int cpu_sync(void) { return RG_OK; }
static int cpu_stream(void **to) { return *to = NULL, RG_OK; }
static void cpu_stream_free(void *stream) { (void)stream; }

static int cpu_wait(void *stream, void *event) { return (void)stream, (void)event, RG_OK; }
static int cpu_upload_on(void *to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    return cpu_copy(to, from, bytes);
}

static int cpu_event(void **to) { return *to = rg_alloc(sizeof(double)), RG_OK; }
static int cpu_record(void *event, void *stream) {
    (void)stream;
    *(double *)event = rg_seconds();
    return RG_OK;
}
static int cpu_elapsed(void *from, void *to, double *ms) {
    *ms = 1e3 * (*(double *)to - *(double *)from);
    return RG_OK;
}

// Clears caches: streams through twice the largest last-level cache of current processors, so that no argument stays in cache.
// AMD's 1.1 GB parts are not covered, because they would need minutes.
static int cpu_flush(void *stream) {
    enum { BYTES = 256 << 20 };
    static char *sink;
    (void)stream;
    if (!sink) sink = rg_alloc(BYTES);
    memset(sink, sink[0] + 1, BYTES);
    return RG_OK;
}

static int cpu_facts(rg_device_facts *f) {
    *f = (rg_device_facts){.name = "CPU"};
    f->memory_bytes = (size_t)sysconf(_SC_PAGESIZE) * (size_t)sysconf(_SC_PHYS_PAGES);
    f->free_bytes = (size_t)rg_memory_free();
    return RG_OK;
}

static const char *cpu_error(int code) {
    switch (code) {
    case RG_OK: return "no error";
    case RG_E_PARAM: return "a parameter has a value that the variant does not know";
    case RG_E_STATE: return "out of memory, or called without what prepare sets up";
    case RG_E_LIBRARY: return "a library or program that the variant uses failed";
    default: return "unknown error";
    }
}

int rg_device_code(int error) {
    enum { CUDA_OUT_OF_MEMORY = 2 };
    return error == RG_E_STATE || error == CUDA_OUT_OF_MEMORY ? RG_LACKS : RG_WRONG;
}

int rg_device_failed(const rg_device *d, const char *who, const char *doing, int code) {
    char refused[200];
    if (code == RG_OK) return RG_GOOD;
    // A library reports a failed allocation only as its own failure.
    const bool is_short = rg_ledger_refused(refused) && (rg_device_code(code) == RG_LACKS || code == RG_E_LIBRARY);
    return is_short ? rg_fail(RG_LACKS, "%s: %s", who, refused)
                    : rg_fail(rg_device_code(code), "%s: %s: %s", who, doing, d->error(code));
}

const rg_device *rg_device_cpu(void) {
    static const rg_device cpu = {
        .name = "cpu",
        .alloc = cpu_alloc,
        .release = free,
        .upload = cpu_copy,
        .download = cpu_copy,
        .fill = cpu_fill,
        .sync = cpu_sync,
        .stream_make = cpu_stream,
        .stream_free = cpu_stream_free,
        .event_make = cpu_event,
        .event_free = free,
        .event_record = cpu_record,
        .event_ms = cpu_elapsed,
        .stream_urgent = cpu_stream,
        .stream_wait = cpu_wait,
        .pinned = cpu_alloc,
        .unpin = free,
        .upload_on = cpu_upload_on,
        .move = cpu_copy,
        .flush = cpu_flush,
        .facts = cpu_facts,
        .error = cpu_error,
    };
    return &cpu;
}

int rg_device_index(const char *name) {
    int index = 0, used = 0;
    if (!strcmp(name, "gpu") || (sscanf(name, "gpu%d%n", &index, &used) == 1 && !name[used] && index >= 0)) return index;
    return !strcmp(name, "cpu") || !strcmp(name, "host") ? RG_DEVICE_NO_GPU : RG_DEVICE_UNKNOWN;
}

const rg_device *rg_device_open(const char *name, char why[200]) {
    int index = rg_device_index(name);
    if (index >= 0) return rg_gpu_open(index, why);
    if (index == RG_DEVICE_NO_GPU) return *name == 'c' ? rg_device_cpu() : rg_device_emulated();
    snprintf(why, 200, "unknown device \"%s\": expected cpu, host, gpu or gpu0, gpu1, ...", name);
    return NULL;
}
