// SPDX-License-Identifier: MIT
// memory.h: how much memory a job may take, asked before it takes any, what it takes it for, and how many cores its control groups
// leave it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that this process may still take: the least of what the machine has available and what control groups (memory.max, or
// memory.limit_in_bytes of version 1) leave, shared by the job's processes here, and of its own limits of addresses and data
// (ulimit -v, -d).
double rg_memory_free(void);
double rg_memory_free_of(const char *proc, const char *mounted); // of other folders than /proc and /sys/fs/cgroup: for tests

// A size as people write it, "16GiB", "1.5MiB", "512KiB", "4096B", in bytes; false: it is none.
bool rg_memory_size(const char *text, double *bytes);
// The other way: "32.7 GiB", "1.5 MiB", "512 B"; returns text.
const char *rg_memory_text(double bytes, char text[32]);

// Cores that control groups let this process use, as a share of time: cpu.max, or cpu.cfs_quota_us of version 1; INFINITY: all.
double rg_cores_quota(void);
double rg_cores_quota_of(const char *proc, const char *mounted);

// What every job takes besides: code that is loaded as it is needed, plans of transforms, tables, the ends of huge pages.
#define RG_MEMORY_RESERVE (18 * 0x1p20)
// Bytes at the most for a job of this size; grows with it.
typedef double rg_memory_need(const void *of, int64_t size);
// The largest size whose need fits in `there` bytes, as "--batch 123 fits"; "none fits". malloc'ed.
char *rg_memory_fits(double there, rg_memory_need *, const void *of, const char *fits);
// The one check of every job, of rg_memory_free() or a device's free bytes. RG_GOOD, or RG_LACKS and one line: "WHAT need X GiB
// of memory, Y GiB are free; FITS 123 fits", 123 being the largest size that does.
int rg_memory_allows(double there, rg_memory_need *, const void *of, int64_t size, const char *fits, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

// What is held of one memory at the same time, by name, in bytes.
enum { RG_NEEDS_MAX = 40 };
typedef struct rg_needs {
    int n;
    struct {
        const char *name;
        double bytes;
    } row[RG_NEEDS_MAX];
    double bytes; // of all rows
} rg_needs;
// One row more, or the row of this name grows; nothing of 0 bytes.
void rg_need(rg_needs *, const char *name, double bytes);
// `most` becomes what is held in a stage that adds `stage` to `held`, where that is more.
void rg_needs_most(rg_needs *most, const rg_needs *held, const rg_needs *stage);

#ifdef __cplusplus
}
#endif
