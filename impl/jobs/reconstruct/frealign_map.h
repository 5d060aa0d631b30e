// SPDX-License-Identifier: MIT
// frealign_map.h: from finished sums to maps and their Fourier shell correlation.
#pragma once

#include "../particles/particles.h"
#include "../../base/symmetry.h"

typedef struct fr_reconstruction {
    fr_files files;
    fr_team team;
    gr_symmetry symmetry;
    const char *out;
    bool write_halves;
    enum { FR_INSERT_AS_V9, FR_INSERT_AS_PAPER } preset;
    int64_t side, outer;
    double f, finest_A, pbc, mean_score, mass_kDa, mask_px; // f below 0: the rule
    rg_buffer *volume; // the sums of member m: volume[2 * m + half], in its memory; the first has both halves in the end
} fr_reconstruction;

// What fr_maps takes of its device beside the sums.
void fr_maps_need(const fr_reconstruction *, const fr_engine *, rg_needs *);
// Maps, their correlation and the files, on the engine that has the sums of both halves: a task of the team's first.
int fr_maps(fr_reconstruction *, fr_engine *);
