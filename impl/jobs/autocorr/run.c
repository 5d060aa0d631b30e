// SPDX-License-Identifier: MIT
// run.c: one photograph through one variant, then 16 random sums computed again by the reference.
#include "autocorr.h"

enum { CHECKS = 16 };

void ac_worker_make(ac_worker *w, const ac_job *job, const rg_device *device, int threads)
{
    *w = (ac_worker){.job = job, .device = device, .threads = threads};
    pthread_mutex_init(&w->turn, NULL);
}

void ac_worker_free(ac_worker *w)
{
    rg_frame_free(&w->frame);
    pthread_mutex_destroy(&w->turn);
}

// The reference computes a few elements only; a wrong one is a fault of the program, never of the photograph.
static int check(const ac_worker *w, const ac_photo *photo, void *const *arg, const int64_t *sums)
{
    const rg_algo *algo = w->job->algo;
    const rg_variant *v = w->job->entry->variant;
    int64_t element[CHECKS], expected[CHECKS], count = algo->arg[AC_SUMS].count(&photo->shape);
    for (int i = 0; i < CHECKS; i++) element[i] = (int64_t)(rg_bits(w->job->seed ^ photo->hash, (uint64_t)i) % (uint64_t)count);
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

// Buffers and plans stay while photographs have one shape.
static int compute(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
    const ac_job *job = w->job;
    rg_frame *f = &w->frame;
    if (!f->made || memcmp(f->shape.n, photo->shape.n, sizeof f->shape.n) != 0) {
        rg_frame_free(f); // what it holds is not free
        int lacks = rg_frame_allowed(job->entry, w->device, &photo->shape, job->param, AC_R, "--max-offset");
        if (lacks) return lacks;
    }
    int code = rg_frame_make(f, job->entry, w->device, &photo->shape, job->param, w->threads);
    if (code == RG_OK) code = rg_frame_prepare(f);
    if (code != RG_OK) return rg_frame_failed(f, NULL, code);
    code = rg_frame_put(f, AC_A, a->pixel);
    if (code == RG_OK && b) code = rg_frame_put(f, AC_B, b->pixel);
    if (code == RG_OK) code = rg_frame_run(f);
    if (code == RG_OK) code = rg_buffer_get(&f->buffer[AC_SUMS], sums);
    return rg_frame_failed(f, photo->name, code);
}

int ac_worker_run(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
    pthread_mutex_lock(&w->turn);
    int code = compute(w, photo, a, b, sums);
    pthread_mutex_unlock(&w->turn);
    void *const arg[] = {a->pixel, b ? b->pixel : a->pixel, sums};
    return code == RG_GOOD ? check(w, photo, arg, sums) : code;
}
