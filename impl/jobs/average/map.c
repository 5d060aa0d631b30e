// SPDX-License-Identifier: MIT
// map.c: averages the particles at their poses. With a missing wedge it works in Fourier space: the sum of the measured parts
// of the transforms, over the number of particles that measured each frequency.
#include "../../base/symmetry.h"
#include "../../../data/geometry/wedge.h"
#include "average.h"
#include "../../affine/index.h"

void aj_sphere(int64_t side, double radius_px, float *v) {
    double edge = (double)side / 12, centre = (double)(side / 2);
    for (int64_t i = 0; i < side * side * side; i++) {
        double x = (double)(i % side) - centre, y = (double)(i / side % side) - centre, z = (double)(i / side / side) - centre;
        double out = (sqrt(x * x + y * y + z * z) - radius_px) / edge;
        v[i] *= (float)(out <= 0 ? 1 : out >= 1 ? 0 : 0.5 + 0.5 * cos(M_PI * out));
    }
}

// Sums over the particles of one half.
typedef struct sums {
    float *f;      // side^3 values, or transforms of side side (side / 2 + 1) complex values
    float *weight; // of each frequency; NULL without a wedge
} sums;

typedef struct averaging {
    int64_t side, pitch, count; // of a transform
    fftwf_plan there, back;
    float *moved;
    sums half[2];
} averaging;

static void averaging_make(averaging *m, const aj_average *job) {
    int n = (int)job->side;
    bool wedge = job->wedge_deg < 90;
    *m = (averaging){.side = job->side, .pitch = job->side / 2 + 1};
    m->count = m->side * m->side * m->pitch;
    m->moved = fftwf_alloc_real((size_t)(2 * m->count));
    m->there = fftwf_plan_dft_r2c_3d(n, n, n, m->moved, (fftwf_complex *)m->moved, FFTW_ESTIMATE);
    m->back = fftwf_plan_dft_c2r_3d(n, n, n, (fftwf_complex *)m->moved, m->moved, FFTW_ESTIMATE);
    for (int h = 0; h < 2; h++)
        m->half[h] =
            (sums){rg_alloc((size_t)(2 * m->count) * sizeof(float)), wedge ? rg_alloc((size_t)m->count * sizeof(float)) : NULL};
}

static void averaging_free(averaging *m) {
    fftwf_destroy_plan(m->there);
    fftwf_destroy_plan(m->back);
    fftwf_free(m->moved);
    for (int h = 0; h < 2; h++) {
        free(m->half[h].f);
        free(m->half[h].weight);
    }
}

// Moves the particle to the map's frame, v -> A v + shift, in rows at the pitch of an in-place transform.
static void bring_back(averaging *m, const rg_volume *particle, const rg_pose *pose, const double a[9], int threads) {
    int n = (int)m->side, c = n / 2;
#pragma omp parallel for num_threads(threads)
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double v[3] = {x - c, y - c, z - c}, at[3];
                int takes_part;
                for (int k = 0; k < 3; k++)
                    at[k] = a[3 * k] * v[0] + a[3 * k + 1] * v[1] + a[3 * k + 2] * v[2] + pose->shift_px[k];
                m->moved[((int64_t)z * n + y) * 2 * m->pitch + x] =
                    af_sample_3d(particle->value, n, n, n, AF_ZERO, (float)at[0], (float)at[1], (float)at[2], &takes_part);
            }
}

static void add_seen(averaging *m, sums *to, const double a[9], const double wedge[2], int threads) {
    fftwf_complex *f = (fftwf_complex *)m->moved, *sum = (fftwf_complex *)to->f;
    fftwf_execute(m->there);
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < m->side * m->side; row++) {
        double ky = (double)(row % m->side), kz = (double)(row / m->side);
        ky -= 2 * ky > (double)m->side ? (double)m->side : 0;
        kz -= 2 * kz > (double)m->side ? (double)m->side : 0;
        for (int64_t x = 0; x < m->pitch; x++) {
            int64_t i = row * m->pitch + x;
            double kx = (double)x, k0 = a[0] * kx + a[1] * ky + a[2] * kz, k2 = a[6] * kx + a[7] * ky + a[8] * kz;
            float share = (float)rg_wedge_share(k0, k2, wedge);
            sum[i][0] += share * f[i][0];
            sum[i][1] += share * f[i][1];
            to->weight[i] += share;
        }
    }
}

// Makes the map from the sums over `particles` particles.
static void finish(averaging *m, const sums *s, double particles, rg_volume *map) {
    double scale = s->weight ? 1 / ((double)m->side * (double)m->side * (double)m->side) : 1 / particles;
    memcpy(m->moved, s->f, (size_t)(2 * m->count) * sizeof *m->moved);
    if (s->weight) {
        fftwf_complex *f = (fftwf_complex *)m->moved;
        for (int64_t i = 0; i < m->count; i++) {
            float seen = s->weight[i] > 1 ? s->weight[i] : 1; // measured by less than one particle: not amplified
            f[i][0] /= seen;
            f[i][1] /= seen;
        }
        fftwf_execute(m->back);
    }
    for (int64_t row = 0; row < m->side * m->side; row++)
        for (int64_t x = 0; x < m->side; x++) map->value[row * m->side + x] = (float)(scale * m->moved[row * 2 * m->pitch + x]);
}

int aj_map(aj_average *job) {
    RG_ENDS(averaging_free) averaging m;
    int code = RG_GOOD;
    averaging_make(&m, job);
    for (int64_t i = 0; i < job->n && code == RG_GOOD; i++) {
        const rg_pose *pose = &job->pose[i];
        double a[9];
        rg_volume particle = {0};
        sums *to = &m.half[i % 2];
        code = aj_volume_read(job->path[i], job->side, &particle);
        if (code != RG_GOOD) break;
        rg_particle_matrix(pose->rot_deg, pose->tilt_deg, pose->psi_deg, a);
        bring_back(&m, &particle, pose, a, job->threads);
        if (to->weight)
            add_seen(&m, to, a, job->wedge, job->threads);
        else
            for (int64_t v = 0; v < 2 * m.count; v++) to->f[v] += m.moved[v];
        free(particle.value);
    }
    for (int h = 0; h < 2 && code == RG_GOOD && job->half_maps; h++)
        finish(&m, &m.half[h], (double)((job->n + 1 - h) / 2), &job->half[h]);
    for (int64_t v = 0; v < 2 * m.count; v++) m.half[0].f[v] += m.half[1].f[v];
    for (int64_t v = 0; v < m.count && m.half[0].weight; v++) m.half[0].weight[v] += m.half[1].weight[v];
    if (code == RG_GOOD) finish(&m, &m.half[0], (double)job->n, &job->map);
    return code;
}
