// SPDX-License-Identifier: MIT
// frealign.c: planes, transforms, mask and section for the references of FREALIGN's routines, with the formulas as published.
#include "frealign.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

ref_problem ref_problem_of(const rg_shape *s, void *const *arg) {
    const int64_t kind = s->n[2];
    const ref_problem p = {.side = s->n[0],
        .particles = s->n[1],
        .kind = kind,
        .trials = s->n[3],
        .outer = s->n[4],
        .inner = s->n[5],
        .pad = kind & 16 ? 4
            : kind & 8   ? 2
                         : 1,
        .interpolation = kind % 8,
        .squared = (kind & 32) != 0,
        .rings = (kind & 64) != 0,
        .masked = (kind & 128) != 0,
        .X = arg[0],
        .c = arg[1],
        .F3 = arg[2],
        .pose = arg[3],
        .setting = arg[4]};
    return p;
}

// ---- planes --------------------------------------------------------------------------------------------------------------

ref_number *ref_plane(int64_t side) {
    ref_number *plane = fftw_alloc_complex((size_t)(side * side));
    if (!plane) abort();
    return memset(plane, 0, (size_t)(side * side) * sizeof *plane);
}

static fftw_plan plan[2];
static int64_t planned;

void ref_transform_ready(int64_t side) {
    if (planned == side) return;
    ref_number *plane = ref_plane(side);
    for (int d = 0; d < 2; d++) {
        if (plan[d]) fftw_destroy_plan(plan[d]);
        plan[d] = fftw_plan_dft_2d((int)side, (int)side, plane, plane, d ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    }
    fftw_free(plane);
    planned = side;
}

void ref_transform(ref_number *plane, int64_t side, int direction) {
    ref_transform_ready(side);
    fftw_execute_dft(plan[direction > 0], plane, plane);
}

void ref_make_real(ref_number *plane, int64_t side) {
    for (int64_t j = 0; j < side; j++)
        for (int64_t i = 1; i < side / 2; i++) *ref_at(plane, side, -i, -j) = conj(*ref_at(plane, side, i, j));
    for (int64_t i = 0; i <= side / 2; i += side / 2)
        for (int64_t j = 0; j <= side / 2; j++) {
            ref_number *one = ref_at(plane, side, i, j), *mate = ref_at(plane, side, i, -j);
            const ref_number part = (*one + conj(*mate)) / 2;
            *one = part;
            *mate = conj(part);
        }
}

static double distance(int64_t side, int64_t x, int64_t y, int64_t centre) {
    const int64_t dx = (x + side - centre) % side, dy = (y + side - centre) % side;
    const double u = (double)(dx < side / 2 ? dx : dx - side), v = (double)(dy < side / 2 ? dy : dy - side);
    return sqrt(u * u + v * v);
}

void ref_mask(ref_number *image, int64_t side, double R, int64_t centre) {
    const double from = R - 3, to = R + 3;
    double sum = 0, n = 0;
    for (int64_t y = 0; y < side; y++)
        for (int64_t x = 0; x < side; x++) {
            const double r = distance(side, x, y, centre);
            if (!(from > 0 && r <= from) && to >= 0 && r <= to) {
                sum += creal(image[y * side + x]);
                n++;
            }
        }
    const double mean = n > 0 ? sum / n : 0;
    for (int64_t y = 0; y < side; y++)
        for (int64_t x = 0; x < side; x++) {
            const double r = distance(side, x, y, centre);
            const double e = from > 0 && r <= from ? 1 : to < 0 || r > to ? 0 : (1 + cos(M_PI * (r - from) / 6)) / 2;
            image[y * side + x] = e * creal(image[y * side + x]) + (1 - e) * mean;
        }
}

// ---- coefficients --------------------------------------------------------------------------------------------------------

int64_t ref_stored(int64_t side, int64_t i, int64_t j) { return (j < 0 ? j + side : j) * (side / 2 + 1) + i; }
int64_t ref_ring(int64_t i, int64_t j) { return (int64_t)floor(sqrt((double)(i * i + j * j)) + 0.5); }

int ref_in_band(const ref_problem *p, int64_t i, int64_t j, int64_t inner) {
    const int64_t rr = i * i + j * j;
    return rr >= inner * inner && rr < p->outer * p->outer && ref_ring(i, j) < p->side / 2;
}

ref_number ref_particle(const ref_problem *p, int64_t particle, int64_t t, int64_t i, int64_t j) {
    const float *pose = p->pose + 8 * (particle * p->trials + t);
    const float *at = p->X + 2 * (particle * p->side * (p->side / 2 + 1) + ref_stored(p->side, i, j));
    return (at[0] + I * (double)at[1]) * cexp(I * ((double)pose[6] * (double)i + (double)pose[7] * (double)j));
}

double ref_ctf(const ref_problem *p, int64_t particle, int64_t i, int64_t j) {
    return p->c[particle * p->side * (p->side / 2 + 1) + ref_stored(p->side, i, j)];
}

// Any node of the periodic volume; for x < 0 the mate is stored.
static ref_number node(const ref_problem *p, int64_t x, int64_t y, int64_t z) {
    const int64_t side = p->pad * p->side;
    x = (x % side + side) % side;
    if (x > side / 2) return conj(node(p, side - x, -y, -z));
    y = (y % side + side) % side;
    z = (z % side + side) % side;
    const float *at = p->F3 + 2 * ((z * side + y) * (side / 2 + 1) + x);
    return at[0] + I * (double)at[1];
}

static double sinc(double t) { return t == 0 ? 1 : sin(M_PI * t) / (M_PI * t); }

// Weights along one axis: sets *first to the first node and w[] to the weights; returns their number.
static int weights(const ref_problem *p, double x, int64_t *first, double w[5]) {
    if (p->interpolation == 0) {
        *first = (int64_t)floor(x);
        w[0] = 1 - (x - floor(x));
        w[1] = x - floor(x);
        return 2;
    }
    const int n = p->interpolation == 5 ? 5 : p->interpolation == 4 ? 3 : 1;
    *first = (int64_t)rint(x) - n / 2;
    for (int l = 0; l < n; l++) w[l] = p->interpolation == 1 ? 1 : sinc((x - (double)(*first + l)) / (double)p->pad);
    return n;
}

// S(M q)
static ref_number section(const ref_problem *p, int64_t particle, int64_t t, int64_t i, int64_t j) {
    const float *pose = p->pose + 8 * (particle * p->trials + t);
    double at[3], w[3][5];
    int64_t first[3];
    int n = 0;
    for (int axis = 0; axis < 3; axis++) { // p = M q in single precision, so that all variants use the same nodes
        const float ab = pose[axis] * (float)i, cd = pose[3 + axis] * (float)j, sum = ab + cd;
        at[axis] = (double)sum * (double)p->pad;
    }
    const int mate = at[0] < 0;
    for (int axis = 0; axis < 3; axis++) n = weights(p, mate ? -at[axis] : at[axis], &first[axis], w[axis]);
    ref_number S = 0;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) S += w[0][x] * w[1][y] * w[2][z] * node(p, first[0] + x, first[1] + y, first[2] + z);
    return mate ? conj(S) : S;
}

ref_number *ref_section_image(const ref_problem *p, int64_t particle, int64_t t, int64_t inner, int power) {
    ref_number *plane = ref_plane(p->side);
    for (int64_t j = -p->side / 2 + 1; j <= p->side / 2; j++)
        for (int64_t i = 0; i <= p->side / 2; i++)
            if (ref_in_band(p, i, j, inner)) {
                const double c = ref_ctf(p, particle, i, j), f = power == 2 ? c * c : power == 1 ? 2 * c : 2 * fabs(c);
                *ref_at(plane, p->side, i, j) = f * section(p, particle, t, i, j);
            }
    ref_make_real(plane, p->side);
    ref_transform(plane, p->side, 1);
    return plane;
}
