// SPDX-License-Identifier: MIT
// job_map.h: from finished sums to maps and their Fourier shell correlation.
#ifndef RG_FREALIGN_JOB_MAP_H
#define RG_FREALIGN_JOB_MAP_H

#include "../refine/refine.h"

typedef struct fr_reconstruction {
    fr_files files;
    fr_team team;
    gr_symmetry symmetry;
    const char *out;
    bool write_halves, paper;
    int64_t side, outer;
    double f, pbc, mean_score, mass_kDa, mask_px; // f below 0: the rule
    // Of each engine: the weights of the loaded particles, and its sums. The first engine has both halves in the end.
    struct fr_sums {
        rg_buffer weight, volume[2];
    } *sums;
} fr_reconstruction;

// Bytes of a device that fr_maps takes beside the sums.
double fr_maps_bytes(int64_t side);
// Maps, their correlation and the files, on the engine that has the sums of both halves: a task of the team's first.
int fr_maps(fr_reconstruction *, fr_engine *);

#endif
