// SPDX-License-Identifier: MIT
// predicted.c: predictions of this command, one per device (predicted.h).
#include "predicted.h"
#include "../base/core.h"
#include "../base/log.h"
#include "../gpu/ledger.h"
#include "../suite.h"

#include <pthread.h>

static struct {
    const rg_device *device;
    double bytes;
} predicted[RG_GPUS_MAX];
static int n_predicted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int rg_device_free(const rg_device *device, double *bytes) {
    static const double BESIDES = 128 * 0x1p20;
    rg_device_facts facts;
    const int error = device->facts(&facts);
    if (error) return rg_device_failed(device, device->name, "its free memory", error);
    *bytes = fmax(0, (double)facts.free_bytes - (device->is_gpu && !device->is_emulated ? BESIDES : 0));
    return RG_GOOD;
}

void rg_predict(const rg_device *device, const rg_needs *needs) {
    if (!device->is_gpu) return;
    const double bytes = (double)rg_ledger_taken(device) + needs->bytes;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < n_predicted && predicted[i].device != device) i++;
    if (i == n_predicted && n_predicted < RG_GPUS_MAX) {
        rg_ledger_begin(device);
        predicted[n_predicted++].device = device;
        predicted[i].bytes = 0;
    }
    if (i < n_predicted && bytes > predicted[i].bytes) predicted[i].bytes = bytes;
    pthread_mutex_unlock(&lock);
}

void rg_predicted_log(void) {
    for (int i = 0; i < n_predicted; i++)
        rg_log_memory(predicted[i].device->name, predicted[i].bytes, (double)rg_ledger_peak(predicted[i].device));
    n_predicted = 0;
}
