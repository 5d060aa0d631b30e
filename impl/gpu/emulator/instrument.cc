// SPDX-License-Identifier: MIT
// instrument.cc: the functions called by instrumented kernel code. They have the names of those in the run-time libraries of
// ThreadSanitizer and UndefinedBehaviorSanitizer, which are not linked; memory.cc does the checks.
#include "engine.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define ENTRY(n)                                                                                                               \
    extern "C" void __tsan_read##n(void *p) { rg_emu::read_access(p, n); }                                                     \
    extern "C" void __tsan_write##n(void *p) { rg_emu::write_access(p, n); }                                                   \
    extern "C" void __tsan_unaligned_read##n(void *p) { rg_emu::read_access(p, n); }                                           \
    extern "C" void __tsan_unaligned_write##n(void *p) { rg_emu::write_access(p, n); }
ENTRY(1)
ENTRY(2)
ENTRY(4)
ENTRY(8)
ENTRY(16)
#undef ENTRY

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void **) {}
void __tsan_vptr_update(void **, void *) {}

void __tsan_read_range(void *p, size_t n) { rg_emu::read_access(p, n); }

void __tsan_write_range(void *p, size_t n) { rg_emu::write_access(p, n); }

void *__tsan_memcpy(void *to, const void *from, size_t n) {
    rg_emu::read_access(from, n);
    rg_emu::write_access(to, n);
    return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n) {
    rg_emu::read_access(from, n);
    rg_emu::write_access(to, n);
    return memmove(to, from, n);
}

void *__tsan_memset(void *to, int byte, size_t n) {
    rg_emu::write_access(to, n);
    return memset(to, byte, n);
}

} // extern "C"

// A build with the real sanitizers has the real handlers.
#ifndef RG_REAL_SANITIZERS

namespace {

// The layout used by the compilers.
struct Location {
    const char *file;
    uint32_t line, column;
};

struct Type {
    uint16_t kind, info; // integers: info = 2 log2(bits) + signed
    char name[1];
};

struct BoundsData {
    Location at;
    const Type *array, *index;
};

struct MismatchData {
    Location at;
    const Type *type;
    unsigned char log_alignment, check;
};

// In a kernel this is a fault of the thread; in the host code of a .cu file it ends the program.
[[noreturn]] void complain(const Location &at, const char *what) {
    const char *slash = strrchr(at.file, '/');
    if (rg_emu::position.running) rg_emu::fault("%s (%s:%u)", what, slash ? slash + 1 : at.file, at.line);
    fprintf(stderr, "regather: %s:%u: %s\n", at.file, at.line, what);
    abort();
}

} // namespace

extern "C" void __ubsan_handle_out_of_bounds(const BoundsData *data, uintptr_t index) {
    char what[200];
    const unsigned bits = 1u << (data->index->info >> 1);
    long long value = (long long)index;
    if (data->index->info & 1 && bits < 64) value = (long long)(index << (64 - bits)) >> (64 - bits);
    snprintf(what, sizeof what, "index out of range: %lld in an array of type %s", value, data->array->name);
    complain(data->at, what);
}

extern "C" void __ubsan_handle_type_mismatch_v1(const MismatchData *data, uintptr_t pointer) {
    char what[200];
    const bool misaligned = pointer & (((uintptr_t)1 << data->log_alignment) - 1);
    snprintf(what, sizeof what, "%s %s at %p", misaligned ? "misaligned address for type" : "access beyond its array of type",
        data->type->name, (void *)pointer);
    complain(data->at, what);
}

#endif
