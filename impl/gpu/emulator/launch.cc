// SPDX-License-Identifier: MIT
// launch.cc: runs the blocks of a launch, with one fiber per thread, so that barriers work as on a GPU.
//
// A thread runs until it waits or ends; then the next one runs, in an order drawn from the seed for each round. A block barrier
// opens when all threads of the block wait at it on the same source line; another line, or a thread that has ended, is
// divergence. Warp-wide operations are in warp.cc.
#include "block.h"
#include "emulation.h"
#include "runtime.h"
#include <sys/mman.h>
#include <utility>

uint3 rg_thread_idx, rg_block_idx;
dim3 rg_block_dim, rg_grid_dim;

namespace rg_emu {

Position position;
Engine engine;

namespace {

enum : int { SHARED_STANDARD = 48 << 10, SHARED_MAX = 227 << 10, SHARED_GUARD = 64 << 10 };

uint64_t draw(uint64_t below) { return (uint64_t)((unsigned __int128)rg_bits(engine.seed, engine.drawn++) * below >> 64); }

enum : size_t { GUARD = 4096, SLOT = STACK_BYTES + GUARD };

// Allocates the stacks and the dynamic shared memory, once, at the first launch.
bool make_room() {
    if (engine.stacks) return true;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *stacks = (unsigned char *)mmap(nullptr, SLOT * THREADS_MAX, PROT_READ | PROT_WRITE, flags, -1, 0);
    void *dynamic = mmap(nullptr, SHARED_MAX + 2 * SHARED_GUARD, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stacks == MAP_FAILED || dynamic == MAP_FAILED) return false;
    engine.stacks = stacks;
    engine.dynamic = (unsigned char *)dynamic + SHARED_GUARD;
    position.all_stacks = (uintptr_t)stacks;
    position.all_stacks_end = (uintptr_t)stacks + SLOT * THREADS_MAX;
    position.dynamic = (uintptr_t)engine.dynamic;
    position.dynamic_most = position.dynamic + SHARED_MAX;
    return true;
}

void stacks_all_spare() {
    engine.n_spare = 0;
    for (unsigned i = 0; i < THREADS_MAX; i++)
        engine.spare_stack[engine.n_spare++] = engine.stacks + (THREADS_MAX - 1 - i) * SLOT + GUARD;
}

// Makes the page below a stack inaccessible, the first time that the stack is used.
void guard_stack(unsigned i) {
    if (i < engine.n_guarded) return;
    mprotect(engine.stacks + i * SLOT, GUARD, PROT_NONE);
    engine.n_guarded = i + 1;
}

void next_phase() {
    position.phase = ++engine.phases;
    for (Warp &w : engine.warp) w.phase = 0;
}

// The main function of a thread: runs the kernel, then returns to the scheduler for good.
void thread_main() {
#ifdef RG_REAL_SANITIZERS
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    position.running = true;
    engine.launch->invoke(engine.launch->args);
    position.running = false;
    Thread &me = engine.thread[engine.current];
    me.state = ENDED;
    fiber_switch(me.fiber, engine.scheduler, true);
    __builtin_unreachable();
}

void run_thread(unsigned t) {
    Thread &thread = engine.thread[t];
    engine.current = t;
    position.accesses += 32; // the work of a switch
    if (!thread.fiber.stack) {
        thread.fiber.stack = engine.spare_stack[--engine.n_spare];
        guard_stack(THREADS_MAX - 1 - engine.n_spare);
        thread.fiber.bytes = STACK_BYTES - t % 31 * 128; // tops differ modulo 4096; otherwise all would share a few cache lines
        fiber_begin(thread.fiber, thread_main);
    }
    rg_thread_idx = thread.index;
    position.stack = (uintptr_t)thread.fiber.stack;
    mark_position(t);
    fiber_switch(engine.scheduler, thread.fiber, false);
    if (thread.state == ENDED) {
        leave_meeting(thread);
        engine.spare_stack[engine.n_spare++] = thread.fiber.stack;
        thread.fiber.stack = nullptr;
        engine.ended++;
    }
}

// Releases all threads if all wait at the same barrier; returns whether they do.
bool open_barrier() {
    if (engine.waiting != engine.n) return false;
    const Thread &first = engine.thread[0];
    for (unsigned t = 1; t < engine.n; t++)
        if (engine.thread[t].line != first.line || engine.thread[t].kind != first.kind) return false;
    for (unsigned t = 0; t < engine.n; t++) engine.thread[t].state = READY;
    engine.waiting = 0;
    engine.counted = engine.votes;
    next_phase();
    return true;
}

void begin_block(uint64_t b) {
    const dim3 grid = rg_grid_dim, block = rg_block_dim;
    rg_block_idx = {(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y), (unsigned)(b / grid.x / grid.y)};
    for (unsigned t = 0; t < engine.n; t++) {
        Thread &thread = engine.thread[t];
        thread.fiber.stack = nullptr;
        thread.state = READY;
        thread.meeting = nullptr;
        thread.index = {t % block.x, t / block.x % block.y, t / block.x / block.y};
    }
    engine.waiting = engine.ended = 0;
    next_phase();
    position.block = position.phase;
    memory_block();
}

void run_block(uint64_t b) {
    static uint16_t order[THREADS_MAX];
    begin_block(b);
    while (engine.ended < engine.n && !engine.failed) {
        unsigned ready = 0;
        for (unsigned t = 0; t < engine.n; t++)
            if (engine.thread[t].state == READY) {
                const unsigned place = (unsigned)draw(++ready);
                order[ready - 1] = order[place];
                order[place] = (uint16_t)t;
            }
        if (!ready && !open_barrier()) explain_standstill();
        for (unsigned i = 0; i < ready && !engine.failed; i++) run_thread(order[i]);
    }
}

int check_launch(const Launch &l) {
    const uint64_t threads = (uint64_t)l.block.x * l.block.y * l.block.z;
    int limit = SHARED_STANDARD;
    for (int i = 0; i < engine.n_limits; i++)
        if (engine.limit[i].kernel == l.kernel) limit = engine.limit[i].bytes;
    if (!threads || threads > THREADS_MAX || l.block.z > 64 || !l.grid.x || !l.grid.y || !l.grid.z || l.grid.x > INT32_MAX ||
        l.grid.y > 65535 || l.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (l.shared_bytes > (size_t)limit) return cudaErrorInvalidValue;
    return make_room() ? cudaSuccess : cudaErrorMemoryAllocation;
}

} // namespace

int launch(const Launch &l) {
    if (engine.failed) return cudaErrorLaunchFailure;
    const int code = check_launch(l);
    if (code) return code;
    if (!stream_right(l.stream, l.name)) return cudaErrorLaunchFailure;
    if (const cudaError_t e = call_fails(cudaErrorLaunchFailure)) return e;
    engine.launch = &l;
    engine.n = l.block.x * l.block.y * l.block.z;
    rg_block_dim = l.block;
    rg_grid_dim = l.grid;
    stacks_all_spare();
    position.launch = engine.phases + 1;
    position.fenced = false;
    position.checked = l.checked;
    position.args = (uintptr_t)l.args;
    position.args_end = position.args + l.args_bytes;
    position.dynamic_end = position.dynamic + l.shared_bytes;
    memory_launch(l.kernel);
    // Blocks run in the order a i + c modulo their number, where a and the number are coprime: a random order without a list of
    // blocks.
    const uint64_t blocks = (uint64_t)l.grid.x * l.grid.y * l.grid.z, c = draw(blocks);
    uint64_t a = 1 + draw(blocks);
    for (uint64_t r = a, s = blocks; s > 1;) {
        std::swap(r %= s, s);
        if (s == 0) {
            r = ++a;
            s = blocks;
        }
    }
    for (uint64_t i = 0; i < blocks && !engine.failed; i++) run_block((uint64_t)(((unsigned __int128)a * i + c) % blocks));
    if (engine.failed) forget_meetings();
#ifdef RG_REAL_SANITIZERS
    if (engine.failed) __asan_unpoison_memory_region(engine.stacks, SLOT * THREADS_MAX); // fibers abandoned in mid-function
#endif
    return engine.failed ? cudaErrorLaunchFailure : cudaSuccess;
}

void mark_position(unsigned t) { position.mark = mark_of(position.phase, t / 32, t % 32, engine.warp[t / 32].phase); }

void wait() {
    Thread &me = engine.thread[engine.current];
    position.running = false;
    fiber_switch(me.fiber, engine.scheduler, false);
    position.running = true;
}

int barrier(Barrier kind, int predicate, int line) {
    Thread &me = engine.thread[engine.current];
    if (!engine.waiting++) engine.votes = 0;
    engine.votes += predicate != 0;
    me.state = AT_BARRIER;
    me.kind = kind;
    me.line = line;
    wait();
    return kind == COUNT ? engine.counted : kind == AND ? engine.counted == (int)engine.n : engine.counted != 0;
}

void *shared_dynamic() { return engine.dynamic; }

int shared_limit(const void *kernel, int bytes) {
    if (bytes < 0 || bytes > SHARED_MAX) return cudaErrorInvalidValue;
    int i = 0;
    while (i < engine.n_limits && engine.limit[i].kernel != kernel) i++;
    if (i == KERNELS_MAX) return cudaErrorMemoryAllocation;
    engine.limit[i] = {kernel, bytes};
    engine.n_limits += i == engine.n_limits;
    return cudaSuccess;
}

} // namespace rg_emu

void rg_emulation_seed(uint64_t seed) {
    rg_emu::engine.seed = seed;
    rg_emu::engine.drawn = 0;
}
