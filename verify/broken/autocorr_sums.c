// SPDX-License-Identifier: MIT
// autocorr_sums.c: kernels of `autocorr` whose sums are wrong, and the control.
#include "autocorr.h"
#include <stdlib.h>

SUMS(right, "the control: a checker that blames everything would catch all its neighbours") { right_sums(p, sums); }

SUMS(null, "does nothing: whatever stood in the output would pass, were it not poisoned") { (void)p, (void)sums; }

// Passes a checker that only tests whether outputs are written, finite, positive or repeatable.
SUMS(constant, "the same plausible number everywhere") {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = 1;
}

// Hidden by smooth photographs, whose neighbouring sums differ by little.
SUMS(off_by_one, "offsets rounded towards zero: every negative X0 is one too large") {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = right_sum(p, ac_x0(p.r, e) + (ac_x0(p.r, e) < 0), ac_y0(p.r, e));
}

// The centre, the mirror symmetry and the total stay right.
SUMS(transposed, "columns and rows of the output exchanged") {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = right_sum(p, ac_y0(p.r, e), ac_x0(p.r, e));
}

// Right on the axes, and for photographs that are symmetric.
SUMS(sign, "the sign of Y0 is wrong: y + Y0 for y - Y0") {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = right_sum(p, ac_x0(p.r, e), -ac_y0(p.r, e));
}

SUMS(half_plane, "Y0 <= 0 alone: the half that symmetry gives is not copied") {
    for (int64_t e = 0; e < elements_of(p); e++)
        if (ac_y0(p.r, e) <= 0) sums[e] = right_element(p, e);
}

SUMS(last_row, "< where <= is meant: the last row of the output is left out") {
    for (int64_t e = 0; e < elements_of(p) - ac_side(p.r); e++) sums[e] = right_element(p, e);
}

static int64_t sum_before(const photos p, int64_t e, int64_t past) // columns [0, past)
{
    int64_t sum = 0;
    for (int64_t y = 0; y < p.height; y++) sum += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, past);
    return sum;
}

// Right for widths that are multiples of 16, as those of many test pictures.
SUMS(tail, "blocks of 16 pixels, and the pixels after the last whole block forgotten") {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = sum_before(p, e, p.width / 16 * 16);
}

static const int64_t blocks[] = {16, 64};
static const rg_param params[] = {{"block", blocks, RG_COUNT(blocks), 16, "pixels a block"}};

// Tuning would select it for its speed.
RUN(parameter, "right with its standard block of 16, wrong with 64", RG_PARAMS(params)) {
    const photos p = photos_of(call->shape, call->arg);
    for (int64_t e = 0; e < elements_of(p); e++)
        ((int64_t *)call->arg[AC_SUMS])[e] = sum_before(p, e, call->param[0] == 64 ? p.width / 64 * 64 : p.width);
    return RG_OK;
}

// Passes comparisons of the form |a - b| > tol, which are false for NaN; these are the bits of the poison.
SUMS(poison, "one element in the middle is what no sum can be, -1; of floating-point outputs it would be NaN") {
    right_sums(p, sums);
    sums[elements_of(p) / 2] = -1;
}

static const char *eight_bits(const rg_shape *s, const int64_t *param) {
    (void)param;
    return s->n[AC_KIND] & AC_16BIT ? "8-bit pixels only" : NULL;
}

// Right for every photograph of usual brightness and size.
SUMS(overflow_32bit, "sums in 32 bits, which hold no more than 33,025 pixels of 255 x 255", .refuse = eight_bits) {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = (int32_t)(uint32_t)right_element(p, e); // what a 32-bit sum wraps to
}

static int64_t lanes(const photos p, int64_t x0, int64_t y0) {
    int64_t sum = 0;
    for (int64_t x = 0; x < p.width; x++) {
        uint32_t lane = 0;
        for (int64_t y = 0; y < p.height; y++) lane += (uint32_t)row_sum(p, x0, y0, y, x, x + 1);
        sum += (int32_t)lane;
    }
    return sum;
}

// Fails for a narrow picture that is white: a size at which kernels change their path (verify/thresholds.tsv).
SUMS(lanes_never_emptied, "a column's products summed in 32 bits over all rows: right up to 33,025 of them",
    .refuse = eight_bits) {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = lanes(p, ac_x0(p.r, e), ac_y0(p.r, e));
}

// True of every new allocation, but not of a row within a larger picture.
SUMS(unaligned, "takes its inputs to begin at a multiple of 16 bytes") {
    photos aligned = p;
    aligned.a = (const void *)((uintptr_t)p.a & ~(uintptr_t)15);
    aligned.b = (const void *)((uintptr_t)p.b & ~(uintptr_t)15);
    right_sums(aligned, sums);
}

SUMS(narrow_offsets, "a table of offsets up to 256 either way, and 0 beyond it") {
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = llabs(ac_x0(p.r, e)) > 256 || llabs(ac_y0(p.r, e)) > 256 ? 0 : right_element(p, e);
}

// Right for one photograph, for 8 bits, for odd widths and for a small R.
SUMS(wide_cross,
    "of two photographs of 16 bits, of an even width, the first column beyond half of it is that of the other side") {
    const int64_t x0 = p.width / 2 + 1, is_wrong = p.a != p.b && p.sixteen_bit && p.width % 2 == 0 && p.r >= x0;
    right_sums(p, sums);
    for (int64_t y0 = -p.r; y0 <= p.r && is_wrong; y0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, -x0, y0);
}

// Right for offsets of up to 511 pixels.
SUMS(offsets_10bit, "offsets are signed numbers of 10 bits: -512 is what comes after 511") {
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_sum(p, ((ac_x0(p.r, e) + 512) & 1023) - 512, ((ac_y0(p.r, e) + 512) & 1023) - 512);
}

SUMS(line_cross, "of two photographs of a single line, the second's last pixel is forgotten") {
    right_sums(p, sums);
    for (int64_t x0 = -p.r; x0 <= p.r && p.a != p.b && p.height == 1; x0++) {
        const int64_t x = p.width - 1 + x0;
        if (x >= 0 && x < p.width)
            sums[ac_element(p.r, x0, 0)] -= pixel_at(p.a, p.sixteen_bit, x) * pixel_at(p.b, p.sixteen_bit, p.width - 1);
    }
}

RG_PLUGIN = {&right, &null, &constant, &off_by_one, &transposed, &sign, &half_plane, &last_row, &tail, &parameter, &poison,
    &overflow_32bit, &lanes_never_emptied, &unaligned, &narrow_offsets, &wide_cross, &offsets_10bit, &line_cross, NULL};
