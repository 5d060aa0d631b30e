// SPDX-License-Identifier: MIT
// frealign_map.c: R = num / (f + den) of each half and of both; inverse transform, division by the interpolation's transform,
// mask; Fourier shell correlation of the halves. On the device that has the sums.
#include "frealign_map.h"
#include "files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct maps {
    fr_reconstruction *r;
    fr_engine *engine;
    rg_buffer map[2], grid[2], correction, edge, sums;
    double f[2], *rings[2]; // of each half; see fr_job_steps.weights
    rc_files files;
} maps;

void fr_maps_need(const fr_reconstruction *r, const fr_engine *e, rg_needs *needs)
{
    const size_t side = (size_t)r->side, grid = (size_t)fr_grid_floats(r->side) * sizeof(float);
    rg_need(needs, "gridding correction", (double)rg_buffer_bytes(side * sizeof(double), sizeof(double)));
    rg_need(needs, "edge of the mask", (double)rg_buffer_bytes(2 * sizeof(double), sizeof(double)));
    rg_need(needs, "sums over rings",
        (double)rg_buffer_bytes((size_t)(4 * fr_all_rings(r->side)) * sizeof(double), sizeof(double)));
    rg_need(needs, "maps", 2 * (double)rg_buffer_bytes(side * side * side * sizeof(float), sizeof(float)));
    rg_need(needs, "transforms of the maps", 2 * (double)rg_buffer_bytes(grid, 16));
    rg_need(needs, "work area of a transform", fr_engine_work_bytes(e, r->side));
}

static int make_rooms(maps *m)
{
    const int64_t side = m->r->side;
    const rg_device *d = m->engine->member->device;
    RG_FREED double *correction = rg_alloc((size_t)side * sizeof *correction);
    int error = rg_buffer_make(&m->correction, d, (size_t)side * sizeof(double), sizeof(double), false, "correction");
    error = error ? error : rg_buffer_make(&m->edge, d, 2 * sizeof(double), sizeof(double), false, "edge");
    error = error
        ? error
        : rg_buffer_make(&m->sums, d, (size_t)(4 * fr_all_rings(side)) * sizeof(double), sizeof(double), false, "rings");
    for (int i = 0; i < 2 && !error; i++) {
        error = rg_buffer_make(&m->map[i], d, (size_t)(side * side * side) * sizeof(float), sizeof(float), false, "map");
        error = error
            ? error
            : rg_buffer_make(&m->grid[i], d, (size_t)fr_grid_floats(side) * sizeof(float), 16, false, "map's transform");
    }
    // (sin(pi x) / (pi x))^2 is the transform of the trilinear weights; the paper's sums of squared weights stay as they are.
    for (int64_t i = 0; i < side; i++) {
        const double t = M_PI * (double)(i - side / 2) / (double)side, s = t != 0 ? sin(t) / t : 1;
        correction[i] = m->r->preset == FR_INSERT_AS_PAPER ? 1 : s * s;
    }
    error = error ? error : rg_buffer_put(&m->correction, correction);
    return pl_failed(m->engine->member, "making room for the maps", error);
}

// FREALIGN's rule: a tenth of the operators times the mean of what an addition adds to a node. Additions: every coefficient of
// the plane to 8 nodes, half of them in the half space.
static double rule(const fr_reconstruction *r, const double *rings)
{
    double total = 0, plane = 0;
    for (int64_t s = 0; s < fr_all_rings(r->side); s++) total += rings[s];
    for (int64_t j = -r->outer; j <= r->outer; j++) plane += 2 * (double)fr_root(r->outer * r->outer - j * j) + 1;
    const double additions = 4 * plane * (double)r->files.particles.n * r->symmetry.n;
    return r->f >= 0 ? r->f : 0.1 * r->symmetry.n * total / additions;
}

static int weigh(maps *m)
{
    fr_reconstruction *r = m->r;
    fr_engine *e = m->engine;
    int error = RG_OK;
    for (int h = 0; h < 2 && !error; h++) {
        const size_t bytes = (size_t)(2 * fr_all_rings(r->side)) * sizeof(double);
        m->rings[h] = rg_alloc(bytes);
        error = fr_steps(e->member->device)->weights(r->side, r->volume[h].base, m->sums.base, e->member->threads);
        error = error ? error : e->member->device->download(m->rings[h], m->sums.base, bytes);
        m->f[h] = rule(r, m->rings[h]);
    }
    return pl_failed(e->member, "summing the weights", error);
}

// The map of one half's sums, in the device's map[at].
static int make(maps *m, int half, double f, int at)
{
    const fr_reconstruction *r = m->r;
    fr_engine *e = m->engine;
    const double side = (double)r->side, since_s = rg_seconds();
    const fr_map_call call = {.side = r->side,
        .outer = r->outer,
        .volume = r->volume[half].base,
        .f = f,
        .scale = (r->preset == FR_INSERT_AS_PAPER ? 1 : 0.5) / (side * side * side), // v9 adds 2c D
        .correction = m->correction.base,
        .mask_px = (float)r->mask_px,
        .grid = m->grid[0].base,
        .edge = m->edge.base,
        .map = m->map[at].base,
        .threads = e->member->threads};
    int error = fr_steps(e->member->device)->map(&call);
    pl_lap(e->member, PL_MAP, since_s);
    return pl_failed(e->member, "making the map", error);
}

static int open_file(maps *m, const char *suffix)
{
    const fr_reconstruction *r = m->r;
    return rc_files_open(&m->files, r->out, suffix, r->side, r->files.particles.pixel_A, m->engine->member->threads);
}

static int write_map(maps *m, int at) { return rc_files_add(&m->files, m->engine->member, m->map[at].base); }

// ---- correlation of the halves -------------------------------------------------------------------------------------------

// part_ssnr: the square root of 2 FSC / (1 - FSC) times nodes over weights of the shell, times the share of the box that the
// mask keeps over that of the particle (0.81 Da a cubic A; 1 without --mass).
static int write_fsc(const maps *m, const double *sums)
{
    const fr_reconstruction *r = m->r;
    const int64_t side = r->side, shells = side / 2 + 1, rings = fr_all_rings(side);
    const double length_A = (double)side * r->files.particles.pixel_A;
    const double radius = r->mask_px > 0 ? r->mask_px : (double)side / 2, box = (double)side * (double)side * (double)side;
    const double particle = r->mass_kDa * 1000 / 0.81 / (length_A * length_A * length_A);
    const double share = r->mass_kDa > 0 ? 4 * M_PI / 3 * radius * radius * radius / box / particle : 1;
    rg_file file;
    int code = rg_file_open_beside(&file, r->out, "_fsc", ".tsv");
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "# command: %s\n# frequency in 1/A, resolution in A\nshell\tfrequency\tresolution\tfsc\tpart_ssnr\n",
        r->team.given->line);
    for (int64_t s = 0; s < shells; s++) {
        const double aa = sums[shells + s], bb = sums[2 * shells + s];
        const double fsc = aa > 0 && bb > 0 ? sums[s] / sqrt(aa) / sqrt(bb) : NAN, ratio = 2 * fsc / (1 - fsc);
        const double weights = m->rings[0][s] + m->rings[1][s], nodes = m->rings[0][rings + s];
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\t%.9g\n", s, (double)s / length_A, length_A / (double)s, fsc,
            ratio > 0 && weights > 0 ? sqrt(ratio * nodes / weights * share) : 0);
    }
    return rg_file_commit(&file);
}

static int correlate(maps *m)
{
    fr_engine *e = m->engine;
    const int64_t side = m->r->side;
    const double since_s = rg_seconds();
    float *const grid[2] = {m->grid[0].base, m->grid[1].base};
    const size_t bytes = (size_t)(3 * (side / 2 + 1)) * sizeof(double);
    RG_FREED double *sums = rg_alloc(bytes);
    int error =
        fr_steps(e->member->device)->shells(side, m->map[0].base, m->map[1].base, grid, m->sums.base, e->member->threads);
    error = error ? error : e->member->device->download(sums, m->sums.base, bytes);
    int code = pl_failed(e->member, "correlating the halves", error);
    if (code == RG_GOOD) code = write_fsc(m, sums);
    pl_lap(e->member, PL_FSC, since_s);
    return code;
}

static int make_all(maps *m)
{
    fr_reconstruction *r = m->r;
    fr_engine *e = m->engine;
    int code = make_rooms(m);
    for (int h = 0; h < 2 && r->write_halves && code == RG_GOOD; h++) code = open_file(m, h ? "_half2" : "_half1");
    if (code == RG_GOOD) code = open_file(m, "");
    if (code == RG_GOOD) code = weigh(m);
    for (int h = 0; h < 2 && code == RG_GOOD; h++) {
        code = make(m, h, m->f[h], h);
        if (code == RG_GOOD && r->write_halves) code = write_map(m, h);
    }
    if (code == RG_GOOD) code = correlate(m);
    if (code == RG_GOOD) {
        const int error = pl_add(e->member, NULL, FR_RECORD * fr_voxels(r->side), r->volume[1].base, r->volume[0].base);
        code = pl_failed(e->member, "adding the halves", error ? error : e->member->device->sync());
    }
    if (code == RG_GOOD) code = make(m, 0, r->f >= 0 ? r->f : m->f[0] + m->f[1], 0);
    return code == RG_GOOD ? write_map(m, 0) : code;
}

int fr_maps(fr_reconstruction *r, fr_engine *e)
{
    maps m = {.r = r, .engine = e};
    int code = rc_files_end(&m.files, e->member, make_all(&m));
    if (code == RG_GOOD) printf("f\t%.6g and %.6g\n", m.f[0], m.f[1]);
    rg_buffer *const held[] = {&m.map[0], &m.map[1], &m.grid[0], &m.grid[1], &m.correction, &m.edge, &m.sums};
    for (int i = 0; i < RG_COUNT(held); i++) rg_buffer_free(held[i]);
    free(m.rings[0]);
    free(m.rings[1]);
    return code;
}
