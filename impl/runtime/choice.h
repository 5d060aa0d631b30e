// SPDX-License-Identifier: MIT
// choice.h: which variant does the work of a job, with which parameters, on which device.
//
// The one requested, else the first in the algorithm's declared order (rg_algo.order) that can run on this machine and takes
// every shape, a word of it being NAME[:PARAMETERS][?CONDITIONS], as in "fftw:plan=0?r>=26,k<=1", which all shapes have to
// meet; with the parameters requested, for the others the tuned values of this processor (tuned.h), else the defaults. Whether
// its memory is free is known when its device is open: rg_frame_allowed in call.h.
#pragma once

#include "../gpu/device.h"
#include "table.h"

typedef struct rg_choice {
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    const rg_device *device; // NULL until the caller opens it: rg_entry_device
} rg_choice;

// The entry of this name for --device `device` ("cpu", "gpu", "gpu0".., "host"), NULL when there is none.
const rg_entry *rg_entry_named(const rg_algo *, const char *device, const char *name);
// NULL when the variant takes all n shapes with these parameters, else why not.
const char *rg_refusal(const rg_entry *, const rg_shape *, int64_t n, const int64_t *param);

// requested: "name", "name:block=128;isa=2", from a plug-in "mine.so:name", or NULL. shape[n]: all that it must take.
// typical: the one whose tuned values count, NULL: the first of shape. RG_GOOD, or one line and RG_USAGE, or RG_LACKS when this
// machine cannot.
int rg_choose(const rg_algo *, const char *device, const char *requested, const rg_shape *shape, int64_t n,
    const rg_shape *typical, rg_choice *);

// Where the entry runs with --device `device`: CPU, emulated GPU, or that GPU, opened. RG_GOOD, or one line and RG_LACKS.
int rg_entry_device(const rg_entry *, const char *device, const rg_device **);
bool rg_on_cpu(const rg_entry *); // a HOST variant that is no emulated GPU's
