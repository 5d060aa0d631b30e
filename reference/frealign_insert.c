// SPDX-License-Identifier: MIT
// frealign_insert.c: pinsert_s and ctfapply in double precision.
#include "frealign.h"
#include <math.h>
#include <stdlib.h>

// ---- pinsert_s -----------------------------------------------------------------------------------------------------------

typedef struct insertion {
    int64_t side;
    int interpolation, squared; // 0 trilinear, 1 nearest, 3 box on the 2^3 nodes
    double *sum;                // re, im, den of every stored node
} insertion;

static double weight_of(int interpolation, double distance) {
    if (interpolation == 0) return 1 - fabs(distance);
    return interpolation == 1 || distance == 0 ? 1 : sin(M_PI * distance) / (M_PI * distance);
}

static void add_node(const insertion *to, int64_t x, int64_t y, int64_t z, double b, ref_number E, double w, double c) {
    const int64_t side = to->side;
    if (x < 0 || x > side / 2 || llabs(y) > side / 2 || llabs(z) > side / 2) return;
    double *at = to->sum + 3 * (((z + side) % side * side + (y + side) % side) * (side / 2 + 1) + x);
    const ref_number num = to->squared ? w * w * b * b * c * E : b * w * 2 * c * E;
    at[0] += creal(num);
    at[1] += cimag(num);
    at[2] += to->squared ? w * b * c * (w * b * c) : b * w * c * c;
}

static void insert(const insertion *to, const double p[3], ref_number E, double w, double c) {
    const int nearest = to->interpolation == 1;
    int64_t node[3];
    for (int corner = 0; corner < (nearest ? 1 : 8); corner++) {
        double b = 1;
        for (int axis = 0; axis < 3; axis++) {
            node[axis] = (int64_t)(nearest ? rint(p[axis]) : floor(p[axis])) + (corner >> axis & 1);
            b *= weight_of(to->interpolation, p[axis] - (double)node[axis]);
        }
        add_node(to, node[0], node[1], node[2], b, E, w, c);
    }
}

static void insert_coefficient(
    const insertion *to, const float *pose, const float *weight, const float *D, double c, int64_t i, int64_t j) {
    const double phase = (double)pose[6] * (double)i + (double)pose[7] * (double)j;
    const ref_number E = (D[0] + I * (double)D[1]) * cexp(I * phase);
    const double w = weight[0] * exp((double)weight[1] * (double)(i * i + j * j));
    double p[3], opposite[3];
    for (int axis = 0; axis < 3; axis++) {
        const float ab = pose[axis] * (float)i, cd = pose[3 + axis] * (float)j, sum = ab + cd; // the same nodes in all variants
        p[axis] = sum;
        opposite[axis] = -sum;
    }
    insert(to, p, E, w, c);
    if (i > 0 || j == to->side / 2) // its mate is not stored
        insert(to, opposite, conj(E), w, c);
}

void rg_ref_pinsert_s(const rg_shape *s, void *const *arg) {
    const int64_t side = s->n[0], kind = s->n[2], trials = s->n[3], b = s->n[4], nodes = (side / 2 + 1) * side * side;
    const insertion to = {side, (int)(kind % 8), (kind & 32) != 0, calloc((size_t)(3 * nodes), sizeof(double))};
    const float *D = arg[0], *c = arg[1], *pose = arg[2], *weight = arg[3];
    float *volume = arg[4];
    if (!to.sum) abort();
    for (int64_t at = 0; at < s->n[1] * trials; at++)
        for (int64_t j = -side / 2 + 1; j <= side / 2; j++)
            for (int64_t i = 0; i <= side / 2; i++) {
                const int64_t e = at / trials * side * (side / 2 + 1) + ref_stored(side, i, j);
                if (i * i + j * j <= b * b)
                    insert_coefficient(&to, pose + 8 * at, weight + 2 * (at / trials), D + 2 * e, c[e], i, j);
            }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < nodes; node++)
        for (int part = 0; part < 3; part++)
            volume[4 * node + part] = (float)(volume[4 * node + part] + to.sum[3 * node + part]);
    free(to.sum);
}

// ---- ctfapply ------------------------------------------------------------------------------------------------------------

static double ctf_at(const float o[6], double i, double j) {
    const double half_turns = o[0] * i * i + o[1] * i * j + o[2] * j * j + o[3] * (i * i + j * j) * (i * i + j * j);
    return o[4] * sin(M_PI * half_turns) - o[5] * cos(M_PI * half_turns);
}

// Xm on the whole plane, from D's image, whose centre is at (N/2, N/2).
static ref_number *masked(const ref_number *X0, int64_t side, double R) {
    ref_number *Xm = ref_plane(side);
    for (int64_t e = 0; e < side * side; e++) Xm[e] = X0[e];
    ref_transform(Xm, side, 1);
    for (int64_t e = 0; e < side * side; e++) Xm[e] /= (double)(side * side);
    ref_mask(Xm, side, R, side / 2);
    ref_transform(Xm, side, -1);
    return Xm;
}

// The factor of Xm at ring k, whose root mean square is A.
static double whitening(double S, double A, double c, int64_t k, int64_t side) {
    const double c4 = 4 * c * c;
    return k > side / 2 || A == 0 ? 0 : S * c4 / (S * c4 + 1) / A;
}

static void apply(const rg_shape *s, void *const *arg, int64_t particle) {
    const int64_t side = s->n[0], kind = s->n[2], first = particle * side * (side / 2 + 1);
    const float *image = (const float *)arg[0] + particle * side * side, *optics = (const float *)arg[1] + 6 * particle;
    const float *shift = (const float *)arg[2] + 2 * particle, *R = arg[3], *ssnr = arg[4];
    float *D = (float *)arg[5] + 2 * first, *X = (float *)arg[6] + 2 * first, *c = (float *)arg[7] + first;
    ref_number *X0 = ref_plane(side);
    for (int64_t e = 0; e < side * side; e++) X0[e] = image[e];
    ref_transform(X0, side, -1);
    for (int64_t j = -side / 2 + 1; j <= side / 2; j++)
        for (int64_t i = 0; i <= side / 2; i++)
            *ref_at(X0, side, i, j) *= cexp(I * ((double)shift[0] * (double)i + (double)shift[1] * (double)j));
    ref_make_real(X0, side);
    ref_number *Xm = masked(X0, side, R[0]);
    double *power = calloc((size_t)(2 * side), sizeof *power), *n = power + side;
    if (!power) abort();
    for (int64_t j = -side / 2 + 1; j <= side / 2; j++)
        for (int64_t i = 0; i <= side / 2; i++) {
            const ref_number x = *ref_at(Xm, side, i, j);
            power[ref_ring(i, j)] += creal(x * conj(x));
            n[ref_ring(i, j)]++;
        }
    for (int64_t j = -side / 2 + 1; j <= side / 2; j++)
        for (int64_t i = 0; i <= side / 2; i++) {
            const int64_t e = ref_stored(side, i, j), k = ref_ring(i, j);
            const double sign = (i + j) % 2 ? -1 : 1, ctf = ctf_at(optics, (double)i, (double)j);
            double factor = sign * (kind & 32 ? ctf : 1);
            if (kind & 64) factor *= whitening(k <= side / 2 ? ssnr[k] : 0, sqrt(power[k] / n[k]), ctf, k, side);
            const ref_number d = sign * *ref_at(X0, side, i, j), x = factor * *ref_at(Xm, side, i, j);
            D[2 * e] = (float)creal(d);
            D[2 * e + 1] = (float)cimag(d);
            X[2 * e] = (float)creal(x);
            X[2 * e + 1] = (float)cimag(x);
            c[e] = (float)ctf;
        }
    free(power);
    fftw_free(Xm);
    fftw_free(X0);
}

void rg_ref_ctfapply(const rg_shape *s, void *const *arg) {
    ref_transform_ready(s->n[0]);
#pragma omp parallel for schedule(dynamic)
    for (int64_t p = 0; p < s->n[1]; p++) apply(s, arg, p);
}
