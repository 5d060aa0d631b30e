// SPDX-License-Identifier: MIT
// reconstruct.h: the command `regather reconstruct`, using the function table and the pipeline. Private to this folder and its
// tests. Both methods share one engine; they differ in what they insert and how they make a map of the sums:
//
//     reconstruct.c   command line, order of the stages, sums of all devices, maps of both halves
//     files.c         writes maps to files and shows them
//
// --method frealign: frealign.c. --method gridding:
//
//     plan.c          chooses the variant, the images per call, the memory
//     prepare.c       the shifted, padded transform of an image, cropped to the half plane of the maximum frequency; its CTF
//     insert.c        inserts particles in batches on the host; gpu.c: on a GPU, with the steps of device.cu
//     map.c           operators of the grid, maps
//
// Sides: images and map have N pixels, images are padded to P = padding N, frequencies go to k = floor(P / 2), the sums have
// 2k + 1 voxels a side. For even P the frequencies k and -k coincide on P points; in the disc and the sphere of radius k they
// occur on the axes only, where the value at +k is used.
#pragma once

#include "../../../data/formats/particles.h"
#include "../../base/memory.h"
#include "../../base/options.h"
#include "../../base/symmetry.h"
#include "../../gridding/index.h"
#include "../pipeline/pipeline.h"
#include "device.h"
#include "files.h"

#include <fftw3.h>

enum { GR_LANES = 3 }; // chunks in progress on a GPU

// Parts of a slot of images (pl_slot).
enum { GR_PICTURES, GR_ROTATIONS, GR_ORIGINS, GR_CTFS };

// ---- both methods --------------------------------------------------------------------------------------------------------

// Options of both methods.
typedef struct rc_typed {
    rg_given given;
    rg_computing computing;
    const char *out, *group;
    bool half_maps, per_operator, invert;
    double mask_radius_px, radius, f;
    int64_t trials;
} rc_typed;

// The first member of each method's job.
typedef struct rc_run {
    const rc_typed *typed;
    const rg_particles *particles;
    pl_team *team;
    int halves;        // halves summed separately: 2, else 1
    bool cleared;      // the sums are cleared before the insertion
    int parts;         // parts of the sums of a half, at most 2
    int64_t floats[2]; // of each
    rg_buffer *sum;    // see rc_sum_of
    double f[3];       // added to the weights of each half, and of both together
    rg_buffer map[2];  // in the memory of the first member
} rc_run;

// RG_GOOD, or one line and a code. From weigh on, only the first process runs, with all sums on the team's first device.
typedef struct rc_method {
    int (*open)(rc_run *, const rc_typed *);                   // reads, checks, opens the team; rows of --dry-run
    int (*insert)(rc_run *);                                   // calls rc_insert
    int (*weigh)(rc_run *);                                    // finishes the sums, sets f
    int (*make_map)(rc_run *, int half, double f, float *map); // from the sums of a half, or of both, then stored in the first
    int (*correlate)(rc_run *);                                // correlates both halves' maps; NULL: they share one buffer
    int (*report)(rc_run *);                                   // writes the stages, shows the result
    void (*close)(rc_run *);
} rc_method;
extern const rc_method rc_gridding, rc_frealign;

// The parts of a half's sums in the memory of a member; base NULL: it has none. In the end the first member has the sums of
// all.
static inline rg_buffer *rc_sum_of(const rc_run *run, int member, int half) {
    return run->sum + (2 * member + half) * run->parts;
}
// Makes a member's sums of `halves` halves, from `half` on.
int rc_make_sums(const rc_run *, pl_member *, int half, int halves);
int rc_insert(rc_run *, pl_task *); // fills the sums of the team's first member
int rc_add_halves(const rc_run *);  // adds the halves into the first
void rc_free_sums(rc_run *);

// ---- gridding ------------------------------------------------------------------------------------------------------------

typedef struct rc_job {
    rc_run run;
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX],
        adding[RG_PARAMS_MAX]; // param: of a call that writes the sums; adding: of one that adds to them,
    bool adds;                 // if the variant has a parameter `add`
    rg_particles particles;
    bool ctf, invert;
    double mask_radius_px; // 0: no mask
    double f;              // added to the weights with --ctf; NaN: rc_wiener's own
    int64_t padding, padded, k, radius_tenths;
    int trials;           // configurations of the variant's parameters to try on the first batches
    int64_t batch, chunk; // images per call; images read and prepared at a time
    int threads;
    gr_symmetry symmetry;
    gr_lattice lattice;
    bool use_lattice;    // insert with the operators lattice.coset only, and apply lattice.lattice to the finished sums
    int n_operators;     // operators that are inserted
    int64_t first, past; // rows of this process
    int64_t rows[2];     // rows of each half, in the share of the first device
    size_t work_bytes;   // work area of the map's transform on a GPU, besides the grid
    pl_team team;
    pl_source source;
    double *ctf2; // sums of c^2 over the discs of all images, for each device and half; in the end [0] and [1] hold the totals
    char tuned[400]; // result of the trials, "": none
    double began_s;
} rc_job;

// The parts of the sums are G and W.
static inline bool rc_on_gpu(const rc_job *job) { return job->entry->variant->space == RG_DEVICE || job->entry->emulated; }

// plan.c: call it after the particles are open and padding, ctf, halves, radius_tenths, threads, operators are set. Sets padded
// and k; entry, param and team by --variant and --device; batch and chunk by the free memory. gpus: how many may share the
// work, 0: all that `device` names. RG_GOOD, RG_USAGE or RG_LACKS.
int gr_plan(rc_job *, const char *requested, const char *device, int64_t gpus);
rg_shape rc_shape(const rc_job *, int64_t images);
// The peak memory on a GPU with this many images per call: while inserting, while the operators of the grid are applied, or
// while a map is computed.
rg_needs rc_gpu_needs(const rc_job *, int64_t images);
int rc_slots(const rc_job *); // number of chunks in pinned memory
// The rows of a half, from this process's, in share `share` of `of` equal shares; malloc'ed.
int64_t *rc_rows(const rc_job *, int half, int share, int of, int64_t *rows);

// The parts of the GPU memory, besides the sums, of a pass over `rows` rows with `images` per call, in bytes; rc_part_name
// names them.
enum {
    GR_P_ROOM,
    GR_P_PICTURES,
    GR_P_ORIGINS,
    GR_P_TERMS,
    GR_P_ROTATIONS, // GR_TURNS sets
    GR_P_SQUARES,
    GR_P_IMAGES, // two sets if there are several calls, as the next
    GR_P_CTFS,
    GR_P_G,
    GR_P_W,
    GR_PARTS
};
enum { GR_TURNS = 3 }; // sets of rotations: one is copied while the two insertions before may still run
extern const char *const rc_part_name[GR_PARTS];
void rc_parts_of(const rc_job *, int64_t images, int64_t rows, size_t bytes[GR_PARTS]);
size_t rc_set_bytes(const rc_job *, int argument, int64_t images); // bytes of one set of images, CTFs or rotations
static inline size_t rc_grid_bytes(int64_t padded) {
    return (size_t)padded * (size_t)padded * (size_t)(padded / 2 + 1) * 2 * sizeof(float);
}
double rc_scratch_most(const rc_job *); // limit of a call's scratch
// The largest scratch of its calls: a full one, the last one, which may need more, and each configuration that --tune may try.
size_t rc_scratch_of(const rc_job *, int64_t images, int64_t rows);

// prepare.c: plans for one size, shared by many threads, each with its own work area, because the system clears memory that it
// hands out anew for every image.
typedef struct rc_prepare {
    int64_t side, padded, k;
    fftwf_plan rows, columns;
    char *room;
} rc_prepare;
int rc_prepare_make(rc_prepare *, int64_t side, int64_t padded, int64_t k, int threads); // RG_GOOD, or one line and RG_LACKS
void rc_prepare_free(rc_prepare *);
// Computes the transform of the image about its centre floor(side / 2), shifted by origin, on the stored pixels of index.h
// (pairs).
void rc_prepare_image(
    const rc_prepare *, int thread, const float *image, double origin_x_px, double origin_y_px, bool invert, float *out);
// What the STAR file says about the CTF of its images: see GR_APPLIED_NOT.
static inline int rc_applied(const rg_particles *p) {
    return p->premultiplied ? GR_APPLIED_WHOLE : p->phase_flipped ? GR_APPLIED_SIGN : GR_APPLIED_NOT;
}
// Computes the CTF at the same pixels; returns the sum of its squares over the disc, mates included. Makes the image's
// transform plain (rc_plain) if its CTF was applied before.
double rc_prepare_ctf(const rc_prepare *, const rg_ctf_of *, double pixel_A, int applied, float *image, float *out);
rg_ctf rc_ctf_in_steps(const rg_ctf_of *, double step); // for frequencies counted in steps of `step` 1/A

// insert.c: sets the operators by name. per_operator: inserts under every one, as the paper does. RG_GOOD, or one line and
// RG_USAGE.
int rc_set_symmetry(rc_job *, const char *name, bool per_operator);
int rc_insert_all(rc_run *); // rc_method
void rc_job_free(rc_job *);  // frees sums, team and particles
pl_task rc_insert_on_gpu;    // gpu.c

// map.c: applies the operators of the grid to the finished sums of a half, if use_lattice is set. RG_GOOD, or one line and a
// code.
int rc_apply_lattice(rc_job *, int half);
// Computes the map of N^3 voxels from these sums, with wiener (FREALIGN's f) added to the weights, in the memory of the first
// device. RG_GOOD, or one line and a code.
int rc_make_map(rc_run *, int half, double wiener, float *map);
double rc_wiener(const rc_job *, int half); // f of a half's sums; the full map uses the sum of both. 0 without CTF
int rc_weigh(rc_run *);
