// SPDX-License-Identifier: MIT
// engine.h: the interface between the parts of the emulation: calls of host_cuda.h into launch.cc and memory.cc, and shared
// data.
#pragma once

#include <cstddef>
#include <cstdint>

// SANITIZE=1 builds with AddressSanitizer and UndefinedBehaviorSanitizer instead of this folder's checks.
#if defined(__SANITIZE_ADDRESS__)
#define RG_REAL_SANITIZERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RG_REAL_SANITIZERS 1
#endif
#endif

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

namespace rg_emu {

struct Launch {
    const char *name;
    const void *kernel;
    dim3 grid, block;
    size_t shared_bytes;
    const void *stream;
    const void *args; // the arguments, invoke copies them for each thread
    size_t args_bytes;
    bool checked; // compiled with the instrumentation
    void (*invoke)(const void *args);
};
int launch(const Launch &); // returns a cudaError_t

// Whether work may be queued on this stream (emulation.h). If not, records a fault that names `what`.
bool stream_right(const void *stream, const char *what);

// Ends the launch: records the text after kernel, block and thread, and leaves the fiber for good.
[[noreturn]] void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum Barrier { PLAIN, COUNT, AND, OR };
int barrier(Barrier, int predicate, int line);

// The values of all lanes of the mask in one exchange; valid until the lane's next exchange.
struct Value {
    alignas(8) unsigned char bytes[32];
};
enum Exchange { SYNC, SHUFFLE, VOTE, MATCH, REDUCE, MATRIX };
const Value *exchange(Exchange, unsigned mask, int line, const void *value, size_t bytes);
unsigned lane();
// Copies to `result` the value (`bytes` long) of lane `from`.
void shuffle(unsigned mask, const void *value, size_t bytes, unsigned from, void *result, int line);
void multiply_u8(int d[4], const unsigned a[4], const unsigned b[2], int line);

void *shared_dynamic();
int shared_limit(const void *kernel, int bytes); // cudaFuncAttributeMaxDynamicSharedMemorySize

// ---- memory.cc -----------------------------------------------------------------------------------------------------------

void atomic_access(const void *, size_t bytes, bool reads);
void read_access(const void *, size_t bytes); // by functions of the emulation on behalf of a kernel
void write_access(const void *, size_t bytes);
void fence();

void memory_add(const void *, size_t bytes);
void memory_remove(const void *);
bool memory_holds(const void *, size_t bytes); // whether they lie inside one allocation

// The state of the running thread; memory.cc compares it with the marks of earlier accesses. Phases are numbered over all
// launches: each block and each barrier of a block starts one.
struct Position {
    bool running;                  // a kernel runs, not the harness
    bool checked;                  // its loads and stores are instrumented
    bool fenced;                   // a thread of this launch has called __threadfence: blocks may then read each other's writes
    uint32_t launch, block, phase; // first phase of the launch, first of the block, current
    uint64_t mark;                 // phase, warp, lane and the count of warp-wide synchronisations in this phase
    uintptr_t stack, all_stacks, all_stacks_end;
    uintptr_t args, args_end;
    uint64_t accesses;                            // of all launches
    uintptr_t dynamic, dynamic_end, dynamic_most; // shared memory of this launch, and the maximum
};
extern Position position;
enum : size_t { STACK_BYTES = 128 << 10 };
constexpr uint64_t mark_of(uint32_t phase, unsigned warp, unsigned lane, unsigned warp_phase) {
    return (uint64_t)phase << 32 | (uint64_t)warp << 24 | (uint64_t)lane << 18 | (warp_phase & 0x3ffffu);
}
void memory_launch(const void *kernel); // reads the static shared arrays of the module that holds this kernel
void memory_block();                    // shared memory of a new block: poisons it if reads are not checked

} // namespace rg_emu
