// SPDX-License-Identifier: MIT
// arena.h: guarded, poisoned buffers on any device.
//
// Each buffer stands between two guard zones of 4 KiB filled with a known pattern, at a base that is aligned or deliberately
// one element off. On a CPU there can be fences instead: pages without access on both sides, the buffer flush with one of them.
#pragma once

#include "../gpu/device.h"
#include <stdbool.h>

enum { RG_POISON = 0xFF };

typedef struct rg_buffer {
    const rg_device *device;
    void *base; // what the variant gets; element-aligned only when offset
    size_t bytes;
    void *block;              // the whole allocation
    size_t block_bytes, lead; // base = block + lead
    bool fenced;
} rg_buffer;

// unaligned: base is 256-byte aligned plus one element. `what`: its name in the device's ledger. RG_OK or the device's error, after
// which it is empty.
int rg_buffer_make(rg_buffer *, const rg_device *, size_t bytes, size_t element_bytes, bool unaligned, const char *what);
// Between fences, at_end: flush with the one behind it, else with the one before; `align` then is its unit, and a buffer at the
// end that lies at 256 bytes by chance is moved by one. On other devices than a CPU as above, unaligned where at_end.
int rg_buffer_make_fenced(rg_buffer *, const rg_device *, size_t bytes, size_t align, bool at_end, const char *what);
int rg_buffer_protect(rg_buffer *, bool read_only); // of a fenced one; others are left as they are
// Bytes from base to p, a place in one of its fences or (protected) in itself; true in *inside.
int64_t rg_buffer_touched(const rg_buffer *, const void *p, bool *inside);
size_t rg_buffer_bytes(size_t bytes, size_t element_bytes); // that it takes, guards included
void rg_buffer_free(rg_buffer *);
int rg_buffer_poison(rg_buffer *);            // RG_POISON bytes: NaN for floats, -1 for integers, nothing a right sum gives
int rg_buffer_put(rg_buffer *, const void *); // host memory -> buffer, bytes long
int rg_buffer_get(const rg_buffer *, void *);
// Those n elements of so many bytes alone, to their places in host memory of the buffer's size.
int rg_buffer_get_elements(const rg_buffer *, void *, const int64_t *element, int64_t n, size_t bytes);
// 0 when both guards are intact, else the offset in bytes from base of the damaged byte nearest to the buffer, and true in
// *hit.
int64_t rg_buffer_guard(const rg_buffer *, bool *hit);
