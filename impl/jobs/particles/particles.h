// SPDX-License-Identifier: MIT
// particles.h: what search, refine and reconstruct --method frealign have in common: particles from files, the routines of
// FREALIGN on one or several devices, the steps beside them. On top of the pipeline and the function table.
//
//     input.c     particles from STAR or .par with their options, the reference, results to STAR or .par
//     team.c      variants of the routines, the devices that share the particles
//     images.c    images read ahead, made D, X and c on the device
//     engine.c    buffers and calls of the routines on one device
//     steps.h     what is computed beside the routines: host.c on the CPU, device.cu on GPUs
#pragma once

#include "../../../data/formats/par.h"
#include "../../../data/formats/particles.h"
#include "../../base/options.h"
#include "../../runtime/predicted.h"
#include "../pipeline/pipeline.h"
#include "../../base/memory.h"
#include "steps.h"

// ---- what is read and written --------------------------------------------------------------------------------------------

typedef struct fr_files {
    const char *stack; // what a .par file does not say
    rg_par_optics optics;
    rg_particles particles;
    rg_par par;        // rows of a .par file; n 0: the particles come from a STAR file
    const char *input; // path
    bool invert;       // the images' contrast is taken the other way round
    // Of each particle, NULL until there is one: score in percent, standard deviation of its noise, relative magnification.
    double *score, *sigma, *magnification;
    bool defocused; // defocus is new, too
} fr_files;

extern const rg_option fr_par_options[], fr_input_options[]; // of fr_files: what a .par file does not say; and --invert
bool fr_is_par(const char *path);                            // by its name
// The particles of this file. poses: rows need orientations. RG_GOOD, or one line and a code.
int fr_files_open(fr_files *, const char *input, bool poses);
void fr_files_close(fr_files *);
// Whether a file of that name can hold what the particles have: a .par file has no columns for phase shift, B-factor and scale,
// one voltage, aberration and contrast for all, and one stack. Asked before the work. RG_GOOD, or one line and RG_USAGE.
int fr_files_fit(const fr_files *, const char *path);
// Poses (and scores, where there are) in the form that the name asks for: .par, else STAR with all columns of the input's.
int fr_files_write(const fr_files *, const char *path, const char *command);
// CTF of a particle as ctfapply wants it (FREALIGN's sign times -1, or 1 with invert), so many A further from focus than its
// row says.
void fr_optics_of(const fr_files *, int64_t i, double defocus_A, double magnification, float optics[FR_OPTICS]);

// --reference: own side, own^3 voxels, malloc'ed. Refused when its field of view is not that of the images, whose sampling may
// be another. said_A: its voxels, NaN: as its header says. RG_GOOD, or one line and a code.
int fr_reference_side(const char *path, int64_t *own); // alone, of its header; what else is wrong is refused when it is read
int fr_reference_read(const char *path, double said_A, int64_t side, double pixel_A, int64_t *own, float **volume);

// ---- the routines --------------------------------------------------------------------------------------------------------

// One routine of the table on a device; its arguments are buffers that several routines share.
typedef struct fr_routine {
    const rg_entry *entry; // NULL: the job does without it
    int64_t param[RG_PARAMS_MAX];
    rg_frame frame;
} fr_routine;

// Their stages are PL_CALL + FR_DO_.
enum { FR_DO_APPLY, FR_DO_TURN, FR_DO_NOISE, FR_DO_SCORE, FR_DO_RINGS, FR_DO_WHOLE, FR_DO_INSERT, FR_ROUTINES };

// Of one member of the team.
typedef struct fr_engine {
    pl_member *member;
    const fr_files *files;
    fr_routine routine[FR_ROUTINES];
    int64_t side, batch; // images that are on the device at a time
    pl_feed feed;
    // weight: of pinsert_s; out: what routines give.
    rg_buffer image, optics, shift, setting, ssnr, d, x, c, f3, pose, weight, out;
} fr_engine;

// What an engine is to have room for.
typedef struct fr_room {
    int64_t side, batch, trials, out; // images of that side, at a time; poses of each; floats that routines give
    bool reference;
    const float *setting;           // the mask's radius, the fall-off of rings, the ring from which |C| counts
    rg_shape most[FR_ROUTINES];     // the largest call of each routine; side 0: it is not called
    rg_needs held, stage;           // what else the device holds: throughout, and in the stage in which that is most
    double host_bytes, image_bytes; // what else main memory holds: in all, and of each image
    bool typed_batch; // --batch says how many images at a time: the largest that fits is named, else the largest side
} fr_room;
// What the transform of a cube takes for itself on the engine's device; 0 before that is open.
double fr_engine_work_bytes(const fr_engine *, int64_t side);
// Adds a reference of own^3 voxels and what its transform takes on its way.
void fr_room_reference(fr_room *, int64_t own, const fr_engine *);
// The largest of batch, batch / 2, ... 1 whose room fits into what the device has free now.
typedef fr_room fr_room_of(const void *of, int64_t batch);
int64_t fr_engine_fit(const fr_engine *, fr_room_of *, const void *of, int64_t batch);
// Its buffers. RG_GOOD, or one line and a code: what does not fit on a GPU is refused.
int fr_engine_size(fr_engine *, const fr_room *);
// The transform of a reference of own^3 voxels into f3.
int fr_engine_reference(fr_engine *, int64_t own, const float *volume);
void fr_engine_close(fr_engine *);
// Runs routine `which` with these arguments; prepares it when shape or arguments are new. RG_GOOD, or one line and RG_WRONG.
int fr_engine_run(fr_engine *, int which, const rg_shape *, void *const *arg);
// D, X and c of the first n images that it has. kind: of the objective.
int fr_engine_apply(fr_engine *, int64_t n, int64_t kind);

// ---- images --------------------------------------------------------------------------------------------------------------

// Batches: one is worked on, the next are read. At 500 x 500 reading takes as long as an insertion under 14 operators: with one
// batch ahead each waited for the other a third of the time.
enum { FR_SLOTS = 3 };
// Reads these rows ahead in batches (pl_feed_begin). RG_GOOD or a code.
int fr_images_begin(fr_engine *, const int64_t *row, int64_t rows);
// The next batch on the device, as D, X and c, shifted by their origins: (*row)[0 .. n-1], n 0 at the end. RG_GOOD or a code.
int fr_images_next(fr_engine *, int64_t kind, const int64_t **row, int64_t *n);
pl_source fr_images_source(const fr_files *);

// ---- several devices -----------------------------------------------------------------------------------------------------

typedef struct fr_team {
    pl_team team;
    pl_source source;
    const rg_given *given;
    const fr_files *files;
    fr_engine *engine;       // of each member
    char *name[FR_ROUTINES]; // of the routines and their variants
} fr_team;

// Chooses variants (--variant ALGO:NAME, may be repeated), opens the device or --gpus of them; at most `most`. even: an even
// number, or one. routines: bit mask of FR_DO_. began_s: of the job.
int fr_team_open(fr_team *, const rg_given *, const rg_computing *, const fr_files *, unsigned routines, int64_t most,
    bool even, double began_s);
void fr_team_close(fr_team *);
// Whether main memory holds that room of every engine: asked before anything large is read; rows of --dry-run. RG_GOOD, or one
// line and RG_LACKS.
int fr_team_allows(const fr_team *, const fr_room *);
// A row of --dry-run: the time of this routine over so many particles, at this many poses each.
void fr_team_plan_time(const fr_team *, int routine, const rg_shape *typical, double particles);
int fr_team_report(const fr_team *, const char *out); // the stages: OUT_stages.tsv
