// SPDX-License-Identifier: MIT
// algo.c: describes `ctfapply`, which turns a particle's image into the inputs of the other routines.
#include "../../../reference/reference.h"
#include "../algo.h"
#include "index.h"
#include <inttypes.h>
#include <stdio.h>

static int64_t count_pixels(const rg_shape *s) { return s->n[FR_PARTICLES] * s->n[FR_SIDE] * s->n[FR_SIDE]; }
static int64_t count_optics(const rg_shape *s) { return FR_OPTICS * s->n[FR_PARTICLES]; }
static int64_t count_shift(const rg_shape *s) { return 2 * s->n[FR_PARTICLES]; }
static int64_t count_ssnr(const rg_shape *s) { return s->n[FR_KIND] & FR_RINGS ? s->n[FR_SIDE] / 2 + 1 : 0; }

static const rg_arg args[] = {
    {"image", RG_IN, fr_real, count_pixels},
    {"optics", RG_IN, fr_real, count_optics},
    {"shift", RG_IN, fr_real, count_shift},
    {"setting", RG_IN, fr_real, fr_count_setting},
    {"ssnr", RG_IN, fr_real, count_ssnr},
    {"D", RG_OUT, fr_real, fr_count_images},
    {"X", RG_OUT, fr_real, fr_count_images},
    {"c", RG_OUT, fr_real, fr_count_ctf},
};

#define SHAPE(side, particles, kind)                                                                                           \
    { {side, particles, kind, 1}, 1 }
static const rg_shape check_shapes[] = {
    SHAPE(4, 1, FR_RINGS),
    SHAPE(6, 2, FR_SQUARED),
    SHAPE(8, 1, 0),
    SHAPE(10, 1, FR_RINGS),
    SHAPE(14, 3, FR_RINGS | FR_SQUARED),
    SHAPE(16, 1, FR_RINGS),
    SHAPE(16, 5, FR_SQUARED),
    SHAPE(22, 1, FR_RINGS),
    SHAPE(32, 2, FR_RINGS),
    SHAPE(34, 1, FR_SQUARED),
    SHAPE(48, 17, FR_RINGS),
    SHAPE(56, 1, FR_RINGS),
    SHAPE(66, 2, FR_SQUARED),
};

static const rg_bench_shape bench_shapes[] = {
    {SHAPE(56, 1, FR_RINGS), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(112, 1, FR_RINGS), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(224, 1, FR_RINGS), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(500, 1, FR_RINGS), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(500, 1, FR_SQUARED), RG_QUICK, "Supp. Table 1"},
    {SHAPE(112, 32, FR_RINGS), RG_QUICK, "batch"},
    {SHAPE(224, 128, FR_RINGS), RG_PAPER, "batch"},
    {SHAPE(500, 64, FR_RINGS), RG_PAPER, "batch"},
};

static const char *invalid(const rg_shape *s) {
    const char *why = fr_invalid(s, 1u << 0, FR_SQUARED | FR_RINGS);
    if (why) return why;
    return fr_pad(s->n[FR_KIND]) != 1 || s->n[FR_TRIALS] != 1 ? "there is one trial, and no reference to pad" : NULL;
}

// Pixels of magnitude below 2/N, so that coefficients have magnitudes about 1; if all magnitudes are equal, random signs make
// them white.
static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    static const double extreme[8] = {0, 1, -1, 0x1p-23, -1 + 0x1p-23, 0, 0x1p-60, -0x1p-120};
    const int64_t side = s->n[FR_SIDE];
    const double scale = ldexp(1, -ilogb((double)side)), edge = (double)side / 2;
    float *image = arg[FR_APPLY_IMAGE], *optics = arg[FR_APPLY_OPTICS], *shift = arg[FR_APPLY_SHIFT],
          *ssnr = arg[FR_APPLY_SSNR];
    for (int64_t e = 0; e < count_pixels(s); e++) {
        const double x = fr_draw(s, FR_DRAW_X, e);
        const int alive = (e % side + e / side) & 1;
        double value = x;
        if (pattern == RG_POSITION) value = copysign((double)(1 + e * 40503 % 65521) * 0x1p-16, x);
        if (pattern == RG_MAXIMUM) value = copysign(1, x);
        if (pattern == RG_EXTREME)
            value = alive ? copysign(0.5 + fabs(x) / 2, x) : extreme[rg_bits(s->seed + 7, (uint64_t)e) >> 61];
        image[e] = (float)(scale * value);
    }
    for (int64_t p = 0; p < s->n[FR_PARTICLES]; p++) {
        static const double largest[4] = {8, 8, 8, 2}; // half turns at the corner: 8 + 8 + 8 + 4 * 2
        for (int e = 0; e < 4; e++)
            optics[FR_OPTICS * p + e] = (float)(largest[e] / pow(edge, e == 3 ? 4 : 2) * fr_draw(s, FR_DRAW_C, 8 * p + e));
        const double w = 0.6 * (1 + fr_draw(s, FR_DRAW_C, 8 * p + 4)) / 2;
        optics[FR_OPTICS * p + 4] = (float)sqrt(1 - w * w);
        optics[FR_OPTICS * p + 5] = (float)w;
        double px[2];
        fr_draw_shift(s, 2 * p, px);
        for (int axis = 0; axis < 2; axis++) shift[2 * p + axis] = (float)(8 * atan(1) / (double)side * px[axis]);
    }
    fr_fill_setting(s, pattern, arg[FR_APPLY_SETTING]);
    for (int64_t k = 0; k < count_ssnr(s); k++) ssnr[k] = k == 0 ? 0 : (float)((fr_draw(s, FR_DRAW_OTHER, k) + 1) / 2);
}

// Images made by fill.c have coefficients of root mean square below 1.
static rg_tolerance tolerance(const rg_shape *s) {
    const double ctf = 3.1416 * 4 * FR_U * FR_HALF_TURNS,
                 e = 3 * fr_transform_error(s->n[FR_SIDE]) + fr_phase_error() + 2 * ctf;
    return (rg_tolerance){RG_BOUND, FR_RING_SPREAD * e, e,
        "float rounding of three transforms, shift and, most of all, a CTF of up to 32 half turns (bound.h)"};
}

// Coefficients of the columns 0 and N/2 of D are those of a real image; the CTF is at most 1.
static const char *invariant(const rg_shape *s, void *const *arg) {
    const int64_t side = s->n[FR_SIDE];
    const double most = 4 * tolerance(s).absolute;
    const float *D = arg[FR_APPLY_D], *c = arg[FR_APPLY_C];
    for (int64_t p = 0; p < s->n[FR_PARTICLES]; p++)
        for (int64_t i = 0; i <= side / 2; i += side / 2)
            for (int64_t j = 0; j <= side / 2; j++) {
                const int64_t e = p * fr_stored(side) + fr_element(side, i, j);
                const int64_t mate = p * fr_stored(side) + fr_element(side, i, 2 * j == side ? j : -j);
                if (!(fabs(D[2 * e] - D[2 * mate]) <= most && fabs(D[2 * e + 1] + D[2 * mate + 1]) <= most))
                    return "D is not the transform of a real image in the columns 0 and N/2";
            }
    for (int64_t e = 0; e < fr_count_ctf(s); e++)
        if (!(fabsf(c[e]) <= 1 + 1e-5f)) return "the CTF is beyond 1";
    return NULL;
}

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    const int64_t side = s->n[FR_SIDE];
    if (which >= FR_APPLY_D)
        fr_where_image(s, element, which == FR_APPLY_C ? 1 : 2, text);
    else if (which == FR_APPLY_IMAGE)
        snprintf(text, 64, "(p=%" PRId64 ",x=%" PRId64 ",y=%" PRId64 ")", element / side / side, element % side,
            element / side % side);
    else
        snprintf(text, 64, "(%" PRId64 ")", element);
}

static double traffic_bytes(const rg_shape *s) { return 4 * (double)count_pixels(s) + 20 * (double)fr_count_ctf(s); }
static double work(const rg_shape *s) { return (double)count_pixels(s); }

static const rg_shape smoke_shapes[] = {{{32, 2, 64, 1}, 1}};

RG_ALGO(ctfapply) = {
    FR_ALGO(ctfapply, "D = DFT(image) e^{i s.q}; X = DFT(mask(IDFT D)) c, or whitened and weighted by the SSNR; c the CTF"),
    .dim = {"s", "p", "k", "t"},
    .dim_name = {"side", "particles", "kind", "trials"},
    .invariant = invariant,
    .rate_unit = "pixels/s",
    .order = "batch scatter simd naive",
};
