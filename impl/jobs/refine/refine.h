// SPDX-License-Identifier: MIT
// refine.h: the commands `regather refine` and `regather search`. Private to this room and its tests.
//
//     grid.c         directions of a search
//     lockstep.c     minimisations whose functions are evaluated together
//     poses.c        improves poses of many particles in lock step: the objective, the prior, the sums
//     checkpoint.c   finished particles on disk, for --resume
//     refine.c       shared by both commands; the command refine
//     search.c       the command search: ccp over the grid, then refinement of the best directions
#pragma once

#include "../particles/particles.h"
#include "../pipeline/ranks.h"

// ---- checkpoints ------------------------------------------------------------------------------------------------

// Sums over refined particles. Coefficients are whole numbers of 2^-36 (for up to 1e8 particles), so their sum does not depend
// on the order of batches, threads and resumed runs.
enum { FR_SUM_BITS = 36 };
typedef struct fr_sums {
    int64_t particles, refined, evaluations, least, most; // particles; minimised poses; evaluations: total, and of one pose
    int64_t coefficient, rings, *ring;                    // sums of ccoef, and of presb by ring
} fr_sums;
void fr_sums_make(fr_sums *, int64_t side);
void fr_sums_free(fr_sums *);

enum { FR_RESULTS = 10 }; // results of a particle: angles, origin, both defocus values, score, sigma, magnification

// The remaining particles, which all engines of all processes share; and OUT.part, which rank 0 keeps. Every finished batch of
// any process is added to it, so that --resume can continue with any number of processes.
typedef struct fr_checkpoint {
    FILE *file; // NULL: no checkpoint is kept
    char *path;
    int64_t *row, rows;           // rows of the remaining particles
    double (*result)[FR_RESULTS]; // their results, in the same order
    rg_deal deal;                 // hands them out
    fr_files *files;
    pl_team *team;
    int64_t resumed, kept; // particles from the file, and added by this run
    fr_sums sums;          // over both
    bool warned;           // has warned that the file cannot be written
} fr_checkpoint;

// All rows remain or, with --resume, those not in OUT.part, whose results are taken over if command, particles, reference and
// images are those of the run that left it. At least a batch is handed out at a time. RG_GOOD, or one line and a code.
struct fr_refinement;
int fr_checkpoint_open(fr_checkpoint *, const rg_given *, const struct fr_refinement *, fr_files *, pl_team *);
// Adds a batch that a command has improved (fr_pose_command): rows of s->particles particles and their sums.
void fr_checkpoint_add(fr_checkpoint *, const int64_t *row, const fr_sums *s);
void fr_checkpoint_close(fr_checkpoint *, bool finished); // deletes the file if finished or empty

// ---- refinement ----------------------------------------------------------------------------------------------------------

// Angles in radians, shifts in radians per index, added defocus in A, relative magnification minus 1.
enum { FR_PHI, FR_THETA, FR_PSI, FR_SHIFT_X, FR_SHIFT_Y, FR_DEFOCUS, FR_MAGNIFICATION, FR_PARAMETERS };

typedef struct fr_refinement {
    // Options.
    const char *reference, *out;
    double reference_pixel_A, low_A, high_A, mask_A, b_factor_A2;
    enum { FR_PRESET_V9, FR_PRESET_PAPER } preset;
    enum { FR_PRAXIS, FR_BOBYQA } method;
    int64_t batch;    // particles per device at a time
    bool batch_typed; // given by the user; else it shrinks if memory is short
    bool no_prior, resume;

    int64_t side, kind, inner, outer, trials;
    double pixel_A, mask_px;
    float setting[FR_SETTINGS];
    const char *optimiser;
    double step, tolerance, unit[FR_PARAMETERS];
    bool is_free[FR_PARAMETERS], has_prior;
    double mean_px[2], sd_px[2]; // mean and sd of the shifts in the file, for the prior
    int64_t most_evaluations;
    uint64_t seed;
} fr_refinement;

extern const rg_option fr_refinement_options[]; // of refine and search

// Improves `trials` poses x[n][trials][7] of the engine's particles row[n]; the best pose goes into the particles' rows and
// scores, and to the checkpoint.
int fr_refine_poses(fr_refinement *, fr_engine *, fr_files *, fr_checkpoint *, const int64_t *row, int64_t n, double *x);
void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]);
void fr_pose_of(const rg_particle *, double x[FR_PARAMETERS]); // shift 0: the images are shifted already
// Adds the calls of a batch, and the copies of X and c that an optimiser keeps, to an engine's room.
void fr_refinement_room(const fr_refinement *, int64_t batch, fr_room *);
// Warns if the mean coefficient is no larger than that of pure noise.
void fr_refinement_say_noise(const fr_refinement *, const fr_sums *);

// ---- the jobs ------------------------------------------------------------------------------------------------------------

// Shared by refine and search: the first member of each one's struct.
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
    const char *group; // of a search, whose best directions are refined; else NULL
} fr_pose_job;

// An engine at work: the first member of a command's data for it.
typedef struct fr_worker {
    fr_pose_job *job;
    fr_engine *engine;
} fr_worker;

// The differences between the commands. Hooks may be NULL.
typedef struct fr_pose_command {
    const char *name;
    bool poses;                                                  // rows must have poses
    unsigned routines;                                           // besides those of the refinement
    int64_t batch;                                               // particles at a time, unless --batch is given
    size_t worker_bytes;                                         // size of the struct that begins with fr_worker
    int (*prepare)(fr_pose_job *);                               // called after the particles are read
    fr_room_of *room;                                            // room for an fr_worker
    int (*begin)(void *worker, int64_t rows);                    // rows: how many fit at a time
    int (*improve)(void *worker, const int64_t *row, int64_t n); // improves the engine's particles
    void (*end)(void *worker);
    void (*plan)(const fr_pose_job *, int64_t batch); // rows of --dry-run
    void (*report)(const fr_pose_job *);
} fr_pose_command;
// RG_GOOD, or one line and a code.
int fr_pose_job_run(fr_pose_job *, const fr_pose_command *);
// The room of a worker for the work of both commands.
fr_room fr_pose_room(const fr_worker *, int64_t batch);
