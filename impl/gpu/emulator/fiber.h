// SPDX-License-Identifier: MIT
// fiber.h: switches stacks, on x86-64 in a dozen instructions (swapcontext calls the kernel for the signal mask each time,
// which dominates in kernels with many shuffles), elsewhere by ucontext. AddressSanitizer is informed of every switch.
#pragma once

#include "engine.h"

#ifdef RG_REAL_SANITIZERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace rg_emu {

struct Fiber {
#if defined(__x86_64__)
    void *sp;
#else
    ucontext_t context;
#endif
    unsigned char *stack; // lowest address, NULL for the thread that runs the scheduler
    size_t bytes;
    void *fake; // AddressSanitizer's
};

#if defined(__x86_64__)
extern "C" void rg_fiber_switch(void **save, void *load); // fiber.cc
#endif

// The next switch to the fiber starts main, which never returns.
inline void fiber_begin(Fiber &f, void (*main)()) {
#if defined(__x86_64__)
    uintptr_t *top = (uintptr_t *)(f.stack + f.bytes);
    *--top = 0; // main expects the stack as after a call: 8 past a multiple of 16
    *--top = (uintptr_t)main;
    for (int i = 0; i < 6; i++) *--top = 0;
    f.sp = top;
#else
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = f.bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, main, 0);
#endif
    f.fake = nullptr;
}

// last: the program never switches back to the fiber that it leaves.
inline void fiber_switch(Fiber &from, Fiber &to, bool last) {
#ifdef RG_REAL_SANITIZERS
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake, to.stack, to.bytes);
#else
    (void)last;
#endif
#if defined(__x86_64__)
    rg_fiber_switch(&from.sp, to.sp);
#else
    swapcontext(&from.context, &to.context);
#endif
#ifdef RG_REAL_SANITIZERS
    __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

} // namespace rg_emu
