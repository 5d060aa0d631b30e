// SPDX-License-Identifier: MIT
// autocorr_process.c: kernels of `autocorr` that end or delay their process, or are wrong with many threads; and a right one
// with a thread that outlives the call.
#include "autocorr.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Must not end the checker, or the variants after it.
SUMS(segfault, "right, then a store through a wild pointer") {
    right_sums(p, sums);
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    *wild = 0;
}

RUN(aborts, "an assertion of its own ends the process") {
    (void)call;
    abort();
}

RUN(exits, "ends the process with status 0, which a careless parent takes for success") {
    (void)call;
    _exit(0);
}

RUN(endless, "a loop that never ends") {
    for (volatile int64_t i = call->shape->n[AC_WIDTH]; i > 0;) i = 1;
    return RG_OK;
}

RUN(lost_update, "many threads add to the same sums with a plain +=", .flags = RG_THREADED) {
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = 0;
#pragma omp parallel for num_threads(call->threads) schedule(static, 1)
    for (int64_t y = 0; y < p.height; y++)
        for (int64_t e = 0; e < elements_of(p); e++) {
            const int64_t seen = *(volatile int64_t *)&sums[e];
            if (call->threads > 1) sched_yield(); // lets the others run, as on a busy machine
            *(volatile int64_t *)&sums[e] = seen + row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
        }
    return RG_OK;
}

enum { MOST = 256, OFFSETS = 4096 };

static const char *few_offsets(const rg_shape *s, const int64_t *param) {
    (void)param;
    return ac_side(s->n[AC_R]) * ac_side(s->n[AC_R]) > OFFSETS ? "at most 4096 offsets" : NULL;
}

// Threads past a fixed number share the state of the first ones and start it from 0 again.
static int sum_by_threads(rg_call *call, int most) {
    static int64_t part[MOST][OFFSETS];
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int t = 0; t < call->threads; t++) { // one after the other, to avoid a race
        memset(part[t % most], 0, sizeof part[0]);
        for (int64_t y = t; y < p.height; y += call->threads)
            for (int64_t e = 0; e < elements_of(p); e++)
                part[t % most][e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
    }
    memset(sums, 0, (size_t)elements_of(p) * sizeof *sums);
    for (int t = 0; t < most && t < call->threads; t++)
        for (int64_t e = 0; e < elements_of(p); e++) sums[e] += part[t][e];
    return RG_OK;
}

RUN(few_threads, "partial sums of 16 threads at the most", .flags = RG_THREADED, .refuse = few_offsets) {
    return sum_by_threads(call, 16);
}

RUN(many_threads, "partial sums of 256 threads at the most", .flags = RG_THREADED, .refuse = few_offsets) {
    return sum_by_threads(call, MOST);
}

typedef struct work {
    photos p;
    int64_t *sums;
} work;

static void *in_thread(void *of) {
    const work *w = of;
    right_sums(w->p, w->sums);
    return NULL;
}

// Appears many times as fast if only the CPU time of the calling thread is counted: duel must count all threads.
SUMS(hidden_thread, "right, by a thread of its own, for which the call waits") {
    work w = {p, sums};
    pthread_t thread;
    if (!pthread_create(&thread, NULL, in_thread, &w)) pthread_join(thread, NULL);
}

RG_PLUGIN = {&segfault, &aborts, &exits, &endless, &lost_update, &few_threads, &many_threads, &hidden_thread, NULL};
