// SPDX-License-Identifier: MIT
// job_run.c: one photograph through one variant, then 16 random sums computed again by the reference.
#include "autocorr.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKS = 16 };

static void forget(ac_worker *w)
{
    if (w->made) {
        const rg_variant *v = w->job->entry->variant;
        // FFTW makes and destroys plans one at a time; the names of critical sections hold across files.
#pragma omp critical(ac_plan)
        if (v->finish && w->prepared)
            v->finish(&w->frame.call);
        rg_frame_free(&w->frame);
    }
    w->made = w->prepared = false;
}

void ac_worker_make(ac_worker *w, const ac_job *job, const rg_device *device, int threads)
{
    *w = (ac_worker){.job = job, .device = device, .threads = threads};
    pthread_mutex_init(&w->turn, NULL);
}

void ac_worker_free(ac_worker *w)
{
    forget(w);
    pthread_mutex_destroy(&w->turn);
}

static int device_failed(const ac_worker *w, const char *doing, int code)
{
    return rg_fail(RG_WRONG, "%s on %s: %s: %s", w->job->entry->name, w->device->name, doing, w->device->error(code));
}

// The buffers against what is free where they will stand.
static int memory_allows(const ac_worker *w, const rg_shape *shape)
{
    const ac_job *job = w->job;
    rg_device_facts facts;
    if (w->device->facts(&facts) != RG_OK)
        return RG_GOOD; // unknown: the allocation itself will tell
    size_t need = rg_frame_bytes(job->algo, job->entry->variant, shape, job->param);
    if (need <= facts.free_bytes)
        return RG_GOOD;
    rg_shape fits = *shape;
    while (fits.n[AC_R] > 0 && rg_frame_bytes(job->algo, job->entry->variant, &fits, job->param) > facts.free_bytes)
        fits.n[AC_R] = fits.n[AC_R] * 9 / 10;
    return rg_fail(RG_LACKS, "%s on %s needs %.2f GiB, %.2f GiB are free; --max-offset %" PRId64 " fits", job->entry->name,
                   w->device->name, (double)need / 0x1p30, (double)facts.free_bytes / 0x1p30, fits.n[AC_R]);
}

// Buffers and plans for this shape, unless they are there already.
static int ready(ac_worker *w, const rg_shape *shape)
{
    const rg_variant *v = w->job->entry->variant;
    if (w->made && memcmp(w->shape.n, shape->n, sizeof shape->n) == 0)
        return RG_GOOD;
    forget(w);
    w->shape = *shape;
    int code = memory_allows(w, shape);
    if (code != RG_GOOD)
        return code;
    code = rg_frame_make(&w->frame, w->job->algo, v, w->device, &w->shape, w->job->param, false, w->threads);
    if (code != RG_OK)
        return device_failed(w, "no memory for its buffers", code);
    w->made = true;
#pragma omp critical(ac_plan)
    code = v->prepare ? v->prepare(&w->frame.call) : RG_OK;
    w->prepared = true;
    return code == RG_OK ? RG_GOOD : device_failed(w, "it cannot be prepared", code);
}

// The reference is asked for a few elements only; a wrong one is a fault of the program, never of the photograph.
static int check(const ac_worker *w, const ac_photo *photo, void *const *arg, const int64_t *sums)
{
    const rg_algo *algo = w->job->algo;
    const rg_variant *v = w->job->entry->variant;
    int64_t element[CHECKS], expected[CHECKS], count = algo->arg[AC_SUMS].count(&photo->shape);
    for (int i = 0; i < CHECKS; i++)
        element[i] = (int64_t)(rg_bits(w->job->seed ^ photo->hash, (uint64_t)i) % (uint64_t)count);
    algo->reference_at(&photo->shape, arg, AC_SUMS, element, CHECKS, expected);
    rg_tolerance tol = v->tolerance ? v->tolerance(&photo->shape, w->job->param) : algo->tolerance(&photo->shape);
    for (int i = 0; i < CHECKS; i++) {
        int64_t found = sums[element[i]];
        double error = fabs((double)((__int128)found - expected[i]));
        double bound = tol.kind == RG_EXACT ? 0 : tol.absolute + tol.relative * fabs((double)expected[i]);
        if (!(error <= bound)) {
            char where[64];
            algo->where(&photo->shape, AC_SUMS, element[i], where);
            return rg_fail(RG_WRONG, "%s: %s gives S%s = %" PRId64 ", the reference %" PRId64, photo->name, w->job->entry->name,
                           where, found, expected[i]);
        }
    }
    return RG_GOOD;
}

static int compute(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
    const rg_variant *v = w->job->entry->variant;
    int code = ready(w, &photo->shape);
    if (code != RG_GOOD)
        return code;
    rg_frame *f = &w->frame;
    code = rg_buffer_put(&f->buffer[AC_A], a->pixel);
    if (code == RG_OK && b)
        code = rg_buffer_put(&f->buffer[AC_B], b->pixel);
    if (code == RG_OK)
        code = v->run(&f->call);
    int sticky = w->device->sync();
    if (code == RG_OK)
        code = sticky;
    if (code == RG_OK)
        code = rg_buffer_get(&f->buffer[AC_SUMS], sums);
    return code == RG_OK ? RG_GOOD : device_failed(w, photo->name, code);
}

int ac_worker_run(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
    pthread_mutex_lock(&w->turn);
    int code = compute(w, photo, a, b, sums);
    pthread_mutex_unlock(&w->turn);
    void *const arg[] = {a->pixel, b ? b->pixel : a->pixel, sums};
    return code == RG_GOOD ? check(w, photo, arg, sums) : code;
}
