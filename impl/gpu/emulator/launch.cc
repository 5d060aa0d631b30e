// SPDX-License-Identifier: MIT
// launch.cc: runs the blocks of a launch, a fiber for each thread, so that barriers mean what they do.
//
// A thread runs until it waits or ends; then the next one does, in an order drawn anew for each round from the seed. A block
// barrier opens when all threads of the block stand at it (at the same source line: elsewhere is divergence, and so is a thread
// that has ended). Warp-wide operations are in warp.cc.
#include "block.h"
#include "emulation.h"
#include "runtime.h"
#include <sys/mman.h>
#include <utility>

uint3 rg_thread_idx, rg_block_idx;
dim3 rg_block_dim, rg_grid_dim;

namespace rg_emu
{

Position position;
Engine engine;

namespace
{

enum : int { SHARED_STANDARD = 48 << 10, SHARED_MAX = 227 << 10, SHARED_GUARD = 64 << 10 };

uint64_t draw(uint64_t below) { return (uint64_t)((unsigned __int128)rg_bits(engine.seed, engine.drawn++) * below >> 64); }

enum : size_t { GUARD = 4096, SLOT = STACK_BYTES + GUARD };

// Stacks, and room for dynamic shared memory; made once, at the first launch.
bool make_room()
{
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

void stacks_all_spare()
{
    engine.n_spare = 0;
    for (unsigned i = 0; i < THREADS_MAX; i++)
        engine.spare_stack[engine.n_spare++] = engine.stacks + (THREADS_MAX - 1 - i) * SLOT + GUARD;
}

// Makes the page below a stack inaccessible, when so many stacks are first in use at once.
void guard_stack(unsigned i)
{
    if (i < engine.n_guarded) return;
    mprotect(engine.stacks + i * SLOT, GUARD, PROT_NONE);
    engine.n_guarded = i + 1;
}

void next_phase()
{
    position.phase = ++engine.phases;
    for (Warp &w : engine.warp) w.phase = 0;
}

// A thread's life: the kernel, then back to the scheduler for good.
void thread_main()
{
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

void run_thread(unsigned t)
{
    Thread &thread = engine.thread[t];
    engine.current = t;
    position.accesses += 32; // what a switch takes
    if (!thread.fiber.stack) {
        thread.fiber.stack = engine.spare_stack[--engine.n_spare];
        guard_stack(THREADS_MAX - 1 - engine.n_spare);
        thread.fiber.bytes = STACK_BYTES - t % 31 * 128; // tops that differ modulo 4096, or all share a few cache lines
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

// All at the same barrier: on with them.
bool open_barrier()
{
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

void begin_block(uint64_t b)
{
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

void run_block(uint64_t b)
{
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

int check_launch(const Launch &l)
{
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

int launch(const Launch &l)
{
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
    // Blocks in the order a i + c modulo their number, a without a common factor: any order space, no list of blocks.
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
    if (engine.failed) __asan_unpoison_memory_region(engine.stacks, SLOT * THREADS_MAX); // fibers left for good in mid-function
#endif
    return engine.failed ? cudaErrorLaunchFailure : cudaSuccess;
}

void mark_position(unsigned t) { position.mark = mark_of(position.phase, t / 32, t % 32, engine.warp[t / 32].phase); }

void wait()
{
    Thread &me = engine.thread[engine.current];
    position.running = false;
    fiber_switch(me.fiber, engine.scheduler, false);
    position.running = true;
}

int barrier(Barrier kind, int predicate, int line)
{
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

int shared_limit(const void *kernel, int bytes)
{
    if (bytes < 0 || bytes > SHARED_MAX) return cudaErrorInvalidValue;
    int i = 0;
    while (i < engine.n_limits && engine.limit[i].kernel != kernel) i++;
    if (i == KERNELS_MAX) return cudaErrorMemoryAllocation;
    engine.limit[i] = {kernel, bytes};
    engine.n_limits += i == engine.n_limits;
    return cudaSuccess;
}

} // namespace rg_emu

void rg_emulation_seed(uint64_t seed)
{
    rg_emu::engine.seed = seed;
    rg_emu::engine.drawn = 0;
}
