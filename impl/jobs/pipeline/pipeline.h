// SPDX-License-Identifier: MIT
// pipeline.h: processes many images on many devices, for all jobs: particles, photographs, tilt images and volumes.
//
//     team.c      opens devices at the same time, a thread each; runs a task on all of them
//     feed.c      reads images ahead of a device into a ring of pinned slots
//     sums.c      adds the sums of all devices to those of the first, in pairs; add.cu: adds one sum to another on a GPU
//     stages.c    times of the stages, one schema for all jobs: OUT_stages.tsv
//     fft.cuh     cuFFT plans for the steps of jobs on a GPU
//
// A job opens a team, sets the source of its images, and runs tasks; each reads its share of the rows through a feed:
//
//     pl_team_open(&team, &(pl_devices){.entry = entry, .device = "gpu", .most = rows, ...});
//     team.source = &source;
//     pl_team_run(&team, task, job);
//         task: pl_feed_begin(&feed, member, row, rows, batch, slots);
//               while (pl_feed_next(&feed, &slot) == RG_GOOD && slot) { ...; pl_feed_release(&feed, slot); }
//               pl_feed_end(&feed);
//     pl_merge(&team, sums, parts);
//     pl_stages_write(&team, out, note);
//     pl_team_close(&team);
//
// Images may have any size: a slot's parts have a number of bytes per image. Jobs that do not read ahead (autocorr, whose
// photographs differ in size; align, average) use a team with tasks that read their own input, and pl_lap for the stages.
#pragma once

#include "../../base/core.h"
#include "../../runtime/call.h"
#include "../../runtime/table.h"

#include <pthread.h>

// ---- stages --------------------------------------------------------------------------------------------------------------

enum { PL_CALLS = 8 };
// Stages in the order of the table. PL_CALL + i: calls of a routine that the job names (pl_team.call_name).
typedef enum {
    PL_OPEN,  // files and devices
    PL_SETUP, // memory and plans
    PL_REFERENCE,
    PL_READ,
    PL_PREPARE,
    PL_COPY,
    PL_CALL,
    PL_INSERT = PL_CALL + PL_CALLS,
    PL_STEP, // of minimisers and of sorting, on the host
    PL_ADD,
    PL_MERGE, // sums of several devices
    PL_MAP,
    PL_FSC,
    PL_WRITE,
    PL_STAGES
} pl_stage;

// ---- several devices -----------------------------------------------------------------------------------------------------

enum { PL_DEVICES_MAX = 64 };

struct pl_team;
struct pl_source;

// One device and the thread that it belongs to.
typedef struct pl_member {
    struct pl_team *team;
    int index, threads;      // index in the team; its share of the CPU's threads
    const rg_device *device; // NULL before its first task
    bool is_lost;            // it did not open, after an error message
    struct {
        double busy_s; // time with at least one image in the stage
        int64_t calls;
        rg_cost needs; // of its calls, if their variant gives them
    } stage[PL_STAGES];
    int64_t bad_row; // the first row that could not be read; -1: none
} pl_member;

typedef int pl_task(pl_member *, void *context);

typedef struct pl_devices {
    const rg_entry *entry; // the variant, which decides between the CPU, the emulated GPU and GPUs
    const char *device; // of --device: "gpu" means all GPUs of this machine, or, with several processes, of this one (ranks.h)
    int64_t gpus;       // of --gpus; 0: all that `device` names
    int64_t most;       // number of rows, so that no device is idle
    bool even;          // an even number, or one
    int threads;        // CPU threads, for all devices
    double began_s;     // of the job
} pl_devices;

typedef struct pl_team {
    pl_member *member;
    int n;
    pl_devices of;
    pthread_t opening[PL_DEVICES_MAX]; // opens all at the same time, while the job reads
    bool is_opening[PL_DEVICES_MAX];
    const struct pl_source *source; // of the feeds
    const char *call_name[PL_CALLS];
    double region_s; // duration of the parallel part, if the job sets it
    rg_progress progress;
    pthread_mutex_t lock;
    atomic_bool has_failed; // a member has failed and printed it; others that fail for the same cause print nothing
} pl_team;

// Starts to open the first GPU that `device` names, which takes 0.2 s, while the job reads its inputs. For commands of one
// process; call pl_team_open or pl_team_close afterwards.
void pl_open_ahead(const char *device);
// RG_GOOD, or one line and RG_USAGE or RG_LACKS.
int pl_team_open(pl_team *, const pl_devices *);
// Runs the task in the threads of all members at the same time, the first in the calling thread; emulated GPUs take turns.
// Returns the largest code. Prints an error for the first of the rows that could not be read.
int pl_team_run(pl_team *, pl_task *, void *context);
// Opens the first member's device in this thread before any task. RG_GOOD, or one line and RG_LACKS.
int pl_team_enter(pl_member *);
void pl_team_progress(pl_team *, int64_t images); // adds `images` to the progress; from any thread
// Call after all inputs have been opened: hashes them for the log, concurrently with work on GPUs (hash.h).
void pl_team_hash(const pl_team *);
void pl_team_close(pl_team *);
// Share `index` of `of` equal ones of n: *first is its first item; returns its size.
int64_t pl_share(int64_t n, int index, int of, int64_t *first);
int pl_failed(const pl_member *, const char *doing, int error); // one line and rg_device_code; RG_GOOD: no error

static inline void pl_lap(pl_member *m, pl_stage stage, double since_s) {
    m->stage[stage].busy_s += rg_seconds() - since_s;
    m->stage[stage].calls++;
}

// Adds the needs of a call of this variant to the stage.
static inline void pl_need(pl_member *m, pl_stage stage, const rg_entry *e, const rg_shape *shape, const int64_t *param) {
    rg_cost cost = {{0}};
    if (e->variant->cost) e->variant->cost(shape, param, &cost);
    for (int r = 0; r < RG_RESOURCES; r++) m->stage[stage].needs.amount[r] += cost.amount[r];
}

// Prints seconds and shares of the stages, and writes them to OUT_stages.tsv beside `out`: for several devices, the longest
// time, and the needs of its calls, from which `regather doctor --stages` computes the share of the bound. `note`: lines that
// begin with "# ", about the run. RG_GOOD, or one line and a code.
int pl_stages_write(const pl_team *, const char *out, const char *note);

// ---- images --------------------------------------------------------------------------------------------------------------

enum { PL_PARTS = 4 };

// The source of images.
typedef struct pl_source {
    const char *path; // path of the list of rows, for messages
    const void *context;
    size_t part_bytes[PL_PARTS]; // bytes of a slot's part, per image
    // The reader of one thread, such as its own file; may be NULL.
    void *(*open)(const void *context);
    void (*close)(void *reader);
    // Reads row `row` into image `at` of a slot. RG_GOOD, or one line and a code.
    int (*read)(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at);
} pl_source;

// The images of a batch in pinned memory.
typedef struct pl_slot {
    void *part[PL_PARTS];
    int64_t batch, n; // n images: the feed's rows from batch * pl_feed.each on
    const int64_t *row;
    int64_t left; // images still to be read
} pl_slot;

enum { PL_SLOTS_MAX = 16, PL_READERS_MAX = 16 };

typedef struct pl_feed {
    pl_member *member;
    const int64_t *row;
    int64_t rows, each, batches; // rows: total; each: per batch
    int64_t handed;              // batches handed out
    int n_slots, n_made, n_readers;
    pl_slot slot[PL_SLOTS_MAX];
    pthread_t reader[PL_READERS_MAX];
    pthread_mutex_t lock; // protects the members below, and slots being read
    pthread_cond_t changed;
    int64_t next, piece; // next row to read; rows that a reader takes at a time
    int64_t bad;         // the first row that could not be read, -1: none
    bool stop;
    int reading; // readers at work since reading_since_s
    double reading_since_s;
} pl_feed;

// Starts to read batches of `each` rows, row[0 .. rows - 1] in their order, into `slots` slots. `row` must stay valid until
// pl_feed_end or the next begin. The feed must be zero, or begun before with the same `each` and `slots`: its memory is then
// reused. RG_GOOD, or one line and RG_LACKS.
int pl_feed_begin(pl_feed *, pl_member *, const int64_t *row, int64_t rows, int64_t each, int slots);
// Returns the next batch; NULL: the end. RG_GOOD, or a code if a row of it could not be read; no line is printed, but the
// member's bad_row is set.
int pl_feed_next(pl_feed *, pl_slot **);
void pl_feed_release(pl_feed *, pl_slot *); // the slot may be filled again
void pl_feed_end(pl_feed *);

// ---- sums ----------------------------------------------------------------------------------------------------------------

// to += from, n floats of the member's device; queued on the stream.
int pl_add(const pl_member *, void *stream, int64_t n, const float *from, float *to);
// sum[m * parts + p] is part p of member m's sums; base NULL: it has none. Adds them in pairs, from device to device, at the
// same time if pairs share no device, until the first member has all parts. Then adds those of the first members of all
// processes to rank 0's, from GPU to GPU on one machine, else through the host; the other processes lose theirs. The order
// depends only on the numbers of devices and processes. RG_GOOD, or one line and a code.
int pl_merge(pl_team *, rg_buffer *sum, int parts);
double pl_merge_bytes(
    const pl_team *, size_t sum_bytes); // memory of a device that pl_merge needs besides the sums; sum_bytes: the largest sum
