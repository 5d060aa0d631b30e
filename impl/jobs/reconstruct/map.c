// SPDX-License-Identifier: MIT
// job_map.c: from sums to maps. The division, the inverse transform on P^3 points, the crop to N^3, the gridding correction
// (the division by the kernel's transform at the voxel's distance from the centre) and the mask.
#include "reconstruct.h"
#include "../../gridding/kernel.h"

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

enum { TILE = 8 }; // of complex values: a cache line, so that what lies across the source's lines is used before it is dropped

// One line of to(v) += from(S^-1 v), x = v[0] .. last - 1. S maps axes onto axes, entries 0, 1 and -1, so the source moves by
// a constant step; where it lies in the half x < 0, G(-v) = conj G(v) is read, with all steps turned.
static void pull(int64_t k, const gr_sums *from, gr_sums *to, const int s[9], const int64_t v[3], int64_t last)
{
    int64_t at[3], step[3];
    for (int i = 0; i < 3; i++) {
        at[i] = s[i] * v[0] + s[3 + i] * v[1] + s[6 + i] * v[2];
        step[i] = s[i];
    }
    int turn = at[0] < 0 || (at[0] == 0 && step[0] < 0) ? -1 : 1;
    int64_t e = gr_voxel(k, turn * at[0], turn * at[1], turn * at[2]), out = gr_voxel(k, v[0], v[1], v[2]);
    int64_t move = turn * (gr_voxel(k, step[0], step[1], step[2]) - gr_voxel(k, 0, 0, 0));
    for (int64_t x = v[0]; x < last; x++, e += move, out++) {
        to->g[2 * out] += from->g[2 * e];
        to->g[2 * out + 1] += (float)turn * from->g[2 * e + 1];
        to->w[out] += from->w[e];
    }
}

static void pull_tile(const gr_job *job, const gr_sums *from, gr_sums *to, const int64_t low[3])
{
    int64_t k = job->k, last[3];
    for (int i = 0; i < 3; i++)
        last[i] = low[i] + TILE < k + 1 ? low[i] + TILE : k + 1;
    for (int l = 0; l < job->lattice.n_lattice; l++) {
        int s[9];
        for (int i = 0; i < 9; i++)
            s[i] = (int)lrint(job->symmetry.matrix[job->lattice.lattice[l]][i]);
        for (int64_t z = low[2]; z < last[2]; z++)
            for (int64_t y = low[1]; y < last[1]; y++)
                pull(k, from, to, s, (const int64_t[3]){low[0], y, z}, last[0]);
    }
}

void gr_apply_lattice(const gr_job *job, gr_sums *sums)
{
    int64_t k = job->k, voxels = gr_voxels(k);
    gr_sums to = *sums;
    if (!job->use_lattice)
        return;
    to.g = rg_alloc((size_t)(2 * voxels) * sizeof *to.g);
    to.w = rg_alloc((size_t)voxels * sizeof *to.w);
#pragma omp parallel for collapse(2) num_threads(job->threads) schedule(dynamic)
    for (int64_t z = -k; z <= k; z += TILE)
        for (int64_t y = -k; y <= k; y += TILE)
            for (int64_t x = 0; x <= k; x += TILE)
                pull_tile(job, sums, &to, (const int64_t[3]){x, y, z});
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

double *gr_factors(const gr_job *job, int64_t *n_factors)
{
    int64_t half = job->particles.side / 2, most = 3 * half * half;
    double b = (double)job->radius_tenths / 10, n = (double)job->padded;
    double *factor = rg_alloc((size_t)(most + 1) * sizeof *factor);
    *n_factors = most + 1;
#pragma omp parallel for num_threads(job->threads)
    for (int64_t r2 = 0; r2 <= most; r2++) {
        double radius = sqrt((double)r2);
        factor[r2] = gr_transform(b, 0) / gr_transform(b, radius / n) * mask_at(radius, job->mask_radius_px) / (n * n * n);
    }
    return factor;
}

static void crop(const gr_job *job, const float *grid, float *map)
{
    int64_t n = job->padded, pitch = 2 * (n / 2 + 1), side = job->particles.side, low = -(side / 2), factors;
    double *factor = gr_factors(job, &factors);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t z = low; z < low + side; z++)
        for (int64_t y = low; y < low + side; y++)
            for (int64_t x = low; x < low + side; x++) {
                double v = grid[(wrap(z, n) * n + wrap(y, n)) * pitch + wrap(x, n)];
                map[((z - low) * side + y - low) * side + x - low] = (float)(v * factor[x * x + y * y + z * z]);
            }
    free(factor);
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
    char *path = rg_path_beside(job->out, suffix, NULL);
    int code = rg_mrc_write_begin(out, path, side, side, side, RG_MRC_FLOAT32, job->particles.pixel_A, true);
    free(path);
    if (code != RG_GOOD)
        return code;
    code = rg_mrc_write_sections(out, map, side, job->threads);
    if (code != RG_GOOD)
        rg_mrc_write_abandon(out);
    return code;
}

static int add_halves(gr_job *job)
{
    int64_t voxels = gr_voxels(job->k);
    if (job->gpus)
        return gr_gpus_add_halves(job);
    for (int64_t i = 0; i < 2 * voxels; i++)
        job->sums[0].g[i] += job->sums[1].g[i];
    for (int64_t i = 0; i < voxels; i++)
        job->sums[0].w[i] += job->sums[1].w[i];
    return RG_GOOD;
}

static int apply_lattice(gr_job *job)
{
    double since_s = rg_seconds();
    int code = RG_GOOD;
    for (int h = 0; h < job->halves && code == RG_GOOD && job->use_lattice; h++) {
        if (job->gpus)
            code = gr_gpus_lattice(job, h);
        else
            gr_apply_lattice(job, &job->sums[h]);
    }
    gr_lap(job, GR_MAP, since_s);
    return code;
}

// Of one half's sums, or with both added up in the first one's place.
static int one_map(gr_job *job, int half, double wiener, const char *suffix, float *map, rg_mrc_out *out)
{
    double since_s = rg_seconds();
    int code = RG_GOOD;
    if (job->gpus)
        code = gr_gpus_map(job, half, wiener, map);
    else
        gr_map(job, &job->sums[half], wiener, map);
    gr_lap(job, GR_MAP, since_s);
    since_s = rg_seconds();
    if (code == RG_GOOD)
        code = write_begin(job, suffix, map, out);
    gr_lap(job, GR_WRITE, since_s);
    return code;
}

// The halves first: the full map's sums are made in place of theirs. Nothing stands at its name before everything is written.
int gr_write_maps(gr_job *job)
{
    int64_t side = job->particles.side;
    rg_mrc_out out[3];
    int n = 0, code = apply_lattice(job);
    float *map = rg_alloc((size_t)(side * side * side) * sizeof *map);
    double wiener[2] = {gr_wiener(job, 0), job->halves == 2 ? gr_wiener(job, 1) : 0};
    for (int h = 0; h < job->halves && job->halves == 2 && code == RG_GOOD; h++) {
        code = one_map(job, h, wiener[h], h ? "_half2" : "_half1", map, &out[n]);
        n += code == RG_GOOD;
    }
    if (code == RG_GOOD && job->halves == 2)
        code = add_halves(job);
    if (code == RG_GOOD) {
        code = one_map(job, 0, wiener[0] + wiener[1], "", map, &out[n]);
        n += code == RG_GOOD;
    }
    free(map);
    double since_s = rg_seconds();
    for (int i = 0; i < n; i++) {
        if (code == RG_GOOD)
            code = rg_mrc_write_commit(&out[i]);
        else
            rg_mrc_write_abandon(&out[i]);
    }
    gr_lap(job, GR_WRITE, since_s);
    return code;
}
