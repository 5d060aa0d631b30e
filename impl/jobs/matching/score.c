// SPDX-License-Identifier: MIT
// score.c: correlations of many transforms of one image with a reference, through the variant that does the work.
#include "matching.h"

#include <stdlib.h>
#include <string.h>

enum { ALONE = 1 << 16 }; // pixels of a call below which waking other threads costs more than they do

rg_shape aj_shape(int dims, const int64_t side[3], int64_t transforms, int outside)
{
    if (dims == 2) return (rg_shape){.n = {side[0], side[1], transforms, outside, 0}};
    return (rg_shape){.n = {side[0], side[1], side[2], transforms, outside, 0}};
}

int aj_scorer_make(aj_scorer *s, int dims, const int64_t side[3], int64_t batch, int outside, const char *device,
    const char *asked, int threads)
{
    const rg_algo *algo = rg_algo_find(dims == 2 ? "align2d" : "align3d");
    const rg_shape shape = aj_shape(dims, side, batch, outside);
    rg_choice c;
    *s = (aj_scorer){.dims = dims, .batch = batch, .pixels = side[0] * side[1] * side[2], .threads = threads};
    int code = rg_choose(algo, device, asked, &shape, 1, NULL, &c);
    if (code == RG_GOOD) code = rg_entry_device(c.entry, device, &c.device);
    if (code == RG_GOOD) code = rg_frame_allowed(c.entry, c.device, &shape, c.param, 0, NULL);
    if (code != RG_GOOD) return code;
    int made = rg_frame_make(&s->frame, c.entry, c.device, &shape, c.param, s->pixels * batch < ALONE ? 1 : threads);
    if (made == RG_OK) made = rg_frame_prepare(&s->frame);
    s->matrix = rg_alloc((size_t)(batch * af_numbers(dims)) * sizeof *s->matrix);
    s->rho = rg_alloc((size_t)batch * sizeof *s->rho);
    s->part = rg_alloc((size_t)batch * sizeof *s->part);
    return rg_frame_failed(&s->frame, NULL, made);
}

void aj_scorer_free(aj_scorer *s)
{
    rg_frame_free(&s->frame);
    free(s->matrix);
    free(s->rho);
    free(s->part);
    *s = (aj_scorer){0};
}

bool aj_scorer_batches(const aj_scorer *s) { return s->frame.device->is_gpu && !s->frame.device->is_emulated; }

int aj_scorer_put(aj_scorer *s, const float *image, const float *reference)
{
    int code = rg_frame_put(&s->frame, AL_IMAGE, image);
    if (code == RG_OK && reference) code = rg_frame_put(&s->frame, AL_REFERENCE, reference);
    return rg_frame_failed(&s->frame, "copying an image", code);
}

// A last batch that is not full is filled up with its last matrix.
static int run_batch(aj_scorer *s, int64_t n, const float *matrix)
{
    int numbers = af_numbers(s->dims);
    for (int64_t i = 0; i < s->batch; i++)
        memcpy(s->matrix + i * numbers, matrix + (i < n ? i : n - 1) * numbers, (size_t)numbers * sizeof *matrix);
    int code = rg_frame_put(&s->frame, AL_MATRIX, s->matrix);
    if (code == RG_OK) code = rg_frame_run(&s->frame);
    if (code == RG_OK) code = rg_buffer_get(&s->frame.buffer[AL_RHO], s->rho);
    if (code == RG_OK) code = rg_buffer_get(&s->frame.buffer[AL_PIXELS], s->part);
    return rg_frame_failed(&s->frame, "correlating", code);
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

int aj_warp(const rg_choice *c, const int64_t side[3], int outside, int threads, const float *image, int64_t n,
    const float *matrix, float *to)
{
    const rg_shape shape = aj_shape(2, side, n, outside);
    rg_frame frame = {0};
    int code = rg_frame_make(&frame, c->entry, c->device, &shape, c->param, threads);
    if (code == RG_OK) code = rg_frame_put(&frame, AF_IMAGE, image);
    if (code == RG_OK) code = rg_frame_put(&frame, AF_MATRIX, matrix);
    if (code == RG_OK) code = rg_frame_run(&frame);
    if (code == RG_OK) code = rg_buffer_get(&frame.buffer[AF_TRANSFORMED], to);
    code = rg_frame_failed(&frame, "transforming", code);
    rg_frame_free(&frame);
    return code;
}
