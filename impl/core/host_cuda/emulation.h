// SPDX-License-Identifier: MIT
// emulation.h: what the harness asks of the emulated GPU.
#ifndef RG_EMULATION_H
#define RG_EMULATION_H

#include "../../suite.h"

#ifdef __cplusplus
extern "C" {
#endif

// NULL when the variant can run emulated, else the reason.
const char *rg_emulation_refuses(const rg_variant *);

#ifdef __cplusplus
}
#endif
#endif
