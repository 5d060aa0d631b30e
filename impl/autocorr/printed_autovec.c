// SPDX-License-Identifier: MIT
// printed_autovec.c: the sums of printed_index.h as a compiler vectorises them, on one core or all. The image is first copied
// to 16 bits, because compilers know an instruction that adds such products in pairs.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "printed_index.h"
#include <math.h>

// linesum(X0) of two lines of w <= 2^15 pixels: the overlap, and the last column again for i = w .. padded - 1.
RG_HD int64_t line_sum(const int16_t *restrict line0, const int16_t *restrict line1, int64_t w, int64_t padded, int64_t x0) {
    const int64_t first = x0 > 0 ? x0 : 0, past = x0 < 0 ? w + x0 : w, right = padded + x0 < w ? padded + x0 : w;
    int32_t sum = 0, beyond = 0;
    for (int64_t x = first; x < past; x++) sum += line0[x] * line1[x - x0];
    for (int64_t x = past; x < right; x++) beyond += line0[x];
    return sum + (int64_t)beyond * line1[w - 1];
}

RG_HD void printed_row(const rg_shape *s, const int16_t *image, int64_t y0, int32_t *corr) {
    const int64_t w = s->n[ACP_WIDTH], h = s->n[ACP_HEIGHT], r = s->n[ACP_R], padded = acp_padded(w, r);
    for (int64_t x0 = -r; x0 <= r; x0++) {
        const double overlap = (double)(w - (x0 < 0 ? -x0 : x0));
        int64_t sum = 0;
        for (int64_t line = 1; line <= acp_lines(h, r); line++) {
            const int64_t of_line =
                line_sum(image + acp_clamp(line, h) * w, image + acp_clamp(line + y0, h) * w, w, padded, x0);
            sum += (int64_t)nearbyint((double)(float)(100.0 * (double)of_line / overlap));
        }
        corr[acp_element(r, x0, y0)] = (int32_t)(sum < INT32_MAX ? sum : INT32_MAX);
    }
}
RG_AUTOVEC(printed_row, (const rg_shape *s, const int16_t *image, int64_t y0, int32_t *corr), (s, image, y0, corr))

static int run(rg_call *call) {
    const rg_shape *s = call->shape;
    const uint8_t *image = (const uint8_t *)call->arg[ACP_IMAGE];
    int16_t *copy = (int16_t *)call->scratch;
    printed_row_fn *row = printed_row_for(rg_cpu_has(RG_AUTOVEC_WIDE));
    for (int64_t i = 0; i < s->n[ACP_WIDTH] * s->n[ACP_HEIGHT]; i++) copy[i] = image[i];
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t y0 = 0; y0 < s->n[ACP_R]; y0++) row(s, copy, y0, (int32_t *)call->arg[ACP_CORR]);
    return RG_OK;
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    (void)param;
    return (size_t)(s->n[ACP_WIDTH] * s->n[ACP_HEIGHT]) * sizeof(int16_t);
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)param;
    return s->n[ACP_WIDTH] > 1 << 15 ? "sums of a line in 32 bits: at most 32,768 pixels" : NULL;
}

// The existing products: those of the overlaps.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const double w = (double)s->n[ACP_WIDTH], r = (double)s->n[ACP_R];
    (void)param;
    c->amount[RG_I16_MAD] = r * (double)acp_lines(s->n[ACP_HEIGHT], s->n[ACP_R]) * (w * (2 * r + 1) - r * (r + 1));
}

RG_VARIANT(autocorr_printed_autovec) = {
    RG_VARIANT_OF("autocorr_printed", "autovec", RG_SIMD, RG_HOST,
        "the listing's sums as a compiler vectorises them, no intrinsics; any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .refuse = refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
