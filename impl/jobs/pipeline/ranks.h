// SPDX-License-Identifier: MIT
// ranks.h: the processes of one job, as mpirun or srun started them. All use of MPI is here. In a build without MPI, or started
// alone, a job is rank 0 of 1, and every function below takes effect at once.
//
// Rank 0 prints, draws progress and writes the files of the whole job (core.h's rg_rank). Work is handed out in pieces, larger
// ones first, to whoever asks; the records of the pieces return to rank 0, in the order of the work. A process that fails ends
// the job: it prints its line, unless another has printed one, and all others end.
#pragma once

#include "../../base/core.h"

// Call before a job's command line is read. Starts MPI if there are several processes, and takes this one's share of the cores.
// RG_GOOD, or one line and RG_LACKS.
int rg_ranks_begin(void);
// Call after the job with its code, which it returns. If only this process failed, it does not return: the job is aborted with
// the code.
int rg_ranks_end(int code);

int rg_ranks(void);           // number of processes
bool rg_ranks_near(int rank); // whether that process is on this machine
// Prints, unless quiet, the number of processes and the cores of each, if there are several or cores were bound.
void rg_ranks_say(const char *job);

// The GPUs of this process, from the `gpus` of this machine: its own by its rank there, and more if there are more GPUs than
// processes. rg_ranks_gpu: the i-th; rg_ranks_gpus: their number.
int rg_ranks_gpu(int gpus, int i);
int rg_ranks_gpus(int gpus);
// The device that a job on one device opens for --device NAME; "gpu": this process's. Static text.
const char *rg_ranks_device(const char *name);

// ---- work ----------------------------------------------------------------------------------------------------------------

// Hands out n items, at least `least` at a time while there are as many, to `takers` takers in each process, such as GPUs. A
// process alone hands out equal shares, one per taker. Each item has a record of `bytes` bytes at record + i bytes; a process
// fills those of its pieces, and in the end rank 0 has all. Every process begins and ends a deal; there is one at a time.
typedef struct rg_deal {
    int64_t n, least, takers; // takers 0: one
    void *record;
    size_t bytes, note_bytes;
    // Called on rank 0 when these records have arrived, with the note_bytes sent with them; one call at a time, from any
    // thread. May be NULL.
    void (*arrived)(void *of, int64_t first, int64_t past, const void *note);
    void *of;
    int64_t next, done, taken; // rank 0: items handed out; items whose records have arrived; pieces
    int waiting;               // rank 0: processes that do not know yet that nothing is left
} rg_deal;
void rg_deal_begin(rg_deal *);
bool rg_deal_next(rg_deal *, int64_t *first, int64_t *past);                 // false: nothing is left; from any thread
void rg_deal_done(rg_deal *, int64_t first, int64_t past, const void *note); // call after filling their records
int rg_deal_end(rg_deal *, int code); // rank 0: waits for all records unless code is a failure; returns code

// ---- data of all processes ---------------------------------------------------------------------------------------------

// Copies from rank 0 to all.
void rg_ranks_share(void *, size_t bytes);
// Copy from one process to another.
void rg_ranks_send(const void *, size_t bytes, int to);
void rg_ranks_receive(void *, size_t bytes, int from);
// Computes the sums over all processes on rank 0, added in pairs, in an order that depends only on the number of processes.
// Overwrites `values` on the others.
void rg_ranks_sum(double *values, int n);
