// SPDX-License-Identifier: MIT
// score.c: computes correlations of many transforms of an image with a reference, by the chosen variant.
#include "matching.h"
#include "../../base/log.h"
#include "../../runtime/predicted.h"

enum { ALONE = 1 << 16 }; // pixels of a call below which waking threads costs more than it saves

rg_shape aj_shape(int dims, const int64_t side[3], int64_t transforms, int outside) {
    if (dims == 2) return (rg_shape){.n = {side[0], side[1], transforms, outside, 0}};
    return (rg_shape){.n = {side[0], side[1], side[2], transforms, outside, 0}};
}

static int choose(int dims, const int64_t side[3], int64_t batch, int outside, const char *device, const char *asked,
    rg_shape *shape, rg_choice *c) {
    const rg_algo *algo = rg_algo_find(dims == 2 ? "align2d" : "align3d");
    *shape = aj_shape(dims, side, batch, outside);
    int code = rg_choose(algo, device, asked, shape, 1, NULL, c);
    return code == RG_GOOD ? rg_entry_device(c->entry, device, &c->device) : code;
}

int aj_scorer_make(aj_scorer *s, int dims, const int64_t side[3], int64_t batch, int outside, const char *device,
    const char *asked, int threads) {
    rg_shape shape;
    rg_choice c;
    *s = (aj_scorer){.dims = dims, .batch = batch, .pixels = side[0] * side[1] * side[2], .threads = threads};
    int code = choose(dims, side, batch, outside, device, asked, &shape, &c);
    if (code != RG_GOOD) return code;
    int made = rg_frame_make(&s->frame, c.entry, c.device, &shape, c.param, s->pixels * batch < ALONE ? 1 : threads);
    if (made == RG_OK) made = rg_frame_prepare(&s->frame);
    s->matrix = rg_alloc((size_t)(batch * af_numbers(dims)) * sizeof *s->matrix);
    s->rho = rg_alloc((size_t)batch * sizeof *s->rho);
    s->part = rg_alloc((size_t)batch * sizeof *s->part);
    return rg_frame_failed(&s->frame, NULL, made);
}

void aj_scorer_free(aj_scorer *s) {
    rg_frame_free(&s->frame);
    free(s->matrix);
    free(s->rho);
    free(s->part);
    *s = (aj_scorer){0};
}

// ---- all levels ----------------------------------------------------------------------------------------------------------

static int64_t batch_at(const aj_levels *how, const aj_pyramid *p, int level, int64_t batch) {
    return level == 0 && p->levels > 1 && how->fine ? 1 : batch;
}

// Arguments, scratch and textures of all scorers. A volume's texture has a row more a plane, and two more planes, of zeros.
static int needs_of(const aj_levels *how, const aj_pyramid *p, int64_t batch, rg_needs *most, const rg_device **device) {
    rg_needs held = {0};
    int code = RG_GOOD;
    *most = (rg_needs){0};
    for (int l = 0; l < p->levels && code == RG_GOOD; l++) {
        rg_shape shape;
        rg_choice c;
        const double w = (double)p->side[l][0], h = (double)p->side[l][1], d = (double)p->side[l][2];
        code = choose(how->dims, p->side[l], batch_at(how, p, l, batch), how->outside, how->device, how->asked, &shape, &c);
        if (code != RG_GOOD) break;
        rg_frame_needs(&held, c.entry, &shape, c.param);
        if (how->dims == 3 && c.entry->variant->flags & RG_COPIES_FIRST)
            rg_need(&held, "texture", 4 * w * ((d + 2) * (h + 1) - d * h));
        *device = c.device;
    }
    rg_needs_most(most, &held, &how->stage);
    return code;
}

typedef struct asked {
    const aj_levels *how;
    const aj_pyramid *p;
} asked;

// Need with one transform a call, for images or volumes of another width.
static double need(const void *of, int64_t width) {
    const asked *a = of;
    const double ratio = (double)width / (double)a->p->side[0][0];
    const rg_device *device;
    rg_needs most;
    aj_pyramid p = {.levels = a->p->levels};
    for (int l = 0; l < p.levels; l++)
        for (int axis = 0; axis < 3; axis++) p.side[l][axis] = (int64_t)fmax(1, ratio * (double)a->p->side[l][axis]);
    return needs_of(a->how, &p, 1, &most, &device) == RG_GOOD ? most.bytes : INFINITY;
}

int aj_scorers_fit(const aj_levels *how, const aj_pyramid *p, int64_t *batch, rg_needs *needs, const rg_device **device) {
    double there;
    *batch = 1;
    int code = needs_of(how, p, 1, needs, device);
    code = code == RG_GOOD ? rg_device_free(*device, &there) : code;
    if (code != RG_GOOD) return code;
    if ((*device)->is_gpu && !(*device)->is_emulated) *batch = how->batch;
    while (code == RG_GOOD && *batch > 1) {
        code = needs_of(how, p, *batch, needs, device);
        if (needs->bytes + RG_MEMORY_RESERVE <= there) return code;
        *batch /= 2;
    }
    if (code == RG_GOOD) code = needs_of(how, p, 1, needs, device);
    const asked ask = {how, p};
    return code != RG_GOOD || needs->bytes + RG_MEMORY_RESERVE <= there
        ? code
        : rg_memory_allows(there, need, &ask, p->side[0][0], "a width of", "%s of %" PRId64 " pixels a side on %s",
              how->dims == 2 ? "images" : "volumes", p->side[0][0], (*device)->name);
}

int aj_scorers_make(aj_scorer *s, const aj_levels *how, const aj_pyramid *p) {
    const rg_device *device;
    rg_needs needs;
    int64_t batch;
    int code = aj_scorers_fit(how, p, &batch, &needs, &device);
    if (code == RG_GOOD) rg_predict(device, &needs);
    for (int l = 0; l < p->levels && code == RG_GOOD; l++)
        code = aj_scorer_make(
            &s[l], how->dims, p->side[l], batch_at(how, p, l, batch), how->outside, how->device, how->asked, how->threads);
    return code;
}

int aj_scorers_plan(const aj_levels *how, const aj_pyramid *p) {
    const rg_device *device;
    rg_needs needs;
    int64_t batch;
    int code = aj_scorers_fit(how, p, &batch, &needs, &device);
    if (code != RG_GOOD || !device->is_gpu) return code;
    rg_plan("memory of a GPU", "%.3f GiB", needs.bytes / 0x1p30);
    rg_plan_needs("memory of a GPU", &needs);
    return code;
}

// ---- calls ---------------------------------------------------------------------------------------------------------------

int aj_scorer_put(aj_scorer *s, const float *image, const float *reference) {
    int code = rg_frame_put(&s->frame, AL_IMAGE, image);
    if (code == RG_OK && reference) code = rg_frame_put(&s->frame, AL_REFERENCE, reference);
    return rg_frame_failed(&s->frame, "copying an image", code);
}

// Fills an incomplete last batch up with its last matrix.
static int run_batch(aj_scorer *s, int64_t n, const float *matrix) {
    int numbers = af_numbers(s->dims);
    for (int64_t i = 0; i < s->batch; i++)
        memcpy(s->matrix + i * numbers, matrix + (i < n ? i : n - 1) * numbers, (size_t)numbers * sizeof *matrix);
    int code = rg_frame_put(&s->frame, AL_MATRIX, s->matrix);
    if (code == RG_OK) code = rg_frame_run(&s->frame);
    if (code == RG_OK) code = rg_buffer_get(&s->frame.buffer[AL_RHO], s->rho);
    if (code == RG_OK) code = rg_buffer_get(&s->frame.buffer[AL_PIXELS], s->part);
    return rg_frame_failed(&s->frame, "correlating", code);
}

int aj_scorer_run(aj_scorer *s, int64_t n, const float *matrix, double *rho) {
    int code = RG_GOOD;
    for (int64_t at = 0; at < n && code == RG_GOOD; at += s->batch) {
        int64_t count = n - at < s->batch ? n - at : s->batch;
        code = run_batch(s, count, matrix + at * af_numbers(s->dims));
        for (int64_t i = 0; i < count; i++)
            rho[at + i] = (double)s->part[i] < AJ_LEAST_PART * (double)s->pixels ? -1 : s->rho[i];
    }
    return code;
}

void aj_warp_needs(const rg_choice *c, const int64_t side[3], int outside, int64_t n, rg_needs *needs) {
    const rg_shape shape = aj_shape(2, side, n, outside);
    rg_frame_needs(needs, c->entry, &shape, c->param);
}

int aj_warp(const rg_choice *c, const int64_t side[3], int outside, int threads, const float *image, int64_t n,
    const float *matrix, float *to) {
    const rg_shape shape = aj_shape(2, side, n, outside);
    RG_ENDS(rg_frame_free) rg_frame frame = {0};
    int code = rg_frame_make(&frame, c->entry, c->device, &shape, c->param, threads);
    if (code == RG_OK) code = rg_frame_put(&frame, AF_IMAGE, image);
    if (code == RG_OK) code = rg_frame_put(&frame, AF_MATRIX, matrix);
    if (code == RG_OK) code = rg_frame_run(&frame);
    if (code == RG_OK) code = rg_buffer_get(&frame.buffer[AF_TRANSFORMED], to);
    code = rg_frame_failed(&frame, "transforming", code);
    return code;
}
