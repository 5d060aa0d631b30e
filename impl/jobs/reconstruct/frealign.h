// SPDX-License-Identifier: MIT
// frealign.h: --method frealign: inserts particles under every operator into numerator and denominator, and makes maps of
// these.
#pragma once

#include "../particles/particles.h"
#include "reconstruct.h"

typedef struct fr_reconstruction {
    rc_run run; // its sums have one part, the records of pinsert_s
    fr_files files;
    fr_team team;
    gr_symmetry symmetry;
    enum { FR_INSERT_AS_V9, FR_INSERT_AS_PAPER } preset;
    int64_t side, outer;
    double f, finest_A, pbc, mean_score, mass_kDa, mask_px; // f below 0: by the rule
    rg_buffer grid[2], correction, edge, sums;              // work areas of the maps
    double *rings[2];                                       // for each half: see fr_job_steps.weights
} fr_reconstruction;

extern const rg_option fr_reconstruct_options[];
