// SPDX-License-Identifier: MIT
// planted.c: a plug-in of autocorr that is slower by its parameter, a percentage: after the sums it runs a loop whose length
// prepare() has calibrated. The right verdict of duel is therefore known (verify/duels.sh counts).
#include "autocorr/index.h"

#include <math.h>
#include <time.h>

static const int64_t percents[] = {0, 1, 2, 3, 5, 10};
static const rg_param params[] = {{"percent", percents, RG_COUNT(percents), 0, "CPU time added to that of the sums"}};

static void sums_of(const rg_call *call) {
    const int64_t *n = call->shape->n, r = n[AC_R];
    const uint8_t *a = call->arg[AC_A];
    int64_t *sums = call->arg[AC_SUMS];
    for (int64_t y0 = -r; y0 <= r; y0++)
        for (int64_t x0 = -r; x0 <= r; x0++) {
            int64_t sum = 0;
            for (int64_t y = ac_first(y0); y < ac_past(n[AC_HEIGHT], y0); y++)
                for (int64_t x = ac_first(x0); x < ac_past(n[AC_WIDTH], x0); x++)
                    sum += a[y * n[AC_WIDTH] + x] * a[(y - y0) * n[AC_WIDTH] + x - x0];
            sums[ac_element(r, x0, y0)] = sum;
        }
}

// Each turn waits for the one before it, so that its time is that of the multiplier.
static void loop(int64_t turns) {
    uint64_t x = 1;
    for (; turns > 0; turns--) {
        x = x * 0x9E3779B97F4A7C15u + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The least of several tries, each long enough for the clock, since other work on the machine can only lengthen one.
static int prepare(rg_call *call) {
    enum { TRIES = 9, TURNS = 200000 };
    double one_s = INFINITY, turn_s = INFINITY;
    int64_t *turns = (int64_t *)call->scratch;
    for (int i = 0; call->param[0] && i < TRIES; i++) {
        double began = cpu_s(), spent = 0;
        int calls = 0;
        for (; spent < 3e-4; calls++, spent = cpu_s() - began) sums_of(call);
        one_s = fmin(one_s, spent / calls);
        began = cpu_s();
        loop(TURNS);
        turn_s = fmin(turn_s, (cpu_s() - began) / TURNS);
    }
    *turns = call->param[0] ? (int64_t)((double)call->param[0] / 100 * one_s / turn_s) : 0;
    return RG_OK;
}

static int run(rg_call *call) {
    sums_of(call);
    loop(*(int64_t *)call->scratch);
    return RG_OK;
}

static size_t scratch(const rg_shape *shape, const int64_t *param) {
    (void)shape, (void)param;
    return sizeof(int64_t);
}

static const char *refuse(const rg_shape *shape, const int64_t *param) {
    (void)param;
    return shape->n[AC_KIND] ? "8-bit autocorrelation only" : NULL;
}

RG_VARIANT(autocorr_planted) = {
    RG_VARIANT_OF("autocorr", "planted", RG_OTHER, RG_HOST, "slower by a known share"),
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .prepare = prepare,
    .run = run,
};
RG_PLUGIN = {&RG_VARIANT_SYMBOL(autocorr_planted), NULL};
