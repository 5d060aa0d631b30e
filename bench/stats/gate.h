// SPDX-License-Identifier: MIT
// gate.h: the words that compare and duel share for "is the new one slower", and the gate that decides them.
#pragma once

#include "stats.h"

// BROKEN: it passed, and does not any more. The last two are of files.
typedef enum { RG_SAME, RG_FASTER, RG_SLOWER, RG_UNDECIDED, RG_BROKEN, RG_ONLY_A, RG_ONLY_B, RG_CHANGES } rg_change;
extern const char *const rg_change_name[RG_CHANGES];   // "SAME", "FASTER", "SLOWER", "UNSURE", "BROKEN", "only in A", ...
extern const char *const rg_change_colour[RG_CHANGES]; // for rg_colour()

// "5%" or "0.05". RG_GOOD, or one line and RG_USAGE.
int rg_gate_read(const char *text, double *gate);
// Rows of one process each do not tell what changes from one to the next: their interval is moved out by what equal kernels
// were found to differ by (3 % on an H200 for kernels of 10 us in equal buffers at other places, as bench --self-test found).
#define RG_ONE_PROCESS 0.03
void rg_ratio_widen(rg_ratio *);
// Of the interval of new / old: SLOWER when all of it lies above 1 + gate, FASTER below 1 / (1 + gate), SAME between the two.
rg_change rg_gate_judge(const rg_ratio *, double gate);
