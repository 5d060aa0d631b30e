// SPDX-License-Identifier: MIT
// parameter.c: right with its standard block of 16, wrong with 64, which nobody tries.
// A tuner would choose it for its speed.
// Shows in the grid of parameters.
#include "../broken.h"

static const int64_t blocks[] = {16, 64};
static const rg_param params[] = {{"block", blocks, RG_COUNT(blocks), 16, "pixels a block"}};

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    const int64_t past = call->param[0] == 64 ? p.width / 64 * 64 : p.width;
    for (int64_t e = 0; e < elements_of(p); e++) {
        sums[e] = 0;
        for (int64_t y = 0; y < p.height; y++) sums[e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, past);
    }
    return RG_OK;
}

BROKEN("parameter", RG_PARAMS(params), .run = run);
