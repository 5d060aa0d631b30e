// SPDX-License-Identifier: MIT
// refine.h: the commands `regather refine` and `regather search`. Private to this room and its tests.
//
//     grid.c         directions of a search
//     lockstep.c     minimisations that are evaluated together
//     poses.c        poses of many particles improved in lock step: the objective, the prior, what is known afterwards
//     checkpoint.c   finished particles on disk, for --resume
//     refine.c       what both have in common; the command refine
//     search.c       the command search: ccp over the grid, the best directions refined
#pragma once

#include "../particles/particles.h"
#include "../pipeline/ranks.h"

// ---- what is done already ------------------------------------------------------------------------------------------------

// Over particles that were refined. Coefficients are whole numbers of 2^-36 (of up to 1e8 particles): their sum is the same in
// any order of batches, threads and resumed runs.
enum { FR_SUM_BITS = 36 };
typedef struct fr_sums {
    int64_t particles, refined, evaluations, least, most; // particles; poses that were minimised, evaluations in all, of one
    int64_t coefficient, rings, *ring;                    // of ccoef, and of presb by ring
} fr_sums;
void fr_sums_make(fr_sums *, int64_t side);
void fr_sums_free(fr_sums *);

enum { FR_RESULTS = 10 }; // new of a particle: angles, origin, both defocus values, score, sigma, magnification

// The particles that are left, handed out to all engines of all processes; and OUT.part, which rank 0 keeps: every batch is
// added to it when it is finished, wherever that was, so that --resume goes on from there with any number of processes.
typedef struct fr_checkpoint {
    FILE *file; // NULL: none is kept
    char *path;
    int64_t *row, rows;           // of the particles that are left
    double (*result)[FR_RESULTS]; // of those, in their order
    rg_deal deal;                 // of those
    fr_files *files;
    pl_team *team;
    int64_t resumed, kept; // particles that the file had, and that this run added
    fr_sums sums;          // of both
    bool warned;           // that it cannot be written
} fr_checkpoint;

// All rows are left, or with --resume those that are not in OUT.part, whose results are taken over: when command, particles,
// reference and images are those of the run that left it. A batch at least is handed out at a time. RG_GOOD, or one line and a
// code.
struct fr_refinement;
int fr_checkpoint_open(fr_checkpoint *, const rg_given *, const struct fr_refinement *, fr_files *, pl_team *);
// A batch that a command has improved (fr_pose_command): rows of s->particles particles and their sums.
void fr_checkpoint_add(fr_checkpoint *, const int64_t *row, const fr_sums *s);
void fr_checkpoint_close(fr_checkpoint *, bool finished); // finished, or with no particle in it: the file is deleted

// ---- refinement ----------------------------------------------------------------------------------------------------------

// Angles in radians, shifts in radians an index, A further from focus, relative magnification less 1.
enum { FR_PHI, FR_THETA, FR_PSI, FR_SHIFT_X, FR_SHIFT_Y, FR_DEFOCUS, FR_MAGNIFICATION, FR_PARAMETERS };

typedef struct fr_refinement {
    // What was typed.
    const char *reference, *out;
    double reference_pixel_A, low_A, high_A, mask_A, b_factor_A2;
    enum { FR_PRESET_V9, FR_PRESET_PAPER } preset;
    enum { FR_PRAXIS, FR_BOBYQA } method;
    int64_t batch;    // particles of a device at a time
    bool batch_typed; // else fewer where memory is short
    bool no_prior, resume;

    int64_t side, kind, inner, outer, trials;
    double pixel_A, mask_px;
    float setting[FR_SETTINGS];
    const char *optimiser;
    double step, tolerance, unit[FR_PARAMETERS];
    bool is_free[FR_PARAMETERS], has_prior;
    double mean_px[2], sd_px[2]; // of the shifts in the file, for the prior
    int64_t most_evaluations;
    uint64_t seed;
} fr_refinement;

extern const rg_option fr_refinement_options[]; // of refine and search

// Improves trials poses x[n][trials][7] of the particles row[n] that an engine has; the best goes into their rows and scores,
// and to the checkpoint.
int fr_refine_poses(fr_refinement *, fr_engine *, fr_files *, fr_checkpoint *, const int64_t *row, int64_t n, double *x);
void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]);
void fr_pose_of(const rg_particle *, double x[FR_PARAMETERS]); // shift 0: images come already shifted
// The calls of a batch, and the copies of X and c that an optimiser keeps, into an engine's room.
void fr_refinement_room(const fr_refinement *, int64_t batch, fr_room *);
// Warns when the mean coefficient is one that noise alone has.
void fr_refinement_say_noise(const fr_refinement *, const fr_sums *);

// ---- the jobs ------------------------------------------------------------------------------------------------------------

// What refine and search have in common, at the head of the struct of each.
typedef struct fr_pose_job {
    rg_given given;
    rg_computing computing;
    const struct fr_pose_command *command;
    fr_files files;
    fr_refinement refine;
    fr_team team;
    fr_checkpoint done;
    int64_t own; // voxels a side of the reference
    float *reference;
    const char *group; // of a search, which has refined what it found; else NULL
} fr_pose_job;

// An engine at work, at the head of what a command keeps for it.
typedef struct fr_worker {
    fr_pose_job *job;
    fr_engine *engine;
} fr_worker;

// In what they differ. Hooks may be NULL.
typedef struct fr_pose_command {
    const char *name;
    bool poses;                                                  // rows need them
    unsigned routines;                                           // beside those of the refinement
    int64_t batch;                                               // particles at a time, unless --batch says it
    size_t worker_bytes;                                         // of what begins with a fr_worker
    int (*prepare)(fr_pose_job *);                               // once the particles are read
    fr_room_of *room;                                            // of a fr_worker
    int (*begin)(void *worker, int64_t rows);                    // there is room for so many rows at a time
    int (*improve)(void *worker, const int64_t *row, int64_t n); // particles that the engine has
    void (*end)(void *worker);
    void (*plan)(const fr_pose_job *, int64_t batch); // rows of --dry-run
    void (*report)(const fr_pose_job *);
} fr_pose_command;
// RG_GOOD, or one line and a code.
int fr_pose_job_run(fr_pose_job *, const fr_pose_command *);
// A worker's room for what both do.
fr_room fr_pose_room(const fr_worker *, int64_t batch);
