// SPDX-License-Identifier: MIT
// call.h: a call of a variant on a device, from preparation to release. The checker, bench, tune, trace and the jobs use it.
//
//     rg_frame f = {0};
//     int code = rg_frame_make(&f, entry, device, &shape, param, threads);
//     code = code ? code : rg_frame_put(&f, i, input);            // for every input
//     code = code ? code : rg_frame_run(&f);                      // prepares first, unless that was done
//     code = code ? code : rg_buffer_get(&f.buffer[k], output);
//     int exit_code = rg_frame_failed(&f, NULL, code);            // RG_GOOD, or one line
//     rg_frame_free(&f);
//
// Codes are RG_OK or those of the variant and its device (suite.h); sizes are bytes. One thread at a time uses a frame. It must
// not be copied: its call points into it.
#pragma once

#include "../base/memory.h"
#include "arena.h"
#include "table.h"

typedef struct rg_frame {
    const rg_entry *entry;
    const rg_device *device;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    rg_buffer buffer[RG_ARGS_MAX]; // of arguments that the frame owns
    void *arg[RG_ARGS_MAX];
    rg_buffer scratch;
    rg_call call;
    bool made, prepared, loaded;
    int prepare_code;  // result of prepare
    const char *doing; // the step that failed, for messages
} rg_frame;

// Makes buffers for the shape, with outputs and scratch poisoned, and a stream. `threads`: for a RG_THREADED variant. The frame must
// be zero or made. A frame of the same call is kept with its inputs; any other is freed first. After an error it is empty.
int rg_frame_make(rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads);
// The same with fences (arena.h). at_end: every argument is flush against the fence after it; on a GPU, one element off a 256-byte
// boundary.
int rg_frame_make_fenced(
    rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads, bool at_end);
// Uses arguments that are already in the device's memory, which several calls may share, on the default stream. Nothing is
// poisoned; scratch that is large enough is kept. After writing a steady argument (suite.h), call rg_frame_changed.
int rg_frame_borrow(
    rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads, void *const *arg);
// Reserves scratch for the following rg_frame_borrow: calls that need no more share it. Frees the frame first.
int rg_frame_reserve(rg_frame *, const rg_device *, size_t scratch);
int rg_frame_put(rg_frame *, int k, const void *from); // argument k from host memory
void rg_frame_changed(rg_frame *, int k);              // argument k was written without rg_frame_put
int rg_frame_prepare(rg_frame *);                      // once; later calls do nothing. Waits for the device
int rg_frame_load(rg_frame *);  // prepares, and loads steady arguments written since. Waits for the device
int rg_frame_clear(rg_frame *); // queues the clearing of outputs that run adds to, if any
int rg_frame_add(rg_frame *);   // queues one run without clearing, loading first if necessary
int rg_frame_start(rg_frame *); // queues clearing and one run; on a CPU, does both
int rg_frame_run(rg_frame *);   // the same, and waits for the device
void rg_frame_free(rg_frame *); // also calls the variant's finish
// RG_GOOD for RG_OK; else prints "NAME on DEVICE: doing: meaning of the code" and returns RG_WRONG, or RG_LACKS if out of memory.
// doing NULL: the step that failed.
int rg_frame_failed(const rg_frame *, const char *doing, int code);

size_t rg_frame_scratch(const rg_entry *, const rg_shape *, const int64_t *param); // without guards
size_t rg_frame_bytes(const rg_entry *, const rg_shape *, const int64_t *param);   // predicted, guards included
// The same by name: each argument, the scratch, and the texture that prepare makes.
void rg_frame_needs(rg_needs *, const rg_entry *, const rg_shape *, const int64_t *param);
// RG_GOOD if the device has that much free memory, else one line and RG_LACKS. The line names the largest n[dim] that fits, as a
// value of `option`; NULL: no option helps.
int rg_frame_allowed(const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int dim, const char *option);
