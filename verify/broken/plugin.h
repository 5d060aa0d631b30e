// SPDX-License-Identifier: MIT
// plugin.h: how every kernel that is wrong on purpose ends: its descriptor and the plug-in's one symbol.
//
// Each file is a plug-in with one variant named like the file. expected.tsv says with which status, and with which word in the
// reason, `regather verify` has to catch it.
#ifndef RG_BROKEN_PLUGIN_H
#define RG_BROKEN_PLUGIN_H

#include "../../impl/suite.h"

#if defined __CUDACC__ || defined RG_EMULATED
#define BROKEN_SPACE RG_DEVICE
#define BROKEN_NEEDS "sm_50"
#else
#define BROKEN_SPACE RG_HOST
#define BROKEN_NEEDS ""
#endif

// Further fields, ending in .run (and .finish), follow in their order. What IDEA says stands beside its picture in the report.
#define BROKEN_PLUGIN(ALGO, NAME, ...) BROKEN_PLUGIN_OF(ALGO, NAME, "wrong on purpose", __VA_ARGS__)
#define BROKEN_PLUGIN_OF(ALGO, NAME, IDEA, ...)                                                                                \
    static const rg_variant broken = {                                                                                         \
        RG_VARIANT_OF(ALGO, NAME, RG_OTHER, BROKEN_SPACE, IDEA), .needs = BROKEN_NEEDS, __VA_ARGS__};                          \
    RG_PLUGIN = {&broken, NULL}

#endif
