// SPDX-License-Identifier: MIT
// job_series.c: the photographs of a series in parallel, over cores (threads) or over GPUs (a process each).
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int one_photo(const ac_job *job, ac_worker *worker, int64_t i)
{
    const ac_photo *photo = &job->photo[i];
    ac_result *result = &job->result[i];
    double began_s = rg_seconds();
    rg_image image;
    if (result->done)
        return RG_GOOD;
    int code = rg_image_read(photo->path, photo->page, &job->range, &image);
    if (code != RG_GOOD)
        return code;
    const rg_image *other = job->cross.pixel ? &job->cross : NULL;
    if (ac_hash(&image) != photo->hash) {
        rg_image_free(&image);
        return rg_fail(RG_USAGE, "%s: changed while the job was running", photo->path);
    }
    rg_image wide = {0};
    if (other && image.bits < other->bits)
        wide = ac_widen(&image);
    const rg_image *a = wide.pixel ? &wide : &image;
    int64_t *sums = rg_alloc((size_t)(ac_side(job->r) * ac_side(job->r)) * sizeof *sums);
    code = ac_worker_run(worker, photo, a, other, sums);
    if (code == RG_GOOD) {
        ac_field field;
        ac_field_make(&field, a, other, job->r, sums);
        result->k_peak_length = job->spectrum ? ac_spectrum_length(&image) : NAN;
        code = ac_write_photo(job, photo, &field, result);
        ac_field_free(&field);
    }
    free(sums);
    rg_image_free(&image);
    rg_image_free(&wide);
    result->seconds = rg_seconds() - began_s;
    result->done = code == RG_GOOD;
    return code;
}

// Bytes that one photograph in work takes on the host, besides a device's buffers.
static double lane_bytes(const ac_job *job)
{
    double most = 0, offsets = (double)ac_side(job->r) * (double)ac_side(job->r);
    for (int64_t i = 0; i < job->n_photos; i++) {
        const rg_shape *s = &job->photo[i].shape;
        // Photograph, summed areas of both factors, the spectrum's real and complex planes; sums, C2D.
        double pixels = (double)(s->n[AC_WIDTH] + 2) * (double)(s->n[AC_HEIGHT] + 1);
        double bytes = pixels * (2 + 16 + (job->spectrum ? 16 : 0)) + offsets * (8 + 4);
        if (job->entry->variant->space == RG_HOST || job->entry->emulated)
            bytes += (double)rg_frame_bytes(job->algo, job->entry->variant, s, job->param);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// How many photographs are in work at once: as many as there are threads and memory, so that a variant of one thread and a
// series both fill the machine. 0 and one line when not even one fits.
static int lanes_of(const ac_job *job, int wanted)
{
    rg_device_facts facts;
    rg_device_cpu()->facts(&facts);
    double each = lane_bytes(job), fit = floor((double)facts.free_bytes / each);
    if (fit < 1) {
        rg_fail(RG_LACKS, "one photograph at --max-offset %" PRId64 " needs %.2f GiB, %.2f GiB are free; an offset of %" PRId64
                " takes about that", job->r, each / 0x1p30, (double)facts.free_bytes / 0x1p30,
                (int64_t)((double)job->r * sqrt((double)facts.free_bytes / each) * 0.9));
        return 0;
    }
    return fit < wanted ? (int)fit : wanted;
}

static int over_cores(const ac_job *job, const rg_device *device)
{
    bool threaded = job->entry->variant->flags & RG_THREADED;
    int wanted = threaded && job->n_photos < job->threads ? 1
                 : job->n_photos < job->threads           ? (int)job->n_photos
                                                          : job->threads;
    if (device != rg_device_cpu())
        wanted = 1; // one device, one stream of work
    int lanes = lanes_of(job, wanted), code = lanes ? RG_GOOD : RG_LACKS, done = 0;
    rg_progress progress;
    rg_progress_begin(&progress, "autocorr", "photographs", (double)job->n_photos);
#pragma omp parallel num_threads(lanes) if (lanes > 1)
    {
        ac_worker worker = {.job = job, .device = device, .threads = lanes > 1 ? 1 : job->threads_each};
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < job->n_photos; i++) {
            int before, mine;
#pragma omp atomic read
            before = code;
            if (before != RG_GOOD)
                continue;
            mine = one_photo(job, &worker, i);
#pragma omp critical(ac_done)
            {
                if (code == RG_GOOD)
                    code = mine;
                rg_progress_at(&progress, ++done);
            }
        }
        ac_worker_free(&worker);
    }
    rg_progress_end(&progress);
    return code;
}

// Every gpus-th photograph from `first` on, in a process of its own.
static int gpu_process(const ac_job *job, int first, int gpus)
{
    char name[16], why[200];
    snprintf(name, sizeof name, "gpu%d", first);
    const rg_device *device = rg_device_open(name, why);
    if (!device)
        return rg_fail(RG_LACKS, "%s: %s", name, why);
    ac_worker worker = {.job = job, .device = device, .threads = 1};
    int code = RG_GOOD;
    for (int64_t i = first; i < job->n_photos && code == RG_GOOD; i += gpus)
        code = one_photo(job, &worker, i);
    ac_worker_free(&worker);
    return code;
}

static int over_gpus(const ac_job *job, int gpus)
{
    int code = RG_GOOD, running = 0;
    rg_progress progress;
    rg_progress_begin(&progress, "autocorr", "photographs", (double)job->n_photos);
    fflush(NULL);
    for (int g = 0; g < gpus; g++) {
        pid_t child = fork();
        if (child == 0) {
            rg_quiet = true;
            _exit(gpu_process(job, g, gpus));
        }
        running += child > 0;
        if (child < 0)
            code = rg_fail(RG_LACKS, "no process for gpu%d", g);
    }
    while (running > 0) {
        int status, done = 0;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended == 0) {
            for (int64_t i = 0; i < job->n_photos; i++)
                done += ((volatile const ac_result *)job->result)[i].done;
            rg_progress_at(&progress, done);
            usleep(20000);
            continue;
        }
        running--;
        int mine =
            ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : rg_fail(RG_WRONG, "a process of a GPU ended by a signal");
        code = code == RG_GOOD ? mine : code;
    }
    rg_progress_end(&progress);
    return code;
}

int ac_series(ac_job *job)
{
    char why[200];
    for (int64_t i = 0; i < job->n_photos; i++)
        if (job->resume)
            ac_already_written(job, &job->photo[i], &job->result[i]);
    if (job->entry->variant->space == RG_HOST && !job->entry->emulated)
        return over_cores(job, rg_device_cpu());
    if (job->entry->emulated)
        return over_cores(job, rg_device_emulated());
    int gpus = strcmp(job->device, "gpu") == 0 ? rg_gpu_count(why) : 1;
    if (gpus > job->n_photos)
        gpus = (int)job->n_photos;
    if (gpus > 1)
        return over_gpus(job, gpus);
    const rg_device *device = rg_device_open(job->device, why);
    return device ? over_cores(job, device) : rg_fail(RG_LACKS, "--device %s: %s", job->device, why);
}
