// SPDX-License-Identifier: MIT
// fsc.h: Fourier shell correlation of two maps (Harauz and van Heel 1986), and its table.
#pragma once

#include <stdint.h>

// Computes Re sum A conj B / sqrt(sum |A|^2 sum |B|^2) over the shells |radius - shell| < 1/2 (halves upwards) of two maps of
// side^3 voxels, for shell = 0 .. side / 2; NaN: a map is 0 there.
void rg_fsc(int64_t side, const float *a, const float *b, double *fsc);
// Replaces the phases of all shells from from_shell on by random ones and keeps the amplitudes; `out` may be the map. The FSC
// of two masked maps that then remains is due to the mask (Chen et al. 2013).
void rg_fsc_randomise(int64_t side, const float *map, int64_t from_shell, uint64_t seed, float *out);
// Corrects the curve of masked maps for the mask: (masked - random) / (1 - random) after the first randomised shells, two of
// which still share frequencies with shells that were not randomised (Chen et al. 2013); unchanged before them.
void rg_fsc_correct(int64_t side, const double *masked, const double *random, int64_t from_shell, double *corrected);
// Describes the curve, malloc'ed: "14.32 A (0.0698 per A, 0.0689 to 0.0707 within one standard deviation of FSC)", or that it
// is above or below the level at all shells. The standard deviation of a shell's coefficient is (1 - FSC^2) / sqrt(n), with n
// its independent real numbers: frequencies of the whole space, half of which are mates of the others.
char *rg_fsc_words(int64_t side, double voxel_A, const double *fsc, double level);
// Writes columns shell frequency resolution fsc, then `more` curves of these names, and the plot beside it if gnuplot is
// available. RG_GOOD, or one line and RG_USAGE.
int rg_fsc_write(const char *path, const char *command, int64_t side, double voxel_A, const double *fsc, int more,
    const char *const *name, const double *const *curve);

// Adds the curve and its description to the job's page; of: "the half maps".
void rg_fsc_show(const char *of, int64_t side, double voxel_A, const double *fsc);
