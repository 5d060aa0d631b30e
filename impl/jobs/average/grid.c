// SPDX-License-Identifier: MIT
// grid.c: compares every particle with the reference in all rotations, on the smallest level. The reference is turned once per
// rotation for all particles, and an FFT gives the correlation at all shifts. With a missing wedge it is the correlation over
// the frequencies that both have (Foerster et al. 2005).
#include "../../base/symmetry.h"
#include "../../../data/geometry/wedge.h"
#include "average.h"
#include "../../affine/index.h"

// ---- rotations -----------------------------------------------------------------------------------------------------------

// Rings of equal tilt; psi and rot in steps of at most step_deg along their circles. NULL only counts.
static int64_t rotations(double step_deg, rg_pose *pose) {
    int64_t n = 0, rings = (int64_t)ceil(180 / step_deg), psis = (int64_t)ceil(360 / step_deg);
    for (int64_t t = 0; t <= rings; t++) {
        double tilt = 180 * (double)t / (double)rings;
        int64_t rots = (int64_t)fmax(1, ceil(360 * sin(tilt * M_PI / 180) / step_deg - 1e-9));
        for (int64_t r = 0; r < rots; r++)
            for (int64_t p = 0; p < psis; p++, n++)
                if (pose) pose[n] = (rg_pose){360 * (double)r / (double)rots, tilt, 360 * (double)p / (double)psis, {0}};
    }
    return n;
}

int64_t aj_grid_size(double step_deg) { return rotations(step_deg, NULL); }

// ---- transforms ----------------------------------------------------------------------------------------------------------

void aj_spectra_make(aj_spectra *s, int64_t m, int64_t n) {
    *s = (aj_spectra){.m = m, .pitch = m / 2 + 1, .count = m * m * (m / 2 + 1)};
    float *room = fftwf_alloc_real((size_t)(2 * s->count));
    fftwf_complex *f = (fftwf_complex *)room;
    // Not FFTW_MEASURE, whose plan, and so the result, differs between runs.
    s->there = fftwf_plan_dft_r2c_3d((int)m, (int)m, (int)m, room, f, FFTW_ESTIMATE);
    s->back = fftwf_plan_dft_c2r_3d((int)m, (int)m, (int)m, f, room, FFTW_ESTIMATE);
    fftwf_free(room);
    s->particle = fftwf_alloc_complex((size_t)(n * s->count));
    s->has_particle = rg_alloc((size_t)n * sizeof *s->has_particle);
    s->times = rg_alloc((size_t)s->count * sizeof *s->times);
    s->reference_power = rg_alloc((size_t)s->count * sizeof *s->reference_power);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t x = i % s->pitch;
        s->times[i] = x == 0 || 2 * x == m ? 1 : 2;
    }
}

void aj_spectra_free(aj_spectra *s) {
    if (!s->m) return;
    fftwf_destroy_plan(s->there);
    fftwf_destroy_plan(s->back);
    fftwf_free(s->particle);
    free(s->has_particle);
    free(s->times);
    free(s->reference_power);
}

// kx, ky, kz of frequency i.
static void frequency(const aj_spectra *s, int64_t i, double k[3]) {
    int64_t y = i / s->pitch % s->m, z = i / s->pitch / s->m;
    k[0] = (double)(i % s->pitch);
    k[1] = (double)(2 * y > s->m ? y - s->m : y);
    k[2] = (double)(2 * z > s->m ? z - s->m : z);
}

// Transforms v, m rows of m values, each at the pitch of an in-place transform.
static void transform(const aj_spectra *s, const float *v, fftwf_complex *f) {
    for (int64_t row = 0; row < s->m * s->m; row++)
        memcpy((float *)f + row * 2 * s->pitch, v + row * s->m, (size_t)s->m * sizeof *v);
    fftwf_execute_dft_r2c(s->there, (float *)f, f);
    f[0][0] = f[0][1] = 0;
}

void aj_spectra_particle(aj_average *job, int64_t i) {
    const aj_spectra *s = &job->spectra;
    fftwf_complex *f = s->particle + i * s->count;
    transform(s, job->particle.v[job->particle.levels - 1], f);
    s->has_particle[i] = true;
    for (int64_t q = 0; q < s->count && job->wedge_deg < 90; q++) {
        double k[3];
        frequency(s, q, k);
        float share = (float)rg_wedge_share(k[0], k[2], job->wedge);
        f[q][0] *= share;
        f[q][1] *= share;
    }
}

void aj_spectra_reference(aj_average *job) {
    aj_spectra *s = &job->spectra;
    fftwf_complex *f = fftwf_alloc_complex((size_t)s->count);
    transform(s, job->reference.v[job->reference.levels - 1], f);
    for (int64_t q = 0; q < s->count; q++) s->reference_power[q] = s->times[q] * (f[q][0] * f[q][0] + f[q][1] * f[q][1]);
    fftwf_free(f);
}

// ---- one rotation --------------------------------------------------------------------------------------------------------

// A thread's buffers.
typedef struct lane {
    bool has_share;
    float *turned, *share;
    fftwf_complex *reference, *product;
} lane;

typedef struct found {
    float score;
    int8_t shift[3];
} found;

// Turns the reference to the particle's frame, p -> A^T p. The reference is 0 at the faces of the box, so neighbours outside
// may count as 0.
static void turn(const float *reference, int64_t m, const double a[9], float *turned) {
    float c = (float)(m / 2), most = (float)(m - 1);
    for (int64_t z = 0; z < m; z++)
        for (int64_t y = 0; y < m; y++) {
            float v = (float)y - c, w = (float)z - c, from[3];
            for (int k = 0; k < 3; k++) from[k] = (float)a[3 + k] * v + (float)a[6 + k] * w - (float)a[k] * c + c;
            for (int64_t x = 0; x < m; x++) {
                float u = (float)x, at[3] = {from[0] + (float)a[0] * u, from[1] + (float)a[1] * u, from[2] + (float)a[2] * u};
                float *to = turned + (z * m + y) * m + x;
                if (!(at[0] >= 0 && at[0] < most && at[1] >= 0 && at[1] < most && at[2] >= 0 && at[2] < most)) {
                    *to = 0;
                    continue;
                }
                int i = (int)at[0], j = (int)at[1], k = (int)at[2];
                float fx = at[0] - (float)i, fy = at[1] - (float)j, fz = at[2] - (float)k;
                const float *p = reference + (k * m + j) * m + i, *q = p + m * m;
                float near[2] = {af_between(p[0], p[1], fx), af_between(p[m], p[m + 1], fx)};
                float far[2] = {af_between(q[0], q[1], fx), af_between(q[m], q[m + 1], fx)};
                *to = af_between(af_between(near[0], near[1], fy), af_between(far[0], far[1], fy), fz);
            }
        }
}

// The share of each frequency that both have: in the particle's wedge, and in the reference's if it is a particle itself.
static void share_of(const aj_average *job, const double a[9], float *share) {
    const aj_spectra *s = &job->spectra;
    for (int64_t z = 0; z < s->m; z++)
        for (int64_t y = 0; y < s->m; y++)
            for (int64_t x = 0; x < s->pitch; x++) {
                double kx = (double)x, ky = (double)(2 * y > s->m ? y - s->m : y), kz = (double)(2 * z > s->m ? z - s->m : z);
                double both = job->wedge_deg < 90 ? rg_wedge_share(kx, kz, job->wedge) : 1;
                if (job->wedge_deg < 90 && job->from_particle)
                    both *= rg_wedge_share(a[0] * kx + a[3] * ky + a[6] * kz, a[2] * kx + a[5] * ky + a[8] * kz, job->wedge);
                *share++ = (float)both;
            }
}

// Transforms the reference in the particle's frame, where both have data; returns its energy there. The lane keeps the share of
// the rotation before, unless the reference has a wedge, which turns with it.
static double turn_reference(const aj_average *job, const double a[9], lane *l) {
    const aj_spectra *s = &job->spectra;
    double energy = 0;
    turn(job->reference.v[job->reference.levels - 1], s->m, a, l->turned);
    transform(s, l->turned, l->reference);
    if (!l->has_share || job->from_particle) share_of(job, a, l->share);
    l->has_share = true;
    for (int64_t q = 0; q < s->count; q++) {
        l->reference[q][0] *= l->share[q];
        l->reference[q][1] *= l->share[q];
        energy += s->times[q] * (l->reference[q][0] * l->reference[q][0] + l->reference[q][1] * l->reference[q][1]);
    }
    return energy;
}

// The largest value among the shifts in the range.
static found best_shift(const aj_spectra *s, const float *plane, int64_t most) {
    found best = {-INFINITY, {0}};
    for (int64_t z = -most; z <= most; z++)
        for (int64_t y = -most; y <= most; y++) {
            const float *row = plane + ((z < 0 ? z + s->m : z) * s->m + (y < 0 ? y + s->m : y)) * 2 * s->pitch;
            for (int64_t x = -most; x <= most; x++) {
                float value = row[x < 0 ? x + s->m : x];
                if (value > best.score) best = (found){value, {(int8_t)x, (int8_t)y, (int8_t)z}};
            }
        }
    return best;
}

static found correlate(const aj_average *job, int64_t i, int64_t most, double energy, lane *l) {
    const aj_spectra *s = &job->spectra;
    const fftwf_complex *f = s->particle + i * s->count;
    float own = 0;
#pragma omp simd reduction(+ : own)
    for (int64_t q = 0; q < s->count; q++) {
        float re = f[q][0], im = f[q][1], x = l->reference[q][0], y = l->reference[q][1];
        l->product[q][0] = re * x + im * y;
        l->product[q][1] = im * x - re * y;
        own += s->times[q] * l->share[q] * l->share[q] * (re * re + im * im);
    }
    fftwf_execute_dft_c2r(s->back, l->product, (float *)l->product);
    found best = best_shift(s, (const float *)l->product, most);
    best.score = energy > 0 && own > 0 ? (float)(best.score / sqrt(energy * (double)own)) : -1;
    return best;
}

// ---- all rotations -------------------------------------------------------------------------------------------------------

typedef struct ranked {
    int64_t rotation;
    float score;
} ranked;

static int by_score(const void *a, const void *b) {
    float x = ((const ranked *)a)->score, y = ((const ranked *)b)->score;
    return (x < y) - (x > y);
}

// Keeps the best rotations that are at least two thirds of a step apart; those of one particle are `pitch` apart in the table.
static int64_t keep_best(
    const aj_average *job, int64_t n, const rg_pose *grid, const found *table, int64_t pitch, ranked *order, rg_pose *kept) {
    int64_t count = 0;
    double matrix[AJ_KEPT][9];
    for (int64_t r = 0; r < n; r++) order[r] = (ranked){r, table[r * pitch].score};
    qsort(order, (size_t)n, sizeof *order, by_score);
    for (int64_t o = 0; o < n && count < AJ_KEPT; o++) {
        const rg_pose *g = &grid[order[o].rotation];
        bool is_new = true;
        rg_particle_matrix(g->rot_deg, g->tilt_deg, g->psi_deg, matrix[count]);
        for (int64_t c = 0; c < count && is_new; c++)
            is_new = rg_rotation_apart_deg(matrix[c], matrix[count]) > 0.67 * job->step_deg;
        if (!is_new) continue;
        kept[count] = *g;
        for (int axis = 0; axis < 3; axis++) kept[count].shift_px[axis] = table[order[o].rotation * pitch].shift[axis];
        count++;
    }
    return count;
}

void aj_grid(aj_average *job, int64_t first, int64_t past, rg_pose *pose, int64_t *kept) {
    const aj_spectra *s = &job->spectra;
    int64_t n = aj_grid_size(job->step_deg), voxels = s->m * s->m * s->m, count = past - first;
    int64_t most = (int64_t)fmin(ceil(ldexp(job->shift_px, 1 - job->reference.levels)), (double)(s->m / 2 - 1));
    RG_FREED rg_pose *grid = rg_alloc((size_t)n * sizeof *grid);
    RG_FREED found *table = rg_alloc((size_t)(n * count) * sizeof *table);
    RG_FREED ranked *order = rg_alloc((size_t)n * sizeof *order);
    rotations(job->step_deg, grid);
#pragma omp parallel num_threads(job->threads)
    {
        lane l = {false, rg_alloc((size_t)voxels * sizeof(float)), rg_alloc((size_t)s->count * sizeof(float)),
            fftwf_alloc_complex((size_t)s->count), fftwf_alloc_complex((size_t)s->count)};
#pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < n; r++) {
            double a[9];
            rg_particle_matrix(grid[r].rot_deg, grid[r].tilt_deg, grid[r].psi_deg, a);
            double energy = turn_reference(job, a, &l);
            for (int64_t i = 0; i < count; i++) table[r * count + i] = correlate(job, first + i, most, energy, &l);
        }
        free(l.turned);
        free(l.share);
        fftwf_free(l.reference);
        fftwf_free(l.product);
    }
    for (int64_t i = 0; i < count; i++) kept[i] = keep_best(job, n, grid, table + i, count, order, pose + i * AJ_KEPT);
}
