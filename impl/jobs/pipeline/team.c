// SPDX-License-Identifier: MIT
// team.c: runs a job on one or several devices of this machine, a thread each; the first belongs to the calling thread.
#include "pipeline.h"
#include "ranks.h"
#include "../../base/hash.h"
#include "../../runtime/choice.h"

int pl_failed(const pl_member *m, const char *doing, int error) {
    return rg_device_failed(m->device, m->device->name, doing, error);
}

// ---- opening -------------------------------------------------------------------------------------------------------------

// Number of devices: all GPUs, or --gpus of them, none without rows.
static int count(const pl_team *t, int64_t *n) {
    char why[200] = "";
    const pl_devices *of = &t->of;
    const bool any = strcmp(of->device, "gpu") == 0;
    const int64_t there = rg_on_cpu(of->entry) ? 1
        : of->entry->emulated                  ? PL_DEVICES_MAX
        : any                                  ? rg_ranks_gpus(rg_gpu_count(why))
                                               : 1;
    if (of->gpus && rg_on_cpu(of->entry))
        return rg_fail(RG_USAGE, "--gpus: %s:%s runs on the CPU", of->entry->algo->name, of->entry->name);
    if (there < 1) return rg_fail(RG_LACKS, "--device %s: %s", of->device, why);
    if (of->gpus > there) return rg_fail(RG_LACKS, "--gpus %" PRId64 ": this machine has %" PRId64 " for it", of->gpus, there);
    if (of->even && of->gpus > 1 && of->gpus % 2)
        return rg_fail(RG_USAGE, "--gpus %" PRId64 ": expected an even number, as each GPU has rows of one half", of->gpus);
    *n = of->gpus ? of->gpus : of->entry->emulated ? 1 : there;
    *n = *n < of->most ? *n : of->most;
    *n -= of->even && *n > 1 ? *n % 2 : 0;
    *n = *n > 0 ? *n : 1;
    return RG_GOOD;
}

// RG_GOOD, or one line and RG_LACKS.
static int open_device(const pl_member *m, const rg_device **device) {
    const pl_devices *of = &m->team->of;
    const bool any = strcmp(of->device, "gpu") == 0 && !rg_on_cpu(of->entry) && !of->entry->emulated;
    char name[16], why[200];
    snprintf(name, sizeof name, "gpu%d", any ? rg_ranks_gpu(rg_gpu_count(why), m->index) : 0);
    return rg_entry_device(of->entry, any ? name : of->device, device);
}

// Creates the GPU's context, which belongs to the process, so the thread that opens the GPU later finds it.
static void *open_ahead(void *of) {
    const rg_device *device;
    rg_silent = true;
    open_device(of, &device);
    return NULL;
}

// The GPU that a process opens before it has a team, if it is the only process on the machine.
static struct {
    int index;
    pthread_t thread;
    bool is_opening;
} first_gpu;

static void *open_first(void *of) {
    char why[200];
    (void)of;
    rg_gpu_open(first_gpu.index, why);
    return NULL;
}

void pl_open_ahead(const char *device) {
    first_gpu.index = rg_device_index(device);
    first_gpu.is_opening =
        first_gpu.index >= 0 && rg_ranks() == 1 && !pthread_create(&first_gpu.thread, NULL, open_first, NULL);
}

static void wait_for_first(void) {
    if (first_gpu.is_opening) pthread_join(first_gpu.thread, NULL);
    first_gpu.is_opening = false;
}

static void wait_until_open(pl_team *t, int index) {
    if (t->is_opening[index]) pthread_join(t->opening[index], NULL);
    t->is_opening[index] = false;
}

int pl_team_enter(pl_member *m) {
    const double since_s = rg_seconds();
    if (m->is_lost) return RG_LACKS;
    wait_until_open(m->team, m->index);
    m->is_lost = open_device(m, &m->device) != RG_GOOD;
    m->stage[PL_OPEN].busy_s += rg_seconds() - since_s;
    return m->is_lost ? RG_LACKS : RG_GOOD;
}

int pl_team_open(pl_team *t, const pl_devices *of) {
    int64_t n = 0;
    wait_for_first();
    *t = (pl_team){.of = *of};
    pthread_mutex_init(&t->lock, NULL);
    int code = count(t, &n);
    if (code != RG_GOOD) return code;
    t->n = (int)n;
    t->member = rg_alloc((size_t)n * sizeof *t->member);
    const int threads = of->threads > t->n ? of->threads / t->n : 1;
    for (int i = 0; i < t->n; i++) t->member[i] = (pl_member){.team = t, .index = i, .bad_row = -1, .threads = threads};
    for (int i = 0; i < t->n; i++) t->is_opening[i] = pthread_create(&t->opening[i], NULL, open_ahead, &t->member[i]) == 0;
    pl_lap(t->member, PL_OPEN, of->began_s);
    return RG_GOOD;
}

// While GPUs work, a quarter of the processors hashes faster than a log needs.
void pl_team_hash(const pl_team *t) {
    const rg_entry *e = t->of.entry;
    if (rg_rank == 0 && !rg_dry_run) rg_hash_begin(rg_on_cpu(e) || e->emulated ? 0 : (t->of.threads + 3) / 4);
}

void pl_team_close(pl_team *t) {
    wait_for_first();
    for (int i = 0; i < t->n; i++) wait_until_open(t, i);
    free(t->member);
    t->member = NULL;
    t->n = 0;
}

// ---- running -------------------------------------------------------------------------------------------------------------

typedef struct work {
    pl_member *member;
    pl_task *task;
    void *context;
    int code;
    pthread_t thread;
} work;

static void *run(void *of) {
    work *w = of;
    rg_has_failed = &w->member->team->has_failed;
    w->code = pl_team_enter(w->member);
    if (w->code == RG_GOOD) w->code = w->task(w->member, w->context);
    rg_has_failed = NULL;
    return NULL;
}

// Reads the first of the rows that failed again, to report the reason.
static int complain(pl_team *t) {
    const pl_source *s = t->source;
    void *part[PL_PARTS];
    int64_t row = -1;
    for (int i = 0; i < t->n; i++) {
        const int64_t bad = t->member[i].bad_row;
        row = bad >= 0 && (row < 0 || bad < row) ? bad : row;
        t->member[i].bad_row = -1;
    }
    if (row < 0) return RG_GOOD;
    for (int p = 0; p < PL_PARTS; p++) part[p] = rg_alloc(s->part_bytes[p] ? s->part_bytes[p] : 1);
    void *reader = s->open ? s->open(s->context) : NULL;
    int code = s->read(s->context, reader, row, part, 0);
    if (s->close) s->close(reader);
    for (int p = 0; p < PL_PARTS; p++) free(part[p]);
    return code != RG_GOOD
        ? code
        : rg_fail(RG_USAGE, "%s: row %" PRId64 " could not be read at first; the file is changing", s->path, row + 1);
}

int pl_team_run(pl_team *t, pl_task *task, void *context) {
    work w[PL_DEVICES_MAX];
    int code = RG_GOOD;
    const bool turns = t->of.entry->emulated;
    for (int i = t->n - 1; i >= 0; i--) {
        w[i] = (work){.member = &t->member[i], .task = task, .context = context};
        if (i == 0)
            run(&w[i]);
        else if (pthread_create(&w[i].thread, NULL, run, &w[i]) != 0)
            rg_end(RG_LACKS, "no thread for gpu%d", i);
        else if (turns)
            pthread_join(w[i].thread, NULL);
    }
    for (int i = 0; i < t->n; i++) {
        if (i > 0 && !turns) pthread_join(w[i].thread, NULL);
        code = w[i].code > code ? w[i].code : code;
    }
    const int told = atomic_load(&t->has_failed) ? RG_GOOD : complain(t);
    return code > told ? code : told;
}

int64_t pl_share(int64_t n, int index, int of, int64_t *first) {
    *first = n * index / of;
    return n * (index + 1) / of - *first;
}

void pl_team_progress(pl_team *t, int64_t images) {
    pthread_mutex_lock(&t->lock);
    rg_progress_at(&t->progress, t->progress.done + (double)images);
    pthread_mutex_unlock(&t->lock);
}
