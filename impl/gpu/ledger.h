// SPDX-License-Identifier: MIT
// ledger.h: records the memory that this process holds on each device, by name, and enforces its limit.
//
// Devices record their allocations: buffers, arrays of textures, work areas of transforms; for a GPU also its context, as far
// as the driver shows it. Not recorded: the code of kernels, which the driver loads when they first run, and memory of the CPU.
// Any thread may call these functions.
#ifndef RG_LEDGER_H
#define RG_LEDGER_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_ledger_row {
    char what[48];
    size_t bytes, peak; // now; at the peak
} rg_ledger_row;

enum { RG_LEDGER_ROWS = 64 };
// Copies the rows of a device, largest peak first; returns their number.
int rg_ledger_rows(const rg_device *, rg_ledger_row row[RG_LEDGER_ROWS]);
size_t rg_ledger_taken(const rg_device *);
size_t rg_ledger_peak(const rg_device *); // the most held at any time
void rg_ledger_begin(const rg_device *);  // resets peaks to what is held now
// Bytes that this process may still take: REGATHER_GPU_MEMORY (--gpu-memory) minus what it holds; SIZE_MAX: no limit.
size_t rg_ledger_left(const rg_device *);

// ---- for implementations of devices ---------------------------------------------------------------------------------------

typedef struct rg_ledger_block rg_ledger_block;
// Called before a block is allocated; NULL: it would exceed the limit.
rg_ledger_block *rg_ledger_take(const rg_device *, size_t bytes, const char *what);
void rg_ledger_place(rg_ledger_block *, const void *at); // sets its address; NULL: it could not be allocated
void rg_ledger_give(const void *at);                     // called before it is released
// Records a failed allocation of this thread and the bytes that were free, for the message of rg_device_failed.
void rg_ledger_refuse(const rg_device *, size_t bytes, const char *what, size_t free_bytes);
// If the last allocation was refused, writes "no memory on gpu0 for 32.7 GiB of scratch; 27.6 GiB are free" and forgets it.
bool rg_ledger_refused(char text[200]);

#ifdef __cplusplus
}
#endif
#endif
