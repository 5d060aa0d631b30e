// SPDX-License-Identifier: MIT
// pipeline.h: many images through many devices, for all jobs: particles, photographs, tilt images and volumes alike.
//
//     team.c      devices opened at the same time, a thread each; a task in all of them
//     feed.c      images read ahead of a device into a ring of pinned slots
//     sums.c      sums of all devices into those of the first, in pairs; add.cu: one sum into another on a GPU
//     stages.c    what took how long, one schema for all jobs: OUT_stages.tsv
//     fft.cuh     cuFFT plans of the steps that jobs take on a GPU
//
// A job opens a team, says where its images come from, and runs tasks; each takes its share of the rows through a feed:
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
// Images of any size fit: a slot's parts are so many bytes an image. What is not read ahead at all (autocorr, whose photographs
// differ in size; align, average) uses a team with tasks that read for themselves, and pl_lap for its stages.
#pragma once

#include "../../base/core.h"
#include "../../runtime/call.h"
#include "../../runtime/table.h"

#include <pthread.h>

// ---- stages --------------------------------------------------------------------------------------------------------------

enum { PL_CALLS = 8 };
// In the order of the table. PL_CALL + i: calls of a routine, whose name the job gives (pl_team.call_name).
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
    int index, threads;      // of the team's; threads of the CPU that are its share
    const rg_device *device; // NULL before its first task
    bool is_lost;            // it does not open, which was said
    struct {
        double busy_s; // during which at least one image was in the stage
        int64_t calls;
        rg_cost needs; // of its calls, where their variant says so
    } stage[PL_STAGES];
    int64_t bad_row; // that could not be read; -1: none
} pl_member;

typedef int pl_task(pl_member *, void *context);

typedef struct pl_devices {
    const rg_entry *entry; // what will run there: on the CPU, on the emulated GPU or on GPUs
    const char
        *device;    // of --device: "gpu" stands for all GPUs of this machine; of several processes, for this one's (ranks.h)
    int64_t gpus;   // of --gpus; 0: all that `device` names
    int64_t most;   // rows: no device stands idle
    bool even;      // an even number, or one
    int threads;    // of the CPU, for all
    double began_s; // of the job
} pl_devices;

typedef struct pl_team {
    pl_member *member;
    int n;
    pl_devices of;
    pthread_t opening[PL_DEVICES_MAX]; // all at the same time, while the job goes on to read
    bool is_opening[PL_DEVICES_MAX];
    const struct pl_source *source; // of the feeds
    const char *call_name[PL_CALLS];
    double region_s; // of the parallel part, where the job tells it
    rg_progress progress;
    pthread_mutex_t lock;
    atomic_bool has_failed; // a member has, and said so: others that fail by the same cause do not
} pl_team;

// The first GPU that `device` names begins to open, which takes 0.2 s, while the job reads its inputs. For commands of one
// process; pl_team_open or pl_team_close has to follow.
void pl_open_ahead(const char *device);
// RG_GOOD, or one line and RG_USAGE or RG_LACKS.
int pl_team_open(pl_team *, const pl_devices *);
// The task in the thread of every member at the same time, that of the first in the calling thread; emulated GPUs take their
// turns. The largest code. Of rows that could not be read, the first is complained of here.
int pl_team_run(pl_team *, pl_task *, void *context);
// Opens the first member's device in this thread before any task. RG_GOOD, or one line and RG_LACKS.
int pl_team_enter(pl_member *);
void pl_team_progress(pl_team *, int64_t images); // so many more are done; from any thread
// All inputs have been opened: what the log says of them is found out beside the work of GPUs (hash.h).
void pl_team_hash(const pl_team *);
void pl_team_close(pl_team *);
// Share `index` of `of` equal ones of n; returns how many, *first: the first of them.
int64_t pl_share(int64_t n, int index, int of, int64_t *first);
int pl_failed(const pl_member *, const char *doing, int error); // one line and rg_device_code; RG_GOOD where there is no error

static inline void pl_lap(pl_member *m, pl_stage stage, double since_s)
{
    m->stage[stage].busy_s += rg_seconds() - since_s;
    m->stage[stage].calls++;
}

// A call of this variant belongs to the stage.
static inline void pl_need(pl_member *m, pl_stage stage, const rg_entry *e, const rg_shape *shape, const int64_t *param)
{
    rg_cost cost = {{0}};
    if (e->variant->cost) e->variant->cost(shape, param, &cost);
    for (int r = 0; r < RG_RESOURCES; r++) m->stage[stage].needs.amount[r] += cost.amount[r];
}

// Seconds and shares of the stages on stdout and, beside `out`, in OUT_stages.tsv: of several devices, the one that was at it
// longest, and what its calls needed of the machine, of which `regather doctor --stages` makes the share of the bound. `note`:
// lines that begin with "# ", of what was done. RG_GOOD, or one line and a code.
int pl_stages_write(const pl_team *, const char *out, const char *note);

// ---- images --------------------------------------------------------------------------------------------------------------

enum { PL_PARTS = 4 };

// Where images come from.
typedef struct pl_source {
    const char *path; // of the list of rows, for messages
    const void *context;
    size_t part_bytes[PL_PARTS]; // of a slot, an image's share
    // What one thread needs for reading, such as a file of its own; may be NULL.
    void *(*open)(const void *context);
    void (*close)(void *reader);
    // Row `row` to image `at` of a slot. RG_GOOD, or one line and a code.
    int (*read)(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at);
} pl_source;

// Images of a batch in pinned memory.
typedef struct pl_slot {
    void *part[PL_PARTS];
    int64_t batch, n; // n images of the feed's rows from batch * pl_feed.each on
    const int64_t *row;
    int64_t left; // to be read
} pl_slot;

enum { PL_SLOTS_MAX = 16, PL_READERS_MAX = 16 };

typedef struct pl_feed {
    pl_member *member;
    const int64_t *row;
    int64_t rows, each, batches; // of all; in a batch
    int64_t handed;              // batches that were handed out
    int n_slots, n_made, n_readers;
    pl_slot slot[PL_SLOTS_MAX];
    pthread_t reader[PL_READERS_MAX];
    pthread_mutex_t lock; // of what follows, and of slots that are read
    pthread_cond_t changed;
    int64_t next, piece; // row that is read next; how many a reader takes at a time
    int64_t bad;         // the first of the rows that could not be read, -1: none
    bool stop;
    int reading; // readers at work, since reading_since_s
    double reading_since_s;
} pl_feed;

// Reads ahead batches of `each` rows, row[0 .. rows - 1] in their order, into so many slots. `row` must stay until pl_feed_end
// or the next beginning. A feed of zeros, or one that was begun before, with the same `each` and `slots`, whose memory is used
// again. RG_GOOD, or one line and RG_LACKS.
int pl_feed_begin(pl_feed *, pl_member *, const int64_t *row, int64_t rows, int64_t each, int slots);
// The next batch, NULL at the end. RG_GOOD, or a code: a row of it could not be read, which is not complained of but named in
// the member's bad_row.
int pl_feed_next(pl_feed *, pl_slot **);
void pl_feed_release(pl_feed *, pl_slot *); // to be filled again
void pl_feed_end(pl_feed *);

// ---- sums ----------------------------------------------------------------------------------------------------------------

// to += from, n floats of the member's device; queued on the stream.
int pl_add(const pl_member *, void *stream, int64_t n, const float *from, float *to);
// sum[m * parts + p] is part p of member m's sums, whose base is NULL where it has none of it. Adds them up in pairs, from
// device to device, at the same time where pairs do not share one: in the end the first member has all parts. Then those of the
// first members of all processes, from GPU to GPU of one machine, else through the host, to rank 0's; elsewhere they are lost.
// The order depends on the numbers of devices and processes alone. RG_GOOD, or one line and a code.
int pl_merge(pl_team *, rg_buffer *sum, int parts);
double pl_merge_bytes(
    const pl_team *, size_t sum_bytes); // that it takes of a device beside the sums, of which the largest is so large
