// SPDX-License-Identifier: MIT
// autocorr_printed:naive: printed_index.h as plain loops in C: integers, no arrays of fixed size, no 32-bit wrap.
#include "printed_index.h"
#include <math.h>

// round(100 linesum / (w - |X0|)) of one pair of lines; i runs past the last pixel as far as the listing's blocks write.
static int64_t line_value(const uint8_t *line0, const uint8_t *line1, int64_t w, int64_t r, int64_t x0) {
    int64_t sum = 0, padded = acp_padded(w, r);
    for (int64_t x = 0; x < w; x++) {
        int64_t i = x - x0;
        if (i >= 0 && i < padded) sum += line0[x] * line1[acp_clamp(i, w)];
    }
    int64_t overlap = w - (x0 < 0 ? -x0 : x0);
    return (int64_t)nearbyint((double)(float)(100.0 * (double)sum / (double)overlap));
}

static int run(rg_call *call) {
    int64_t w = call->shape->n[ACP_WIDTH], h = call->shape->n[ACP_HEIGHT], r = call->shape->n[ACP_R];
    const uint8_t *image = call->arg[ACP_IMAGE];
    int32_t *corr = call->arg[ACP_CORR];
    for (int64_t y0 = 0; y0 < r; y0++)
        for (int64_t x0 = -r; x0 <= r; x0++) {
            int64_t sum = 0;
            for (int64_t line = 1; line <= acp_lines(h, r); line++)
                sum += line_value(image + acp_clamp(line, h) * w, image + acp_clamp(line + y0, h) * w, w, r, x0);
            corr[acp_element(r, x0, y0)] = (int32_t)(sum < INT32_MAX ? sum : INT32_MAX);
        }
    return RG_OK;
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    double lines = (double)acp_lines(s->n[ACP_HEIGHT], s->n[ACP_R]);
    c->amount[RG_I32_MAD] = (double)(acp_threads(s->n[ACP_R]) * s->n[ACP_R]) * lines * (double)s->n[ACP_WIDTH];
}

RG_VARIANT(autocorr_printed_naive) = {
    RG_VARIANT_OF("autocorr_printed", "naive", RG_NAIVE, RG_HOST, "the listing's sums as plain loops, 64 bits wide"),
    .cost = cost,
    .run = run,
};
