// SPDX-License-Identifier: MIT
// reconstruct.h: the command `regather reconstruct` on top of the function table and the pipeline. Private to this room and its
// tests. One engine for both methods, which differ in what they insert and how they make a map of their sums:
//
//     reconstruct.c   the command line, the order of the stages; sums of all devices, maps of both halves
//     files.c         maps to files; what is shown of them
//
// --method frealign: frealign.c. --method gridding:
//
//     plan.c          which variant, how many images a call, the memory that it takes
//     prepare.c       an image -> its shifted, padded transform, cropped to the half plane of the maximum frequency; its CTF
//     insert.c        particles in batches through the variant, on the host; gpu.c: on a GPU, device.cu what it computes there
//     map.c           operators of the grid, maps
//
// Sides: images and map have N pixels, images are padded to P = padding N, frequencies go to k = floor(P / 2), the sums have
// 2k + 1 voxels a side. For even P the frequencies k and -k are one on P points; in the disc and in the sphere of radius k they
// are met on the axes only, where the value at +k is taken.
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

enum { GR_LANES = 3 }; // chunks under way on a GPU

// Parts of a slot of images (pl_slot).
enum { GR_PICTURES, GR_ROTATIONS, GR_ORIGINS, GR_CTFS };

// ---- both methods --------------------------------------------------------------------------------------------------------

// What was typed for both.
typedef struct rc_typed {
    rg_given given;
    rg_computing computing;
    const char *out, *group;
    bool half_maps, per_operator, invert;
    double mask_radius_px, radius, f;
    int64_t trials;
} rc_typed;

// At the head of each method's job.
typedef struct rc_run {
    const rc_typed *typed;
    const rg_particles *particles;
    pl_team *team;
    int halves;        // that are summed apart: 2, else 1
    bool cleared;      // sums are before anything is inserted
    int parts;         // of the sums of a half, at most 2
    int64_t floats[2]; // of each
    rg_buffer *sum;    // see rc_sum_of
    double f[3];       // that is added to the weights of each half, and of both
    rg_buffer map[2];  // in the memory of the first member
} rc_run;

// RG_GOOD, or one line and a code. From weigh on: on the first process, with the sums of all on the team's first device.
typedef struct rc_method {
    int (*open)(rc_run *, const rc_typed *);                   // reads, checks, opens the team; rows of --dry-run
    int (*insert)(rc_run *);                                   // by rc_insert
    int (*weigh)(rc_run *);                                    // finishes the sums; f
    int (*make_map)(rc_run *, int half, double f, float *map); // of the sums of a half, or of both in the first one's place
    int (*correlate)(rc_run *);                                // both halves' maps; NULL: they share one place
    int (*report)(rc_run *);                                   // stages, and what is shown
    void (*close)(rc_run *);
} rc_method;
extern const rc_method rc_gridding, rc_frealign;

// The parts of a half's sums in the memory of a member; base NULL where it has none. Those of the first member are of all in the
// end.
static inline rg_buffer *rc_sum_of(const rc_run *run, int member, int half)
{
    return run->sum + (2 * member + half) * run->parts;
}
// Those of this half and further ones, of a member.
int rc_make_sums(const rc_run *, pl_member *, int half, int halves);
int rc_insert(rc_run *, pl_task *); // fills the sums of the team's first member
int rc_add_halves(const rc_run *);  // into the first
void rc_free_sums(rc_run *);

// ---- gridding ------------------------------------------------------------------------------------------------------------

typedef struct rc_job {
    rc_run run;
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX], adding[RG_PARAMS_MAX]; // of a call that writes the sums, and of one that adds to them,
    bool adds;                                           // where the variant has a parameter `add`
    rg_particles particles;
    bool ctf, invert;
    double mask_radius_px; // 0: no mask
    double f;              // added to the weights with --ctf; NaN: rc_wiener's own
    int64_t padding, padded, k, radius_tenths;
    int trials;           // configurations of the variant's parameters to try on the first batches
    int64_t batch, chunk; // images a call, and images read and prepared at a time
    int threads;
    gr_symmetry symmetry;
    gr_lattice lattice;
    bool use_lattice;    // insert with the operators lattice.coset only, and apply lattice.lattice to the finished sums
    int n_operators;     // that are inserted
    int64_t first, past; // rows of this process
    int64_t rows[2];     // of each half, in the share of the first device
    size_t work_bytes;   // that the transform of the map takes on a GPU beside the grid
    pl_team team;
    pl_source source;
    double *ctf2;    // sums of c^2 over the discs of all images, of each device and half; in the end [0] and [1] are of all
    char tuned[400]; // what the trials found, "" without any
    double began_s;
} rc_job;

// Parts of the sums are G and W.
static inline bool rc_on_gpu(const rc_job *job) { return job->entry->variant->space == RG_DEVICE || job->entry->emulated; }

// plan.c: after the particles are open and padding, ctf, halves, radius_tenths, threads, operators are set.
// Sets padded and k; entry, param and team by --variant and --device; batch and chunk by what is free. RG_GOOD, RG_USAGE or
// RG_LACKS.
// gpus: how many may share the work, 0: all that `device` names.
int gr_plan(rc_job *, const char *requested, const char *device, int64_t gpus);
rg_shape rc_shape(const rc_job *, int64_t images);
// What is held on a GPU at once with this many images a call: while inserting, while the operators of the grid are applied, or
// while a map is made.
rg_needs rc_gpu_needs(const rc_job *, int64_t images);
int rc_slots(const rc_job *); // chunks in pinned memory
// Of this process's rows, those of a half that fall to one of `of` equal shares; malloc'ed.
int64_t *rc_rows(const rc_job *, int half, int share, int of, int64_t *rows);

// What a pass of so many rows, `images` a call, takes on a GPU beside the sums, in bytes; rc_part_name: for what.
enum {
    GR_P_ROOM,
    GR_P_PICTURES,
    GR_P_ORIGINS,
    GR_P_TERMS,
    GR_P_ROTATIONS, // GR_TURNS sets
    GR_P_SQUARES,
    GR_P_IMAGES, // two sets where there are several calls, as the next
    GR_P_CTFS,
    GR_P_G,
    GR_P_W,
    GR_PARTS
};
enum { GR_TURNS = 3 }; // sets of rotations: they are copied while the two insertions before may not have ended
extern const char *const rc_part_name[GR_PARTS];
void rc_parts_of(const rc_job *, int64_t images, int64_t rows, size_t bytes[GR_PARTS]);
size_t rc_set_bytes(const rc_job *, int argument, int64_t images); // of one set of images, CTFs or rotations
static inline size_t rc_grid_bytes(int64_t padded)
{
    return (size_t)padded * (size_t)padded * (size_t)(padded / 2 + 1) * 2 * sizeof(float);
}
double rc_scratch_most(const rc_job *); // that a call may take
// Scratch of its calls: of a whole one, of the last one, which may take more, and of each configuration that --tune may try.
size_t rc_scratch_of(const rc_job *, int64_t images, int64_t rows);

// prepare.c: plans for one size, used by many threads at once, each in room of its own: what the system hands out anew for
// every image it clears first.
typedef struct rc_prepare {
    int64_t side, padded, k;
    fftwf_plan rows, columns;
    char *room;
} rc_prepare;
int rc_prepare_make(rc_prepare *, int64_t side, int64_t padded, int64_t k, int threads); // RG_GOOD, or one line and RG_LACKS
void rc_prepare_free(rc_prepare *);
// The transform of the image about its centre floor(side / 2), shifted by origin, on the stored pixels of index.h (pairs).
void rc_prepare_image(
    const rc_prepare *, int thread, const float *image, double origin_x_px, double origin_y_px, bool invert, float *out);
// What the STAR file says has been done to the images.
static inline int rc_applied(const rg_particles *p)
{
    return p->premultiplied ? GR_APPLIED_WHOLE : p->phase_flipped ? GR_APPLIED_SIGN : GR_APPLIED_NOT;
}
// The CTF at the same pixels; returns the sum of its squares over the disc, mates included. The image's transform becomes plain
// (rc_plain) when its CTF was applied before.
double rc_prepare_ctf(const rc_prepare *, const rg_ctf_of *, double pixel_A, int applied, float *image, float *out);
rg_ctf rc_ctf_in_steps(const rg_ctf_of *, double step); // for frequencies counted in steps of `step` 1/A

// insert.c: the operators by name; per_operator: every one is inserted, as the paper does. RG_GOOD, or one line and
// RG_USAGE.
int rc_set_symmetry(rc_job *, const char *name, bool per_operator);
int rc_insert_all(rc_run *); // rc_method
void rc_job_free(rc_job *);  // sums, team and particles
pl_task rc_insert_on_gpu;    // gpu.c

// map.c: applies the operators of the grid to finished sums of a half, when the job leaves them to that. RG_GOOD, or one line
// and a code.
int rc_apply_lattice(rc_job *, int half);
// The map of N^3 voxels of these sums, wiener (FREALIGN's f) added to the weights, in the memory of the first device. RG_GOOD,
// or one line and a code.
int rc_make_map(rc_run *, int half, double wiener, float *map);
double rc_wiener(const rc_job *, int half); // f of one half's sums; the full map has the sum of both. 0 without CTF
int rc_weigh(rc_run *);
