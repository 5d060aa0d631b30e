// SPDX-License-Identifier: MIT
// fsc.h: Fourier shell correlation of two maps (Harauz and van Heel 1986), and its table.
#pragma once

#include <stdint.h>

// Re sum A conj B / sqrt(sum |A|^2 sum |B|^2) over the shells |radius - shell| < 1/2 (halves upwards) of two maps of side^3
// voxels, for shell = 0 .. side / 2; NaN where a map has nothing.
void rg_fsc(int64_t side, const float *a, const float *b, double *fsc);
// The map with the phases of all shells from this one on drawn anew, amplitudes as they are; `out` may be the map. What then is
// left of the FSC of two masked maps is the mask's doing (Chen et al. 2013).
void rg_fsc_randomise(int64_t side, const float *map, int64_t from_shell, uint64_t seed, float *out);
// The curve of masked maps without what the mask has made of it: (masked - random) / (1 - random) beyond the first shells that
// were randomised, two of which still share frequencies with those that were not (Chen et al. 2013); before them as it is.
void rg_fsc_correct(int64_t side, const double *masked, const double *random, int64_t from_shell, double *corrected);
// What a person reads of it, malloc'ed: "14.32 A (0.0698 per A, 0.0689 to 0.0707 within one standard deviation of FSC)", or
// that the curve is above or below the level at all shells. The deviation of a shell's coefficient is (1 - FSC^2) / sqrt(n), n
// its real numbers that say something of their own: frequencies of the whole space, of which half are the others' mates.
char *rg_fsc_words(int64_t side, double voxel_A, const double *fsc, double level);
// Columns shell frequency resolution fsc, then `more` curves of these names, and its plot beside it where there is gnuplot.
// RG_GOOD, or one line and RG_USAGE.
int rg_fsc_write(const char *path, const char *command, int64_t side, double voxel_A, const double *fsc, int more,
    const char *const *name, const double *const *curve);

// The same curve with what it says in words, for the job's page; of: "the half maps".
void rg_fsc_show(const char *of, int64_t side, double voxel_A, const double *fsc);
