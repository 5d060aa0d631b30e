// SPDX-License-Identifier: MIT
// confounder.h: how much of a difference between two rows may be the doing of their machines' state while they were timed, by what
// the two files say of it: what other processes took of the cores, clocks that were held down, probes that ran at other rates.
#pragma once

#include "compared.h"

// B may have been slowed down so many times more than A, and A than B; both at least 1.
typedef struct rg_confounder {
    double slower, faster;
    char why[RG_WHY]; // "" without any
} rg_confounder;
rg_confounder rg_confounder_find(const rg_result *of_a, const rg_row *a, const rg_result *of_b, const rg_row *b);
// The verdict of an interval of b / a that stands whatever the confounders explain; else UNSURE.
rg_change rg_confounder_judge(const rg_confounder *, const rg_ratio *, double gate);
