// SPDX-License-Identifier: MIT
// autocorr_memory.c: kernels of `autocorr` that access memory outside their arguments; the sums of all but one are right.
#include "autocorr.h"
#include <emmintrin.h>

static size_t bytes_of(const photos p) { return (size_t)(p.width * p.height) * (p.sixteen_bit ? 2 : 1); }

// On most machines nothing happens, because allocators round up.
SUMS(past_end, "one element written behind the output") {
    right_sums(p, sums);
    sums[elements_of(p)] = 0;
}

SUMS(before_start, "one element written in front of the output, which belongs to somebody else, who fails much later") {
    right_sums(p, sums);
    sums[-1] = 0;
}

static size_t row_of_sums(const rg_shape *s, const int64_t *param) {
    (void)param;
    return (size_t)s->n[AC_WIDTH] * sizeof(int64_t);
}

RUN(scratch_past_end, "scratch memory one element too small for what is kept there", .scratch = row_of_sums) {
    const photos p = photos_of(call->shape, call->arg);
    right_sums(p, (int64_t *)call->arg[AC_SUMS]);
    for (int64_t x = 0; x <= p.width; x++) ((int64_t *)call->scratch)[x] = x;
    return RG_OK;
}

// Passes in new pages of the system, which are zero.
RUN(scratch_not_cleared, "adds to scratch memory that it takes to be zero", .scratch = row_of_sums) {
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS], *centre = (int64_t *)call->scratch;
    right_sums(p, sums);
    *centre += right_sum(p, 0, 0);
    sums[ac_element(p.r, 0, 0)] = *centre;
    return RG_OK;
}

SUMS(edited_input, "the last pixel of the input left changed: later variants on the same buffers get another photograph") {
    right_sums(p, sums);
    ((unsigned char *)(uintptr_t)p.a)[bytes_of(p) - 1] ^= 1;
}

// Another thread that reads the photograph meanwhile reads the sentinel.
SUMS(restored_input, "writes a sentinel to the last pixel of the input and puts back what stood there") {
    volatile unsigned char *last = (unsigned char *)(uintptr_t)p.a + bytes_of(p) - 1;
    const unsigned char was = *last;
    *last = (unsigned char)~was;
    *last = was;
    right_sums(p, sums);
}

// Like a vector load of a whole register; fails if the photograph ends at the end of its page.
SUMS(over_read, "reads the byte behind the last pixel and takes nothing from it") {
    (void)*((const volatile unsigned char *)p.a + bytes_of(p));
    right_sums(p, sums);
}

SUMS(under_read, "reads the byte before the first pixel and takes nothing from it") {
    (void)*((const volatile unsigned char *)p.a - 1);
    right_sums(p, sums);
}

// Fails at an unaligned base, with a fault without an address.
SUMS(aligned_load, "loads the first pixels by an instruction for addresses that 16 divides") {
    if (p.width * p.height >= 16) {
        const volatile __m128i first = _mm_load_si128((const __m128i *)p.a);
        (void)first;
    }
    right_sums(p, sums);
}

RG_PLUGIN = {&past_end, &before_start, &scratch_past_end, &scratch_not_cleared, &edited_input, &restored_input, &over_read,
    &under_read, &aligned_load, NULL};
