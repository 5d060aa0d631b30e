// SPDX-License-Identifier: MIT
// arena.c: guarded, poisoned buffers.
#include "arena.h"
#include "../suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 4096, ALIGN = 256 };

size_t rg_buffer_bytes(size_t bytes, size_t element_bytes) { return ALIGN + GUARD + element_bytes + bytes + GUARD; }

// A kernel does not write the guard's bytes by chance; they differ from byte to byte, so that shifted copies are detected.
static unsigned char guard_byte(size_t i) { return (unsigned char)(0xA5u ^ (i * 29u) ^ (i >> 8)); }

static const unsigned char *guard_pattern(void) {
    static unsigned char pattern[GUARD];
    for (size_t i = 0; pattern[0] != guard_byte(0) && i < GUARD; i++)
        pattern[GUARD - 1 - i] = guard_byte(GUARD - 1 - i); // byte 0 last: its value marks the pattern as complete
    return pattern;
}

int rg_buffer_make(
    rg_buffer *b, const rg_device *device, size_t bytes, size_t element_bytes, bool unaligned, const char *what) {
    *b = (rg_buffer){.device = device, .bytes = bytes};
    b->block_bytes = rg_buffer_bytes(bytes, element_bytes);
    int code = device->alloc(&b->block, b->block_bytes, what);
    if (code) {
        *b = (rg_buffer){0};
        return code;
    }
    size_t to_aligned = (ALIGN - (uintptr_t)b->block % ALIGN) % ALIGN;
    b->lead = to_aligned + GUARD + (unaligned ? element_bytes : 0);
    b->base = (char *)b->block + b->lead;
    code = device->upload((char *)b->base - GUARD, guard_pattern(), GUARD);
    code = code ? code : device->upload((char *)b->base + bytes, guard_pattern(), GUARD);
    if (code) rg_buffer_free(b);
    return code;
}

// The bytes between a fence and the buffer are the guard's.
int rg_buffer_make_fenced(rg_buffer *b, const rg_device *device, size_t bytes, size_t align, bool at_end, const char *what) {
    if (device->is_gpu) return rg_buffer_make(b, device, bytes, align, at_end && align < ALIGN, what);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), aside = at_end && align < ALIGN && bytes % ALIGN == 0 ? align : 0;
    const size_t used = (bytes + align - 1) / align * align + aside, room = (used + page - 1) / page * page;
    *b = (rg_buffer){.device = device, .bytes = bytes, .fenced = true, .block_bytes = room + 2 * page};
    b->block = mmap(NULL, b->block_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->block == MAP_FAILED || (room && mprotect((char *)b->block + page, room, PROT_READ | PROT_WRITE))) {
        if (b->block != MAP_FAILED) munmap(b->block, b->block_bytes);
        *b = (rg_buffer){0};
        return RG_E_STATE;
    }
    b->lead = page + (at_end ? room - used : 0);
    b->base = (char *)b->block + b->lead;
    for (size_t i = page; i < page + room; i++) ((unsigned char *)b->block)[i] = guard_byte(i);
    return RG_OK;
}

int rg_buffer_protect(rg_buffer *b, bool read_only) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!b->fenced || b->block_bytes == 2 * page) return RG_OK;
    const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    return mprotect((char *)b->block + page, b->block_bytes - 2 * page, access) ? RG_E_STATE : RG_OK;
}

int64_t rg_buffer_touched(const rg_buffer *b, const void *p, bool *inside) {
    *inside = b->fenced && (const char *)p >= (char *)b->block && (const char *)p < (char *)b->block + b->block_bytes;
    return *inside ? (const char *)p - (char *)b->base : 0;
}

static int64_t fenced_guard(const rg_buffer *b, bool *hit) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *found = b->block;
    *hit = true;
    for (size_t i = b->lead + b->bytes; i < b->block_bytes - page; i++)
        if (found[i] != guard_byte(i)) return (int64_t)(i - b->lead);
    for (size_t i = b->lead; i-- > page;)
        if (found[i] != guard_byte(i)) return (int64_t)i - (int64_t)b->lead;
    *hit = false;
    return 0;
}

void rg_buffer_free(rg_buffer *b) {
    if (b->fenced)
        munmap(b->block, b->block_bytes);
    else if (b->block)
        b->device->release(b->block);
    *b = (rg_buffer){0};
}

int rg_buffer_poison(rg_buffer *b) { return b->bytes ? b->device->fill(b->base, RG_POISON, b->bytes) : RG_OK; }
int rg_buffer_put(rg_buffer *b, const void *from) { return b->bytes ? b->device->upload(b->base, from, b->bytes) : RG_OK; }
int rg_buffer_get(const rg_buffer *b, void *to) { return b->bytes ? b->device->download(to, b->base, b->bytes) : RG_OK; }

int rg_buffer_get_elements(const rg_buffer *b, void *to, const int64_t *element, int64_t n, size_t bytes) {
    int code = RG_OK;
    for (int64_t k = 0; k < n && !code; k++) {
        const size_t at = (size_t)element[k] * bytes;
        code = b->device->download((char *)to + at, (char *)b->base + at, bytes);
    }
    return code;
}

int64_t rg_buffer_guard(const rg_buffer *b, bool *hit) {
    if (b->fenced) return fenced_guard(b, hit);
    unsigned char found[GUARD];
    const unsigned char *expected = guard_pattern();
    *hit = true; // also if a guard cannot be read, because it may not be intact
    if (b->device->download(found, (char *)b->base + b->bytes, GUARD) != RG_OK) return (int64_t)b->bytes;
    for (int64_t i = 0; i < GUARD; i++)
        if (found[i] != expected[i]) return (int64_t)b->bytes + i;
    if (b->device->download(found, (char *)b->base - GUARD, GUARD) != RG_OK) return -1;
    for (int64_t i = GUARD - 1; i >= 0; i--)
        if (found[i] != expected[i]) return i - GUARD;
    *hit = false;
    return 0;
}
