// SPDX-License-Identifier: MIT
// job.h: the commands `regather reconstruct` and `regather fsc` on top of the function table. Private to impl/gridding/job*.c
// and its tests.
//
//     job.c          the command line of reconstruct, the order of its stages, their times
//     job_plan.c     which variant, how many images a call, the memory that it takes
//     job_ranks.c    several processes of one job (MPI): rows of each, the sum of their sums
//     job_prepare.c  an image -> its shifted, padded transform, cropped to the half plane of the maximum frequency; its CTF
//     job_insert.c   on the host: particles in batches through the variant, sums over batches
//     job_gpus.c     on GPUs: a share of the rows each, the sum of their sums, the map (job_slots.c reads, job_stream.c
//                    inserts, job_device.cu computes)
//     job_map.c      division, inverse transform, gridding correction, crop, mask, files
//     job_fsc.c      the command fsc
//
// Sides: images and map have N pixels, images are padded to P = padding N, frequencies go to k = floor(P / 2), the sums have
// 2k + 1 voxels a side. For even P the frequencies k and -k are one on P points; in the disc and in the sphere of radius k they
// are met on the axes only, where the value at +k is taken.
#ifndef RG_GRIDDING_JOB_H
#define RG_GRIDDING_JOB_H

#include "../../../data/formats/particles.h"
#include "../../runtime/call.h"
#include "../../runtime/table.h"
#include "../../gridding/index.h"
#include "../../../data/geometry/symmetry.h"

#include <fftw3.h>

typedef enum { GR_OPEN, GR_SETUP, GR_READ, GR_PREPARE, GR_COPY, GR_INSERT, GR_ADD, GR_MAP, GR_WRITE, GR_STAGES } gr_stage;
extern const char *const gr_stage_name[GR_STAGES];

// Rows first, first + step, ... , `count` of them.
typedef struct gr_rows {
    int64_t first, step, count;
} gr_rows;

// What one set of images adds up to.
typedef struct gr_sums {
    float *g, *w;      // laid out as the algorithm's outputs; NULL while they are on a GPU
    double ctf2;        // sum of c^2 over the discs of all images
    double disc_pixels; // how many pixels that were
} gr_sums;

typedef struct gr_job {
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    const rg_device *device;
    rg_particles particles;
    const char *out, *command;
    bool ctf, invert;
    int halves; // 2 with half maps, else 1
    double mask_radius_px; // 0: no mask
    int64_t padding, padded, k, radius_tenths;
    int trials;           // configurations of the variant's parameters to try on the first batches
    int64_t batch, chunk; // images a call, and images read and prepared at a time
    int threads;
    gr_symmetry symmetry;
    gr_lattice lattice;
    bool use_lattice; // insert with the operators lattice.coset only, and apply lattice.lattice to the finished sums
    int n_operators;  // that are inserted
    int rank, ranks;          // this process of how many
    int64_t first, past;      // its rows
    int gpus;                 // of this process that share its rows; 0 on the host
    struct gr_worker *worker; // one a GPU, with its sums; NULL on the host
    gr_sums sums[2]; // of the odd and of the even rows; all rows in the first without half maps
    double stage_s[GR_STAGES]; // during which at least one image was in it
    char tuned[400];           // what the trials found, "" without any
    double region_s;           // from the first image read to the sums of all
    rg_progress progress;
    int64_t done; // images
} gr_job;

// Seconds since, added to a stage.
static inline void gr_lap(gr_job *job, gr_stage stage, double since_s) { job->stage_s[stage] += rg_seconds() - since_s; }

// job_plan.c: after the particles are open and padding, ctf, halves, radius_tenths, threads, operators are set.
// Sets padded and k; entry, param and device by --variant and --device; batch and chunk by what is free. RG_GOOD, RG_USAGE or
// RG_LACKS.
// gpus: how many may share the work, 0: all that `device` names.
int gr_plan(gr_job *, const char *asked, const char *device, int64_t gpus);
rg_shape gr_shape(const gr_job *, int64_t images);
// Of this process's rows, those of a half that fall to one of `shares` equal blocks.
gr_rows gr_rows_of(const gr_job *, int half, int share, int shares);

// job_ranks.c: the processes that mpirun started. Without MPI in the build, one that was not started by it is rank 0 of 1.
int gr_ranks_begin(gr_job *);                 // RG_GOOD, or one line and RG_LACKS
int gr_ranks_agree(const gr_job *, int code); // the largest code of all processes
int gr_ranks_sum(gr_job *);                   // the sums of all processes, on the host, into those of rank 0
int gr_ranks_host(void);                      // rank among the processes on this machine
void gr_ranks_end(void);

// job_prepare.c: plans for one size, used by many threads at once.
typedef struct gr_prepare {
    int64_t side, padded, k;
    fftwf_plan rows, columns;
} gr_prepare;
void gr_prepare_make(gr_prepare *, int64_t side, int64_t padded, int64_t k);
void gr_prepare_free(gr_prepare *);
// The transform of the image about its centre floor(side / 2), shifted by origin, on the stored pixels of index.h (pairs).
void gr_prepare_image(const gr_prepare *, const float *image, double origin_x_px, double origin_y_px, bool invert, float *out);
// The CTF at the same pixels; returns the sum of its squares over the disc, mates included.
double gr_prepare_ctf(const gr_prepare *, const rg_ctf_of *, double pixel_A, float *out);
rg_ctf gr_ctf_in_steps(const rg_ctf_of *, double step); // for frequencies counted in steps of `step` 1/A

// job_insert.c: the operators by name; per_operator: every one is inserted, as the paper does. RG_GOOD, or one line and
// RG_USAGE.
int gr_set_symmetry(gr_job *, const char *name, bool per_operator);
void gr_rotations(const gr_job *, const rg_particle *, float *out); // of one particle, one for each operator that is inserted
// Fills sums, here or on GPUs. RG_GOOD, or one line and a code.
int gr_insert(gr_job *);
void gr_progress(gr_job *, int64_t images); // so many more are prepared; from any thread
void gr_job_free(gr_job *); // sums and particles

// job_gpus.c: the same on job->gpus GPUs; sums stay in the first one's memory.
double gr_gpu_bytes(const gr_job *, int64_t side, int64_t images); // most that a GPU holds at once with so many images a call
double gr_pinned_bytes(const gr_job *);                            // of one GPU
int gr_gpus_insert(gr_job *);
int gr_gpus_fetch(gr_job *); // sums to the host, and back
int gr_gpus_put(gr_job *);
int gr_gpus_lattice(gr_job *, int half);
int gr_gpus_add_halves(gr_job *);
int gr_gpus_map(gr_job *, int half, double wiener, float *map);
void gr_gpus_free(gr_job *);

// job_map.c: applies the operators of the grid to finished sums, when the job leaves them to that.
void gr_apply_lattice(const gr_job *, gr_sums *);
// The map of N^3 voxels of these sums, wiener (FREALIGN's f) added to the weights.
void gr_map(const gr_job *, const gr_sums *, double wiener, float *map);
// What a voxel is multiplied with, by its squared distance from the centre: gridding correction, mask, scale of the transform.
double *gr_factors(const gr_job *, int64_t *n);
double gr_wiener(const gr_job *, int half); // f of one half's sums; the full map has the sum of both. 0 without CTF
int gr_write_maps(gr_job *);                // the full map, and the halves when there are

#endif
