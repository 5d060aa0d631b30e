// SPDX-License-Identifier: MIT
// block.h: the block that runs, its threads and warps, as launch.cc, warp.cc and fault.cc share it.
#pragma once

#include "engine.h"
#include "fiber.h"

// threadIdx, blockIdx, blockDim, gridDim of host_cuda.h.
extern uint3 rg_thread_idx, rg_block_idx;
extern dim3 rg_block_dim, rg_grid_dim;

namespace rg_emu
{

enum : unsigned { THREADS_MAX = 1024, WARPS_MAX = THREADS_MAX / 32 };
enum : int { KERNELS_MAX = 512 };

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
    int line; // where it waits
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
    uint32_t phases;    // counted through all launches
    const void *stream; // that everything has to be queued on; NULL: any
    bool failed;
    char text[600];
    struct {
        const void *kernel;
        int bytes;
    } limit[KERNELS_MAX];
    int n_limits;
};
extern Engine engine;

// Back to the scheduler until somebody makes this thread READY again.
void wait();
void mark_position(unsigned t); // that thread t is the one that runs, and what its warp has been through
void leave_meeting(Thread &);
void forget_meetings();    // after a fault some are open still, or have readers that will not come
void explain_standstill(); // no thread can go on and not all have ended: says which of the rules was broken

} // namespace rg_emu
