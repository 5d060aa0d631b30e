// SPDX-License-Identifier: MIT
// pick.h: the variant that a job's --variant names.
#ifndef RG_PICK_H
#define RG_PICK_H

#include "table.h"

// The entry of this name for the device ("cpu", "gpu", "host"), NULL when there is none.
const rg_entry *rg_pick_named(const rg_algo *, const char *device, const char *name);
// "name" or "name:block=128;isa=2", also from a plug-in: "mine.so:name". RG_GOOD, or one line and RG_USAGE, or RG_LACKS when it
// cannot run here.
int rg_pick_asked(const rg_algo *, const char *device, const char *asked, const rg_entry **, int64_t *param);

#endif
