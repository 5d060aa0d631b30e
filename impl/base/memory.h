// SPDX-License-Identifier: MIT
// memory.h: the memory that a job may take, checked before it allocates, what it needs it for, and the cores that control groups
// allow.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that this process may still take: the least of the available memory of the machine and of its control groups (memory.max,
// or memory.limit_in_bytes of version 1), divided among the job's processes here, and of the limits of addresses and data
// (ulimit -v, -d).
double rg_memory_free(void);
double rg_memory_free_of(const char *proc, const char *mounted); // of other folders than /proc and /sys/fs/cgroup: for tests

// Reads a size, "16GiB", "1.5MiB", "512KiB", "4096B", in bytes; false: invalid.
bool rg_memory_size(const char *text, double *bytes);
// Writes a size: "32.7 GiB", "1.5 MiB", "512 B"; returns text.
const char *rg_memory_text(double bytes, char text[32]);

// Cores that control groups allow, as a share of time (cpu.max, or cpu.cfs_quota_us of version 1); INFINITY: no limit.
double rg_cores_quota(void);
double rg_cores_quota_of(const char *proc, const char *mounted);

// Memory that every job needs on top: code loaded on demand, plans of transforms, tables, the ends of huge pages.
#define RG_MEMORY_RESERVE (18 * 0x1p20)
// An upper bound of the bytes for a job of this size; grows with it.
typedef double rg_memory_need(const void *of, int64_t size);
// The largest size that fits in `there` bytes, as "--batch 123 fits" or "none fits". malloc'ed.
char *rg_memory_fits(double there, rg_memory_need *, const void *of, const char *fits);
// The check of every job, against rg_memory_free() or a device's free bytes. RG_GOOD, or RG_LACKS and one line: "WHAT need X GiB
// of memory, Y GiB are free; FITS 123 fits", with the largest size that fits.
int rg_memory_allows(double there, rg_memory_need *, const void *of, int64_t size, const char *fits, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

// Bytes held in one memory at the same time, by name.
enum { RG_NEEDS_MAX = 40 };
typedef struct rg_needs {
    int n;
    struct {
        const char *name;
        double bytes;
    } row[RG_NEEDS_MAX];
    double bytes; // of all rows
} rg_needs;
// Adds a row, or grows the row of this name. Ignores 0 bytes.
void rg_need(rg_needs *, const char *name, double bytes);
// Sets `most` to held + stage, what a stage holds, if that is more.
void rg_needs_most(rg_needs *most, const rg_needs *held, const rg_needs *stage);

#ifdef __cplusplus
}
#endif
