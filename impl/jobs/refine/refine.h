// SPDX-License-Identifier: MIT
// job.h: the commands `regather refine`, `regather search` and `regather reconstruct --method frealign` on top of the function
// table. Private to impl/frealign/job*.c and their tests.
//
//     job_input.c        particles from STAR or .par with their options, the reference, results to STAR or .par
//     job_engine.c       buffers and calls of the routines on one device
//     job_feed.c         images read ahead of the device, made D, X and c there
//     job_team.c         the job on several GPUs: a thread and an engine each; the table of stages
//     job_steps.h        what is computed beside the routines; job_host.c on the CPU, job_device.cu on GPUs
//     job_grid.c         directions of a search
//     job_lockstep.c     minimisations that are evaluated together
//     job_poses.c        poses of many particles improved in lock step: the objective, the prior, what is known afterwards
//     job_part.c         finished particles on disk, for --resume
//     job_refine.c       the command refine
//     job_search.c       the command search: ccp over the grid, the best directions refined
//     job_reconstruct.c  insertion, the sum over GPUs
//     job_map.c          maps from the sums, Fourier shell correlation, files
#ifndef RG_FREALIGN_JOB_H
#define RG_FREALIGN_JOB_H

#include "../../../data/formats/par.h"
#include "../../runtime/call.h"
#include "../../runtime/table.h"
#include "../reconstruct/reconstruct.h"
#include "../../frealign/index.h"
#include "steps.h"
#include "../reconstruct/frealign.h"

#include <pthread.h>

// ---- what is read and written --------------------------------------------------------------------------------------------

typedef struct fr_files {
    rg_particles particles;
    rg_par par;        // rows of a .par file; n 0: the particles come from a STAR file
    const char *input; // path
    bool invert;       // the images' contrast is taken the other way round
    // Of each particle, NULL until there is one: score in percent, standard deviation of its noise, relative magnification.
    double *score, *sigma, *magnification;
    bool defocused; // defocus is new, too
} fr_files;

// The particles named on the command line. poses: rows need orientations. RG_GOOD, or one line and a code.
int fr_files_open(fr_files *, const rg_cli *, bool poses);
void fr_files_close(fr_files *);
// Poses (and scores, where there are) in the form that the name asks for: .par, else STAR with all columns of the input's.
int fr_files_write(const fr_files *, const char *path, const char *command);
// CTF of a particle as ctfapply wants it (FREALIGN's sign times -1, or 1 with invert), so many A further from focus than its
// row says.
void fr_optics_of(const fr_files *, int64_t i, double defocus_A, double magnification, float optics[FR_OPTICS]);

// --reference: own side, own^3 voxels, malloc'ed. Refused when its field of view is not that of the images, whose sampling may
// be another. RG_GOOD, or one line and a code.
int fr_reference_read(const rg_cli *, int64_t side, double pixel_A, int64_t *own, float **volume);

// ---- the routines --------------------------------------------------------------------------------------------------------

// One routine of the table on the job's device; its arguments are buffers that several routines share.
typedef struct fr_call {
    const char *name;
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    rg_frame frame;
    double spent_s;
    int64_t runs;
} fr_call;

enum { FR_DO_APPLY, FR_DO_TURN, FR_DO_NOISE, FR_DO_SCORE, FR_DO_RINGS, FR_DO_WHOLE, FR_DO_INSERT, FR_DOES };
// What else takes time. Of several GPUs, the one that was at it longest.
typedef enum {
    FR_OPEN, // files and devices
    FR_SETUP,
    FR_REFERENCE,
    FR_READ,
    FR_COPY,
    FR_STEP, // of minimisers and of sorting directions, on the host
    FR_MERGE,
    FR_MAP,
    FR_FSC,
    FR_WRITE,
    FR_STAGES
} fr_stage;

typedef struct fr_engine {
    const rg_device *device;
    bool is_lost; // the device does not open
    const fr_job_steps *steps;
    int index, threads; // of the team's; threads of the CPU that are its share
    fr_call does[FR_DOES];
    int64_t side, batch; // images that are on the device at a time
    double stage_s[FR_STAGES];
    int64_t bad_row; // of the particles, that could not be read; -1: none
    rg_buffer image, optics, shift, setting, ssnr, d, x, c, f3, pose, out; // out: what routines give
} fr_engine;

// Buffers for `batch` particles, `trials` poses of each, a reference with `reference`, and an output of `out` floats; the
// mask's radius, the fall-off of rings and the ring from which |C| counts are settings. also_bytes: what else the job will
// want. Refuses what does not fit. RG_GOOD or a code.
int fr_engine_size(fr_engine *, int64_t side, int64_t batch, int64_t trials, bool reference, int64_t out,
                   const float setting[FR_SETTINGS], double also_bytes);
// The transform of a reference of own^3 voxels into f3.
int fr_engine_reference(fr_engine *, int64_t own, const float *volume);
void fr_engine_close(fr_engine *);
// Runs routine `which` with these arguments; prepares it when shape or arguments are new. RG_GOOD, or one line and RG_WRONG.
int fr_engine_run(fr_engine *, int which, const rg_shape *, void *const *arg);
// D, X and c of the first n images that it has. kind: of the objective.
int fr_engine_apply(fr_engine *, int64_t n, int64_t kind);
int fr_engine_failed(const fr_engine *, const char *doing, int error); // one line and RG_WRONG; RG_GOOD where there is no error
static inline void fr_lap(fr_engine *e, fr_stage stage, double since_s) { e->stage_s[stage] += rg_seconds() - since_s; }

// ---- images --------------------------------------------------------------------------------------------------------------

// Batches of a device's rows: while one is worked on, the next ones are read.
enum { FR_ROOMS = 3 };
typedef struct fr_feed {
    fr_engine *engine;
    const fr_files *files;
    const int64_t *row; // of the particles
    int64_t rows, batches; // of all
    struct fr_room {
        float *image, *optics, *shift; // pinned
        int64_t bad_row;
    } room[FR_ROOMS];
    pthread_t reader;
    bool is_running;
    int64_t taken;        // batches that were handed out
    pthread_mutex_t lock; // of what follows
    pthread_cond_t change;
    int64_t read, copied; // batches that are there, that have left their room
    bool stop;
} fr_feed;

// `row` must stay until the last of it is handed out, and not be empty. A feed of zeros, or one whose rows were all handed
// out and whose rooms are taken over. RG_GOOD or a code.
int fr_feed_begin(fr_feed *, fr_engine *, const fr_files *, const int64_t *row, int64_t rows);
// The next batch on the device, as D, X and c, shifted by their origins: (*row)[0 .. n-1], n 0 at the end. A row that cannot be
// read is not complained of but named in the engine's bad_row. RG_GOOD or a code.
int fr_feed_next(fr_feed *, int64_t kind, const int64_t **row, int64_t *n);
void fr_feed_end(fr_feed *);
int fr_feed_complain(const fr_files *, int64_t row); // reads it again, to say what is wrong with it

// ---- several GPUs --------------------------------------------------------------------------------------------------------

enum { FR_TEAM_MAX = 64 };

typedef struct fr_team {
    const rg_cli *cli;
    const fr_files *files;
    fr_engine *engine;
    int n;
    pthread_t opening[FR_TEAM_MAX]; // all GPUs open at the same time, while the job goes on to read
    bool is_opening[FR_TEAM_MAX];
    double began_s;
    rg_progress progress;
    pthread_mutex_t lock;
} fr_team;

typedef int (*fr_task)(fr_team *, fr_engine *, void *context);

// Chooses variants (--variant ALGO:NAME, may be repeated), opens the device or --gpus of them; at most `most`. even: an even
// number, or one. routines: bit mask of FR_DO_. began_s: of the job.
int fr_team_open(fr_team *, const rg_cli *, const fr_files *, unsigned routines, int64_t most, bool even, double began_s);
// The task in the thread of every engine, at the same time; emulated GPUs take their turns. The largest code.
int fr_team_run(fr_team *, fr_task, void *context);
void fr_team_progress(fr_team *, int64_t particles); // so many more are done; from any thread
// The engine's equal share of n; returns how many, *first: the first of them.
int64_t fr_team_share(const fr_team *, const fr_engine *, int64_t n, int64_t *first);
void fr_team_close(fr_team *);
// Seconds and shares of the stages, on stdout and beside `out`: OUT_stages.tsv.
int fr_team_report(const fr_team *, const char *out);

// ---- what is done already ------------------------------------------------------------------------------------------------

// OUT.part, to which the particles of every batch are added when it is finished, so that --resume goes on from there.
typedef struct fr_part {
    FILE *file; // NULL: none is kept
    char *path;
    int64_t *row, rows; // of the particles that are left
    int64_t resumed, kept; // particles that the file had, and has
    bool warned;           // that it cannot be written
} fr_part;

// All rows are left, or with --resume those that are not in OUT.part, whose results are taken over. RG_GOOD, or one line and a
// code.
int fr_part_open(fr_part *, const rg_cli *, fr_files *, const char *out);
void fr_part_add(fr_part *, const fr_files *, const int64_t *row, int64_t n); // one thread at a time
void fr_part_close(fr_part *, bool finished); // finished, or with no particle in it: the file is deleted

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
// and to `part`.
int fr_refine_poses(fr_refinement *, fr_team *, fr_engine *, fr_files *, fr_part *, const int64_t *row, int64_t n, double *x);
void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]);
void fr_pose_of(const rg_particle *, double x[FR_PARAMETERS]); // shift 0: images come already shifted
// What was found on average, on stdout; OUT_rings.tsv. Of those that were not resumed.
int fr_refinement_report(const fr_refinement *, const fr_files *, const fr_part *, const rg_cli *, const char *out);
void fr_refinement_free(fr_refinement *);

#endif
