// SPDX-License-Identifier: MIT
// fill.c: inputs of the seven algorithms: white noise in Fourier space, so that every coefficient counts and every ring has
// power, with the symmetry of transforms of real images; for each pattern of suite.h.
//
// position: magnitudes encode the coefficient's position; orientations are those of the cube, so that p falls on nodes.
// maximum: all parts 1, rotations by 45 degrees, no mask. extreme: every other coefficient is 0, tiny, denormal or largest, and
// the rest give every ring power; orientations differ a little from those of the cube.
#include "algo.h"
#include <stdlib.h>

static const double TURN = 6.28318530717958647692;

double fr_draw(const rg_shape *s, int stream, int64_t index) {
    const uint64_t seed = s->seed * 8 + (uint64_t)stream;
    return (double)(rg_bits(seed, (uint64_t)index) >> 40) * 0x1p-23 - 1;
}

// All cores fill large arrays: a benchmark fills them repeatedly. Each element depends on the seed and its index alone.
enum { LARGE = 1 << 18 };

static double share(const rg_shape *s, int stream, int64_t index) { return (fr_draw(s, stream, index) + 1) / 2; }

// Real number `at` of a stream. alive: one that `extreme` leaves unchanged.
static float value_at(const rg_shape *s, rg_pattern pattern, int stream, int64_t at, int alive) {
    static const float extreme[8] = {0, 1, -1, 0x1p-23f, -1 + 0x1p-23f, 0, 0x1p-60f, -0x1p-130f};
    const double x = fr_draw(s, stream, at);
    switch (pattern) {
    case RG_POSITION: return (float)copysign((double)(1 + at * 40503 % 65521) * 0x1p-16, x);
    case RG_MAXIMUM: return 1;
    case RG_EXTREME: return alive ? (float)copysign(0.5 + fabs(x) / 2, x) : extreme[rg_bits(s->seed + 7, (uint64_t)at) >> 61];
    default: return (float)x;
    }
}

void fr_fill_images(const rg_shape *s, rg_pattern pattern, int stream, float *X) {
    const int64_t side = s->n[FR_SIDE], particles = s->n[FR_PARTICLES];
#pragma omp parallel for collapse(2) schedule(static) if (particles * fr_stored(side) >= LARGE)
    for (int64_t p = 0; p < particles; p++)
        for (int64_t e = 0; e < fr_stored(side); e++) {
            const int64_t i = fr_i(side, e), j = fr_j(side, e), mate = i == 0 && j < 0;
            const int64_t at = 2 * (p * fr_stored(side) + e),
                          from = 2 * (p * fr_stored(side) + (mate ? fr_element(side, 0, -j) : e));
            X[at] = value_at(s, pattern, stream, from, (i + j) & 1);
            X[at + 1] = value_at(s, pattern, stream, from + 1, (i + j) & 1) * (mate ? -1.0f : 1.0f);
            if (i == 0 && (j == 0 || 2 * j == side)) X[at + 1] = 0;
        }
}

void fr_fill_ctf(const rg_shape *s, rg_pattern pattern, float *c) {
    const int64_t side = s->n[FR_SIDE], particles = s->n[FR_PARTICLES];
#pragma omp parallel for collapse(2) schedule(static) if (particles * fr_stored(side) >= LARGE)
    for (int64_t p = 0; p < particles; p++)
        for (int64_t e = 0; e < fr_stored(side); e++) {
            const int64_t i = fr_i(side, e), j = fr_j(side, e);
            const int64_t from = i == 0 && j < 0 ? fr_element(side, 0, -j) : e;
            c[p * fr_stored(side) + e] = value_at(s, pattern, FR_DRAW_C, p * fr_stored(side) + from, (i + j) & 1);
        }
}

void fr_fill_noise(const rg_shape *s, int stream, int64_t n, float *to) {
#pragma omp parallel for schedule(static) if (n >= LARGE)
    for (int64_t e = 0; e < n; e++) to[e] = (float)fr_draw(s, stream, e);
}

void fr_fill_reference(const rg_shape *s, rg_pattern pattern, float *F3) {
    const int64_t side = fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE], width = fr_width(side);
#pragma omp parallel for collapse(2) schedule(static) if (side * side * width >= LARGE)
    for (int64_t z = 0; z < side; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < width; x++) {
                const int64_t own = fr_voxel(side, x, y, z), other = fr_voxel(side, x, side - y, side - z);
                const int64_t from = (x == 0 || 2 * x == side) && other < own ? other : own;
                F3[2 * own] = value_at(s, pattern, FR_DRAW_F3, 2 * from, (x + y + z) & 1);
                F3[2 * own + 1] =
                    value_at(s, pattern, FR_DRAW_F3, 2 * from + 1, (x + y + z) & 1) * (from == own ? 1.0f : -1.0f);
                if (own == other && (x == 0 || 2 * x == side)) F3[2 * own + 1] = 0;
            }
}

// ---- poses ---------------------------------------------------------------------------------------------------------------

// Angle number `at`, in radians.
static double angle(const rg_shape *s, rg_pattern pattern, int64_t at) {
    const double x = share(s, FR_DRAW_POSE, at), quarter = floor(4 * x) / 4 * TURN;
    switch (pattern) {
    case RG_POSITION: return quarter;
    case RG_MAXIMUM: return floor(8 * x) / 8 * TURN;
    case RG_EXTREME: return quarter + fr_draw(s, FR_DRAW_POSE, at + 3) * 0x1p-10;
    default: return x * TURN;
    }
}

void fr_draw_shift(const rg_shape *s, int64_t at, double px[2]) {
    const double u = 4 * fr_draw(s, FR_DRAW_POSE, at), v = 4 * fr_draw(s, FR_DRAW_POSE, at + 1);
    px[0] = u + v;
    px[1] = u - v;
}

void fr_fill_pose(const rg_shape *s, rg_pattern pattern, float *pose) {
    for (int64_t t = 0; t < s->n[FR_PARTICLES] * s->n[FR_TRIALS]; t++) {
        double m[9], px[2];
        const double uniform = acos(fr_draw(s, FR_DRAW_POSE, 16 * t + 1));
        fr_rotation(angle(s, pattern, 16 * t), pattern == RG_RANDOM ? uniform : angle(s, pattern, 16 * t + 1),
            angle(s, pattern, 16 * t + 2), m);
        fr_draw_shift(s, 16 * t + 8, px);
        fr_pose(m, 1, px, s->n[FR_SIDE], pose + FR_POSE_FLOATS * t);
    }
}

void fr_fill_operators(const rg_shape *s, rg_pattern pattern, float *pose) {
    const int64_t operators = s->n[FR_TRIALS], order = operators % 2 ? operators : operators / 2;
    for (int64_t p = 0; p < s->n[FR_PARTICLES]; p++)
        for (int64_t o = 0; o < operators; o++) {
            const double turn = TURN * (double)(o % order) / (double)order;
            double m[9], px[2];
            fr_rotation(angle(s, pattern, 16 * p) + turn, angle(s, pattern, 16 * p + 1), angle(s, pattern, 16 * p + 2), m);
            for (int e = 3; e < 9 && o >= order; e++) m[e] = -m[e]; // the two-fold axis along x
            fr_draw_shift(s, 16 * p + 8, px);
            fr_pose(m, 1, px, s->n[FR_SIDE], pose + FR_POSE_FLOATS * (p * operators + o));
        }
}

// The mask's radius, chosen so that no pixel lies exactly on its circle: its edge lies within the image, in `extreme` across
// the image's sides and corners, in `maximum` beyond them; the fall-off over rings; the ring from which |C| counts.
void fr_fill_setting(const rg_shape *s, rg_pattern pattern, float *setting) {
    const double side = (double)s->n[FR_SIDE], radius = share(s, FR_DRAW_SETTING, 0);
    setting[0] = (float)(pattern == RG_MAXIMUM ? 2 * side
            : pattern == RG_EXTREME            ? floor(side * (0.5 + 0.2 * radius)) + 2.37
                                               : floor(side * (0.25 + 0.2 * radius)) + 0.37);
    setting[1] = (float)(4 / (side * side) * share(s, FR_DRAW_SETTING, 1));
    setting[2] = (float)floor(side / 2 * share(s, FR_DRAW_SETTING, 2));
}
