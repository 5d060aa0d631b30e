// SPDX-License-Identifier: MIT
// device_none.c: implements the GPU's part of device.h in a build without CUDA.
#include "device.h"

#if !HAVE_CUDA
#include <stdio.h>

int rg_gpu_count(char why[200]) {
    snprintf(why, 200, "built without CUDA");
    return 0;
}

void rg_gpu_query_here(void) {}

int rg_gpu_sm(int index) {
    (void)index;
    return 0;
}

const char *rg_gpu_name(int index) {
    (void)index;
    return "";
}

const char *rg_gpu_pci(int index) {
    (void)index;
    return "";
}

const rg_device *rg_gpu_open(int index, char why[200]) {
    (void)index;
    rg_gpu_count(why);
    return NULL;
}
#endif
