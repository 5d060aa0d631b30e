// SPDX-License-Identifier: MIT
// lost_update.c: many threads add to the same sums with a plain +=.
// Between the read and the write of one thread others add theirs, which is then lost.
// Shows with several threads only, as a sum that is too small.
#include "../broken.h"
#include <sched.h>

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = 0;
#pragma omp parallel for num_threads(call->threads) schedule(static, 1)
    for (int64_t y = 0; y < p.height; y++)
        for (int64_t e = 0; e < elements_of(p); e++) {
            const int64_t seen = *(volatile int64_t *)&sums[e];
            if (call->threads > 1) sched_yield(); // the others' turn, as on a busy machine
            *(volatile int64_t *)&sums[e] = seen + row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
        }
    return RG_OK;
}

BROKEN("lost_update", .flags = RG_THREADED, .run = run);
