// SPDX-License-Identifier: MIT
// map.c: from sums to a map on the host (index.h): the division, the inverse transform on P^3 points, the crop to N^3, the
// gridding correction (the division by the kernel's transform at the voxel's distance from the centre) and the mask.
#include "index.h"
#include "kernel.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double gr_kernel_mean(int64_t radius_tenths)
{
    const double b = (double)radius_tenths / 10;
    return gr_transform(b, 0) / (4 * 3.14159265358979323846 / 3 * b * b * b);
}

static int64_t wrap(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

// The quotient inside the sphere of radius k, beyond which the weights are one-sided; 0 where nothing was added.
static void divide(const gr_map_of *m, fftwf_complex *grid)
{
    int64_t k = m->k, n = m->padded, pitch = n / 2 + 1, low = -((n - 1) / 2);
#pragma omp parallel for num_threads(m->threads)
    for (int64_t z = low; z <= k; z++)
        for (int64_t y = low; y <= k; y++)
            for (int64_t x = 0; x * x + y * y + z * z <= k * k; x++) {
                int64_t e = gr_voxel(k, x, y, z), to = (wrap(z, n) * n + wrap(y, n)) * pitch + x;
                double w = m->w[e] + m->wiener;
                grid[to][0] = w > 0 ? (float)(m->g[2 * e] / w) : 0;
                grid[to][1] = w > 0 ? (float)(m->g[2 * e + 1] / w) : 0;
            }
}

// 1 inside the mask, 0 outside, half a cosine over six voxels between.
static double mask_at(double radius_px, double mask_px)
{
    const double edge = 6;
    double t = (radius_px - mask_px) / edge + 0.5;
    return mask_px <= 0 || t <= 0 ? 1 : t >= 1 ? 0 : 0.5 * (1 + cos(3.14159265358979323846 * t));
}

double *gr_map_factors(const gr_map_of *m, int64_t *n_factors)
{
    int64_t half = m->side / 2, most = 3 * half * half;
    double b = (double)m->radius_tenths / 10, n = (double)m->padded;
    double *factor = malloc((size_t)(most + 1) * sizeof *factor);
    *n_factors = most + 1;
#pragma omp parallel for num_threads(m->threads)
    for (int64_t r2 = 0; r2 <= (factor ? most : -1); r2++) {
        double radius = sqrt((double)r2);
        factor[r2] = gr_transform(b, 0) / gr_transform(b, radius / n) * mask_at(radius, m->mask_radius_px) / (n * n * n);
    }
    return factor;
}

static void crop(const gr_map_of *m, const float *grid, const double *factor, float *map)
{
    int64_t n = m->padded, pitch = 2 * (n / 2 + 1), side = m->side, low = -(side / 2);
#pragma omp parallel for num_threads(m->threads)
    for (int64_t z = low; z < low + side; z++)
        for (int64_t y = low; y < low + side; y++)
            for (int64_t x = low; x < low + side; x++) {
                double v = grid[(wrap(z, n) * n + wrap(y, n)) * pitch + wrap(x, n)];
                map[((z - low) * side + y - low) * side + x - low] = (float)(v * factor[x * x + y * y + z * z]);
            }
}

int gr_map(const gr_map_of *m, float *map)
{
    size_t n = (size_t)m->padded, elements = n * n * (n / 2 + 1);
    int64_t factors;
    double *factor = gr_map_factors(m, &factors);
    fftwf_complex *grid = fftwf_alloc_complex(elements);
    fftwf_plan plan = NULL;
#if HAVE_FFTW_OMP
    fftwf_init_threads();
    fftwf_plan_with_nthreads(m->threads);
#endif
    if (factor && grid)
        plan = fftwf_plan_dft_c2r_3d((int)n, (int)n, (int)n, grid, (float *)grid, FFTW_ESTIMATE);
#if HAVE_FFTW_OMP
    fftwf_plan_with_nthreads(1); // the plans of single images run in threads of their own
#endif
    if (plan) {
        memset(grid, 0, elements * sizeof *grid);
        divide(m, grid);
        fftwf_execute(plan);
        fftwf_destroy_plan(plan);
        crop(m, (float *)grid, factor, map);
    }
    fftwf_free(grid);
    free(factor);
    return plan ? RG_OK : RG_E_STATE;
}
