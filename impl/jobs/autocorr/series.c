// SPDX-License-Identifier: MIT
// series.c: processes the photographs of a series in parallel, on cores and GPUs.
#include "../../base/log.h"
#include "../../base/memory.h"
#include "../../runtime/predicted.h"
#include "../pipeline/ranks.h"
#include "autocorr.h"

// Reads a photograph whose pixels are no longer kept; it must be unchanged.
static int read_again(const ac_job *job, ac_photo *photo, rg_image *image) {
    *image = photo->kept;
    photo->kept = (rg_image){0};
    if (image->pixel) return RG_GOOD;
    int code = ac_read(job, photo->path, &photo->place, image);
    if (code != RG_GOOD || ac_hash(image) == photo->hash) return code;
    rg_image_free(image);
    return rg_fail(RG_USAGE, "%s: changed while the job was running", photo->path);
}

// Buffers of one photograph in flight, in the device's kind of memory: copies from other kinds to a GPU serialise.
typedef struct lane {
    ac_worker *worker;
    void *sums, *pixels; // of int64_t; in the GPU's memory
} lane;

static int make_lane(lane *l, ac_worker *worker) {
    const ac_job *job = worker->job;
    const rg_device *d = worker->device;
    size_t most = 0;
    for (int64_t i = 0; i < job->n_photos; i++) {
        const rg_shape *s = &job->photo[i].shape;
        const size_t bytes = (size_t)(s->n[AC_WIDTH] * s->n[AC_HEIGHT]) * (s->n[AC_KIND] & AC_16BIT ? 2 : 1);
        most = bytes > most ? bytes : most;
    }
    l->worker = worker;
    int error = d->pinned(&l->sums, (size_t)(ac_side(job->r) * ac_side(job->r)) * sizeof(int64_t), "pinned sums");
    if (!error && !rg_on_cpu(job->entry)) error = d->pinned(&l->pixels, most, "pinned photographs");
    return rg_device_failed(d, d->name, "pinning memory", error);
}

static void free_lane(lane *l) {
    if (l->sums) l->worker->device->unpin(l->sums);
    if (l->pixels) l->worker->device->unpin(l->pixels);
}

static int one_photo(const ac_job *job, const lane *l, int64_t i) {
    ac_photo *photo = &job->photo[i];
    ac_result *result = &job->result[i];
    double began_s = rg_seconds();
    rg_image image;
    if (result->done) return RG_GOOD;
    int code = read_again(job, photo, &image);
    if (code != RG_GOOD) return code;
    const rg_image *other = job->cross.pixel ? &job->cross : NULL;
    rg_image wide = {0};
    if (other && image.bits < other->bits) wide = ac_widen(&image);
    const rg_image *a = wide.pixel ? &wide : &image;
    rg_image at_hand = *a;
    if (l->pixels) at_hand.pixel = memcpy(l->pixels, a->pixel, (size_t)(a->width * a->height * a->bits / 8));
    code = ac_worker_run(l->worker, photo, &at_hand, other, l->sums);
    if (code == RG_GOOD) {
        RG_ENDS(ac_field_free) ac_field field;
        ac_field_make(&field, a, other, job->r, l->sums);
        result->k_peak_length = job->spectrum ? ac_spectrum_length(&image) : NAN;
        code = ac_write_photo(job, photo, &field, result);
    }
    rg_image_free(&image);
    rg_image_free(&wide);
    result->seconds = rg_seconds() - began_s;
    result->done = code == RG_GOOD;
    return code;
}

// Host bytes of one photograph in flight with this largest offset, besides a device's buffers.
double ac_lane_need(const void *of, int64_t r) {
    const ac_job *job = of;
    double most = 0, offsets = (double)ac_side(r) * (double)ac_side(r);
    for (int64_t i = 0; i < job->n_photos; i++) {
        rg_shape s = job->photo[i].shape;
        s.n[AC_R] = r;
        // Photograph and its copy for a GPU, summed areas of both factors, the spectrum's real and complex planes; sums, C2D.
        double pixels = (double)(s.n[AC_WIDTH] + 2) * (double)(s.n[AC_HEIGHT] + 1);
        double bytes = pixels * (4 + 16 + (job->spectrum ? 16 : 0)) + offsets * (8 + 4);
        if (job->entry->variant->space == RG_HOST || job->entry->emulated)
            bytes += (double)rg_frame_bytes(job->entry, &s, job->param);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Photographs in flight: as many as there are threads and memory, so that a single-threaded variant and a series both fill the
// machine. 0 and one line if not even one fits.
static int lanes_of(const ac_job *job, int wanted) {
    const double there = rg_memory_free(), fit = floor(there / ac_lane_need(job, job->r));
    if (rg_memory_allows(there, ac_lane_need, job, job->r, "--max-offset", "the offsets of one photograph") != RG_GOOD)
        return 0;
    return fit < wanted ? (int)fit : wanted;
}

// The workers are cores, each with its own buffers, or GPUs, each with several sets of buffers that cores use in turn: copies
// of a photograph and its sums, staged by a core, take longer than the GPU's work. The emulated GPU has one.
enum { WORKERS_A_GPU = 4 };
typedef struct crew {
    const ac_job *job;
    const rg_device *host; // CPU or emulated GPU; NULL: GPUs
    int gpus;              // of this machine, shared by the job's processes; 0: the one that --device names
    int mine;              // GPUs that this process uses
    int lanes, n_workers;
    ac_worker *worker;
} crew;

// Binds a GPU to the calling thread. False with the reason.
static bool bind(const crew *c, int w, char why[200]) {
    if (c->host) return true;
    char name[16];
    snprintf(name, sizeof name, "gpu%d", rg_ranks_gpu(c->gpus, w % c->mine));
    ac_worker *worker = &c->worker[w];
    pthread_mutex_lock(&worker->turn);
    const rg_device *device = rg_device_open(c->gpus ? name : c->job->device, why);
    worker->device = device;
    pthread_mutex_unlock(&worker->turn);
    return device;
}

static int work(crew *c) {
    const ac_job *job = c->job;
    int code = RG_GOOD, lanes = 0;
    bool more = true;
    int64_t first = 0, past = 0, done = 0;
    rg_progress progress;
    rg_deal deal = {.n = job->n_photos, .least = c->lanes, .record = job->result, .bytes = sizeof *job->result};
    rg_progress_begin(&progress, "autocorr", "photographs", (double)job->n_photos);
    rg_deal_begin(&deal);
#pragma omp parallel num_threads(c->lanes) if (c->lanes > 1)
    {
        int mine, w;
        char why[200];
#pragma omp atomic capture
        w = lanes++;
        w %= c->n_workers;
        lane own = {0};
        bool bound = bind(c, w, why);
#pragma omp critical(ac_done)
        if (!bound && code == RG_GOOD) code = rg_fail(RG_LACKS, "--device %s: %s", job->device, why);
        mine = bound ? make_lane(&own, &c->worker[w]) : RG_GOOD;
#pragma omp critical(ac_done)
        code = code == RG_GOOD ? mine : code;
#pragma omp barrier
        for (bool go = true; go;) {
#pragma omp single
            {
                more = code == RG_GOOD && rg_deal_next(&deal, &first, &past);
                done = deal.done;
            }
            go = more; // of this turn: the next one's follows two barriers later
#pragma omp for schedule(dynamic, 1)
            for (int64_t i = go ? first : past; i < past; i++) {
                int before;
#pragma omp atomic read
                before = code;
                if (before != RG_GOOD) continue;
                mine = one_photo(job, &own, i);
#pragma omp critical(ac_done)
                {
                    if (code == RG_GOOD) code = mine;
                    rg_progress_at(&progress, (double)++done);
                }
            }
#pragma omp single
            if (go && code == RG_GOOD) rg_deal_done(&deal, first, past, NULL);
        }
        free_lane(&own);
    }
    rg_progress_end(&progress);
    return rg_deal_end(&deal, code);
}

// One thread a photograph, unless this process has fewer photographs than threads and the variant is parallel. The emulated GPU
// is shared by the process, on one thread.
static int lanes_wanted(const ac_job *job, int64_t photos, const rg_device *host) {
    bool few = photos < job->threads, threaded = job->entry->variant->flags & RG_THREADED;
    if (host && (job->entry->emulated || (few && threaded))) return 1;
    return few ? (int)photos : job->threads;
}

// Memory of the frames of a GPU with this many workers, each for the largest photograph.
static rg_needs gpu_needs(const ac_job *job, int64_t r, int workers) {
    rg_needs most = {0}, all = {0};
    const rg_needs none = {0};
    for (int64_t i = 0; i < job->n_photos; i++) {
        rg_shape s = job->photo[i].shape;
        rg_needs one = {0};
        s.n[AC_R] = r;
        rg_frame_needs(&one, job->entry, &s, job->param);
        rg_needs_most(&most, &none, &one);
    }
    for (int i = 0; i < most.n; i++) rg_need(&all, most.row[i].name, workers * most.row[i].bytes);
    return all;
}

static double gpu_need(const void *of, int64_t r) { return gpu_needs(of, r, 1).bytes; }

// Number of workers, at most `most`, that fit in the memory of the GPU that --device names, or of the first of several, and
// their needs. 0 and one line if not even one fits.
static int gpu_workers(const ac_job *job, int most, rg_needs *needs, const rg_device **device) {
    double there;
    if (rg_entry_device(job->entry, rg_ranks_device(job->device), device) != RG_GOOD) return 0;
    if (rg_device_free(*device, &there) != RG_GOOD) return 0;
    for (; most > 0; most--) {
        *needs = gpu_needs(job, job->r, most);
        if (needs->bytes + RG_MEMORY_RESERVE <= there) return most;
    }
    rg_memory_allows(there, gpu_need, job, job->r, "--max-offset", "the offsets of one photograph on %s", (*device)->name);
    return 0;
}

int ac_plan_gpu(const ac_job *job) {
    const rg_device *device;
    rg_needs needs;
    int64_t most = job->entry->emulated ? 1 : WORKERS_A_GPU;
    most = most < job->n_photos ? most : job->n_photos;
    most = most < job->threads ? most : job->threads;
    if (rg_on_cpu(job->entry)) return RG_GOOD;
    if (!gpu_workers(job, (int)most, &needs, &device)) return RG_LACKS;
    rg_plan("memory of a GPU", "%.3f GiB", needs.bytes / 0x1p30);
    rg_plan_needs("memory of a GPU", &needs);
    return RG_GOOD;
}

int ac_series(ac_job *job) {
    char why[200];
    for (int64_t i = 0; i < job->n_photos; i++)
        if (job->resume) ac_already_written(job, &job->photo[i], &job->result[i]);
    crew c = {.job = job};
    if (job->entry->emulated || rg_on_cpu(job->entry)) rg_entry_device(job->entry, job->device, &c.host);
    int64_t photos = (job->n_photos + rg_ranks() - 1) / rg_ranks();
    c.gpus = !c.host && strcmp(job->device, "gpu") == 0 ? rg_gpu_count(why) : 0;
    int gpus = c.host ? 0 : c.gpus ? rg_ranks_gpus(c.gpus) : 1;
    int code = rg_computing_gpus(&job->computing, gpus, &gpus);
    if (code != RG_GOOD) return code;
    c.mine = gpus = gpus > photos ? (int)photos : gpus;
    int wanted = lanes_wanted(job, photos, c.host);
    c.lanes = lanes_of(job, wanted > gpus ? wanted : gpus);
    if (!c.lanes) return RG_LACKS;
    int each = WORKERS_A_GPU; // workers per GPU
    if (!rg_on_cpu(job->entry)) {
        const rg_device *device;
        const int most = c.host ? 1 : (c.lanes + gpus - 1) / gpus;
        rg_needs needs;
        each = gpu_workers(job, each < most ? each : most, &needs, &device);
        if (!each) return RG_LACKS;
        rg_predict(device, &needs);
    }
    c.n_workers = c.host || each * gpus > c.lanes ? c.lanes : each * gpus;
    c.worker = rg_alloc((size_t)c.n_workers * sizeof *c.worker);
    for (int w = 0; w < c.n_workers; w++) ac_worker_make(&c.worker[w], job, c.host, c.lanes > 1 ? 1 : job->threads);
    code = work(&c);
    for (int w = 0; w < c.n_workers; w++)
        if (!c.worker[w].frame.made || bind(&c, w, why)) ac_worker_free(&c.worker[w]);
    free(c.worker);
    return code;
}
