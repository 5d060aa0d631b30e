// SPDX-License-Identifier: MIT
// fsc.h: Fourier shell correlation of two maps (Harauz and van Heel 1986), and its table.
#ifndef RG_FSC_H
#define RG_FSC_H

#include <stdint.h>

// Re sum A conj B / sqrt(sum |A|^2 sum |B|^2) over the shells |radius - shell| < 1/2 (halves upwards) of two maps of side^3
// voxels, for shell = 0 .. side / 2; NaN where a map has nothing.
void rg_fsc(int64_t side, const float *a, const float *b, double *fsc);
// Where the curve first falls below the level, in shells, on the line between its neighbours; NaN when it does not.
double rg_fsc_crossing(const double *fsc, int64_t shells, double level);
// What a person reads of it, malloc'ed: "14.32 A (0.0698 per A, 0.0689 to 0.0707 within one standard deviation of FSC)", or
// that the curve is above or below the level at all shells. The deviation of a shell's coefficient is (1 - FSC^2) / sqrt(n), n
// its real numbers that say something of their own: frequencies of the whole space, of which half are the others' mates.
char *rg_fsc_words(int64_t side, double voxel_A, const double *fsc, double level);
// Columns shell frequency resolution fsc, and its plot beside it where there is gnuplot. RG_GOOD, or one line and RG_USAGE.
int rg_fsc_write(const char *path, const char *command, int64_t side, double voxel_A, const double *fsc);

#endif
