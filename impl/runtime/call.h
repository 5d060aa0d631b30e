// SPDX-License-Identifier: MIT
// call.h: one call of a variant on one device, from making to finishing: how checker, benchmark, tuner, tracer and jobs run it.
//
//     rg_frame f = {0};
//     int code = rg_frame_make(&f, entry, device, &shape, param, threads);
//     code = code ? code : rg_frame_put(&f, i, input);            // for every input
//     code = code ? code : rg_frame_run(&f);                      // prepares first, unless that was done
//     code = code ? code : rg_buffer_get(&f.buffer[k], output);
//     int exit_code = rg_frame_failed(&f, NULL, code);            // RG_GOOD, or one line
//     rg_frame_free(&f);
//
// Codes are RG_OK or those of the variant and its device (suite.h); sizes are bytes. A frame belongs to one thread at a time
// and is not copied: its call points into it.
#pragma once

#include "../base/memory.h"
#include "arena.h"
#include "table.h"

typedef struct rg_frame {
    const rg_entry *entry;
    const rg_device *device;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    rg_buffer buffer[RG_ARGS_MAX]; // of the arguments that it owns
    void *arg[RG_ARGS_MAX];
    rg_buffer scratch;
    rg_call call;
    bool made, prepared, loaded;
    int prepare_code;  // of the one prepare
    const char *doing; // the step that failed, as a message says it
} rg_frame;

// Buffers of the shape, outputs and scratch poisoned, a stream. `threads`: how many a RG_THREADED variant may use. A frame must
// be zero or made; one that stands for the same call is left as it is, with its inputs, and any other is freed first. One that cannot
// be made holds nothing.
int rg_frame_make(rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads);
// The same between fences (arena.h), at_end: every argument flush with the one behind it; on a GPU one element off a boundary
// of 256 bytes.
int rg_frame_make_fenced(
    rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads, bool at_end);
// On arguments that stand in memory of the device already, which several calls may share; on its default stream. Nothing is
// poisoned, and a frame that had enough scratch for an earlier call keeps it. Who writes a steady one of them (suite.h) says so
// by rg_frame_changed.
int rg_frame_borrow(
    rg_frame *, const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int threads, void *const *arg);
// Scratch of so many bytes for the calls that are borrowed next: none of them that needs no more makes it anew. Frees the frame
// that was made.
int rg_frame_reserve(rg_frame *, const rg_device *, size_t scratch);
int rg_frame_put(rg_frame *, int k, const void *from); // argument k from host memory
void rg_frame_changed(rg_frame *, int k);              // argument k was written by another way
int rg_frame_prepare(rg_frame *);                      // once: later calls do nothing. Waits for the device
int rg_frame_load(rg_frame *);  // prepares, and loads steady arguments that were written since. Waits for the device
int rg_frame_clear(rg_frame *); // queues the clearing of outputs that run adds to; RG_OK where it does not
int rg_frame_add(rg_frame *);   // queues one run, loading first where need be, without clearing
int rg_frame_start(rg_frame *); // queues clearing and one run, on a CPU does them
int rg_frame_run(rg_frame *);   // and waits for the device
void rg_frame_free(rg_frame *); // finishes what was prepared
// RG_GOOD for RG_OK, else "NAME on DEVICE: doing: what the code says" and RG_WRONG, RG_LACKS without memory. doing NULL: the
// step that failed.
int rg_frame_failed(const rg_frame *, const char *doing, int code);

size_t rg_frame_scratch(const rg_entry *, const rg_shape *, const int64_t *param); // without guards
size_t rg_frame_bytes(const rg_entry *, const rg_shape *, const int64_t *param);   // predicted, guards included
// The same by name: each argument, the scratch, and what prepare takes for a texture.
void rg_frame_needs(rg_needs *, const rg_entry *, const rg_shape *, const int64_t *param);
// RG_GOOD when that much is free on the device, else one line and a code, RG_LACKS where it is short. It names the
// largest extent n[dim] that fits, as `option`; option NULL: none helps.
int rg_frame_allowed(const rg_entry *, const rg_device *, const rg_shape *, const int64_t *param, int dim, const char *option);
