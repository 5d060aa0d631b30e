// SPDX-License-Identifier: MIT
// job.h: the commands `regather refine`, `regather search` and `regather reconstruct --method frealign` on top of the function
// table. Private to impl/frealign/job*.c and their tests.
//
//     job_input.c        particles from STAR or .par with their options, the reference's transform, results to STAR or .par
//     job_engine.c       device buffers and calls of the routines, images of particles to D, X and c
//     job_grid.c         directions of a search
//     job_lockstep.c     minimisations that are evaluated together
//     job_refine.c       refinement of poses: lines 1 and 2 of cc3m's arguments in lock step
//     job_search.c       ccp over the grid, the best directions refined
//     job_reconstruct.c  insertion, division, half maps, Fourier shell correlation
#ifndef RG_FREALIGN_JOB_H
#define RG_FREALIGN_JOB_H

#include "../../data/par.h"
#include "../core/arena.h"
#include "../core/table.h"
#include "index.h"
#include "reconstruct.h"

// ---- what is read and written --------------------------------------------------------------------------------------------

typedef struct fr_files {
    rg_particles particles;
    rg_par par;        // rows of a .par file; n 0: the particles come from a STAR file
    const char *input; // path
    bool invert;       // the images' contrast is taken the other way round
    double *score;     // of each particle, in percent; NULL until there is one
} fr_files;

// The particles named on the command line. poses: rows need orientations. RG_GOOD, or one line and a code.
int fr_files_open(fr_files *, const rg_cli *, bool poses);
void fr_files_close(fr_files *);
// Poses (and scores, where there are) in the form that the name asks for: .par, else STAR with all columns of the input's.
int fr_files_write(const fr_files *, const char *path, const char *command);
// CTF of a particle as ctfapply wants it (FREALIGN's sign times -1, or 1 with invert).
void fr_optics_of(const fr_files *, int64_t i, float optics[FR_OPTICS]);

// The transform of --reference, (N/2+1) x N x N pairs, origin in the corner; of another sampling when the field of view is the
// same. malloc'ed. RG_GOOD, or one line and a code.
int fr_reference_read(const rg_cli *, int64_t side, double pixel_A, float **f3);

// ---- the routines --------------------------------------------------------------------------------------------------------

enum { FR_CALL_ARGS = 8 };

// One routine of the table on the job's device; its arguments are buffers that several routines share.
typedef struct fr_call {
    const char *name;
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    rg_shape shape;
    rg_buffer scratch;
    void *arg[FR_CALL_ARGS];
    rg_call call;
    bool ready;
    double spent_s;
    int64_t runs;
} fr_call;

enum { FR_DO_APPLY, FR_DO_SCORE, FR_DO_TURN, FR_DO_INSERT, FR_DOES };

typedef struct fr_engine {
    const rg_device *device;
    int threads;
    fr_call does[FR_DOES];
    int64_t side, batch; // images that are on the device at a time
    double read_s;
    rg_buffer image, optics, shift, setting, ssnr, d, x, c, f3, pose, out; // out: what score or turn give
    float *host_image, *host_optics, *host_shift;
} fr_engine;

// Chooses variants (--variant ALGO:NAME, may be repeated) and opens the device. routines: bit mask of FR_DO_.
int fr_engine_open(fr_engine *, const rg_cli *, unsigned routines);
// Buffers for `batch` particles, `trials` poses of each, `f3` (NULL: no reference) and an output of `out` floats; the mask's
// radius, the fall-off of rings and the ring from which |C| counts are settings. Refuses what does not fit. RG_GOOD or a code.
int fr_engine_size(fr_engine *, int64_t side, int64_t batch, int64_t trials, const float *f3, int64_t out,
                   const float setting[FR_SETTINGS]);
void fr_engine_close(fr_engine *);
// Reads particles first .. first + n - 1 and makes D, X and c of them, shifted by their origins.
int fr_engine_load(fr_engine *, fr_files *, int64_t first, int64_t step, int64_t n, int64_t kind);
// Runs routine `which` with these arguments; prepares it when shape or arguments are new. RG_GOOD, or one line and RG_WRONG.
int fr_engine_run(fr_engine *, int which, const rg_shape *, void *const *arg);
void fr_engine_report(const fr_engine *, double whole_s); // seconds and share of each routine, on stdout

// ---- refinement ----------------------------------------------------------------------------------------------------------

enum { FR_PARAMETERS = 5 }; // phi, theta, psi in radians, shift x and y in radians an index

typedef struct fr_refinement {
    int64_t side, kind, inner, outer, trials;
    double pixel_A, mask_px;
    float setting[FR_SETTINGS];
    const char *optimiser;
    double step, tolerance;
    int64_t most_evaluations;
    uint64_t seed;
    int64_t evaluations, least, most, refined; // over all that were refined
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
        {"optimiser", "NAME", "praxis (default) or bobyqa", false},                                                            \
        {"step", "U", "first step of bobyqa in units of 0.1 rad and of 0.01 rad an index (default 1); praxis finds its own",   \
         false},                                                                                                               \
        {"tolerance", "U", "stop when nothing moves by more, in these units (default 0.1)", false},                            \
        {"max-evaluations", "N", "of one particle (default 5000)", false},                                                     \
        {"batch", "N", "particles refined together (default 128)", false},                                                     \
    {                                                                                                                          \
        "variant", "ALGO:NAME", "which variant computes ctfapply, cc3m, ccp; may be repeated", true                            \
    }

int fr_refinement_options(fr_refinement *, const fr_files *, const rg_cli *);
// Improves trials poses x[n][trials][5] of the n particles that are loaded; score[n][trials].
int fr_refine_poses(fr_refinement *, fr_engine *, int64_t n, double *x, double *score);
void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]);
void fr_pose_of(const rg_particle *, double x[FR_PARAMETERS]);                    // shift 0: images come already shifted
void fr_pose_to(rg_particle *, int64_t side, const double x[FR_PARAMETERS]);      // adds the shift to the origin
void fr_refinement_report(const fr_refinement *, const fr_files *);

#endif
