// SPDX-License-Identifier: MIT
// job_plan.c: which variant does the work, how many images a call, and whether all of it fits into memory, before any work.
#include "../core/core.h"
#include "../core/pick.h"
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// From experience the fastest first; a variant that this build, machine or size does not admit is passed over.
static const char *const fixed_order[] = {"owned",       "scatter_v4",   "gather",        "scatter",
                                          "simd_gather", "simd_scatter", "naive_scatter", "naive_gather"};

rg_shape gr_shape(const gr_job *job, int64_t images)
{
    return (rg_shape){.n = {[GR_SIDE] = 2 * job->k + 1,
                            [GR_IMAGES] = images,
                            [GR_OPERATORS] = job->n_operators,
                            [GR_RADIUS] = job->radius_tenths,
                            [GR_KIND] = job->ctf ? GR_HAS_CTF : 0}};
}

// Sides follow from the images' side and the padding.
static void size(gr_job *job, int64_t side)
{
    job->padded = side * job->padding;
    job->k = job->padded / 2;
}

enum { CHUNK = 8 }; // images a thread prepares before the next are read

typedef struct memory {
    double host, device; // bytes; device 0 when the variant runs on the host
} memory;

// The most that is held at once with this many images a call: while inserting, or while the map is made.
static memory needs(const gr_job *job, int64_t side, int64_t images)
{
    rg_shape shape = gr_shape(job, images);
    double frame = (double)rg_frame_bytes(job->algo, job->entry->variant, &shape, job->param);
    double voxels = (double)gr_voxels(job->k);
    bool off_host = job->device != rg_device_cpu();
    double pixels = (double)side * (double)side, padded = (double)job->padded, threads = job->threads;
    double sums = job->halves * 12 * voxels, each = (8 + 4 * job->ctf) * (double)gr_pixels(job->k);
    double lanes = threads * (4 * (double)side * (padded + 2) + 8 * padded * (double)gr_width(job->k)); // FFTs under way
    double pictures = 3 * CHUNK * threads * (4 * pixels + (off_host ? each : 0));
    double map = 4 * padded * padded * (padded + 2) + 4 * pixels * (double)side;
    double lattice = 12 * voxels; // a copy of one set of sums, while the operators of the grid are applied
    memory m = {.device = off_host ? frame : 0};
    double inserting = (off_host ? lattice : frame) + pictures + lanes, finishing = map > lattice ? map : lattice;
    m.host = sums + (inserting > finishing ? inserting : finishing);
    return m;
}

static bool fits(const gr_job *job, int64_t side, int64_t images, const rg_device_facts *host, const rg_device_facts *device)
{
    memory m = needs(job, side, images);
    return m.host <= (double)host->free_bytes && m.device <= (double)device->free_bytes;
}

static int refuse_size(gr_job *job, const rg_device_facts *host, const rg_device_facts *device)
{
    memory m = needs(job, job->particles.side, 1);
    int64_t side = job->particles.side;
    bool is_host = m.host > (double)host->free_bytes;
    for (; side > 2; side = side * 19 / 20) {
        size(job, side);
        if (fits(job, side, 1, host, device))
            break;
    }
    return rg_fail(RG_LACKS, "images of %" PRId64 " pixels a side at padding %" PRId64 " need %.2f GiB of %s memory, %.2f GiB "
                   "are free; a side of about %" PRId64 " fits", job->particles.side, job->padding,
                   (is_host ? m.host : m.device) / 0x1p30, is_host ? "main" : job->device->name,
                   (double)(is_host ? host->free_bytes : device->free_bytes) / 0x1p30, side);
}

// As many images a call as fit: on a device into most of its memory, so that its sums are copied back once; on the host into a
// quarter of what is free and no more than 4 GiB, beyond which nothing is gained.
static int choose_batch(gr_job *job)
{
    rg_device_facts host, device;
    if (rg_device_cpu()->facts(&host) != RG_OK || job->device->facts(&device) != RG_OK)
        return rg_fail(RG_LACKS, "the free memory of %s is not known", job->device->name);
    if (!fits(job, job->particles.side, 1, &host, &device))
        return refuse_size(job, &host, &device);
    const double most = 4 * 0x1p30, quarter = (double)host.free_bytes / 4;
    double room = quarter < most ? quarter : most;
    const rg_variant *v = job->entry->variant;
    rg_shape one = gr_shape(job, 1), two = gr_shape(job, 2);
    double fixed = (double)rg_frame_bytes(job->algo, v, &one, job->param);
    double each = (double)rg_frame_bytes(job->algo, v, &two, job->param) - fixed;
    if (job->device != rg_device_cpu())
        room = 0.9 * (double)device.free_bytes - fixed;
    int64_t rows = (job->particles.n + job->halves - 1) / job->halves;
    double images = room / (each > 1 ? each : 1);
    job->batch = images < 1 ? 1 : images < (double)rows ? (int64_t)images : rows;
    for (; job->batch > 1; job->batch = job->batch * 3 / 4) {
        rg_shape shape = gr_shape(job, job->batch);
        bool taken = !job->algo->invalid(&shape) && !(v->refuse && v->refuse(&shape, job->param));
        if (taken && fits(job, job->particles.side, job->batch, &host, &device))
            break;
    }
    job->chunk = CHUNK * (int64_t)job->threads < job->batch ? CHUNK * (int64_t)job->threads : job->batch;
    return RG_GOOD;
}

int gr_plan(gr_job *job, const char *asked, const char *device)
{
    rg_picked picked;
    size(job, job->particles.side);
    rg_shape one = gr_shape(job, 1);
    int code = rg_pick_for(job->algo, &one, device, asked, fixed_order, RG_COUNT(fixed_order), &picked);
    if (code != RG_GOOD)
        return code;
    job->entry = picked.entry;
    memcpy(job->param, picked.param, sizeof job->param);
    job->device = picked.device;
    return choose_batch(job);
}
