// SPDX-License-Identifier: MIT
// call.c: buffers, scratch, stream and state of one call (call.h).
#include "call.h"
#include "../base/core.h"

#if HAVE_OPENMP
#include <omp.h>
#else
#define omp_get_max_threads() 1
#define omp_set_num_threads(n) ((void)(n))
#endif

static size_t argument_bytes(const rg_algo *algo, int i, const rg_shape *shape, size_t *element) {
    *element = rg_type_bytes(algo->arg[i].type(shape));
    return (size_t)algo->arg[i].count(shape) * *element;
}

size_t rg_frame_scratch(const rg_entry *e, const rg_shape *shape, const int64_t *param) {
    return e->variant->scratch ? e->variant->scratch(shape, param) : 0;
}

// Whether the frame was made for this call; the seed does not matter.
static bool stands(const rg_frame *f, const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param,
    int threads, void *const *arg) {
    return f->made && f->entry == e && f->device == device && f->call.threads == threads &&
        !memcmp(f->shape.n, shape->n, sizeof shape->n) &&
        !memcmp(f->param, param, (size_t)e->variant->n_params * sizeof *param) &&
        (!arg || !memcmp(f->arg, arg, (size_t)e->algo->n_args * sizeof *arg));
}

enum place { PLAIN, AT_START, AT_END }; // of buffers: without fences, or between fences

static int make_buffer(rg_buffer *b, const rg_device *device, size_t bytes, size_t align, enum place place, const char *what) {
    return place == PLAIN ? rg_buffer_make(b, device, bytes, align, false, what)
                          : rg_buffer_make_fenced(b, device, bytes, align, place == AT_END, what);
}

static int make_arguments(rg_frame *f, enum place place) {
    const rg_algo *algo = f->entry->algo;
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++) {
        size_t element, bytes = argument_bytes(algo, i, &f->shape, &element);
        code = make_buffer(&f->buffer[i], f->device, bytes, element, place, algo->arg[i].name);
        f->arg[i] = f->buffer[i].base;
        if (!code && algo->arg[i].direction == RG_OUT) code = rg_buffer_poison(&f->buffer[i]);
    }
    return code;
}

// Makes the buffers and the stream of a call, and the call itself. `kept`: scratch of an earlier call.
static int fill(rg_frame *f, void *const *arg, enum place place, const rg_buffer *kept) {
    const size_t scratch = rg_frame_scratch(f->entry, &f->shape, f->param);
    int code = arg ? RG_OK : make_arguments(f, place);
    if (arg) memcpy(f->arg, arg, (size_t)f->entry->algo->n_args * sizeof *arg);
    f->scratch = *kept;
    if (!code && !kept->block) code = make_buffer(&f->scratch, f->device, scratch, 256, place, "scratch");
    if (!code && !arg) code = rg_buffer_poison(&f->scratch);
    f->call.shape = &f->shape;
    f->call.param = f->param;
    f->call.arg = f->arg;
    f->call.scratch = scratch ? f->scratch.base : NULL;
    return code || arg ? code : f->device->stream_make(&f->call.stream);
}

static int make(rg_frame *f, const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param,
    int threads, void *const *arg, enum place place) {
    threads = e->variant->flags & RG_THREADED ? threads : 1;
    if (stands(f, e, device, shape, param, threads, arg)) {
        f->shape.seed = shape->seed;
        return RG_OK;
    }
    rg_buffer kept = {0};
    if (arg && f->made && f->device == device && !f->scratch.fenced && f->scratch.bytes >= rg_frame_scratch(e, shape, param)) {
        kept = f->scratch;
        f->scratch = (rg_buffer){0};
    }
    rg_frame_free(f);
    *f = (rg_frame){
        .entry = e, .device = device, .shape = *shape, .made = true, .doing = "making its buffers", .call.threads = threads};
    memcpy(f->param, param, (size_t)e->variant->n_params * sizeof *param);
    const int code = fill(f, arg, place, &kept);
    if (code) rg_frame_free(f);
    f->entry = e;
    f->device = device; // for messages
    f->doing = "making its buffers";
    return code;
}

int rg_frame_make(
    rg_frame *f, const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param, int threads) {
    return make(f, e, device, shape, param, threads, NULL, PLAIN);
}

int rg_frame_make_fenced(rg_frame *f, const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param,
    int threads, bool at_end) {
    return make(f, e, device, shape, param, threads, NULL, at_end ? AT_END : AT_START);
}

int rg_frame_borrow(rg_frame *f, const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param,
    int threads, void *const *arg) {
    return make(f, e, device, shape, param, threads, arg, PLAIN);
}

int rg_frame_reserve(rg_frame *f, const rg_device *device, size_t scratch) {
    rg_frame_free(f);
    *f = (rg_frame){.device = device, .made = true, .doing = "making its scratch"};
    return make_buffer(&f->scratch, device, scratch, 256, PLAIN, "scratch");
}

void rg_frame_changed(rg_frame *f, int k) {
    if (f->entry && f->entry->algo->steady >> k & 1) f->loaded = false;
}

int rg_frame_put(rg_frame *f, int k, const void *from) {
    rg_frame_changed(f, k);
    return rg_buffer_put(&f->buffer[k], from);
}

int rg_frame_prepare(rg_frame *f) {
    if (f->prepared) return f->prepare_code;
    f->prepared = true; // also if it fails: finish releases what it has made
    f->doing = "it cannot be prepared";
    int code = f->entry->variant->prepare ? f->entry->variant->prepare(&f->call) : RG_OK, sticky = f->device->sync();
    f->prepare_code = code ? code : sticky;
    return f->prepare_code;
}

// On the call's stream, before later work.
static int load(rg_frame *f) {
    int code = rg_frame_prepare(f);
    if (code || f->loaded) return code;
    f->doing = "its steady arguments cannot be loaded";
    code = f->entry->variant->load ? f->entry->variant->load(&f->call) : RG_OK;
    f->loaded = code == RG_OK;
    return code;
}

int rg_frame_load(rg_frame *f) {
    int code = load(f), sticky = f->device->sync();
    return code ? code : sticky;
}

int rg_frame_clear(rg_frame *f) {
    f->doing = "clearing its outputs";
    return f->entry->variant->clear ? f->entry->variant->clear(&f->call) : RG_OK;
}

int rg_frame_add(rg_frame *f) {
    int code = load(f);
    if (code) return code;
    f->doing = "running";
    if (f->entry->variant->space == RG_DEVICE) return f->entry->variant->run(&f->call);
    const int all = omp_get_max_threads(); // a parallel region that names no number gets the call's threads
    omp_set_num_threads(f->call.threads);
    code = f->entry->variant->run(&f->call);
    omp_set_num_threads(all);
    return code;
}

int rg_frame_start(rg_frame *f) {
    int code = load(f);
    code = code ? code : rg_frame_clear(f);
    return code ? code : rg_frame_add(f);
}

int rg_frame_run(rg_frame *f) {
    int code = rg_frame_start(f), sticky = f->device->sync();
    return code ? code : sticky;
}

void rg_frame_free(rg_frame *f) {
    if (!f->made) return;
    if (f->prepared && f->entry->variant->finish) f->entry->variant->finish(&f->call);
    if (f->call.stream) f->device->stream_free(f->call.stream);
    for (int i = 0; i < RG_ARGS_MAX; i++) rg_buffer_free(&f->buffer[i]);
    rg_buffer_free(&f->scratch);
    *f = (rg_frame){0};
}

int rg_frame_failed(const rg_frame *f, const char *doing, int code) {
    char who[160];
    snprintf(who, sizeof who, "%s on %s", f->entry->name, f->device->name);
    return rg_device_failed(f->device, who, doing ? doing : f->doing, code);
}

void rg_frame_needs(rg_needs *needs, const rg_entry *e, const rg_shape *shape, const int64_t *param) {
    size_t element;
    for (int i = 0; i < e->algo->n_args; i++) {
        const size_t bytes = argument_bytes(e->algo, i, shape, &element);
        rg_need(needs, e->algo->arg[i].name, (double)rg_buffer_bytes(bytes, element));
        if (i == 0 && e->variant->flags & RG_COPIES_FIRST) rg_need(needs, "texture", (double)bytes);
    }
    rg_need(needs, "scratch", (double)rg_buffer_bytes(rg_frame_scratch(e, shape, param), 256));
}

size_t rg_frame_bytes(const rg_entry *e, const rg_shape *shape, const int64_t *param) {
    rg_needs needs = {0};
    rg_frame_needs(&needs, e, shape, param);
    return (size_t)needs.bytes;
}

int rg_frame_allowed(
    const rg_entry *e, const rg_device *device, const rg_shape *shape, const int64_t *param, int dim, const char *option) {
    rg_device_facts facts;
    size_t need = rg_frame_bytes(e, shape, param);
    const int code = device->facts(&facts);
    if (code) return rg_device_failed(device, device->name, "its free memory", code);
    if (need <= facts.free_bytes) return RG_GOOD;
    char fits[96] = "";
    if (option) {
        rg_shape less = *shape;
        while (less.n[dim] > 1 && rg_frame_bytes(e, &less, param) > facts.free_bytes) less.n[dim] = less.n[dim] * 9 / 10;
        snprintf(fits, sizeof fits, "; %s %" PRId64 " fits", option, less.n[dim]);
    }
    return rg_fail(RG_LACKS, "%s on %s needs %.2f GiB, %.2f GiB are free%s", e->name, device->name, (double)need / 0x1p30,
        (double)facts.free_bytes / 0x1p30, fits);
}
