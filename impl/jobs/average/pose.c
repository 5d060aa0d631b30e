// SPDX-License-Identifier: MIT
// pose.c: refines the pose of a particle against the reference, from coarse to fine, with align3d.
//
// The particle is moved into the reference's frame and correlated with it over the whole box; the reference is 0 outside its
// sphere. If the particle lacks a wedge, the reference's energy there cannot contribute to the product: rho is divided by the
// root of the share of the reference's energy that the particle can have at this pose, from the smallest level's spectrum.
#include "../../base/symmetry.h"
#include "../../../data/geometry/wedge.h"
#include "average.h"

enum { BATCH = 64 };
static const double LEAST_SHARE = 0.05;

// One level: u = (rotation vector times r, x, y, z); r is the typical distance of the particle's voxels from its centre.
typedef struct level {
    const aj_average *job;
    const fftwf_complex *spectrum; // of the particle
    double (*base)[9];
    double r;
} level;

// exp of the rotation vector w (Rodrigues), times the base.
static void rotation_of(const level *l, int64_t base, const double *u, double a[9]) {
    double w[3] = {u[0] / l->r, u[1] / l->r, u[2] / l->r}, angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    double s = angle > 1e-9 ? sin(angle) / angle : 1, c = angle > 1e-9 ? (1 - cos(angle)) / (angle * angle) : 0.5;
    double x = w[0] * w[0], y = w[1] * w[1], z = w[2] * w[2];
    const double turn[9] = {1 - c * (y + z), c * w[0] * w[1] - s * w[2], c * w[0] * w[2] + s * w[1], c * w[0] * w[1] + s * w[2],
        1 - c * (x + z), c * w[1] * w[2] - s * w[0], c * w[0] * w[2] - s * w[1], c * w[1] * w[2] + s * w[0], 1 - c * (x + y)};
    gr_multiply(turn, l->base[base], a);
}

static void matrix_of(const void *data, int64_t base, const double *u, float *matrix) {
    double a[9];
    rotation_of(data, base, u, a);
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) matrix[4 * row + column] = (float)a[3 * row + column];
        matrix[4 * row + 3] = (float)u[3 + row];
    }
}

// The share of the reference's energy within the particle's wedge; if the reference is a particle itself, times the share of
// the particle's energy within the reference's wedge.
static double share_seen(const level *l, const double a[9]) {
    const aj_spectra *s = &l->job->spectra;
    double seen = 0, all = 0, own_seen = 0, own = 0;
    for (int64_t z = 0, i = 0; z < s->m; z++)
        for (int64_t y = 0; y < s->m; y++)
            for (int64_t x = 0; x < s->pitch; x++, i++) {
                double k[3] = {(double)x, (double)(2 * y > s->m ? y - s->m : y), (double)(2 * z > s->m ? z - s->m : z)};
                double power = s->reference_power[i];
                all += power;
                seen += power *
                    rg_wedge_share(
                        a[0] * k[0] + a[1] * k[1] + a[2] * k[2], a[6] * k[0] + a[7] * k[1] + a[8] * k[2], l->job->wedge);
                if (!l->job->from_particle) continue;
                power = s->times[i] * (l->spectrum[i][0] * l->spectrum[i][0] + l->spectrum[i][1] * l->spectrum[i][1]);
                own += power;
                own_seen += power *
                    rg_wedge_share(
                        a[0] * k[0] + a[3] * k[1] + a[6] * k[2], a[2] * k[0] + a[5] * k[1] + a[8] * k[2], l->job->wedge);
            }
    double share = fmax(LEAST_SHARE, all > 0 ? seen / all : 1);
    return l->job->from_particle ? share * fmax(LEAST_SHARE, own > 0 ? own_seen / own : 1) : share;
}

static double score_of(const void *data, int64_t base, const double *u, double rho) {
    const level *l = data;
    double a[9];
    if (!(l->job->wedge_deg < 90)) return rho;
    rotation_of(l, base, u, a);
    return rho / sqrt(share_seen(l, a));
}

static double apart(const void *data, const aj_candidate *a, const aj_candidate *b) {
    const level *l = data;
    double x[9], y[9], move = 0;
    rotation_of(l, a->base, a->u, x);
    rotation_of(l, b->base, b->u, y);
    for (int k = 3; k < 6; k++) move += (a->u[k] - b->u[k]) * (a->u[k] - b->u[k]);
    return sqrt(move) + rg_rotation_apart_deg(x, y) * M_PI / 180 * l->r;
}

static aj_levels levels_of(const aj_average *job) {
    return (aj_levels){.dims = 3,
        .outside = AF_ZERO,
        .threads = job->threads,
        .batch = BATCH,
        .fine = job->fine,
        .device = job->device,
        .asked = job->asked};
}

int aj_pose_make(aj_average *job) {
    const aj_levels how = levels_of(job);
    return aj_scorers_make(job->scorer, &how, &job->reference);
}

int aj_pose_plan(const aj_average *job) {
    const aj_levels how = levels_of(job);
    return aj_scorers_plan(&how, &job->reference);
}

static aj_space space_of(const aj_average *job, const level *l, int number) {
    double turn = 3.2 * l->r, shift = ldexp(job->shift_px, -number);
    return (aj_space){.dims = 6,
        .low = {-turn, -turn, -turn, -shift, -shift, -shift},
        .high = {turn, turn, turn, shift, shift, shift},
        .matrix = matrix_of,
        .score = score_of,
        .data = l};
}

// Steps in pixels of each level: the grid leaves half a step of rotation, each level the last step of the one before.
static int climb(aj_average *job, int number, bool first, const aj_space *space, int64_t n, aj_candidate *c) {
    const level *l = space->data;
    aj_scorer *s = &job->scorer[number];
    double half_step = job->step_deg / 2 * M_PI / 180 * l->r;
    if (number == 0 && job->fine) {
        int code = n > 1 || first ? aj_climb(s, space, n, c, first ? half_step : 0.5, 0.2) : RG_GOOD;
        return code == RG_GOOD ? aj_polish(s, space, c, 0.4, 0.01) : code;
    }
    return aj_climb(s, space, n, c, first ? half_step : 0.5, number == 0 ? 0.02 : 0.2);
}

int aj_pose_refine(aj_average *job, int64_t i, int64_t n, const rg_pose *start, bool all, rg_pose *found, double *correlation) {
    int last = job->reference.levels - 1, top = all || last == 0 ? last : last - 1, code = RG_GOOD;
    RG_FREED aj_candidate *c = rg_alloc((size_t)n * sizeof *c);
    double(*base)[9] = rg_alloc((size_t)n * sizeof *base);
    level here = {job, job->spectra.particle + i * job->spectra.count, base, 0};
    for (int64_t k = 0; k < n; k++) {
        c[k].base = k;
        rg_particle_matrix(start[k].rot_deg, start[k].tilt_deg, start[k].psi_deg, base[k]);
        for (int axis = 0; axis < 3; axis++)
            c[k].u[3 + axis] = ldexp(fmax(-job->shift_px, fmin(job->shift_px, start[k].shift_px[axis])), -top);
    }
    for (int number = top, most = AJ_KEPT + 1; number >= 0 && code == RG_GOOD; number--, most = number == 0 ? 1 : most / 3) {
        double before = here.r;
        here.r = 0.3 * (double)job->reference.side[number][0];
        for (int64_t k = 0; k < n && number < top; k++)
            for (int u = 0; u < 6; u++) c[k].u[u] *= u < 3 ? here.r / before : 2;
        aj_space space = space_of(job, &here, number);
        code = aj_scorer_put(&job->scorer[number], job->particle.v[number], job->reference.v[number]);
        if (number < top) n = aj_distinct(&space, n, c, most, apart, 1);
        if (code == RG_GOOD) code = climb(job, number, number == top && all, &space, n, c);
    }
    double a[9];
    rotation_of(&here, c->base, c->u, a);
    rg_pose_angles(a, found);
    memcpy(found->shift_px, c->u + 3, sizeof found->shift_px);
    *correlation = c->score * (job->wedge_deg < 90 ? sqrt(share_seen(&here, a)) : 1);
    free(base);
    return code;
}
