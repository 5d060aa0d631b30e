// SPDX-License-Identifier: MIT
// frealign.h: FREALIGN kernels that are wrong on purpose: the plain variants of impl/frealign with one function put in place of
// the right one by a macro, after the headers and before the variants are read.
#ifndef RG_BROKEN_FREALIGN_H
#define RG_BROKEN_FREALIGN_H

#include "../../../impl/frealign/ctf/apply.h"
#include "../../../impl/frealign/call.h"
#include "../../../impl/frealign/insert/insert.h"
#include "../../../impl/frealign/compare/index.h"
#include "../../../impl/frealign/plain.h"
#include "../../../impl/frealign/turn/index.h"
#include "../plugin.h"

// In the file of the plain variant of an algorithm, after its text.
#define TRANSFORMS .scratch = scratch, .prepare = prepare

#endif
