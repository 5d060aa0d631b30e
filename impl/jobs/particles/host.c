// SPDX-License-Identifier: MIT
// host.c: the steps of steps.h on the CPU.
#include "../../base/core.h"
#include "steps.h"

#include <fftw3.h>

// Plans a transform that runs on all threads.
static fftwf_plan plan_3d(int64_t side, float *grid, bool to_real, int threads) {
    const int n = (int)side;
#if HAVE_FFTW_OMP
    fftwf_init_threads();
    fftwf_plan_with_nthreads(threads);
#else
    (void)threads;
#endif
    fftwf_plan plan = to_real ? fftwf_plan_dft_c2r_3d(n, n, n, (fftwf_complex *)grid, grid, FFTW_ESTIMATE)
                              : fftwf_plan_dft_r2c_3d(n, n, n, grid, (fftwf_complex *)grid, FFTW_ESTIMATE);
#if HAVE_FFTW_OMP
    fftwf_plan_with_nthreads(1); // others transform images one a thread
#endif
    return plan;
}

static int run_3d(int64_t side, float *grid, bool to_real, int threads) {
    fftwf_plan plan = plan_3d(side, grid, to_real, threads);
    if (!plan) return RG_E_LIBRARY;
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    return RG_OK;
}

// Transforms a map into its grid.
static int transform(int64_t side, const float *map, float *grid, int threads) {
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < side * side; row++)
        memcpy(grid + row * 2 * fr_width(side), map + row * side, (size_t)side * sizeof *map);
    return run_3d(side, grid, false, threads);
}

static int reference(int64_t own, const float *map, float *grid, int64_t side, float *f3, int threads) {
    int error = transform(own, map, grid, threads);
    const int64_t plane = 2 * side * fr_width(side); // first touched by the thread that uses it
#pragma omp parallel for num_threads(threads)
    for (int64_t z = 0; z < side; z++) memset(f3 + z * plane, 0, (size_t)plane * sizeof *f3);
#pragma omp parallel for num_threads(threads)
    for (int64_t e = 0; e < fr_voxels(own); e++) {
        float sign;
        const int64_t to = fr_resampled(own, side, e, &sign);
        for (int part = 0; part < 2 && to >= 0; part++) f3[2 * to + part] = sign * grid[2 * e + part];
    }
    return error;
}

static void mask(const fr_map_call *c) {
    const int64_t voxels = c->side * c->side * c->side;
    double sum = 0, n = 0;
    for (int64_t e = 0; e < voxels; e++)
        if (fr_on_edge(c->mask_px, fr_from_centre(c->side, e))) {
            sum += c->map[e];
            n++;
        }
#pragma omp parallel for num_threads(c->threads)
    for (int64_t e = 0; e < voxels; e++) {
        const float share = fr_mask(c->mask_px, fr_from_centre(c->side, e));
        c->map[e] = share * c->map[e] + (1 - share) * (float)(n > 0 ? sum / n : 0);
    }
}

static int map(const fr_map_call *c) {
    const int64_t side = c->side;
    fftwf_plan plan = plan_3d(side, c->grid, true, c->threads); // planning may overwrite the grid
    if (!plan) return RG_E_LIBRARY;
#pragma omp parallel for num_threads(c->threads)
    for (int64_t e = 0; e < fr_voxels(side); e++) fr_divide(c, e, c->grid + 2 * e);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
#pragma omp parallel for num_threads(c->threads)
    for (int64_t e = 0; e < side * side * side; e++) c->map[e] = fr_correct(c, e);
    if (c->mask_px > 0) mask(c);
    return RG_OK;
}

// Every thread sums its own planes, and planes are added in order, so that the result is always the same.
static void add_planes(int64_t side, int64_t n, double *each, double *sums) {
    for (int64_t i = 0; i < n; i++) {
        sums[i] = 0;
        for (int64_t z = 0; z < side; z++) sums[i] += each[z * n + i];
    }
    free(each);
}

static int weights(int64_t side, const float *volume, double *sums, int threads) {
    const int64_t rings = fr_all_rings(side), plane = side * fr_width(side);
    double *each = rg_alloc((size_t)(side * 2 * rings) * sizeof *each);
#pragma omp parallel for num_threads(threads)
    for (int64_t z = 0; z < side; z++)
        for (int64_t e = z * plane; e < (z + 1) * plane; e++) {
            double *to = each + z * 2 * rings + fr_ring_of_node(side, e);
            to[0] += volume[FR_RECORD * e + 2];
            to[rings]++;
        }
    add_planes(side, 2 * rings, each, sums);
    return RG_OK;
}

static int shells(int64_t side, const float *a, const float *b, float *const grid[2], double *sums, int threads) {
    const int64_t rings = side / 2 + 1, plane = side * fr_width(side);
    double *each = rg_alloc((size_t)(side * 3 * rings) * sizeof *each);
    int error = transform(side, a, grid[0], threads);
    error = error ? error : transform(side, b, grid[1], threads);
#pragma omp parallel for num_threads(threads)
    for (int64_t z = 0; z < side; z++)
        for (int64_t e = z * plane; e < (z + 1) * plane; e++) {
            const float *u = grid[0] + 2 * e, *v = grid[1] + 2 * e;
            const int64_t s = fr_ring_of_node(side, e);
            const double times = fr_stands_for(side, e);
            double *to = each + z * 3 * rings + s;
            if (s >= rings) continue;
            to[0] += times * ((double)u[0] * v[0] + (double)u[1] * v[1]);
            to[rings] += times * ((double)u[0] * u[0] + (double)u[1] * u[1]);
            to[2 * rings] += times * ((double)v[0] * v[0] + (double)v[1] * v[1]);
        }
    add_planes(side, 3 * rings, each, sums);
    return error;
}

static size_t work_bytes(int64_t side) {
    (void)side;
    return 0; // FFTW's is part of RG_MEMORY_RESERVE
}

const fr_job_steps fr_steps_cpu = {work_bytes, reference, map, weights, shells};
