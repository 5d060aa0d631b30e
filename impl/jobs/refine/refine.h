// SPDX-License-Identifier: MIT
// refine.h: the commands `regather refine` and `regather search`. Private to this room and its tests.
//
//     grid.c         directions of a search
//     lockstep.c     minimisations that are evaluated together
//     poses.c        poses of many particles improved in lock step: the objective, the prior, what is known afterwards
//     checkpoint.c   finished particles on disk, for --resume
//     refine.c       the command refine
//     search.c       the command search: ccp over the grid, the best directions refined
#ifndef RG_REFINE_H
#define RG_REFINE_H

#include "../particles/particles.h"

// ---- what is done already ------------------------------------------------------------------------------------------------

// OUT.part, to which the particles of every batch are added when it is finished, so that --resume goes on from there.
typedef struct fr_checkpoint {
    FILE *file; // NULL: none is kept
    char *path;
    int64_t *row, rows; // of the particles that are left
    int64_t resumed, kept; // particles that the file had, and has
    bool warned;           // that it cannot be written
} fr_checkpoint;

// All rows are left, or with --resume those that are not in OUT.part, whose results are taken over. RG_GOOD, or one line and a
// code.
int fr_checkpoint_open(fr_checkpoint *, const rg_cli *, fr_files *, const char *out);
void fr_checkpoint_add(fr_checkpoint *, const fr_files *, const int64_t *row, int64_t n); // one thread at a time
void fr_checkpoint_close(fr_checkpoint *, bool finished); // finished, or with no particle in it: the file is deleted

// ---- refinement ----------------------------------------------------------------------------------------------------------

// Angles in radians, shifts in radians an index, A further from focus, relative magnification less 1.
enum { FR_PHI, FR_THETA, FR_PSI, FR_SHIFT_X, FR_SHIFT_Y, FR_DEFOCUS, FR_MAGNIFICATION, FR_PARAMETERS };

typedef struct fr_refinement {
    int64_t side, kind, inner, outer, trials;
    double pixel_A, mask_px;
    float setting[FR_SETTINGS];
    const char *optimiser;
    double step, tolerance, unit[FR_PARAMETERS];
    bool is_free[FR_PARAMETERS], has_prior;
    double mean_px[2], sd_px[2]; // of the shifts in the file, for the prior
    int64_t most_evaluations;
    uint64_t seed;
    // Over all that were refined.
    int64_t evaluations, least, most, refined, particles;
    double *ring, coefficient; // sums of presb by ring, of ccoef
} fr_refinement;

// Options of refine and search.
#define FR_REFINE_OPTIONS                                                                                                      \
    {"reference", "VOL.mrc", "the map that particles are compared with", false},                                               \
        {"reference-pixel", "A", "voxel size of that map, where its header has none or a wrong one", false},                   \
        {"out", "NEW.star", "particles with their new poses and scores; NEW.par writes FREALIGN's format", false},             \
        {"low", "A", "coarsest resolution that is used (default: all but the mean)", false},                                   \
        {"high", "A", "finest resolution that is used (default: three pixels)", false},                                        \
        {"mask-radius", "A", "radius of the mask on sections and particles (default: 0.45 sides)", false},                     \
        {"b-factor", "A2", "rings are weighted by exp(-B/4 g^2) (default 0)", false},                                          \
        {"preset", "v9|paper", "form of the objective: whitened, trilinear (v9, default), or as in the paper", false},         \
        {"no-prior", NULL, "do not hold shifts to the mean and spread that they have in PARTICLES", false},                    \
        {"optimiser", "NAME", "praxis (default) or bobyqa", false},                                                            \
        {"step", "U", "first step of bobyqa in units of 0.1 rad and of 0.01 rad an index (default 1); praxis finds its own",   \
         false},                                                                                                               \
        {"tolerance", "U", "stop when nothing moves by more, in these units (default 0.1)", false},                            \
        {"max-evaluations", "N", "of one particle (default 5000)", false},                                                     \
        {"batch", "N", "particles of a GPU at a time (default: refine 128, search 24)", false},                                \
        {"gpus", "N", "how many GPUs share the particles (default: all)", false},                                              \
        {"resume", NULL, "go on from NEW.star.part, which a run that was stopped left behind", false},                         \
    {                                                                                                                          \
        "variant", "ALGO:NAME", "which variant computes ctfapply, ccp, sigma2, cc3m, presb, ccoef; may be repeated", true      \
    }

enum { FR_REFINE_ROUTINES = 1 << FR_DO_APPLY | 1 << FR_DO_NOISE | 1 << FR_DO_SCORE | 1 << FR_DO_RINGS | 1 << FR_DO_WHOLE };

int fr_refinement_options(fr_refinement *, const fr_files *, const rg_cli *);
// Floats of an engine's output for a batch.
int64_t fr_refinement_out(const fr_refinement *, int64_t batch);
// Improves trials poses x[n][trials][7] of the particles row[n] that an engine has; the best goes into their rows and scores,
// and to the checkpoint.
int fr_refine_poses(fr_refinement *, fr_engine *, fr_files *, fr_checkpoint *, const int64_t *row, int64_t n, double *x);
void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]);
void fr_pose_of(const rg_particle *, double x[FR_PARAMETERS]); // shift 0: images come already shifted
// What was found on average, on stdout; OUT_rings.tsv. Of those that were not resumed.
int fr_refinement_report(const fr_refinement *, const fr_files *, const fr_checkpoint *, const rg_cli *, const char *out);
void fr_refinement_free(fr_refinement *);

#endif
