// SPDX-License-Identifier: MIT
#include "stats.h"

#include "../../impl/base/core.h"

const char *const rg_change_name[RG_CHANGES] = {"SAME", "FASTER", "SLOWER", "UNSURE", "BROKEN", "only in A", "only in B"};
const char *const rg_change_colour[RG_CHANGES] = {"green", "green", "red", "yellow", "red", "dim", "dim"};

int rg_gate_read(const char *text, double *gate) {
    char *past;
    errno = 0;
    *gate = strtod(text, &past);
    if (*past == '%') {
        *gate /= 100;
        past++;
    }
    if (errno || past == text || *past || !(*gate > 0 && *gate < 1))
        return rg_fail(RG_USAGE, "--gate: expected a share between 0%% and 100%%, as in 5%%, found \"%s\"", text);
    return RG_GOOD;
}

void rg_ratio_widen(rg_ratio *r) {
    r->low /= 1 + RG_ONE_PROCESS;
    r->high *= 1 + RG_ONE_PROCESS;
}

rg_change rg_gate_judge(const rg_ratio *r, double gate) {
    if (r->low > 1 + gate) return RG_SLOWER;
    if (r->high < 1 / (1 + gate)) return RG_FASTER;
    return r->low >= 1 / (1 + gate) && r->high <= 1 + gate ? RG_SAME : RG_UNDECIDED;
}
