// SPDX-License-Identifier: MIT
// trace.h: one pixel of `gridding` at a time, and a sphere, for `regather trace`.
#ifndef RG_GRIDDING_TRACE_H
#define RG_GRIDDING_TRACE_H

#include "../suite.h"

extern const rg_trace gr_trace;

#endif
