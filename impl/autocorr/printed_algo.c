// SPDX-License-Identifier: MIT
// printed_algo.c: the algorithm `autocorr_printed` as data; printed_index.h defines it.
#include "../../reference/reference.h"
#include "printed_index.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static rg_type grey_type(const rg_shape *s) { return (void)s, RG_U8; }
static rg_type corr_type(const rg_shape *s) { return (void)s, RG_I32; }
static int64_t count_image(const rg_shape *s) { return s->n[ACP_WIDTH] * s->n[ACP_HEIGHT]; }
static int64_t count_corr(const rg_shape *s) { return acp_threads(s->n[ACP_R]) * s->n[ACP_R]; }

static const rg_arg args[] = {
    {"image", RG_IN, grey_type, count_image},
    {"corr", RG_OUT, corr_type, count_corr},
};

// Widths below, at and above whole rows of 2R + 1 threads; fewer lines than offsets; the widest line; the most offsets.
#define CHECK(w, h, r, g)                                                                                                      \
    { {w, h, r, g}, 1 }
static const rg_shape check_shapes[] = {
    CHECK(2, 1, 1, 255),
    CHECK(4, 6, 1, 255),
    CHECK(6, 4, 2, 255),
    CHECK(14, 9, 3, 255),
    CHECK(15, 9, 3, 255),
    CHECK(16, 9, 3, 1),
    CHECK(31, 17, 5, 255),
    CHECK(33, 32, 16, 100),
    CHECK(64, 20, 18, 255),
    CHECK(129, 40, 20, 255),
    CHECK(300, 12, 6, 255),
    CHECK(791, 7, 3, 255),
    CHECK(266, 140, 132, 60),
    CHECK(257, 300, 2, 255),
};
#undef CHECK

// At 750 pixels a line the listing's arrays hold few offsets: 750 rounded up to whole rows of 2R + 1 must not pass 800.
static const rg_bench_shape bench_shapes[] = {
    {{{150, 300, 25, 100}, 1}, RG_QUICK, "a fifth of the side"},
    // R over the whole range that the listing's arrays hold at 750 pixels: rows of 2 R + 1 that end between 750 and 800.
    {{{750, 1500, 10, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 25, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 37, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 62, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 77, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 130, 100}, 1}, RG_PAPER, "listing 1"},
    {{{750, 1500, 195, 100}, 1}, RG_PAPER, "listing 1"},
};

static const char *invalid(const rg_shape *s) {
    int64_t w = s->n[ACP_WIDTH], h = s->n[ACP_HEIGHT], r = s->n[ACP_R], g = s->n[ACP_GREY];
    if (w <= 0 || h <= 0 || w > INT64_C(1) << 24 || h > INT64_C(1) << 24) return "width and height must lie between 1 and 2^24";
    if (r < 1) return "the listing's grid has R blocks along Y0, so R must be at least 1";
    if (r >= w) return "the listing divides by width - |X0|, so R must be smaller than the width";
    if (r > h + 1) return "the listing's grid has height - R + 2 blocks, so R must not exceed height + 1";
    if (g < 0 || g > 255) return "the brightest grey level must lie between 0 and 255";
    return NULL;
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    uint8_t *image = arg[ACP_IMAGE];
    int64_t n = count_image(s), w = s->n[ACP_WIDTH];
    uint64_t levels = (uint64_t)s->n[ACP_GREY] + 1;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = rg_bits(s->seed, (uint64_t)i) >> 16;
        switch (pattern) {
        case RG_POSITION: image[i] = (uint8_t)((uint64_t)(i % w + 37 * (i / w)) % levels); break;
        case RG_MAXIMUM: image[i] = (uint8_t)(levels - 1); break;
        case RG_EXTREME: image[i] = (uint8_t)(bits & 1 ? levels - 1 : 0); break;
        default: image[i] = (uint8_t)(bits % levels);
        }
    }
}

// A line's float sum of integers is exact up to 2^24; beyond, the i-th of w additions errs by at most half a unit in the last
// place of i g^2, 2^-24 w (w + 1) / 2 g^2 in all. The quotient 100 linesum / (w - |X0|), at most 100 g^2 w / (w - R), is
// rounded to float. Then rounding to an integer may cross one half, which adds one a line.
static rg_tolerance tolerance(const rg_shape *s) {
    double w = (double)s->n[ACP_WIDTH], h = (double)s->n[ACP_HEIGHT], r = (double)s->n[ACP_R], g = (double)s->n[ACP_GREY];
    double scale = 100 * g * g / (w - r), sum = g * g * w > 0x1p24 ? scale * w * (w + 1) * 0x1p-25 : 0;
    double line = 1 + sum + scale * w * 0x1p-24;
    return (rg_tolerance){RG_BOUND, (h - r + 2) * line, 0,
        "lines x (1 for the rounding + errors of a line's float sum and of its quotient in float)"};
}

// Every thread multiplies the whole line, zeros included.
static double work(const rg_shape *s) {
    return (double)count_corr(s) * (double)acp_lines(s->n[ACP_HEIGHT], s->n[ACP_R]) * (double)s->n[ACP_WIDTH];
}

// The tolerance has one a line, as much as a different rounding rule changes. A line whose quotient is farther from one half
// than its errors has only one right integer: corr lies between the sums of the smallest and of the largest integers.
static const char *invariant(const rg_shape *s, void *const *arg) {
    static _Thread_local char text[160];
    const int64_t w = s->n[ACP_WIDTH], h = s->n[ACP_HEIGHT], r = s->n[ACP_R], g = s->n[ACP_GREY], padded = acp_padded(w, r);
    const double of_sum = g * g * w > 1 << 24 ? (double)(g * g * w) * (double)(w + 1) * 0x1p-25 : 0;
    const uint8_t *image = arg[ACP_IMAGE];
    const int32_t *corr = arg[ACP_CORR];
    if (work(s) > 1e7) return NULL; // as much work as the reference; small sizes detect a rounding rule, too
    for (int64_t e = 0; e < count_corr(s); e++) {
        const int64_t x0 = acp_x0(r, e), y0 = acp_y0(r, e), from = x0 > 0 ? x0 : 0, past = padded + x0 < w ? padded + x0 : w;
        double least = 0, most = 0;
        for (int64_t line = 1; line <= acp_lines(h, r); line++) {
            const uint8_t *a = image + acp_clamp(line, h) * w, *b = image + acp_clamp(line + y0, h) * w;
            int64_t sum = 0;
            for (int64_t x = from; x < past; x++) sum += a[x] * b[acp_clamp(x - x0, w)];
            const double scale = 100 / (double)(w - llabs(x0)), value = scale * (double)sum;
            const double error = scale * of_sum + value * 0x1p-23; // the quotient and, where it is in float, the factor 100
            least += rint(value - error);
            most += rint(value + error);
        }
        if (corr[e] < fmin(least, INT32_MAX) || corr[e] > fmin(most, INT32_MAX)) {
            snprintf(text, sizeof text, "corr(X0=%" PRId64 ",Y0=%" PRId64 ") is %" PRId32 ", rounded to nearest %.0f .. %.0f",
                x0, y0, corr[e], least, most);
            return text;
        }
    }
    return NULL;
}

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    if (which == ACP_CORR)
        snprintf(text, 64, "(X0=%" PRId64 ",Y0=%" PRId64 ")", acp_x0(s->n[ACP_R], element), acp_y0(s->n[ACP_R], element));
    else
        snprintf(text, 64, "(x=%" PRId64 ",y=%" PRId64 ")", element % s->n[ACP_WIDTH], element / s->n[ACP_WIDTH]);
}

static const char *index_fault(const rg_shape *s) {
    int64_t r = s->n[ACP_R];
    for (int64_t e = 0; e < count_corr(s); e++)
        if (acp_element(r, acp_x0(r, e), acp_y0(r, e)) != e) return "acp_element is not the inverse of acp_x0, acp_y0";
    for (int64_t x0 = -r; x0 <= r; x0++)
        if (acp_x0(r, acp_element(r, x0, r - 1)) != x0 || acp_y0(r, acp_element(r, x0, r - 1)) != r - 1)
            return "acp_x0, acp_y0 are not the inverse of acp_element";
    return NULL;
}

static double traffic_bytes(const rg_shape *s) { return (double)count_image(s) + 4.0 * (double)count_corr(s); }

static const rg_shape smoke_shapes[] = {{{64, 20, 18, 255}, 1}};

RG_ALGO(autocorr_printed) = {
    .name = "autocorr_printed",
    .paper = "Lu 2009",
    .formula = "listing 1: corr(X0,Y0) = sum over lines y of round(100 sum over x of I(x,y) I(x-X0,y+Y0) / (w-|X0|))",
    .dim = {"w", "h", "r", "g"},
    .dim_name = {"width", "height", "max-offset", "grey"},
    RG_ALGO_ARRAYS(args, check_shapes, bench_shapes, smoke_shapes),
    .invalid = invalid,
    .fill = fill,
    .reference = rg_ref_autocorr_printed,
    .reference_at = rg_ref_autocorr_printed_at,
    .tolerance = tolerance,
    .invariant = invariant,
    .where = where,
    .index_fault = index_fault,
    .traffic_bytes = traffic_bytes,
    .work = work,
    .rate_unit = "multiply-adds/s",
};
