// SPDX-License-Identifier: MIT
#include "blobs.h"
#include "../../impl/base/core.h"
#include "noise.h"

// ---- the icosahedron -----------------------------------------------------------------------------------------------------

static void multiply(const double a[9], const double b[9], double c[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

// Rotation by an angle about a unit axis (Rodrigues).
static void about(const double u[3], double angle, double r[9]) {
    double c = cos(angle), s = sin(angle), t = 1 - c;
    const double m[9] = {t * u[0] * u[0] + c, t * u[0] * u[1] - s * u[2], t * u[0] * u[2] + s * u[1],
        t * u[0] * u[1] + s * u[2], t * u[1] * u[1] + c, t * u[1] * u[2] - s * u[0], t * u[0] * u[2] - s * u[1],
        t * u[1] * u[2] + s * u[0], t * u[2] * u[2] + c};
    memcpy(r, m, sizeof m);
}

static bool is_new(const double (*group)[9], int n, const double m[9]) {
    for (int g = 0; g < n; g++) {
        double apart = 0;
        for (int i = 0; i < 9; i++) apart += fabs(group[g][i] - m[i]);
        if (apart < 1e-6) return false;
    }
    return true;
}

// All products of a 2-fold rotation about z and a 5-fold one, found by multiplying until nothing new appears.
static void icosahedral_group(double group[RG_ICOSAHEDRAL_BLOBS][9]) {
    const double golden = (1 + sqrt(5)) / 2, length = sqrt(1 + golden * golden);
    const double two[3] = {0, 0, 1}, five[3] = {golden / length, 0, -1 / length}, one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double generator[2][9];
    about(two, M_PI, generator[0]);
    about(five, 2 * M_PI / 5, generator[1]);
    memcpy(group[0], one, sizeof one);
    int n = 1;
    for (int g = 0; g < n; g++)
        for (int k = 0; k < 2; k++) {
            double m[9];
            multiply(generator[k], group[g], m);
            if (n < RG_ICOSAHEDRAL_BLOBS && is_new((const double(*)[9])group, n, m)) memcpy(group[n++], m, sizeof m);
        }
}

void rg_blobs_icosahedral(int64_t side, double sigma, rg_blob blob[RG_ICOSAHEDRAL_BLOBS]) {
    // A direction off every axis and mirror plane, so that the shell has a hand.
    const double direction[3] = {0.29, 0.37, 0.88}, length = sqrt(0.29 * 0.29 + 0.37 * 0.37 + 0.88 * 0.88);
    double group[RG_ICOSAHEDRAL_BLOBS][9], radius = 0.34 * (double)side;
    icosahedral_group(group);
    for (int b = 0; b < RG_ICOSAHEDRAL_BLOBS; b++) {
        blob[b] = (rg_blob){.sigma = sigma, .amplitude = 1};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) blob[b].at[i] += group[b][3 * i + j] * direction[j] / length * radius;
    }
}

void rg_blobs_d7(int64_t side, double sigma, uint64_t seed, rg_blob blob[RG_D7_BLOBS]) {
    const double length = 150.0 / 258 * (double)side, width = 115.0 / 258 * (double)side;
    for (int b = 0; b < RG_D7_BLOBS; b++) {
        double u[4];
        for (int i = 0; i < 4; i++) u[i] = rg_uniform(seed + 0xD7, (uint64_t)(b / 14 * 4 + i));
        double radius = width / 2 * (0.2 + 0.7 * sqrt(u[0])), angle = 2 * M_PI / 7 * u[1], z = length / 2 * 0.9 * u[2];
        double flip = b % 2 ? -1 : 1, turn = 2 * M_PI / 7 * (b % 14 / 2);
        double x = radius * cos(angle), y = flip * radius * sin(angle);
        blob[b] = (rg_blob){.at = {x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn), flip * z},
            .sigma = sigma,
            .amplitude = 0.5 + u[3]};
    }
}

void rg_blobs_asymmetric(int64_t side, double sigma, uint64_t seed, rg_blob blob[RG_ASYMMETRIC_BLOBS]) {
    for (uint64_t b = 0; b < RG_ASYMMETRIC_BLOBS; b++) {
        double radius = 0.32 * (double)side * cbrt(rg_uniform(seed, 5 * b)), z = 1 - 2 * rg_uniform(seed, 5 * b + 1);
        double angle = 2 * M_PI * rg_uniform(seed, 5 * b + 2), across = sqrt(1 - z * z);
        blob[b] = (rg_blob){.at = {radius * across * cos(angle), radius * across * sin(angle), radius * z},
            .sigma = sigma * (1 + rg_uniform(seed, 5 * b + 3)),
            .amplitude = 0.5 + rg_uniform(seed, 5 * b + 4)};
    }
}

// ---- sampling ------------------------------------------------------------------------------------------------------------

// The band-limited factor at pixels 0 .. side - 1 about `at`. cos(f t) follows from cos((f - 1) t) and cos((f - 2) t).
static void factor(double at, double sigma, int64_t side, double *value) {
    double *now = rg_alloc((size_t)(3 * side) * sizeof *now), *before = now + side, *twice = now + 2 * side;
    double n = (double)side, height = sigma * sqrt(2 * M_PI) / n;
    for (int64_t i = 0; i < side; i++) {
        before[i] = 1;
        now[i] = cos(2 * M_PI / n * ((double)i - at));
        twice[i] = 2 * now[i];
        value[i] = height;
    }
    for (int64_t f = 1; 2 * f <= side; f++) {
        double falloff = exp(-2 * M_PI * M_PI * sigma * sigma * (double)(f * f) / (n * n));
        double weight = height * falloff * (2 * f == side ? 1 : 2); // side / 2 and -side / 2 are one frequency
        if (falloff < 1e-14) break;
        for (int64_t i = 0; i < side; i++) {
            value[i] += weight * now[i];
            double next = twice[i] * now[i] - before[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
    free(now);
}

// plane(i, j) = sum over the parts of their factors at i and j; row by row, so that a row stays in cache while all parts are
// added.
static void add_products(int n, const double *across, int64_t across_step, const double *down, int64_t side, double *plane) {
    memset(plane, 0, (size_t)(side * side) * sizeof *plane);
    for (int64_t j = 0; j < side; j++)
        for (int b = 0; b < n; b++) {
            const double *x = across + b * across_step * side;
            double h = down[b * side + j];
            for (int64_t i = 0; i < side; i++) plane[j * side + i] += h * x[i];
        }
}

void rg_blobs_image(
    int n, const rg_blob *blob, const double a[9], const double origin_px[2], int64_t side, int64_t centre, double *image) {
    double *across = rg_alloc((size_t)(2 * n * side) * sizeof *across), *down = across + n * side;
    for (int b = 0; b < n; b++) {
        const double *c = blob[b].at;
        double height = blob[b].amplitude * blob[b].sigma * sqrt(2 * M_PI);
        factor(a[0] * c[0] + a[1] * c[1] + a[2] * c[2] - origin_px[0] + (double)centre, blob[b].sigma, side, across + b * side);
        factor(a[3] * c[0] + a[4] * c[1] + a[5] * c[2] - origin_px[1] + (double)centre, blob[b].sigma, side, down + b * side);
        for (int64_t i = 0; i < side; i++) across[b * side + i] *= height;
    }
    add_products(n, across, 1, down, side, image);
    free(across);
}

double *rg_blobs_factors(int n, const rg_blob *blob, int64_t side) {
    double *factors = rg_alloc((size_t)(3 * n * side) * sizeof *factors);
    for (int b = 0; b < n; b++)
        for (int axis = 0; axis < 3; axis++)
            factor(blob[b].at[axis] + (double)(side / 2), blob[b].sigma, side, factors + (3 * b + axis) * side);
    return factors;
}

void rg_blobs_section(int n, const rg_blob *blob, const double *factors, int64_t side, int64_t z, double *section) {
    RG_FREED double *down = rg_alloc((size_t)(n * side) * sizeof *down);
    for (int b = 0; b < n; b++)
        for (int64_t j = 0; j < side; j++)
            down[b * side + j] = blob[b].amplitude * factors[(3 * b + 2) * side + z] * factors[(3 * b + 1) * side + j];
    add_products(n, factors, 3, down, side, section);
}
