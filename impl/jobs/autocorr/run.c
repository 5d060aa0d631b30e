// SPDX-License-Identifier: MIT
// run.c: runs a variant on a photograph and has its sums checked.
#include "autocorr.h"

void ac_worker_make(ac_worker *w, const ac_job *job, const rg_device *device, int threads) {
    *w = (ac_worker){.job = job, .device = device, .threads = threads};
    pthread_mutex_init(&w->turn, NULL);
}

void ac_worker_free(ac_worker *w) {
    rg_frame_free(&w->frame);
    pthread_mutex_destroy(&w->turn);
}

// Keeps buffers and plans while the photographs have the same shape.
static int compute(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums) {
    const ac_job *job = w->job;
    rg_frame *f = &w->frame;
    if (!f->made || memcmp(f->shape.n, photo->shape.n, sizeof f->shape.n) != 0) {
        rg_frame_free(f); // so that its memory counts as free
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

int ac_worker_run(ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums) {
    pthread_mutex_lock(&w->turn);
    int code = compute(w, photo, a, b, sums);
    pthread_mutex_unlock(&w->turn);
    return code == RG_GOOD ? ac_check(w, photo, a, b ? b : a, sums) : code;
}
