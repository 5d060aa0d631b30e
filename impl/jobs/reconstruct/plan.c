// SPDX-License-Identifier: MIT
// plan.c: chooses the variant and the images per call, and checks that all fits into memory, before any work.
#include "../../base/memory.h"
#include "../../runtime/choice.h"
#include "../../runtime/predicted.h"
#include "../../runtime/tuned.h"
#include "../pipeline/ranks.h"
#include "../../base/log.h"
#include "reconstruct.h"
#include "device.h"

rg_shape rc_shape(const rc_job *job, int64_t images) {
    return (rg_shape){.n = {[GR_SIDE] = 2 * job->k + 1,
                          [GR_IMAGES] = images,
                          [GR_OPERATORS] = job->n_operators,
                          [GR_RADIUS] = job->radius_tenths,
                          [GR_KIND] = job->ctf ? GR_HAS_CTF : 0}};
}

static int pick(rc_job *job, const char *requested, const char *device) {
    rg_shape one = rc_shape(job, 1), batch = rc_shape(job, 512);
    rg_choice c;
    int code = rg_choose(job->algo, device, requested, &one, 1, &batch, &c);
    job->entry = c.entry;
    memcpy(job->param, c.param, sizeof job->param);
    memcpy(job->adding, c.param, sizeof job->adding);
    for (int p = 0; code == RG_GOOD && p < c.entry->variant->n_params; p++)
        if (!strcmp(c.entry->variant->param[p].name, "add")) job->adding[p] = job->adds = true;
    return code;
}

int64_t *rc_rows(const rc_job *job, int half, int share, int of, int64_t *rows) {
    int64_t first, n = pl_share(job->past - job->first, share, of, &first), *row = rg_alloc((size_t)(n + 1) * sizeof *row);
    *rows = 0;
    for (int64_t i = job->first + first; i < job->first + first + n; i++)
        if (job->run.halves == 1 || rg_particles_half(&job->particles, i) == half) row[(*rows)++] = i;
    return row;
}

// Rows of the larger half, at least 1.
static int64_t most_rows(const rc_job *job) {
    const int64_t most = job->rows[0] > job->rows[1] ? job->rows[0] : job->rows[1];
    return most > 1 ? most : 1;
}

int rc_slots(const rc_job *job) {
    const int readers = job->threads / job->team.n, most = PL_SLOTS_MAX - GR_LANES, ahead = most < 8 ? most : 8;
    return !rc_on_gpu(job) ? 2 : GR_LANES + (readers < 1 ? 1 : readers < ahead ? readers : ahead);
}

// Derives all sides from the images' side and the padding.
static void size(rc_job *job, int64_t side) {
    job->particles.side = side;
    job->padded = side * job->padding;
    job->k = job->padded / 2;
}

static void size_work(rc_job *job) {
    job->work_bytes = rc_on_gpu(job) ? rc_steps(job->team.member->device)->work_bytes(job->padded) : 0;
}

enum { CHUNK = 8 }; // images per host thread that are prepared before the next are read

typedef struct memory {
    double host, device; // bytes; device 0 when the variant runs on the host
} memory;

const char *const rc_part_name[GR_PARTS] = {[GR_P_ROOM] = "rows under way",
    [GR_P_PICTURES] = "images",
    [GR_P_ORIGINS] = "origins",
    [GR_P_TERMS] = "terms of the CTF",
    [GR_P_ROTATIONS] = "rotations",
    [GR_P_SQUARES] = "squares of the CTF",
    [GR_P_IMAGES] = "transforms",
    [GR_P_CTFS] = "CTF",
    [GR_P_G] = "G of a call",
    [GR_P_W] = "W of a call"};

// The second set starts at an allocation's alignment.
size_t rc_set_bytes(const rc_job *job, int argument, int64_t images) {
    const rg_shape shape = rc_shape(job, images);
    return ((size_t)job->algo->arg[argument].count(&shape) * sizeof(float) + 255) / 256 * 256;
}

void rc_parts_of(const rc_job *job, int64_t images, int64_t rows, size_t bytes[GR_PARTS]) {
    const size_t n = (size_t)images, side = (size_t)job->particles.side, voxels = (size_t)gr_voxels(job->k);
    const size_t sets = images < rows ? 2 : 1;
    const size_t all[GR_PARTS] = {
        [GR_P_ROOM] = rc_steps(job->team.member->device)->lane_room((int64_t)side, job->padded, job->chunk),
        [GR_P_PICTURES] = n * side * side * sizeof(float),
        [GR_P_ORIGINS] = n * 2 * sizeof(double),
        [GR_P_TERMS] = job->ctf ? n * sizeof(rg_ctf) : 0,
        [GR_P_ROTATIONS] = GR_TURNS * rc_set_bytes(job, GR_ROTATION, images),
        [GR_P_SQUARES] = (size_t)rows * sizeof(double),
        [GR_P_IMAGES] = sets * rc_set_bytes(job, GR_IMAGE, images),
        [GR_P_CTFS] = sets * rc_set_bytes(job, GR_CTF, images),
        [GR_P_G] = 2 * voxels * sizeof(float),
        [GR_P_W] = voxels * sizeof(float)};
    memcpy(bytes, all, sizeof all);
}

rg_needs rc_gpu_needs(const rc_job *job, int64_t images) {
    const double voxels = (double)gr_voxels(job->k), half = floor((double)job->particles.side / 2);
    const double side = (double)job->particles.side;
    rg_needs sums = {0}, most = {0}, merging = {0}, lattice = {0}, map = {0};
    for (int i = 0; i < 2 * job->run.halves; i++)
        rg_need(&sums, "sums", (double)rg_buffer_bytes((size_t)(i % 2 ? 4 : 8) * (size_t)voxels, sizeof(float)));
    for (int h = 0; h < job->run.halves; h++) {
        const int64_t rows = job->rows[h], call = images < rows ? images : rows;
        size_t bytes[GR_PARTS];
        rg_needs pass = {0};
        if (!rows) continue;
        rc_parts_of(job, call, rows, bytes);
        for (int p = 0; p < GR_PARTS; p++) rg_need(&pass, rc_part_name[p], (double)bytes[p]);
        rg_need(&pass, "scratch", (double)rg_buffer_bytes(rc_scratch_of(job, call, rows), 256));
        rg_needs_most(&most, &sums, &pass);
    }
    rg_need(&merging, "another's sums", pl_merge_bytes(&job->team, 8 * (size_t)voxels));
    rg_needs_most(&most, &sums, &merging);
    for (int part = 0; part < 2 && job->use_lattice; part++)
        rg_need(
            &lattice, "sums under operators", (double)rg_buffer_bytes((size_t)(part ? 4 : 8) * (size_t)voxels, sizeof(float)));
    rg_needs_most(&most, &sums, &lattice);
    rg_need(&map, "map", (double)rg_buffer_bytes((size_t)(4 * side * side * side), sizeof(float)));
    rg_need(&map, "transform of the map", (double)rc_grid_bytes(job->padded));
    rg_need(&map, "work area of a transform", (double)job->work_bytes);
    rg_need(&map, "gridding correction", 8 * (3 * half * half + 1));
    rg_needs_most(&most, &sums, &map);
    return most;
}

// The most bytes held at once with this many images a call: during the insertion or while the map is made.
static memory needs(const rc_job *job, int64_t images) {
    const int64_t side = job->particles.side;
    rg_shape shape = rc_shape(job, images);
    double voxels = (double)gr_voxels(job->k), pixels = (double)side * (double)side, padded = (double)job->padded;
    double sums = job->run.halves * 12 * voxels, result = 4 * pixels * (double)side;
    if (rc_on_gpu(job)) {
        double image = 4 * pixels + 36.0 * job->n_operators + 16 + sizeof(rg_ctf);
        double pinned = job->team.n * rc_slots(job) * (double)job->chunk * image;
        return (memory){.device = rc_gpu_needs(job, images).bytes, .host = pinned + result};
    }
    // The frame has a volume of its own, which a half's first call and variants that add do not need.
    double frame = (double)rg_frame_bytes(job->entry, &shape, job->param), threads = job->threads;
    double lanes = threads * (4 * (double)side * (padded + 2) + 8 * padded * (double)gr_width(job->k)); // FFTs in flight
    double own = !job->adds && images < most_rows(job) ? 12 * voxels : 0;
    double inserting = frame - 12 * voxels + own + 2 * CHUNK * threads * 4 * pixels + lanes;
    double map = (double)gr_map_bytes(job->k, job->padded, side, job->threads) + result;
    double lattice = job->use_lattice ? 12 * voxels : 0; // a copy of one set of sums, during the operators
    double finishing = map > lattice ? map : lattice;
    return (memory){.host = sums + (inserting > finishing ? inserting : finishing)};
}

static bool fits(const rc_job *job, int64_t images, double host, double device) {
    const rg_shape shape = rc_shape(job, images);
    const memory m = needs(job, images);
    return m.host <= host && m.device + RG_MEMORY_RESERVE <= device &&
        (!rc_on_gpu(job) || (double)rg_frame_scratch(job->entry, &shape, job->param) <= rc_scratch_most(job));
}

// Need with one image a call and another side.
static double main_need(const void *of, int64_t side) {
    rc_job job = *(const rc_job *)of;
    size(&job, side);
    return needs(&job, 1).host;
}

static double gpu_need(const void *of, int64_t side) {
    rc_job job = *(const rc_job *)of;
    size(&job, side);
    size_work(&job);
    return needs(&job, 1).device;
}

static int memory_allows(const rc_job *job, double host, double device) {
    static const char what[] = "images of %" PRId64 " pixels a side at padding %" PRId64 "%s%s";
    const int64_t side = job->particles.side;
    int code = rg_memory_allows(host, main_need, job, side, "a side of", what, side, job->padding, "", "");
    if (code == RG_GOOD && rc_on_gpu(job))
        code = rg_memory_allows(
            device, gpu_need, job, side, "a side of", what, side, job->padding, " on ", job->team.member->device->name);
    return code;
}

static bool taken(const rc_job *job, int64_t images) {
    rg_shape shape = rc_shape(job, images);
    const rg_variant *v = job->entry->variant;
    return !job->algo->invalid(&shape) && !(v->refuse && v->refuse(&shape, job->param));
}

// Images of a call on the host. A call reads and writes the sums, so its images should outweigh them; but the system clears
// fresh memory first, which costs as much. So the images take as many bytes as the sums with 4 threads, fewer with fewer
// threads. Where later calls need a second volume, one call takes all images, in the room of two. At most a quarter of the free
// memory.
static void batch_of_host(rc_job *job, double host) {
    const double volume = 12 * (double)gr_voxels(job->k), quarter = host / 4;
    const double share = job->threads < 2 ? 0.5 : job->threads > 8 ? 2 : job->threads / 4.0;
    rg_shape one = rc_shape(job, 1), two = rc_shape(job, 2);
    double each = (double)rg_frame_bytes(job->entry, &two, job->param) - (double)rg_frame_bytes(job->entry, &one, job->param);
    const int64_t rows = most_rows(job);
    double most = job->adds ? share * volume : each * (double)rows <= 2 * volume ? 2 * volume : volume;
    double images = (quarter < most ? quarter : most) / (each > 1 ? each : 1);
    job->batch = images < 1 ? 1 : images < (double)rows ? (int64_t)images : rows;
    job->chunk = CHUNK * (int64_t)job->threads < job->batch ? CHUNK * (int64_t)job->threads : job->batch;
}

// Images of a chunk and of a batch on a GPU. A chunk is 48 MiB of padded images, at most 128: pinned memory takes time to
// allocate, and half of that stays in cache between two kernels. A batch is a sixteenth of the rows in whole chunks, to wait
// little at the start and at the end, but at least 512 images, as every batch clears the volume, and at most SAMPLES under all
// operators: gather takes longer for each sample of a larger call (trials of the record h100-16xeon). With trials, batches are
// so small that these take at most half of the images.
static void batch_of_gpu(rc_job *job) {
    enum { SAMPLES = 24000 };
    int64_t rows = most_rows(job), least = rows / 16 > 512 ? rows / 16 : 512;
    if (least > SAMPLES / job->n_operators) least = SAMPLES / job->n_operators > 0 ? SAMPLES / job->n_operators : 1;
    if (job->trials && least > rows / (2 * job->trials)) least = rows / (2 * job->trials) > 0 ? rows / (2 * job->trials) : 1;
    double fit = 0x3p24 / (8 * (double)job->padded * (double)(job->padded / 2 + 1));
    job->chunk = fit < 1 ? 1 : fit < 128 ? (int64_t)fit : 128;
    job->chunk = job->chunk < least ? job->chunk : least;
    job->chunk = job->chunk < rows ? job->chunk : rows > 0 ? rows : 1;
    job->batch = ((least < rows ? least : rows) + job->chunk - 1) / job->chunk * job->chunk;
    job->batch = job->batch > 0 ? job->batch : job->chunk;
}

static void say_plan(const rc_job *job, double host, double device) {
    const rg_shape shape = rc_shape(job, job->batch), all = rc_shape(job, job->past - job->first);
    const memory m = needs(job, job->batch);
    rg_plan("images", "%" PRId64 " of %" PRId64 "^2 pixels, %" PRId64 " a call of %s", job->particles.n, job->particles.side,
        job->batch, job->entry->name);
    rg_plan_memory("memory", m.host, host, main_need, job, "a side of");
    if (rc_on_gpu(job)) {
        const rg_needs of = rc_gpu_needs(job, job->batch);
        rg_plan_memory("memory of a GPU", m.device, device, gpu_need, job, "a side of");
        rg_plan_needs("memory of a GPU", &of);
    }
    rg_plan_time(job->entry, job->team.of.device, &shape, job->algo->work(&all) / job->team.n);
}

static int choose_batch(rc_job *job) {
    double host, device;
    int code = rg_device_free(rg_device_cpu(), &host);
    if (code == RG_GOOD) code = rg_device_free(job->team.member->device, &device);
    if (code != RG_GOOD) return code;
    job->chunk = 1;
    const bool on_gpu = rc_on_gpu(job);
    code = memory_allows(job, host, device);
    if (code != RG_GOOD) return code;
    if (!on_gpu)
        batch_of_host(job, host);
    else
        batch_of_gpu(job);
    while (job->batch > 1 && !(taken(job, job->batch) && fits(job, job->batch, host, device))) {
        if (on_gpu && job->batch == job->chunk)
            job->chunk = job->batch = (job->chunk + 1) / 2;
        else
            job->batch = on_gpu ? job->batch * 3 / 4 / job->chunk * job->chunk : job->batch * 3 / 4;
        if (on_gpu && job->batch < job->chunk) job->batch = job->chunk;
    }
    job->chunk = job->chunk < job->batch ? job->chunk : job->batch;
    job->batch -= job->batch < most_rows(job) ? job->batch % job->chunk : 0; // whole chunks
    if (rg_dry_run) say_plan(job, host, device);
    return RG_GOOD;
}

// The map is divided by the kernel's transform. That of a wide kernel is almost zero in the corners of a map with little
// padding, and amplifies noise there.
static void say_corners(const rc_job *job) {
    const gr_map_of of = {.padded = job->padded,
        .side = job->particles.side,
        .radius_tenths = job->radius_tenths,
        .mask_radius_px = job->mask_radius_px,
        .threads = job->threads};
    const double voxels = (double)job->padded * (double)job->padded * (double)job->padded;
    int64_t n, worst = 0;
    RG_FREED double *factor = gr_map_factors(&of, &n);
    for (int64_t r2 = 0; factor && r2 < n; r2++) worst = fabs(factor[r2]) > fabs(factor[worst]) ? r2 : worst;
    if (factor && fabs(factor[worst]) * voxels > 100)
        rg_warn(
            "--radius %g is too wide for this --padding: %g voxels from its centre the map, and its noise, are multiplied by "
            "%.3g; pad more, or mask",
            (double)job->radius_tenths / 10, floor(sqrt((double)worst)), fabs(factor[worst]) * voxels);
}

int gr_plan(rc_job *job, const char *requested, const char *device, int64_t gpus) {
    size(job, job->particles.side);
    say_corners(job);
    job->past = pl_share(job->particles.n, rg_rank, rg_ranks(), &job->first);
    job->past += job->first;
    int code = pick(job, requested, device);
    if (code != RG_GOOD) return code;
    if (job->trials && !rc_on_gpu(job))
        return rg_fail(
            RG_USAGE, "--tune: on GPUs only; for the CPU there is regather tune %s:%s", job->algo->name, job->entry->name);
    code = pl_team_open(&job->team,
        &(pl_devices){.entry = job->entry,
            .device = device,
            .gpus = gpus,
            .most = job->past - job->first,
            .threads = job->threads,
            .began_s = job->began_s});
    if (code == RG_GOOD) code = pl_team_enter(job->team.member);
    for (int h = 0; h < job->run.halves && code == RG_GOOD; h++)
        free(rc_rows(job, h, 0, rc_on_gpu(job) ? job->team.n : 1, &job->rows[h]));
    if (code == RG_GOOD) size_work(job);
    return code == RG_GOOD ? choose_batch(job) : code;
}
