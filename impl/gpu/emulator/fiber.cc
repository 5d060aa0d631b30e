// SPDX-License-Identifier: MIT
// fiber.cc: saves the registers that the x86-64 calling convention preserves on the old stack and restores them from the new
// one.
#include "fiber.h"

#if defined(__x86_64__)
asm(".text\n.globl rg_fiber_switch\n.type rg_fiber_switch,@function\nrg_fiber_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size rg_fiber_switch,.-rg_fiber_switch\n");
#endif
