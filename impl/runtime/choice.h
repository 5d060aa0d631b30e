// SPDX-License-Identifier: MIT
// choice.h: chooses the variant of a job, its parameters and its device.
//
// The variant is the requested one, else the first of rg_algo.order that can run on this machine and takes every shape. A word of
// that order is NAME[:PARAMETERS][?CONDITIONS], as in "fftw:plan=0?r>=26,k<=1"; all shapes must meet the conditions. Parameters
// are the requested ones, then the tuned values of this processor (tuned.h), then the defaults. Free memory is checked once the
// device is open: rg_frame_allowed in call.h.
#pragma once

#include "../gpu/device.h"
#include "table.h"

typedef struct rg_choice {
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    const rg_device *device; // NULL until the caller opens it: rg_entry_device
} rg_choice;

// The entry of this name for --device `device` ("cpu", "gpu", "gpu0".., "host"), or NULL.
const rg_entry *rg_entry_named(const rg_algo *, const char *device, const char *name);
// NULL if the variant takes all n shapes with these parameters, else the reason.
const char *rg_refusal(const rg_entry *, const rg_shape *, int64_t n, const int64_t *param);

// requested: "name", "name:block=128;isa=2", "mine.so:name" of a plug-in, or NULL. shape[n]: all shapes that it must take.
// typical: the shape whose tuned values are used, NULL: the first. RG_GOOD, or one line and RG_USAGE, or RG_LACKS if nothing can
// run on this machine.
int rg_choose(const rg_algo *, const char *device, const char *requested, const rg_shape *shape, int64_t n,
    const rg_shape *typical, rg_choice *);

// Opens the device on which the entry runs with --device `device`: CPU, emulated GPU or GPU. RG_GOOD, or one line and RG_LACKS.
int rg_entry_device(const rg_entry *, const char *device, const rg_device **);
bool rg_on_cpu(const rg_entry *); // a HOST variant that is not emulated
