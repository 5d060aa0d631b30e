// SPDX-License-Identifier: MIT
// job_score.c: correlations of many transforms of one image with a reference, through the variant that does the work.
#include "align.h"

#include <stdlib.h>
#include <string.h>

enum { ALONE = 1 << 16 }; // pixels of a call below which waking other threads costs more than they do

// From experience the fastest first; a variant that this build, machine or size does not admit is passed over.
static const char *const order_2d[] = {"batch", "atct_2d", "simd", "naive"};
static const char *const order_3d[] = {"batch", "atct_3d", "atc_3d", "simd", "naive"};

rg_shape aj_shape(int dims, const int64_t side[3], int64_t transforms, int outside)
{
    if (dims == 2)
        return (rg_shape){.n = {side[0], side[1], transforms, outside, 0}};
    return (rg_shape){.n = {side[0], side[1], side[2], transforms, outside, 0}};
}

static int failed(const aj_scorer *s, const char *doing, int code)
{
    return rg_fail(RG_WRONG, "%s on %s: %s: %s", s->picked.entry->name, s->picked.device->name, doing,
                   s->picked.device->error(code));
}

int aj_scorer_make(aj_scorer *s, int dims, const int64_t side[3], int64_t batch, int outside, const char *device,
                   const char *asked, int threads)
{
    *s = (aj_scorer){.dims = dims, .batch = batch, .pixels = side[0] * side[1] * side[2], .threads = threads};
    s->algo = rg_algo_find(dims == 2 ? "align2d" : "align3d");
    s->shape = aj_shape(dims, side, batch, outside);
    int code = dims == 2 ? rg_pick_for(s->algo, &s->shape, device, asked, order_2d, RG_COUNT(order_2d), &s->picked)
                         : rg_pick_for(s->algo, &s->shape, device, asked, order_3d, RG_COUNT(order_3d), &s->picked);
    if (code != RG_GOOD)
        return code;
    const rg_variant *v = s->picked.entry->variant;
    rg_device_facts facts;
    size_t need = rg_frame_bytes(s->algo, v, &s->shape, s->picked.param);
    if (s->picked.device->facts(&facts) == RG_OK && need > facts.free_bytes)
        return rg_fail(RG_LACKS, "%s on %s needs %.2f GiB for its images, %.2f GiB are free", s->picked.entry->name,
                       s->picked.device->name, (double)need / 0x1p30, (double)facts.free_bytes / 0x1p30);
    if (!(v->flags & RG_THREADED) || s->pixels * batch < ALONE)
        threads = 1;
    int made = rg_frame_make(&s->frame, s->algo, v, s->picked.device, &s->shape, s->picked.param, false, threads);
    s->made = true;
    if (made == RG_OK && v->prepare)
        made = v->prepare(&s->frame.call);
    s->matrix = rg_alloc((size_t)(batch * af_numbers(dims)) * sizeof *s->matrix);
    s->rho = rg_alloc((size_t)batch * sizeof *s->rho);
    s->part = rg_alloc((size_t)batch * sizeof *s->part);
    return made == RG_OK ? RG_GOOD : failed(s, "no memory for its buffers", made);
}

void aj_scorer_free(aj_scorer *s)
{
    if (s->made) {
        if (s->picked.entry->variant->finish)
            s->picked.entry->variant->finish(&s->frame.call);
        rg_frame_free(&s->frame);
    }
    free(s->matrix);
    free(s->rho);
    free(s->part);
    *s = (aj_scorer){0};
}

int aj_scorer_put(aj_scorer *s, const float *image, const float *reference)
{
    int code = rg_buffer_put(&s->frame.buffer[AL_IMAGE], image);
    if (code == RG_OK && reference)
        code = rg_buffer_put(&s->frame.buffer[AL_REFERENCE], reference);
    return code == RG_OK ? RG_GOOD : failed(s, "copying an image", code);
}

// A last batch that is not full is filled up with its last matrix.
static int run_batch(aj_scorer *s, int64_t n, const float *matrix)
{
    int numbers = af_numbers(s->dims);
    for (int64_t i = 0; i < s->batch; i++)
        memcpy(s->matrix + i * numbers, matrix + (i < n ? i : n - 1) * numbers, (size_t)numbers * sizeof *matrix);
    int code = rg_buffer_put(&s->frame.buffer[AL_MATRIX], s->matrix);
    if (code == RG_OK)
        code = s->picked.entry->variant->run(&s->frame.call);
    int sticky = s->picked.device->sync();
    code = code == RG_OK ? sticky : code;
    if (code == RG_OK)
        code = rg_buffer_get(&s->frame.buffer[AL_RHO], s->rho);
    if (code == RG_OK)
        code = rg_buffer_get(&s->frame.buffer[AL_PIXELS], s->part);
    return code == RG_OK ? RG_GOOD : failed(s, "correlating", code);
}

int aj_scorer_run(aj_scorer *s, int64_t n, const float *matrix, double *rho)
{
    int code = RG_GOOD;
    for (int64_t at = 0; at < n && code == RG_GOOD; at += s->batch) {
        int64_t count = n - at < s->batch ? n - at : s->batch;
        code = run_batch(s, count, matrix + at * af_numbers(s->dims));
        for (int64_t i = 0; i < count; i++)
            rho[at + i] = (double)s->part[i] < AJ_LEAST_PART * (double)s->pixels ? -1 : s->rho[i];
    }
    return code;
}

int aj_warp(const rg_picked *picked, const int64_t side[3], int outside, int threads, const float *image, int64_t n,
            const float *matrix, float *to)
{
    const rg_algo *algo = rg_algo_find("affine2d");
    const rg_variant *v = picked->entry->variant;
    rg_shape shape = aj_shape(2, side, n, outside);
    rg_frame frame;
    int code = rg_frame_make(&frame, algo, v, picked->device, &shape, picked->param, false,
                             v->flags & RG_THREADED ? threads : 1);
    if (code == RG_OK && v->prepare)
        code = v->prepare(&frame.call);
    if (code == RG_OK)
        code = rg_buffer_put(&frame.buffer[AF_IMAGE], image);
    if (code == RG_OK)
        code = rg_buffer_put(&frame.buffer[AF_MATRIX], matrix);
    if (code == RG_OK)
        code = v->run(&frame.call);
    int sticky = picked->device->sync();
    code = code == RG_OK ? sticky : code;
    if (code == RG_OK)
        code = rg_buffer_get(&frame.buffer[AF_TRANSFORMED], to);
    if (v->finish)
        v->finish(&frame.call);
    rg_frame_free(&frame);
    return code == RG_OK ? RG_GOOD : rg_fail(RG_WRONG, "%s on %s: transforming: %s", picked->entry->name, picked->device->name,
                                             picked->device->error(code));
}
