// SPDX-License-Identifier: MIT
// predicted.h: the memory of a GPU that a job predicts and that it took; both go to its log.
#pragma once

#include "../base/memory.h"
#include "../gpu/device.h"

// Bytes of the device that a job can use now: free memory, less what a real GPU needs for code of kernels and tables of plans,
// and for allocating in pieces of 2 MiB. RG_GOOD, or one line and RG_LACKS.
int rg_device_free(const rg_device *, double *bytes);
// Records a prediction before the job allocates, beside what this process already has; the ledger's peak counts from here. Any
// thread may call it. Does nothing for a CPU. The largest of several predictions for one device counts.
void rg_predict(const rg_device *, const rg_needs *);
// Hands predicted and taken bytes since rg_predict, for all devices, to rg_log_write, and forgets the predictions.
void rg_predicted_log(void);
