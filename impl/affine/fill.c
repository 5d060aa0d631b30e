// SPDX-License-Identifier: MIT
// fill.c: inputs of the three algorithms. Image and reference share waves a few pixels long or longer, so that a slightly wrong
// transform changes the correlation, and have independent noise. |values| <= 1 (bound.h).
#include "bound.h"
#include "fill.h"
#include "sums.h"

// Random number j of item i in -1 .. 1, a multiple of 2^-23.
static double draw(uint64_t seed, int64_t i, int j) {
    return (double)(rg_bits(seed, (uint64_t)i * 32 + (uint64_t)j) >> 40) * 0x1p-23 - 1;
}

// A triangle wave between -1 and 1: unlike a sine, it has the same bits on every machine. |turns| < 2^31.
static double wave(double turns) {
    const double towards_0 = (double)(int)turns, below = towards_0 > turns ? towards_0 - 1 : towards_0; // floor, without a call
    return 4 * fabs(turns - below - 0.5) - 1;
}

// Value at a pixel, whose place is in fractions of the sides.
static double waves(double x, double y, double d) { return (wave(3 * x + y + 2 * d) + wave(x - 4 * y + 3 * d)) / 2; }

static double extreme(uint64_t seed, int64_t e) {
    const double value[8] = {0, 1, -1, 0x1p-23, 1 - 0x1p-23, -0.5, 0x1p-120, -0x1p-140}; // the last is denormal
    return value[rg_bits(seed, (uint64_t)e) >> 61];
}

static float value(uint64_t seed, rg_pattern pattern, int64_t e, double textured) {
    switch (pattern) {
    case RG_POSITION:
        return (float)ldexp((double)(1 + (e + (int64_t)(seed >> 40)) * 40503 % 65521), -16); // neighbours far apart
    case RG_MAXIMUM: return (float)(1 - (1 + textured) / AF_BRIGHT);
    case RG_EXTREME: return (float)extreme(seed, e);
    default: return (float)textured;
    }
}

// ---- transforms ----------------------------------------------------------------------------------------------------------

// Rotation about axis 0 z, 1 y, 2 x; quarter turns are exact.
static void turn(int axis, double degrees, double r[9]) {
    const double angle = degrees * (atan(1) / 45);
    const int quarter = fmod(degrees, 90) == 0;
    const double c = quarter ? round(cos(angle)) : cos(angle), s = quarter ? round(sin(angle)) : sin(angle);
    const int p = axis == 0 ? 0 : axis == 1 ? 2 : 1, q = axis == 0 ? 1 : axis == 1 ? 0 : 2; // p turns towards q
    for (int e = 0; e < 9; e++) r[e] = e % 4 == 0;
    r[4 * p] = r[4 * q] = c;
    r[3 * p + q] = -s;
    r[3 * q + p] = s;
}

static void multiply(const double a[9], const double b[9], double ab[9]) {
    for (int e = 0; e < 9; e++)
        ab[e] = a[e / 3 * 3] * b[e % 3] + a[e / 3 * 3 + 1] * b[3 + e % 3] + a[e / 3 * 3 + 2] * b[6 + e % 3];
}

static void turns(const af_size *z, const double degrees[3], double r[9]) {
    double about[9], half[9], further[9];
    turn(0, degrees[0], r);
    if (z->dims == 2) return;
    turn(1, degrees[1], about);
    multiply(r, about, half);
    turn(0, degrees[2], further);
    multiply(half, further, r);
}

// A map of the lattice onto itself: axes permuted and mirrored (in two dimensions z stays).
static void permute(const af_size *z, uint64_t bits, double r[9]) {
    int axis[3] = {0, 1, 2};
    for (int a = z->dims - 1; a > 0; a--, bits /= 3) {
        const int b = (int)(bits % (uint64_t)(a + 1)), was = axis[a];
        axis[a] = axis[b];
        axis[b] = was;
    }
    for (int e = 0; e < 9; e++) r[e] = 0;
    for (int a = 0; a < 3; a++, bits /= 2) r[3 * a + axis[a]] = a < z->dims && bits % 2 ? -1 : 1;
}

// The map of a feature of the image: c + M (p - c) + shift. position: lattice onto lattice. random: the paper's ranges (Sects
// 2.1, 2.2). maximum: steps of 45 degrees and half pixels. extreme: everything in one point, nothing visible, half and twice
// the size.
static void draw_map(
    const af_size *z, uint64_t seed, rg_pattern pattern, int64_t i, int attempt, double r[9], double shift[3]) {
    const int side[3] = {z->w, z->h, z->d};
    const uint64_t bits = rg_bits(~seed, (uint64_t)i) >> 8;
    double degrees[3], scale = 1;
    for (int a = 0; a < 3; a++) {
        const double any = draw(~seed, i, 8 * attempt + 1 + a), to = draw(~seed, i, 8 * attempt + 4 + a);
        degrees[a] = pattern == RG_MAXIMUM ? 45 * (double)((bits >> 3 * a) % 8)
                                           : any * (z->dims == 2 && pattern == RG_RANDOM ? 10 : 180);
        shift[a] = z->dims == 2 ? to * 300 / 2048 * side[a] : to * (side[a] < 20 ? side[a] / 4.0 : 5);
        if (pattern == RG_POSITION) shift[a] = round(shift[a]);
        if (pattern == RG_MAXIMUM) shift[a] = round(2 * shift[a]) / 2;
        if (pattern == RG_EXTREME && (bits + (uint64_t)i) % 4 == 1) shift[a] = (to < 0 ? -4 : 4) * side[a];
    }
    if (pattern == RG_RANDOM && z->dims == 2) scale = 1.05 + 0.15 * draw(~seed, i, 8 * attempt + 7);
    if (pattern == RG_EXTREME && (bits + (uint64_t)i) % 4 >= 2) scale = (bits + (uint64_t)i) % 4 == 2 ? 0.5 : 2;
    if (pattern == RG_POSITION)
        permute(z, bits, r);
    else
        turns(z, degrees, r);
    for (int e = 0; e < 9; e++) r[e] /= scale; // whose transpose, in put, is the inverse map
}

// Smallest distance of any s from the lines at which rule 2 begins to omit pixels.
static double clearance(const af_size *z, const float *m) {
    const int side[3] = {z->w, z->h, z->d};
    double least = INFINITY;
    for (int64_t e = 0; e < af_pixels(z); e++) {
        const int64_t p[3] = {af_pixel_x(z, e), af_pixel_y(z, e), af_pixel_z(z, e)};
        for (int a = 0; a < z->dims; a++) {
            const float *row = m + a * (z->dims + 1);
            double s = (double)row[z->dims] + side[a] / 2;
            for (int b = 0; b < z->dims; b++) s += (double)row[b] * (double)(p[b] - side[b] / 2);
            least = fmin(least, fmin(fabs(s + AF_MARGIN), fabs(s - ((float)(side[a] - 1) + AF_MARGIN))));
        }
    }
    return least;
}

static void put(const af_size *z, const double r[9], const double shift[3], float *m) {
    double inverse[9], back[3];
    for (int e = 0; e < 9; e++) inverse[e] = r[e % 3 * 3 + e / 3];
    for (int a = 0; a < 3; a++)
        back[a] = -(inverse[3 * a] * shift[0] + inverse[3 * a + 1] * shift[1] + inverse[3 * a + 2] * shift[2]);
    for (int a = 0; a < z->dims; a++, m += z->dims + 1) {
        for (int b = 0; b < z->dims; b++) m[b] = (float)inverse[3 * a + b];
        m[z->dims] = (float)back[a];
    }
}

static void fill_map(const af_size *z, uint64_t seed, rg_pattern pattern, int64_t i, float *m) {
    double r[9], shift[3] = {0, 0, 0};
    if (z->turn) {
        const int64_t t = z->turn - 1;
        turn((int)(t / 361), (double)(t % 361 - 180), r);
        put(z, r, shift, m);
        return;
    }
    if (pattern == RG_EXTREME && z->transforms > 1 && i == z->transforms - 1) { // identity: a reference linear in the image
        for (int e = 0; e < 9; e++) r[e] = e % 4 == 0;
        put(z, r, shift, m);
        return;
    }
    if (pattern == RG_EXTREME && ((rg_bits(~seed, (uint64_t)i) >> 8) + (uint64_t)i) % 4 == 0) {
        for (int e = 0; e < af_numbers(z->dims); e++) m[e] = 0; // every pixel is the one at the centre
        return;
    }
    // A small image is compared pixel by pixel: rounding must not decide whether a pixel takes part.
    const int small = (double)af_pixels(z) < 3e5;
    for (int attempt = 0; attempt < 1000; attempt++) {
        draw_map(z, seed, pattern, i, attempt, r, shift);
        put(z, r, shift, m);
        if (z->outside != AF_IGNORE || !small || clearance(z, m) > 2 * af_misplaced(z)) break;
    }
}

// If all pixels are the one at the centre, the image is constant, which sums in single precision about a typical value must
// detect: they may leave 1e-5 of the sum of squares (sums.h). The typical value is made a bad one, -1 wherever the sample is
// read, so that a remainder shows in a correlation. The centre gets that one of 64 numbers for which a sum of TERMS terms
// leaves most: more than 1e-5, so that no variant may add that many in sequence.
enum { CANDIDATES = 64, TERMS = 512 };
static void put_constant(const af_size *z, uint64_t seed, float *image) {
    const int64_t n = af_pixels(z), centre = af_pixel(z, af_centre(z->w), af_centre(z->h), af_centre(z->d));
    float best = 0;
    double most = -1;
    if (n < 4 * AF_SAMPLE) return; // the sample must be a quarter of the image at most
    for (int i = 0; i < AF_SAMPLE; i++) image[af_sample_at(n, i)] = -1;
    for (int i = 0; i < CANDIDATES; i++) {
        image[centre] = (float)draw(seed + (uint64_t)i, centre, 0);
        const float a = image[centre] - af_typical(image, n);
        float sum = 0, squares = 0;
        for (int k = 0; k < TERMS; k++) sum += a, squares += a * a;
        const double left = 1 - (double)sum * sum / TERMS / squares;
        if (left > most) most = left, best = image[centre];
    }
    image[centre] = best;
}

// A row at a time, on all cores for large images, because benchmarks fill them repeatedly.
enum { LARGE = 1 << 18 };
static void fill_image(const af_size *z, uint64_t seed, rg_pattern pattern, float *image) {
#pragma omp parallel for schedule(static) if (af_pixels(z) >= LARGE)
    for (int64_t row = 0; row < af_pixels(z) / z->w; row++) {
        int64_t e = row * z->w;
        const double y = (double)af_pixel_y(z, e) / z->h, d = (double)af_pixel_z(z, e) / z->d;
        for (int i = 0; i < z->w; i++, e++)
            image[e] = value(seed, pattern, e, (waves((double)i / z->w, y, d) + draw(seed, e, 0)) / 2);
    }
}

void af_fill(const af_size *z, uint64_t seed, rg_pattern pattern, float *image, float *reference, float *matrix) {
    fill_image(z, seed, pattern, image);
    if (pattern == RG_EXTREME) put_constant(z, seed, image);
    // Linear in the image: a correlation of 1, which rounding may exceed.
    for (int64_t e = 0; reference && pattern == RG_EXTREME && e < af_pixels(z); e++) reference[e] = 0.6f * image[e] + 0.3f;
    if (reference && pattern != RG_EXTREME) fill_image(z, seed ^ 0x9E3779B97F4A7C15u, pattern, reference);
    for (int64_t i = 0; i < z->transforms; i++) fill_map(z, seed, pattern, i, matrix + i * af_numbers(z->dims));
}
