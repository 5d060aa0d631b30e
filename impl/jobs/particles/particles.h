// SPDX-License-Identifier: MIT
// particles.h: shared by search, refine and reconstruct --method frealign: reads particles from files, runs the routines of
// FREALIGN on one or several devices, and the steps between them. On top of the pipeline and the function table.
//
//     input.c     particles from STAR or .par with their options, the reference, results to STAR or .par
//     team.c      variants of the routines, the devices that share the particles
//     images.c    reads images ahead, computes D, X and c on the device
//     engine.c    buffers and calls of the routines on one device
//     steps.h     steps between the routines: host.c on the CPU, device.cu on GPUs
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
    const char *stack; // what a .par file lacks
    rg_par_optics optics;
    rg_particles particles;
    rg_par par;        // rows of a .par file; n 0: the particles come from a STAR file
    const char *input; // path
    bool invert;       // the images' contrast is inverted
    // For each particle, NULL until known: score in percent, standard deviation of its noise, relative magnification.
    double *score, *sigma, *magnification;
    bool defocused; // defocus has been refined, too
} fr_files;

extern const rg_option fr_par_options[], fr_input_options[]; // options in fr_files: what a .par file lacks; and --invert
bool fr_is_par(const char *path);                            // by its name
// Reads the particles of this file. poses: rows must have orientations. RG_GOOD, or one line and a code.
int fr_files_open(fr_files *, const char *input, bool poses);
void fr_files_close(fr_files *);
// Checks, before the work, that a file of this name can hold the particles: a .par file has no columns for phase shift,
// B-factor and scale, and needs one voltage, aberration, contrast and stack for all. RG_GOOD, or one line and RG_USAGE.
int fr_files_fit(const fr_files *, const char *path);
// Writes poses (and scores, if any) in the format of the name: .par, else STAR with all columns of the input.
int fr_files_write(const fr_files *, const char *path, const char *command);
// The CTF of a particle for ctfapply (FREALIGN's sign times -1, or 1 with invert), with defocus_A added to its row's defocus.
void fr_optics_of(const fr_files *, int64_t i, double defocus_A, double magnification, float optics[FR_OPTICS]);

// --reference: its side and own^3 voxels, malloc'ed. Its field of view must be that of the images; its sampling may differ.
// said_A: its voxel size, NaN: from its header. RG_GOOD, or one line and a code.
int fr_reference_side(const char *path, int64_t *own); // the side only, from its header; fr_reference_read checks the rest
int fr_reference_read(const char *path, double said_A, int64_t side, double pixel_A, int64_t *own, float **volume);

// ---- the routines --------------------------------------------------------------------------------------------------------

// A routine of the table on a device; routines share the buffers of its arguments.
typedef struct fr_routine {
    const rg_entry *entry; // NULL: the job does not use it
    int64_t param[RG_PARAMS_MAX];
    rg_frame frame;
} fr_routine;

// Routine FR_DO_X is stage PL_CALL + FR_DO_X.
enum { FR_DO_APPLY, FR_DO_TURN, FR_DO_NOISE, FR_DO_SCORE, FR_DO_RINGS, FR_DO_WHOLE, FR_DO_INSERT, FR_ROUTINES };

// The engine of one member of the team.
typedef struct fr_engine {
    pl_member *member;
    const fr_files *files;
    fr_routine routine[FR_ROUTINES];
    int64_t side, batch; // images on the device at a time
    pl_feed feed;
    // weight: for pinsert_s; out: results of routines.
    rg_buffer image, optics, shift, setting, ssnr, d, x, c, f3, pose, weight, out;
} fr_engine;

// The buffers that an engine needs.
typedef struct fr_room {
    int64_t side, batch, trials, out; // side of images; images at a time; poses of each; floats of results
    bool reference;
    const float *setting;           // mask radius, fall-off of rings, ring from which |C| counts
    rg_shape most[FR_ROUTINES];     // largest call of each routine; side 0: not called
    rg_needs held, stage;           // other memory of the device: throughout, and in its largest stage
    double host_bytes, image_bytes; // other main memory: in all, and per image
    bool typed_batch;               // --batch was given: messages name the largest batch that fits, else the largest side
} fr_room;
// The work area of the transform of a cube on the engine's device; 0 until the device is open.
double fr_engine_work_bytes(const fr_engine *, int64_t side);
// Adds a reference of own^3 voxels and the temporary memory of its transform.
void fr_room_reference(fr_room *, int64_t own, const fr_engine *);
// The largest of batch, batch / 2, ... 1 that fits in the device's free memory now.
typedef fr_room fr_room_of(const void *of, int64_t batch);
int64_t fr_engine_fit(const fr_engine *, fr_room_of *, const void *of, int64_t batch);
// Makes the buffers. RG_GOOD, or one line and a code if they do not fit on a GPU.
int fr_engine_size(fr_engine *, const fr_room *);
// Computes the transform of a reference of own^3 voxels into f3.
int fr_engine_reference(fr_engine *, int64_t own, const float *volume);
void fr_engine_close(fr_engine *);
// Runs routine `which` with these arguments, and prepares it if shape or arguments are new. RG_GOOD, or one line and RG_WRONG.
int fr_engine_run(fr_engine *, int which, const rg_shape *, void *const *arg);
// Computes D, X and c of its first n images. kind: of the objective.
int fr_engine_apply(fr_engine *, int64_t n, int64_t kind);

// ---- images --------------------------------------------------------------------------------------------------------------

// Batches: one at work, the others being read. At 500 x 500 reading takes as long as an insertion under 14 operators: with one
// batch ahead each waited for the other a third of the time.
enum { FR_SLOTS = 3 };
// Reads these rows ahead in batches (pl_feed_begin). RG_GOOD or a code.
int fr_images_begin(fr_engine *, const int64_t *row, int64_t rows);
// The next batch on the device, as D, X and c, shifted by their origins: (*row)[0 .. n-1]; n 0: the end. RG_GOOD or a code.
int fr_images_next(fr_engine *, int64_t kind, const int64_t **row, int64_t *n);
pl_source fr_images_source(const fr_files *);

// ---- several devices -----------------------------------------------------------------------------------------------------

typedef struct fr_team {
    pl_team team;
    pl_source source;
    const rg_given *given;
    const fr_files *files;
    fr_engine *engine;       // one for each member
    char *name[FR_ROUTINES]; // names of the routines with their variants
} fr_team;

// Chooses variants (--variant ALGO:NAME, may be repeated), opens the device or --gpus of them, at most `most`. even: an even
// number, or one. routines: bit mask of FR_DO_. began_s: start of the job.
int fr_team_open(fr_team *, const rg_given *, const rg_computing *, const fr_files *, unsigned routines, int64_t most,
    bool even, double began_s);
void fr_team_close(fr_team *);
// Checks that main memory holds this room for every engine, before anything large is read; prints rows of --dry-run. RG_GOOD,
// or one line and RG_LACKS.
int fr_team_allows(const fr_team *, const fr_room *);
// Prints a row of --dry-run: the time of this routine for `particles` particles, with the poses per particle of `typical`.
void fr_team_plan_time(const fr_team *, int routine, const rg_shape *typical, double particles);
int fr_team_report(const fr_team *, const char *out); // writes the stages: OUT_stages.tsv
