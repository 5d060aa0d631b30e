// SPDX-License-Identifier: MIT
// plugin.h: descriptors of kernels that are wrong on purpose. A file is a plug-in with all kernels of a family; expected.tsv
// has the status, and the word in the reason, with which `regather verify` must catch each.
#pragma once

#include "../../impl/suite.h"

#if defined __CUDACC__ || defined RG_EMULATED
#define BROKEN_SPACE RG_DEVICE
#define BROKEN_NEEDS "sm_50"
#else
#define BROKEN_SPACE RG_HOST
#define BROKEN_NEEDS ""
#endif

// Defines the variant NAME; IDEA: its fault. The other fields of the descriptor follow, .run among them.
#define BROKEN(ALGO, NAME, IDEA, ...)                                                                                          \
    static const rg_variant NAME = {                                                                                           \
        RG_VARIANT_OF(ALGO, #NAME, RG_OTHER, BROKEN_SPACE, IDEA), .needs = BROKEN_NEEDS, __VA_ARGS__}

// A right kernel that tests `wrong` at every fault of its family. KERNELS(X) has a row X(ALGO, NAME, RUN, IDEA, fields...) for
// each: BROKEN_NAMES comes before the kernel, BROKEN_FAMILY after it.
#define BROKEN_NAME(ALGO, NAME, ...) is_##NAME,
#define BROKEN_NAMES(KERNELS) static enum { KERNELS(BROKEN_NAME) } wrong
#define BROKEN_MEMBER(ALGO, NAME, RUN, IDEA, ...)                                                                              \
    static int NAME##_run(rg_call *call) {                                                                                     \
        wrong = is_##NAME;                                                                                                     \
        return RUN(call);                                                                                                      \
    }                                                                                                                          \
    BROKEN(ALGO, NAME, IDEA, .run = NAME##_run, __VA_ARGS__);
#define BROKEN_ADDRESS(ALGO, NAME, ...) &NAME,
#define BROKEN_FAMILY(KERNELS)                                                                                                 \
    KERNELS(BROKEN_MEMBER)                                                                                                     \
    RG_PLUGIN = {KERNELS(BROKEN_ADDRESS) NULL}
