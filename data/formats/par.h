// SPDX-License-Identifier: MIT
// par.h: FREALIGN's parameter files (.par): a row per particle; lines that begin with C are comments.
//
// Version 9: NO PSI THETA PHI SHX SHY MAG FILM DF1 DF2 ANGAST OCC LogP SIGMA SCORE CHANGE, shifts in A, OCC and SCORE in
// percent; older files lack SIGMA, and cisTEM's have PSHIFT after ANGAST. Version 8: NO .. ANGAST PRESA and sometimes DPRES,
// shifts in pixels, PRESA the phase residual in degrees. Columns have fixed widths and may touch. A row that blanks split into
// the right number of words, all numbers, is read by words; any other by the widths that belong to its length. All rows must
// have the same format.
//
// PSI, THETA, PHI are RELION's psi, tilt, rot. A particle is displaced by (SHX, SHY) from the image's centre, so RELION's
// origin is minus that. Row NO is image NO of the stack.
#pragma once

#include "particles.h"

typedef enum {
    RG_PAR_NO,
    RG_PAR_PSI,
    RG_PAR_THETA,
    RG_PAR_PHI,
    RG_PAR_SHX,
    RG_PAR_SHY,
    RG_PAR_MAG,
    RG_PAR_FILM,
    RG_PAR_DF1,
    RG_PAR_DF2,
    RG_PAR_ANGAST,
    RG_PAR_OCC,
    RG_PAR_LOGP,
    RG_PAR_SIGMA,
    RG_PAR_SCORE,
    RG_PAR_CHANGE,
    RG_PAR_PRESA,
    RG_PAR_PSHIFT,
    RG_PAR_FIELDS
} rg_par_field;

typedef struct rg_par_row {
    double value[RG_PAR_FIELDS]; // 0 if this format has no such column
    int64_t line;
} rg_par_row;

typedef struct rg_par {
    char *path;
    int kind; // index into the formats of par.c; rg_par_version() gives the version
    int64_t n;
    rg_par_row *row;
} rg_par;

// Optics of the images, which a .par file lacks.
typedef struct rg_par_optics {
    double pixel_A, voltage_kV, cs_mm, amplitude_contrast;
} rg_par_optics;

// RG_GOOD, or one line (file, line, expected, found) and RG_USAGE.
int rg_par_read(const char *path, rg_par *);
void rg_par_free(rg_par *);
int rg_par_version(const rg_par *); // 8 or 9
// Makes n empty rows of version 8 (12 columns) or 9 (16 columns), numbered from 1, with OCC 100.
void rg_par_make(rg_par *, int version, int64_t n);
// Writes the file whole or not at all. Refuses a number that its column cannot hold: RG_USAGE and one line.
int rg_par_write(const char *path, const rg_par *);

// Makes particles of the rows, with the images of a stack that must have as many. RG_GOOD, or one line and RG_USAGE.
int rg_par_particles(const rg_par *, const char *stack, const rg_par_optics *, rg_particles *);
// Sets angles and shifts of row i from a particle with pixels of pixel_A.
void rg_par_set_pose(rg_par *, int64_t i, const rg_particle *, double pixel_A);
