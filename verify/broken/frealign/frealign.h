// SPDX-License-Identifier: MIT
// frealign.h: FREALIGN kernels that are wrong on purpose: the plain variants of impl/frealign with one function put in place of
// the right one by a macro, after the headers and before the variants are read.
//
// Each file is a plug-in with one variant named like the file. expected.tsv says with which status, and with which word in the
// reason, `regather verify` has to catch it.
#ifndef RG_BROKEN_FREALIGN_H
#define RG_BROKEN_FREALIGN_H

#include "../../../impl/frealign/ctf/apply.h"
#include "../../../impl/frealign/call.h"
#include "../../../impl/frealign/insert/insert.h"
#include "../../../impl/frealign/compare/index.h"
#include "../../../impl/frealign/plain.h"
#include "../../../impl/frealign/turn/index.h"

// In the file of the plain variant of ALGO, after its text. Further fields follow in their order.
#define BROKEN_FREALIGN(NAME, ALGO, ...)                                                                              \
    static const rg_variant broken = {.abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = ALGO, .name = NAME,         \
                                      .idea = "wrong on purpose", .role = RG_OTHER, .space = RG_HOST, .needs = "",    \
                                      __VA_ARGS__};                                                                   \
    RG_PLUGIN = {&broken, NULL}
#define TRANSFORMS .scratch = scratch, .prepare = prepare

#endif
