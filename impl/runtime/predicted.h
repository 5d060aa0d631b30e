// SPDX-License-Identifier: MIT
// predicted.h: what a job says that it takes of a GPU, and what it has taken in the end: both go to its log.
#pragma once

#include "../base/memory.h"
#include "../gpu/device.h"

// Bytes of the device that a job may plan with now: those that are free, less what a real GPU takes for itself besides, code of
// kernels and tables of plans, and by giving memory out in pieces of 2 MiB. RG_GOOD, or one line and RG_LACKS.
int rg_device_free(const rg_device *, double *bytes);
// Before the job takes it, beside what this process has there already; the ledger's peak is counted from here. From any thread;
// nothing of a CPU. Of several predictions for one device the largest counts.
void rg_predict(const rg_device *, const rg_needs *);
// Between rg_predict and here a command took what the log says: rows for rg_log_write, of all devices. What was predicted is
// forgotten.
void rg_predicted_log(void);
