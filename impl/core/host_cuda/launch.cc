// SPDX-License-Identifier: MIT
// launch.cc: runs the blocks of a launch, a fiber for each thread, and makes barriers and warp-wide exchanges mean what they do.
//
// A thread runs until it waits or ends; then the next one does, in an order drawn anew for each round from the seed. A block
// barrier opens when all threads of the block stand at it (at the same source line: elsewhere is divergence, and so is a thread
// that has ended). A warp-wide exchange opens when every lane of its mask has handed in its value.
#include "emulation.h"
#include "engine.h"
#include "fiber.h"
#include "runtime.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <utility>

// threadIdx, blockIdx, blockDim, gridDim of host_cuda.h.
uint3 rg_thread_idx, rg_block_idx;
dim3 rg_block_dim, rg_grid_dim;

namespace rg_emu {

Position position;

namespace {

enum : unsigned { THREADS_MAX = 1024, WARPS_MAX = THREADS_MAX / 32 };
enum : int { SHARED_STANDARD = 48 << 10, SHARED_MAX = 227 << 10, SHARED_GUARD = 64 << 10, KERNELS_MAX = 512 };

// Lanes that have come to one exchange, and what they handed in. Lives until the last of them has read it.
struct Meeting {
    Exchange kind;
    unsigned mask, arrived, readers;
    int line;
    Meeting *next, *made; // in the list of the open or the spare ones; in that of all
    Value value[32];
};

enum State { READY, AT_BARRIER, AT_MEETING, ENDED };

struct Thread {
    Fiber fiber;
    State state;
    int line;         // where it waits
    Barrier kind;
    Meeting *meeting; // the one it waits at or last read from
    uint3 index;
};

struct Warp {
    Meeting *open;
    unsigned phase;
};

struct Engine {
    Thread thread[THREADS_MAX];
    Warp warp[WARPS_MAX];
    Fiber scheduler;
    unsigned n, current, waiting, ended;
    int votes, counted; // at the barrier being reached, at the one last opened
    Meeting *spare, *made;
    unsigned char *stacks, *spare_stack[THREADS_MAX];
    unsigned n_spare, n_guarded;
    unsigned char *dynamic;
    const Launch *launch;
    uint64_t seed = 1, drawn;
    uint32_t phases; // counted through all launches
    bool failed;
    char text[600];
    struct {
        const void *kernel;
        int bytes;
    } limit[KERNELS_MAX];
    int n_limits;
} engine;

uint64_t draw(uint64_t below)
{
    return (uint64_t)((unsigned __int128)rg_bits(engine.seed, engine.drawn++) * below >> 64);
}

enum : size_t { GUARD = 4096, SLOT = STACK_BYTES + GUARD };

// Stacks, and room for dynamic shared memory; made once, at the first launch.
bool make_room()
{
    if (engine.stacks)
        return true;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *stacks = (unsigned char *)mmap(nullptr, SLOT * THREADS_MAX, PROT_READ | PROT_WRITE, flags, -1, 0);
    void *dynamic = mmap(nullptr, SHARED_MAX + 2 * SHARED_GUARD, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stacks == MAP_FAILED || dynamic == MAP_FAILED)
        return false;
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
    if (i < engine.n_guarded)
        return;
    mprotect(engine.stacks + i * SLOT, GUARD, PROT_NONE);
    engine.n_guarded = i + 1;
}

void mark_position(unsigned t)
{
    position.mark = mark_of(position.phase, t / 32, t % 32, engine.warp[t / 32].phase);
}

void next_phase()
{
    position.phase = ++engine.phases;
    for (Warp &w : engine.warp)
        w.phase = 0;
}

void leave_meeting(Thread &thread)
{
    Meeting *m = thread.meeting;
    thread.meeting = nullptr;
    if (m && !--m->readers) {
        m->next = engine.spare;
        engine.spare = m;
    }
}

Meeting *call_meeting(Exchange kind, unsigned mask, int line)
{
    Meeting *m = engine.spare;
    if (m) {
        engine.spare = m->next;
    } else {
        m = new Meeting;
        m->made = engine.made;
        engine.made = m;
    }
    m->kind = kind;
    m->mask = mask;
    m->line = line;
    m->arrived = 0;
    m->readers = (unsigned)__builtin_popcount(mask);
    m->next = nullptr;
    return m;
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

// Back to the scheduler until somebody makes this thread READY again.
void wait()
{
    Thread &me = engine.thread[engine.current];
    position.running = false;
    fiber_switch(me.fiber, engine.scheduler, false);
    position.running = true;
}

const char *place(unsigned t, char *text, size_t bytes)
{
    uint3 i = engine.thread[t].index;
    snprintf(text, bytes, "thread (%u,%u,%u)", i.x, i.y, i.z);
    return text;
}

void record(const char *who, const char *what)
{
    if (engine.failed)
        return;
    engine.failed = true;
    const char *name = engine.launch->name;
    const int length = (int)strlen(name), bare = length > 1 && name[0] == '(';
    snprintf(engine.text, sizeof engine.text, "%.*s, block (%u,%u,%u), %s: %s", length - 2 * bare, name + bare, rg_block_idx.x,
             rg_block_idx.y, rg_block_idx.z, who, what);
}

void record_at(unsigned t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void record_at(unsigned t, const char *format, ...)
{
    char who[48], what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    record(place(t, who, sizeof who), what);
}

// No thread can go on and not all have ended: says which of the rules was broken.
void explain_standstill()
{
    char other[48];
    unsigned at_barrier = THREADS_MAX;
    for (unsigned t = 0; t < engine.n; t++) {
        const Thread &me = engine.thread[t];
        if (me.state == AT_BARRIER && at_barrier == THREADS_MAX)
            at_barrier = t;
        if (me.state != AT_MEETING)
            continue;
        const unsigned absent = t / 32 * 32 + (unsigned)__builtin_ctz(me.meeting->mask & ~me.meeting->arrived);
        const char *how = absent >= engine.n ? "does not exist" : engine.thread[absent].state == ENDED ? "has ended" : "";
        place(absent, other, sizeof other);
        if (*how)
            return record_at(t, "warp divergence: waits at line %d for lanes 0x%08x, of which %s %s", me.line, me.meeting->mask,
                             absent >= engine.n ? "one" : other, how);
        return record_at(t, "warp divergence: waits at line %d for lanes 0x%08x, of which %s waits at line %d", me.line,
                         me.meeting->mask, other, engine.thread[absent].line);
    }
    const Thread &me = engine.thread[at_barrier];
    for (unsigned t = 0; t < engine.n; t++) {
        const Thread &him = engine.thread[t];
        if (him.state == ENDED)
            return record_at(at_barrier, "barrier divergence: waits at line %d, but %s has ended", me.line,
                             place(t, other, sizeof other));
        if (him.line != me.line || him.kind != me.kind)
            return record_at(at_barrier, "barrier divergence: waits at line %d, but %s at line %d", me.line,
                             place(t, other, sizeof other), him.line);
    }
}

// All at the same barrier: on with them.
bool open_barrier()
{
    if (engine.waiting != engine.n)
        return false;
    const Thread &first = engine.thread[0];
    for (unsigned t = 1; t < engine.n; t++)
        if (engine.thread[t].line != first.line || engine.thread[t].kind != first.kind)
            return false;
    for (unsigned t = 0; t < engine.n; t++)
        engine.thread[t].state = READY;
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
        if (!ready && !open_barrier())
            explain_standstill();
        for (unsigned i = 0; i < ready && !engine.failed; i++)
            run_thread(order[i]);
    }
}

int check_launch(const Launch &l)
{
    const uint64_t threads = (uint64_t)l.block.x * l.block.y * l.block.z;
    int limit = SHARED_STANDARD;
    for (int i = 0; i < engine.n_limits; i++)
        if (engine.limit[i].kernel == l.kernel)
            limit = engine.limit[i].bytes;
    if (!threads || threads > THREADS_MAX || l.block.z > 64 || !l.grid.x || !l.grid.y || !l.grid.z || l.grid.x > INT32_MAX ||
        l.grid.y > 65535 || l.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (l.shared_bytes > (size_t)limit)
        return cudaErrorInvalidValue;
    return make_room() ? cudaSuccess : cudaErrorMemoryAllocation;
}

// After a fault some are open still, or have readers that will not come.
void forget_meetings()
{
    for (Warp &w : engine.warp)
        w.open = nullptr;
    engine.spare = nullptr;
    for (Meeting *m = engine.made; m; m = m->made) {
        m->next = engine.spare;
        engine.spare = m;
    }
}

} // namespace

int launch(const Launch &l)
{
    if (engine.failed)
        return cudaErrorLaunchFailure;
    const int code = check_launch(l);
    if (code)
        return code;
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
    for (uint64_t i = 0; i < blocks && !engine.failed; i++)
        run_block((uint64_t)(((unsigned __int128)a * i + c) % blocks));
    if (engine.failed)
        forget_meetings();
#ifdef RG_REAL_SANITIZERS
    if (engine.failed)
        __asan_unpoison_memory_region(engine.stacks, SLOT * THREADS_MAX); // fibers left for good in mid-function
#endif
    return engine.failed ? cudaErrorLaunchFailure : cudaSuccess;
}

void fault(const char *format, ...)
{
    char who[48], what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    position.running = false;
    record(place(engine.current, who, sizeof who), what);
    fiber_switch(engine.thread[engine.current].fiber, engine.scheduler, true);
    __builtin_unreachable();
}

int barrier(Barrier kind, int predicate, int line)
{
    Thread &me = engine.thread[engine.current];
    if (!engine.waiting++)
        engine.votes = 0;
    engine.votes += predicate != 0;
    me.state = AT_BARRIER;
    me.kind = kind;
    me.line = line;
    wait();
    return kind == COUNT ? engine.counted : kind == AND ? engine.counted == (int)engine.n : engine.counted != 0;
}

const Value *exchange(Exchange kind, unsigned mask, int line, const void *value, size_t bytes)
{
    const unsigned t = engine.current, w = t / 32, bit = 1u << t % 32;
    Thread &me = engine.thread[t];
    Warp &warp = engine.warp[w];
    if (!(mask & bit))
        fault("line %d: the mask 0x%08x of a warp-wide operation leaves out the lane that calls it", line, mask);
    leave_meeting(me);
    Meeting **slot = &warp.open;
    while (*slot && ((*slot)->kind != kind || (*slot)->mask != mask || (*slot)->line != line || (*slot)->arrived & bit))
        slot = &(*slot)->next;
    if (!*slot)
        *slot = call_meeting(kind, mask, line);
    Meeting *m = *slot;
    memcpy(m->value[t % 32].bytes, value, bytes);
    m->arrived |= bit;
    me.meeting = m;
    me.line = line;
    if (m->arrived != mask) {
        me.state = AT_MEETING;
        wait();
        return m->value;
    }
    *slot = m->next;
    warp.phase++;
    for (unsigned left = mask & ~bit; left; left &= left - 1)
        engine.thread[w * 32 + (unsigned)__builtin_ctz(left)].state = READY;
    mark_position(t);
    return m->value;
}

void shuffle(unsigned mask, const void *value, size_t bytes, unsigned from, void *result, int line)
{
    const Value *all = exchange(SHUFFLE, mask, line, value, bytes);
    if (!(mask >> from & 1))
        fault("line %d: a shuffle reads lane %u, which is not in the mask 0x%08x", line, from, mask);
    memcpy(result, all[from].bytes, bytes);
}

// Lane l has of A's rows l/4 and l/4+8 the bytes 4(l%4).. and 16+4(l%4).., of B's column l/4 the same (PTX, mma.m16n8k32).
void multiply_u8(int d[4], const unsigned a[4], const unsigned b[2], int line)
{
    struct Fragments {
        unsigned a[4], b[2];
    } mine;
    memcpy(mine.a, a, sizeof mine.a);
    memcpy(mine.b, b, sizeof mine.b);
    const Value *all = exchange(MATRIX, ~0u, line, &mine, sizeof mine);
    const unsigned row = lane() / 4 * 4, column = lane() % 4 * 8;
    for (unsigned i = 0; i < 4; i++) {
        unsigned sum = (unsigned)d[i];
        for (unsigned part = 0; part < 4; part++) {
            const unsigned char *left = all[row + part].bytes + i / 2 * 4, *right = all[column + i % 2 * 4 + part].bytes + 16;
            for (unsigned k = 0; k < 4; k++)
                sum += (unsigned)left[k] * right[k] + (unsigned)left[8 + k] * right[4 + k];
        }
        d[i] = (int)sum;
    }
}

unsigned lane()
{
    return engine.current % 32;
}

void *shared_dynamic()
{
    return engine.dynamic;
}

int shared_limit(const void *kernel, int bytes)
{
    if (bytes < 0 || bytes > SHARED_MAX)
        return cudaErrorInvalidValue;
    int i = 0;
    while (i < engine.n_limits && engine.limit[i].kernel != kernel)
        i++;
    if (i == KERNELS_MAX)
        return cudaErrorMemoryAllocation;
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

const char *rg_emulation_fault(void)
{
    return rg_emu::engine.failed ? rg_emu::engine.text : nullptr;
}

void rg_emulation_reset(void)
{
    rg_emu::engine.failed = false;
}
