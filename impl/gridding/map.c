// SPDX-License-Identifier: MIT
// map.c: computes a map from the sums on the host (index.h): the division, the inverse transform on P^3 points, of which only
// the N^3 of the map are kept, the gridding correction (the division by the kernel's transform at the voxel's distance from the
// centre) and the mask. Bound: memory: the sums are read once, the cut transform is written and read once. Results do not
// depend on the threads.
#include "kernel.h"
#include "quotient.h"

#include <fftw3.h>
#include <math.h>
#if HAVE_OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif
#include <stdlib.h>
#include <string.h>

double gr_kernel_mean(int64_t radius_tenths) {
    const double b = (double)radius_tenths / 10;
    return gr_transform(b, 0) / (4 * 3.14159265358979323846 / 3 * b * b * b);
}

double gr_kernel_variance(int64_t radius_tenths) {
    const double b = (double)radius_tenths / 10, turn = 2 * 3.14159265358979323846 * 1e-3; // 2 pi R at R = 1e-3
    return 2 * (1 - gr_transform(b, 1e-3) / gr_transform(b, 0)) / (turn * turn);
}

static int64_t wrap(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

enum { TILE = 8 };   // values of x transformed together: a cache line of the sums, and FFTW's vectors
enum { AHEAD = 12 }; // planes between prefetch and use

// The inverse transform along z, then y, then x, cut to the map after each, so that n^2 (k + 1) values are never stored and
// fewer than half of the lines are transformed.
typedef struct cut {
    const gr_map_of *m;
    gr_sums sums;
    fftwf_plan lines, rows; // TILE adjacent complex lines; one line to real values
    fftwf_complex *grid;    // [z][y][x], z and y of the map, x = 0 .. k
} cut;

// Prefetches TILE values of x of both sums, of a later plane: planes are too far apart for the hardware prefetcher.
RG_HD void call_for(const gr_map_of *m, int64_t x0, int64_t y, int64_t z) {
    const int64_t e = gr_voxel(m->k, x0, y, z < m->k ? z : m->k);
    __builtin_prefetch(m->g + 2 * e);
    __builtin_prefetch(m->g + 2 * (e + TILE) - 1); // the lines of a plane begin anywhere
    __builtin_prefetch(m->w + e);
    __builtin_prefetch(m->w + e + TILE - 1);
}

// The quotient along one line in z, for TILE adjacent lines.
static void divide(const cut *c, int64_t x0, int64_t y, fftwf_complex *line) {
    const int64_t k = c->m->k, n = c->m->padded;
    memset(line, 0, (size_t)(n * TILE) * sizeof *line);
    for (int64_t z = -((n - 1) / 2); z <= k; z++) {
        call_for(c->m, x0, y, z + AHEAD);
        for (int64_t x = x0; x < x0 + TILE && gr_takes_part(k, x, y, z); x++)
            gr_quotient(&c->sums, x, y, z, line[wrap(z, n) * TILE + x - x0]);
    }
}

// Transforms along z and y, for TILE values of x; plane: room for [z of the map][y][TILE].
static void transform_tile(const cut *c, int64_t x0, fftwf_complex *line, fftwf_complex *plane) {
    const gr_map_of *m = c->m;
    const int64_t k = m->k, n = m->padded, low = -(m->side / 2), last = x0 + TILE < k + 1 ? x0 + TILE : k + 1;
    const size_t bytes = TILE * sizeof *line;
    memset(plane, 0, (size_t)(m->side * n) * bytes);
    for (int64_t y = -((n - 1) / 2); y <= k; y++) {
        if (!gr_takes_part(k, x0, y, 0)) continue;
        divide(c, x0, y, line);
        fftwf_execute_dft(c->lines, line, line);
        for (int64_t z = 0; z < m->side; z++)
            memcpy(plane + (z * n + wrap(y, n)) * TILE, line + wrap(z + low, n) * TILE, bytes);
    }
    for (int64_t z = 0; z < m->side; z++) {
        fftwf_complex *at = plane + z * n * TILE;
        fftwf_execute_dft(c->lines, at, at);
        for (int64_t y = 0; y < m->side; y++)
            memcpy(c->grid + (z * m->side + y) * (k + 1) + x0, at + wrap(y + low, n) * TILE, (size_t)(last - x0) * sizeof *at);
    }
}

// 1 inside the mask, 0 outside, half a cosine over six voxels between.
static double mask_at(double radius_px, double mask_px) {
    const double edge = 6;
    double t = (radius_px - mask_px) / edge + 0.5;
    return mask_px <= 0 || t <= 0 ? 1 : t >= 1 ? 0 : 0.5 * (1 + cos(3.14159265358979323846 * t));
}

double *gr_map_factors(const gr_map_of *m, int64_t *n_factors) {
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

// Transforms one row of the map along x; line: room for its complex and its real values.
static void transform_row(const cut *c, int64_t z, int64_t y, const double *factor, fftwf_complex *line, float *map) {
    const gr_map_of *m = c->m;
    const int64_t n = m->padded, side = m->side, low = -(side / 2), row = z * side + y;
    const int64_t rest = (z + low) * (z + low) + (y + low) * (y + low);
    float *values = line[m->k + 1];
    memcpy(line, c->grid + row * (m->k + 1), (size_t)(m->k + 1) * sizeof *line);
    fftwf_execute_dft_c2r(c->rows, line, values);
    for (int64_t x = low; x < low + side; x++) map[row * side + x - low] = (float)(values[wrap(x, n)] * factor[rest + x * x]);
}

size_t gr_map_bytes(int64_t k, int64_t padded, int64_t side, int threads) {
    const size_t each = (size_t)(side + 1) * (size_t)padded * TILE, grid = (size_t)side * (size_t)side * (size_t)(k + 1);
    return (grid + (size_t)threads * each) * sizeof(fftwf_complex);
}

int gr_map(const gr_map_of *m, float *map) {
    const int n = (int)m->padded;
    const size_t line_values = (size_t)n * TILE, plane_values = (size_t)m->side * line_values;
    int64_t factors;
    double *factor = gr_map_factors(m, &factors);
    cut c = {.m = m,
        .sums = {m->k, m->g, m->w, m->wiener, gr_kernel_variance(m->radius_tenths)},
        .grid = fftwf_alloc_complex((size_t)(m->side * m->side * (m->k + 1)))};
    fftwf_complex *room = fftwf_alloc_complex((size_t)m->threads * (line_values + plane_values));
    if (!factor || !c.grid || !room) {
        fftwf_free(c.grid);
        fftwf_free(room);
        free(factor);
        return RG_E_STATE;
    }
    c.lines = fftwf_plan_many_dft(1, &n, TILE, room, NULL, TILE, 1, room, NULL, TILE, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
    c.rows = fftwf_plan_dft_c2r_1d(n, room, room[m->k + 1], FFTW_ESTIMATE | FFTW_UNALIGNED);
#pragma omp parallel num_threads(m->threads)
    {
        fftwf_complex *line = room + (size_t)omp_get_thread_num() * (line_values + plane_values);
#pragma omp for schedule(dynamic)
        for (int64_t x = 0; x <= m->k; x += TILE) transform_tile(&c, x, line, line + line_values);
#pragma omp for
        for (int64_t row = 0; row < m->side * m->side; row++)
            transform_row(&c, row / m->side, row % m->side, factor, line, map);
    }
    fftwf_destroy_plan(c.lines);
    fftwf_destroy_plan(c.rows);
    fftwf_free(c.grid);
    fftwf_free(room);
    free(factor);
    return RG_OK;
}
