// SPDX-License-Identifier: MIT
// job_map.c: from sums to maps. The division, the inverse transform on P^3 points, the crop to N^3, the gridding correction
// (the division by the kernel's transform at the voxel's distance from the centre) and the mask.
#include "job.h"
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// FREALIGN's rule: 0.1 times the operators times the mean of w m c^2 over all additions. The mean of w over a ball of radius b
// is its integral over the ball's volume, and w and c are independent.
double gr_wiener(const gr_job *job, int half)
{
    double b = (double)job->radius_tenths / 10, ball = 4 * 3.14159265358979323846 / 3 * b * b * b, pixels = 0;
    for (int h = 0; h < job->halves; h++)
        pixels += job->sums[h].disc_pixels;
    return job->ctf ? 0.1 * job->symmetry.n * gr_transform(b, 0) / ball * job->sums[half].ctf2 / pixels : 0;
}

// ---- operators of the grid -----------------------------------------------------------------------------------------------

// G(S^-1 v) of sums whose half x < 0 is given by G(-v) = conj G(v); entries of S are 0, 1 and -1.
static void pull(int64_t k, const gr_sums *from, const double *s, int64_t x, int64_t y, int64_t z, float g[2], float *w)
{
    int64_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = lrint(s[i]) * x + lrint(s[3 + i]) * y + lrint(s[6 + i]) * z;
    int mate = at[0] < 0;
    int64_t e = mate ? gr_voxel(k, -at[0], -at[1], -at[2]) : gr_voxel(k, at[0], at[1], at[2]);
    g[0] += from->g[2 * e];
    g[1] += mate ? -from->g[2 * e + 1] : from->g[2 * e + 1];
    *w += from->w[e];
}

void gr_apply_lattice(const gr_job *job, gr_sums *sums)
{
    int64_t k = job->k, voxels = gr_voxels(k);
    gr_sums to = *sums;
    if (!job->use_lattice)
        return;
    to.g = rg_alloc((size_t)(2 * voxels) * sizeof *to.g);
    to.w = rg_alloc((size_t)voxels * sizeof *to.w);
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (int64_t z = -k; z <= k; z++)
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = 0; x <= k; x++)
                for (int l = 0; l < job->lattice.n_lattice; l++) {
                    int64_t e = gr_voxel(k, x, y, z);
                    pull(k, sums, job->symmetry.matrix[job->lattice.lattice[l]], x, y, z, to.g + 2 * e, to.w + e);
                }
    free(sums->g);
    free(sums->w);
    *sums = to;
}

// ---- one map -------------------------------------------------------------------------------------------------------------

static int64_t wrap(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

// The quotient inside the sphere of radius k, beyond which the weights are one-sided; 0 where nothing was added.
static void divide(const gr_job *job, const gr_sums *sums, double wiener, fftwf_complex *grid)
{
    int64_t k = job->k, n = job->padded, pitch = n / 2 + 1, low = -((n - 1) / 2);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t z = low; z <= k; z++)
        for (int64_t y = low; y <= k; y++)
            for (int64_t x = 0; x * x + y * y + z * z <= k * k; x++) {
                int64_t e = gr_voxel(k, x, y, z), to = (wrap(z, n) * n + wrap(y, n)) * pitch + x;
                double w = sums->w[e] + wiener;
                grid[to][0] = w > 0 ? (float)(sums->g[2 * e] / w) : 0;
                grid[to][1] = w > 0 ? (float)(sums->g[2 * e + 1] / w) : 0;
            }
}

// 1 inside the mask, 0 outside, half a cosine over six voxels between.
static double mask_at(double radius_px, double mask_px)
{
    const double edge = 6;
    double t = (radius_px - mask_px) / edge + 0.5;
    return mask_px <= 0 || t <= 0 ? 1 : t >= 1 ? 0 : 0.5 * (1 + cos(3.14159265358979323846 * t));
}

static void crop(const gr_job *job, const float *grid, float *map)
{
    int64_t n = job->padded, pitch = 2 * (n / 2 + 1), side = job->particles.side, low = -(side / 2);
    double b = (double)job->radius_tenths / 10, at_0 = gr_transform(b, 0), scale = 1 / ((double)n * (double)n * (double)n);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t z = low; z < low + side; z++)
        for (int64_t y = low; y < low + side; y++)
            for (int64_t x = low; x < low + side; x++) {
                double radius = sqrt((double)(x * x + y * y + z * z));
                double correction = gr_transform(b, radius / (double)n) / at_0;
                double v = grid[(wrap(z, n) * n + wrap(y, n)) * pitch + wrap(x, n)];
                v *= scale / correction * mask_at(radius, job->mask_radius_px);
                map[((z - low) * side + y - low) * side + x - low] = (float)v;
            }
}

void gr_map(const gr_job *job, const gr_sums *sums, double wiener, float *map)
{
    size_t n = (size_t)job->padded, elements = n * n * (n / 2 + 1);
    fftwf_complex *grid = fftwf_alloc_complex(elements);
    if (!grid)
        exit(rg_fail(RG_LACKS, "out of memory for a transform of %zu^3 points", n));
#if HAVE_FFTW_OMP
    fftwf_init_threads();
    fftwf_plan_with_nthreads(job->threads);
#endif
    fftwf_plan plan = fftwf_plan_dft_c2r_3d((int)n, (int)n, (int)n, grid, (float *)grid, FFTW_ESTIMATE);
#if HAVE_FFTW_OMP
    fftwf_plan_with_nthreads(1); // the plans of single images run in threads of their own
#endif
    memset(grid, 0, elements * sizeof *grid);
    divide(job, sums, wiener, grid);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    crop(job, (float *)grid, map);
    fftwf_free(grid);
}

// ---- files ---------------------------------------------------------------------------------------------------------------

static int write_begin(const gr_job *job, const char *suffix, const float *map, rg_mrc_out *out)
{
    int64_t side = job->particles.side;
    const char *dot = strrchr(job->out, '.'), *slash = strrchr(job->out, '/');
    int stem = dot && dot > (slash ? slash : job->out) ? (int)(dot - job->out) : (int)strlen(job->out);
    char *path = rg_print("%.*s%s%s", stem, job->out, suffix, job->out + stem);
    int code = rg_mrc_write_begin(out, path, side, side, side, RG_MRC_FLOAT32, job->particles.pixel_A, true);
    free(path);
    if (code != RG_GOOD)
        return code;
    for (int64_t z = 0; z < side && code == RG_GOOD; z++)
        code = rg_mrc_write_section(out, map + z * side * side);
    if (code != RG_GOOD)
        rg_mrc_write_abandon(out);
    return code;
}

static void add_halves(gr_job *job)
{
    int64_t voxels = gr_voxels(job->k);
    for (int64_t i = 0; i < 2 * voxels; i++)
        job->sums[0].g[i] += job->sums[1].g[i];
    for (int64_t i = 0; i < voxels; i++)
        job->sums[0].w[i] += job->sums[1].w[i];
}

static int one_map(gr_job *job, const gr_sums *sums, double wiener, const char *suffix, float *map, rg_mrc_out *out)
{
    double since_s = rg_seconds();
    gr_map(job, sums, wiener, map);
    double now_s = rg_seconds();
    job->stage_s[GR_MAP] += now_s - since_s;
    int code = write_begin(job, suffix, map, out);
    job->stage_s[GR_WRITE] += rg_seconds() - now_s;
    return code;
}

// The halves first: the full map's sums are made in place of theirs. Nothing stands at its name before everything is written.
int gr_write_maps(gr_job *job)
{
    int64_t side = job->particles.side;
    rg_mrc_out out[3];
    int n = 0, code = RG_GOOD;
    float *map = rg_alloc((size_t)(side * side * side) * sizeof *map);
    double wiener[2] = {gr_wiener(job, 0), job->halves == 2 ? gr_wiener(job, 1) : 0}, since_s = rg_seconds();
    for (int h = 0; h < job->halves; h++)
        gr_apply_lattice(job, &job->sums[h]);
    job->stage_s[GR_MAP] += rg_seconds() - since_s;
    for (int h = 0; h < job->halves && job->halves == 2 && code == RG_GOOD; h++) {
        code = one_map(job, &job->sums[h], wiener[h], h ? "_half2" : "_half1", map, &out[n]);
        n += code == RG_GOOD;
    }
    if (code == RG_GOOD) {
        if (job->halves == 2)
            add_halves(job);
        code = one_map(job, &job->sums[0], wiener[0] + wiener[1], "", map, &out[n]);
        n += code == RG_GOOD;
    }
    free(map);
    since_s = rg_seconds();
    for (int i = 0; i < n; i++) {
        if (code == RG_GOOD)
            code = rg_mrc_write_commit(&out[i]);
        else
            rg_mrc_write_abandon(&out[i]);
    }
    job->stage_s[GR_WRITE] += rg_seconds() - since_s;
    return code;
}
