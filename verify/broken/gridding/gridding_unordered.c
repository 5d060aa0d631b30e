// SPDX-License-Identifier: MIT
// gridding_unordered.c: adds the rows in an order that changes from run to run, as atomics do, and does not say so.
// Every run is within the bound. The order is drawn: threads that race are too lucky on one core.
// Shows as a run that differs from the first in its bits.
#include "gridding.h"

static int scatter_somehow(rg_call *call)
{
    static uint64_t runs;
    const gr_call p = gr_call_of(call, 0);
    const int64_t side = 2 * p.k + 1, rows = p.images * p.operators * side, from = (int64_t)(rg_bits(runs++, 0) >> 1) % rows;
    if (rows == 1) // which have no order
        return scatter(call);
    gr_clear(&p);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = (i + from) % rows, sample = row / side;
        add_row(&p, sample / p.operators, p.rotation + 9 * sample, row % side - p.k);
    }
    return RG_OK;
}

BROKEN_PLUGIN("gridding", "gridding_unordered", .tolerance = tolerance, .run = scatter_somehow);
