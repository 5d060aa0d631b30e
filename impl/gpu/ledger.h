// SPDX-License-Identifier: MIT
// ledger.h: what this process has taken of each device's memory, by name, and the limit that it keeps to.
//
// Makes of device enter what they allocate: buffers, arrays of textures, work areas of transforms; of a GPU its context, as far
// as the driver shows it. Not entered: code of kernels, which the driver loads when they first run. Memory of the CPU is not
// entered. Functions may be called by any thread.
#ifndef RG_LEDGER_H
#define RG_LEDGER_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_ledger_row {
    char what[48];
    size_t bytes, peak; // now; at the most
} rg_ledger_row;

enum { RG_LEDGER_ROWS = 64 };
// Rows of a device in the order of their peaks, the largest first; returns how many.
int rg_ledger_rows(const rg_device *, rg_ledger_row row[RG_LEDGER_ROWS]);
size_t rg_ledger_taken(const rg_device *);
size_t rg_ledger_peak(const rg_device *); // the most that was taken at a time
void rg_ledger_begin(const rg_device *);  // peaks are counted anew, from what is taken now
// What this process may still take: REGATHER_GPU_MEMORY (--gpu-memory) less what it has; SIZE_MAX without a limit.
size_t rg_ledger_left(const rg_device *);

// ---- for makes of device -------------------------------------------------------------------------------------------------

typedef struct rg_ledger_block rg_ledger_block;
// Before a block is allocated; NULL: it would pass the limit.
rg_ledger_block *rg_ledger_take(const rg_device *, size_t bytes, const char *what);
void rg_ledger_place(rg_ledger_block *, const void *at); // where it is; at NULL: it could not be allocated
void rg_ledger_give(const void *at);                     // before it is released
// An allocation of this thread failed while so many bytes were free: rg_device_failed says so.
void rg_ledger_refuse(const rg_device *, size_t bytes, const char *what, size_t free_bytes);
// The last one, if it was refused, as "no memory on gpu0 for 32.7 GiB of scratch; 27.6 GiB are free"; forgotten then.
bool rg_ledger_refused(char text[200]);

#ifdef __cplusplus
}
#endif
#endif
