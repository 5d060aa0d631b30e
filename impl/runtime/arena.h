// SPDX-License-Identifier: MIT
// arena.h: guarded, poisoned buffers on any device.
//
// A buffer lies between two guard zones of 4 KiB with a known pattern. Its base is aligned, or one element off on purpose. On a
// CPU fences can replace the zones: pages without access on both sides, with the buffer flush against one of them.
#pragma once

#include "../gpu/device.h"
#include <stdbool.h>

enum { RG_POISON = 0xFF };

typedef struct rg_buffer {
    const rg_device *device;
    void *base; // passed to the variant; when offset, aligned to an element only
    size_t bytes;
    void *block;              // the whole allocation
    size_t block_bytes, lead; // base = block + lead
    bool fenced;
} rg_buffer;

// unaligned: base is 256-byte aligned plus one element. `what`: its name in the device's ledger. RG_OK, or the device's error and an
// empty buffer.
int rg_buffer_make(rg_buffer *, const rg_device *, size_t bytes, size_t element_bytes, bool unaligned, const char *what);
// With fences. at_end: flush against the fence after it, else against the one before. `align` is then the unit of its address; a
// buffer at the end that happens to be 256-byte aligned is moved by one unit. Not on a CPU: as above, unaligned if at_end.
int rg_buffer_make_fenced(rg_buffer *, const rg_device *, size_t bytes, size_t align, bool at_end, const char *what);
int rg_buffer_protect(rg_buffer *, bool read_only); // fenced buffers only; does nothing for others
// Bytes from base to p; *inside: p lies in one of its fences or, if protected, in the buffer.
int64_t rg_buffer_touched(const rg_buffer *, const void *p, bool *inside);
size_t rg_buffer_bytes(size_t bytes, size_t element_bytes); // needed, guards included
void rg_buffer_free(rg_buffer *);
int rg_buffer_poison(rg_buffer *);            // fills with RG_POISON: NaN for floats, -1 for integers, which no right sum gives
int rg_buffer_put(rg_buffer *, const void *); // host memory -> buffer, bytes long
int rg_buffer_get(const rg_buffer *, void *);
// Copies n elements, of `bytes` each, to their places in host memory of the buffer's size.
int rg_buffer_get_elements(const rg_buffer *, void *, const int64_t *element, int64_t n, size_t bytes);
// *hit: a guard is damaged; returns the offset from base, in bytes, of the damaged byte nearest to the buffer, else 0.
int64_t rg_buffer_guard(const rg_buffer *, bool *hit);
