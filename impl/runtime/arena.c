// SPDX-License-Identifier: MIT
// arena.c: guarded, poisoned buffers and the frame of one call.
#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, ALIGN = 256, POISON = 0xFF };

// The guard's bytes are never what a kernel writes by chance, and differ from byte to byte so that shifted copies show.
static unsigned char guard_byte(size_t i) { return (unsigned char)(0xA5u ^ (i * 29u) ^ (i >> 8)); }

static const unsigned char *guard_pattern(void)
{
    static unsigned char pattern[GUARD];
    for (size_t i = 0; pattern[0] != guard_byte(0) && i < GUARD; i++)
        pattern[GUARD - 1 - i] = guard_byte(GUARD - 1 - i); // byte 0 last: its value says that the rest is there
    return pattern;
}

int rg_buffer_make(rg_buffer *b, const rg_device *device, size_t bytes, size_t element_bytes, bool unaligned)
{
    *b = (rg_buffer){.device = device, .bytes = bytes};
    b->block_bytes = ALIGN + GUARD + element_bytes + bytes + GUARD;
    b->block = device->alloc(b->block_bytes);
    if (!b->block)
        return device->sync() ? device->sync() : RG_E_STATE;
    size_t to_aligned = (ALIGN - (uintptr_t)b->block % ALIGN) % ALIGN;
    b->lead = to_aligned + GUARD + (unaligned ? element_bytes : 0);
    b->base = (char *)b->block + b->lead;
    int code = device->upload((char *)b->base - GUARD, guard_pattern(), GUARD);
    return code ? code : device->upload((char *)b->base + bytes, guard_pattern(), GUARD);
}

void rg_buffer_free(rg_buffer *b)
{
    if (b->block)
        b->device->release(b->block);
    *b = (rg_buffer){0};
}

int rg_buffer_poison(rg_buffer *b) { return b->bytes ? b->device->fill(b->base, POISON, b->bytes) : RG_OK; }
int rg_buffer_put(rg_buffer *b, const void *from) { return b->bytes ? b->device->upload(b->base, from, b->bytes) : RG_OK; }
int rg_buffer_get(const rg_buffer *b, void *to) { return b->bytes ? b->device->download(to, b->base, b->bytes) : RG_OK; }

int64_t rg_buffer_guard(const rg_buffer *b, bool *hit)
{
    unsigned char found[GUARD];
    const unsigned char *expected = guard_pattern();
    *hit = true; // also when a guard cannot be read: an intact one is then not known
    if (b->device->download(found, (char *)b->base + b->bytes, GUARD) != RG_OK)
        return (int64_t)b->bytes;
    for (int64_t i = 0; i < GUARD; i++)
        if (found[i] != expected[i])
            return (int64_t)b->bytes + i;
    if (b->device->download(found, (char *)b->base - GUARD, GUARD) != RG_OK)
        return -1;
    for (int64_t i = GUARD - 1; i >= 0; i--)
        if (found[i] != expected[i])
            return i - GUARD;
    *hit = false;
    return 0;
}

int rg_frame_make(rg_frame *f, const rg_algo *algo, const rg_variant *variant, const rg_device *device, const rg_shape *shape,
                  const int64_t *param, bool unaligned, int threads)
{
    memset(f, 0, sizeof *f);
    f->algo = algo;
    f->variant = variant;
    f->device = device;
    f->shape = *shape;
    memcpy(f->param, param, (size_t)variant->n_params * sizeof *param);
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++) {
        size_t element = rg_type_bytes(algo->arg[i].type(shape));
        code = rg_buffer_make(&f->buffer[i], device, (size_t)algo->arg[i].count(shape) * element, element, unaligned);
        f->arg[i] = f->buffer[i].base;
        if (!code && algo->arg[i].direction == RG_OUT)
            code = rg_buffer_poison(&f->buffer[i]);
    }
    size_t scratch = variant->scratch ? variant->scratch(&f->shape, f->param) : 0;
    if (!code)
        code = rg_buffer_make(&f->scratch, device, scratch, 1, false);
    if (!code)
        code = rg_buffer_poison(&f->scratch);
    f->call = (rg_call){.shape = &f->shape, .param = f->param, .arg = f->arg, .scratch = scratch ? f->scratch.base : NULL,
                        .stream = device->stream_make(), .threads = threads, .state = NULL};
    return code;
}

void rg_frame_free(rg_frame *f)
{
    if (f->call.stream)
        f->device->stream_free(f->call.stream);
    for (int i = 0; i < f->algo->n_args; i++)
        rg_buffer_free(&f->buffer[i]);
    rg_buffer_free(&f->scratch);
}

size_t rg_frame_bytes(const rg_algo *algo, const rg_variant *variant, const rg_shape *shape, const int64_t *param)
{
    size_t overhead = ALIGN + 2 * GUARD, total = overhead + (variant->scratch ? variant->scratch(shape, param) : 0);
    for (int i = 0; i < algo->n_args; i++) {
        size_t element = rg_type_bytes(algo->arg[i].type(shape));
        size_t bytes = (size_t)algo->arg[i].count(shape) * element;
        total += overhead + element + bytes;
        if (i == 0 && variant->flags & RG_COPIES_FIRST)
            total += bytes;
    }
    return total;
}
