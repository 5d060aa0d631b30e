// SPDX-License-Identifier: MIT
// few_threads.c: partial sums of 16 threads at the most, though a call may have more.
// The 17th thread and those after it share what the first ones have, and start it from 0 again.
// Shows with more threads than 16 only, on whatever machine, as sums that are too small.
#include "../broken.h"
#include <string.h>
enum { MOST = 16, OFFSETS = 4096 };

static int run(rg_call *call)
{
    static int64_t part[MOST][OFFSETS];
    const photos p = photos_of(call->shape, call->arg);
    const int teams = call->threads < MOST ? call->threads : MOST;
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int t = 0; t < call->threads; t++) { // in turn, so that it is no race
        memset(part[t % MOST], 0, sizeof part[0]);
        for (int64_t y = t; y < p.height; y += call->threads)
            for (int64_t e = 0; e < elements_of(p); e++)
                part[t % MOST][e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
    }
    for (int64_t e = 0; e < elements_of(p); e++) {
        sums[e] = 0;
        for (int t = 0; t < teams; t++) sums[e] += part[t][e];
    }
    return RG_OK;
}

static const char *refuse(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return ac_side(s->n[AC_R]) * ac_side(s->n[AC_R]) > OFFSETS ? "at most 4096 offsets" : NULL;
}

BROKEN("few_threads", .flags = RG_THREADED, .refuse = refuse, .run = run);
