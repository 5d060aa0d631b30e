// SPDX-License-Identifier: MIT
// test_routines.h: for the tests of FREALIGN's routines: a particle that is its section.
#pragma once

#include "../../../impl/frealign/call.h"
#include "../../../impl/frealign/compare/index.h"
#include "../../../impl/frealign/ctf/index.h"
#include "../../../impl/frealign/insert/index.h"
#include "../../../impl/frealign/turn/index.h"
#include "../test_variants.h"

static inline fr_call call_of(const problem *p) {
    const rg_call call = {.shape = &p->shape, .arg = p->arg};
    return fr_call_of(&call);
}

// Sets X of particle 0 to f S e^{-i s.q} of trial 0, in the band only: the routines must find it equal to their reference.
static inline void plant(problem *p) {
    const fr_call c = call_of(p);
    float *X = p->arg[FR_X];
    memset(X, 0, (size_t)c.stored * 2 * sizeof *X);
    for (int64_t e = 0; e < c.stored; e++) {
        const int64_t i = fr_i(c.side, e), j = fr_j(c.side, e);
        if (!fr_in_band(c.side, i, j, 1, c.outer)) continue;
        const double phase = (double)c.pose[6] * (double)i + (double)c.pose[7] * (double)j, f = fr_factor(&c, c.c[e]);
        float S[2];
        fr_section(&c, c.pose, i, j, S);
        X[2 * e] = (float)(f * (S[0] * cos(phase) + S[1] * sin(phase)));
        X[2 * e + 1] = (float)(f * (S[1] * cos(phase) - S[0] * sin(phase)));
    }
}
