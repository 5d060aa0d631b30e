// SPDX-License-Identifier: MIT
// block.h: the running block, its threads and warps; shared by launch.cc, warp.cc and fault.cc.
#pragma once

#include "engine.h"
#include "fiber.h"

// threadIdx, blockIdx, blockDim, gridDim of host_cuda.h.
extern uint3 rg_thread_idx, rg_block_idx;
extern dim3 rg_block_dim, rg_grid_dim;

namespace rg_emu {

enum : unsigned { THREADS_MAX = 1024, WARPS_MAX = THREADS_MAX / 32 };
enum : int { KERNELS_MAX = 512 };

// The lanes that have reached one exchange, and their values. Kept until the last lane has read it.
struct Meeting {
    Exchange kind;
    unsigned mask, arrived, readers;
    int line;
    Meeting *next, *made; // in the list of open or of spare meetings; in the list of all
    Value value[32];
};

enum State { READY, AT_BARRIER, AT_MEETING, ENDED };

struct Thread {
    Fiber fiber;
    State state;
    int line; // where it waits
    Barrier kind;
    Meeting *meeting; // where it waits, or from which it last read
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
    int votes, counted; // at the current barrier, and at the one last opened
    Meeting *spare, *made;
    unsigned char *stacks, *spare_stack[THREADS_MAX];
    unsigned n_spare, n_guarded;
    unsigned char *dynamic;
    const Launch *launch;
    uint64_t seed = 1, drawn;
    uint32_t phases;    // counted over all launches
    const void *stream; // required for all work; NULL: any
    bool failed;
    char text[600];
    struct {
        const void *kernel;
        int bytes;
    } limit[KERNELS_MAX];
    int n_limits;
};
extern Engine engine;

// Switches to the scheduler until this thread is READY again.
void wait();
void mark_position(unsigned t); // thread t runs; records its warp's synchronisations
void leave_meeting(Thread &);
void forget_meetings();    // after a fault: some are still open, or have readers that will never come
void explain_standstill(); // called when no thread can continue and not all have ended: reports which rule was broken

} // namespace rg_emu
