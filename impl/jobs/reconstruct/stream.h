// SPDX-License-Identifier: MIT
// job_stream.h: one GPU's share of a job. Private to job_slots.c, job_stream.c and job_gpus.c.
#ifndef RG_GRIDDING_JOB_STREAM_H
#define RG_GRIDDING_JOB_STREAM_H

#include "reconstruct.h"
#include "../../runtime/search.h"
#include "device.h"

#include <pthread.h>

enum { GR_LANES = 3 };   // chunks under way on a GPU
enum { GR_READERS = 8 }; // threads that read for a GPU, at most

typedef struct gr_worker {
    gr_job *job;
    int index; // of the job's GPUs
    const rg_device *device;
    const gr_device_steps *steps;
    gr_rows rows[2]; // of each half
    float *g[2], *w[2]; // their sums, in the GPU's memory
    double ctf2[2], stage_s[GR_STAGES];
    rg_search search; // of the best parameters, while trials are left
    bool searching;
    int code;
    int64_t bad_row; // that could not be read, -1: none
} gr_worker;

// ---- job_slots.c: threads that read ahead, chunk after chunk -------------------------------------------------------------

// A chunk in pinned memory: as it is read, and what the host knows of its images.
typedef struct gr_slot {
    float *picture, *rotation;
    double *origin;
    rg_ctf *ctf;
    int64_t chunk; // that it is kept for
    bool is_full;
} gr_slot;

typedef struct gr_slots {
    gr_worker *worker;
    gr_rows rows;
    int64_t chunks;
    int n, n_readers, n_running;
    gr_slot slot[GR_READERS + GR_LANES];
    pthread_t reader[GR_READERS];
    // What the threads share.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t next; // chunk to be read
    bool stop;
    int reading; // readers at work, since reading_since_s
    double reading_since_s;
} gr_slots;

int64_t gr_chunk_images(const gr_slots *, int64_t chunk);
void gr_slots_start(gr_slots *, gr_worker *, gr_rows); // sets the worker's code when it fails
gr_slot *gr_slots_wait(gr_slots *, int64_t chunk);     // NULL when reading has failed
void gr_slots_give_back(gr_slots *, int64_t chunk);
void gr_slots_stop(gr_slots *);

// ---- job_stream.c --------------------------------------------------------------------------------------------------------

// All images of the worker through its GPU into g and w, which are made here. Sets code; a row that cannot be read is not
// complained of but named in bad_row.
void gr_stream(gr_worker *);

#endif
