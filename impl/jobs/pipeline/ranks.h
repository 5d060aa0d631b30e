// SPDX-License-Identifier: MIT
// ranks.h: the processes of one job, as mpirun or srun started them. All that MPI is to a job is here; without MPI in the
// build, or started alone, a job is rank 0 of 1 and every function below does at once what it says.
//
// Rank 0 prints, draws progress and writes what the whole job writes (core.h's rg_rank). Work is handed out in pieces, larger
// ones first, to whoever asks; records of the pieces come back to rank 0, which has them in the order of the work. A process
// that fails ends the job: it prints its line, unless another has printed one, and all others end.
#pragma once

#include "../../base/core.h"

// Before a job's command line is read. Starts MPI when there are several processes, and takes this one's share of the cores.
// RG_GOOD, or one line and RG_LACKS.
int rg_ranks_begin(void);
// After the job, with its code; returns it. A process that failed alone does not return: the job is aborted with its code.
int rg_ranks_end(int code);

int rg_ranks(void);           // how many
bool rg_ranks_near(int rank); // whether that one is on this machine
// Prints, unless quiet, the number of processes and what of the cores each may use, where there are several or were bound.
void rg_ranks_say(const char *job);

// Of `gpus` that this machine shows, those of this process: the next one of the machine, and further ones where there are more
// than processes. The i-th of them; how many.
int rg_ranks_gpu(int gpus, int i);
int rg_ranks_gpus(int gpus);
// The device that a job on one device opens for --device NAME: of "gpu", this process's. Text of static life.
const char *rg_ranks_device(const char *name);

// ---- work ----------------------------------------------------------------------------------------------------------------

// n items to be handed out, never fewer than `least` at a time while there are as many, to so many takers in each process, such
// as GPUs; a process alone hands out equal shares, one a taker. Each item has a record of `bytes` bytes at record + i bytes; a
// process fills those of its pieces, and rank 0 has all in the end. One deal at a time, begun and ended by every process.
typedef struct rg_deal {
    int64_t n, least, takers; // takers 0: one
    void *record;
    size_t bytes, note_bytes;
    // On rank 0: these records stand, and note_bytes that came with them; one call at a time, from any thread. May be NULL.
    void (*arrived)(void *of, int64_t first, int64_t past, const void *note);
    void *of;
    int64_t next, done, taken; // rank 0: items handed out, items whose records stand; pieces
    int waiting;               // rank 0: processes that have not been told that nothing is left
} rg_deal;
void rg_deal_begin(rg_deal *);
bool rg_deal_next(rg_deal *, int64_t *first, int64_t *past);                 // false: nothing is left. From any thread
void rg_deal_done(rg_deal *, int64_t first, int64_t past, const void *note); // their records are filled
int rg_deal_end(rg_deal *, int code); // rank 0: waits until all records stand, unless code is that of a failure; returns code

// ---- what all processes have ---------------------------------------------------------------------------------------------

// From rank 0 to all.
void rg_ranks_share(void *, size_t bytes);
// From one process to another.
void rg_ranks_send(const void *, size_t bytes, int to);
void rg_ranks_receive(void *, size_t bytes, int from);
// The sums over all processes, on rank 0; added in pairs, in an order that depends on the number of processes alone. What
// stands at `values` on the others is lost.
void rg_ranks_sum(double *values, int n);
