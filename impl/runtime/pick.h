// SPDX-License-Identifier: MIT
// pick.h: the variant that a job's --variant names.
#ifndef RG_PICK_H
#define RG_PICK_H

#include "../gpu/device.h"
#include "table.h"

// The entry of this name for the device ("cpu", "gpu", "host"), NULL when there is none.
const rg_entry *rg_pick_named(const rg_algo *, const char *device, const char *name);
// "name" or "name:block=128;isa=2", also from a plug-in: "mine.so:name". RG_GOOD, or one line and RG_USAGE, or RG_LACKS when it
// cannot run here.
int rg_pick_asked(const rg_algo *, const char *device, const char *asked, const rg_entry **, int64_t *param);

// What a job runs: the variant asked for, else the first of `order` (n names) that is here and takes the shape `least`; with the
// tuned parameters of this processor for the shape `call`, unless `asked` gives any. RG_GOOD, or one line and RG_USAGE or RG_LACKS.
int rg_pick_variant(const rg_algo *, const rg_shape *least, const rg_shape *call, const char *device, const char *asked,
                    const char *const *order, int n, const rg_entry **, int64_t *param);
// The same for one shape, and opens its device
// ("gpu", "gpu0".. or "host" of --device; the CPU for variants of the host). RG_GOOD, or one line and RG_USAGE or RG_LACKS.
typedef struct rg_picked {
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    const rg_device *device;
} rg_picked;
int rg_pick_for(const rg_algo *, const rg_shape *, const char *device, const char *asked, const char *const *order, int n,
                rg_picked *);

#endif
