// SPDX-License-Identifier: MIT
// job_team.c: a job on one or several GPUs of this machine, one thread and one engine each; the first belongs to the calling
// thread. Emulated GPUs take their turns. And the table of what took how long.
#include "refine.h"
#include "../../runtime/cpu.h"
#include "../../runtime/choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const routine_name[FR_DOES] = {"ctfapply", "ccp", "sigma2", "cc3m", "presb", "ccoef", "pinsert_s"};
// --variant ALGO:NAME[:PARAMS] that is meant for this routine, NULL when there is none.
static const char *asked_for(const rg_cli *cli, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; rg_cli_nth(cli, "variant", i); i++) {
        const char *text = rg_cli_nth(cli, "variant", i);
        if (strncmp(text, name, length) == 0 && text[length] == ':')
            return text + length + 1;
    }
    return NULL;
}

static int pick(fr_call *c, const rg_cli *cli, const char *device, const rg_shape *typical)
{
    rg_choice choice;
    c->algo = rg_algo_find(c->name);
    int code = rg_choose(c->algo, device, asked_for(cli, c->name), NULL, 0, typical, &choice);
    c->entry = choice.entry;
    memcpy(c->param, choice.param, sizeof c->param);
    return code;
}

static int check_asked(const rg_cli *cli)
{
    for (int i = 0; rg_cli_nth(cli, "variant", i); i++) {
        const char *text = rg_cli_nth(cli, "variant", i);
        bool known = false;
        for (int r = 0; r < FR_DOES; r++)
            known =
                known || (strncmp(text, routine_name[r], strlen(routine_name[r])) == 0 && text[strlen(routine_name[r])] == ':');
        if (!known)
            return rg_fail(RG_USAGE,
                           "--variant: expected ctfapply:, cc3m: or another routine and a variant's name, found \"%s\"", text);
    }
    return RG_GOOD;
}

// ---- opening -------------------------------------------------------------------------------------------------------------

static const fr_job_steps *steps_of(const rg_device *device)
{
    if (!device->is_gpu)
        return &fr_steps_cpu;
#if HAVE_CUDA
    return device->is_emulated ? &fr_steps_emulated : &fr_steps_gpu;
#else
    return &fr_steps_emulated;
#endif
}

// Variants of all routines, alike for every engine; *on_host: they run on the CPU.
static int pick_all(fr_call does[FR_DOES], const rg_cli *cli, const char *device, int64_t side, unsigned routines, bool *on_host)
{
    const rg_shape typical = {.n = {[FR_SIDE] = side, [FR_PARTICLES] = 128, [FR_KIND] = FR_V9, [FR_TRIALS] = 1,
                                    [FR_OUTER] = side / 3, [FR_INNER] = 1}};
    bool host = false, gpu = false;
    int code = check_asked(cli);
    for (int r = 0; r < FR_DOES && code == RG_GOOD; r++) {
        does[r].name = routine_name[r];
        if (!(routines >> r & 1))
            continue;
        code = pick(&does[r], cli, device, &typical);
        if (code == RG_GOOD && does[r].entry->variant->space == RG_HOST)
            host = true;
        else
            gpu = true;
    }
    *on_host = host;
    return code != RG_GOOD || !(host && gpu)
               ? code
               : rg_fail(RG_USAGE, "--variant: all routines must run on the same device; --device cpu takes those of the CPU");
}

// How many engines: all GPUs, or --gpus of them, none without rows.
static int count(const rg_cli *cli, const char *device, bool on_host, int64_t most, bool even, int64_t *n)
{
    char why[200] = "";
    const bool any = strcmp(device, "gpu") == 0, emulated = strcmp(device, "host") == 0;
    const int64_t there = on_host ? 1 : any ? rg_gpu_count(why) : emulated ? FR_TEAM_MAX : 1;
    int code = rg_cli_int(cli, "gpus", 0, 1, FR_TEAM_MAX, n);
    if (code != RG_GOOD)
        return code;
    if (*n && on_host)
        return rg_fail(RG_USAGE, "--gpus: the routines run on the CPU");
    if (there < 1)
        return rg_fail(RG_LACKS, "--device %s: %s", device, why);
    if (*n > there)
        return rg_fail(RG_LACKS, "--gpus %" PRId64 ": this machine has %" PRId64 " for it", *n, there);
    if (even && *n > 1 && *n % 2)
        return rg_fail(RG_USAGE, "--gpus %" PRId64 ": expected an even number, as each GPU has rows of one half", *n);
    *n = *n ? *n : emulated ? 1 : there;
    *n = *n < most ? *n : most;
    *n -= even && *n > 1 ? *n % 2 : 0;
    return RG_GOOD;
}

static int open_device(const fr_team *t, const fr_engine *e, const rg_device **device)
{
    char name[16];
    const fr_call *first = e->does;
    while (!first->entry)
        first++;
    snprintf(name, sizeof name, "gpu%d", e->index);
    return rg_entry_device(first->entry, t->n > 1 ? name : rg_cli_text(t->cli, "device", "gpu"), device);
}

typedef struct opening {
    const fr_team *team;
    const fr_engine *engine;
} opening;

// A GPU's context belongs to the process: when enter() opens the GPU again, it is there.
static void *open_ahead(void *of)
{
    opening *o = of;
    const rg_device *device;
    rg_silent = true; // enter() complains
    open_device(o->team, o->engine, &device);
    free(o);
    return NULL;
}

static void begin_opening(fr_team *t, int index)
{
    opening *o = rg_alloc(sizeof *o);
    *o = (opening){t, &t->engine[index]};
    t->is_opening[index] = pthread_create(&t->opening[index], NULL, open_ahead, o) == 0;
    if (!t->is_opening[index])
        free(o);
}

static void wait_until_open(fr_team *t, int index)
{
    if (t->is_opening[index])
        pthread_join(t->opening[index], NULL);
    t->is_opening[index] = false;
}

// In the thread that the engine belongs to.
static int enter(fr_team *t, fr_engine *e)
{
    const double since_s = rg_seconds();
    if (e->is_lost) // which was said
        return RG_LACKS;
    wait_until_open(t, e->index);
    e->is_lost = open_device(t, e, &e->device) != RG_GOOD;
    if (e->is_lost)
        return RG_LACKS;
    e->steps = steps_of(e->device);
    fr_lap(e, FR_OPEN, since_s);
    return RG_GOOD;
}

int fr_team_open(fr_team *t, const rg_cli *cli, const fr_files *files, unsigned routines, int64_t most, bool even,
                 double began_s)
{
    fr_call does[FR_DOES] = {0};
    const char *device = rg_cli_text(cli, "device", "gpu");
    int64_t threads, n;
    bool on_host;
    *t = (fr_team){.cli = cli, .files = files, .began_s = began_s};
    pthread_mutex_init(&t->lock, NULL);
    int code = rg_cli_int(cli, "threads", rg_cpu_cores(), 1, 4096, &threads);
    code = code == RG_GOOD ? pick_all(does, cli, device, files->particles.side, routines, &on_host) : code;
    code = code == RG_GOOD ? count(cli, device, on_host, most, even, &n) : code;
    if (code != RG_GOOD)
        return code;
    t->n = (int)n;
    t->engine = rg_alloc((size_t)n * sizeof *t->engine);
    for (int i = 0; i < t->n; i++) {
        t->engine[i] = (fr_engine){.index = i, .bad_row = -1, .threads = (int)(threads / n > 1 ? threads / n : 1)};
        memcpy(t->engine[i].does, does, sizeof does);
    }
    for (int i = 0; i < t->n; i++)
        begin_opening(t, i);
    t->engine->stage_s[FR_OPEN] = rg_seconds() - began_s;
    return RG_GOOD;
}

// ---- running -------------------------------------------------------------------------------------------------------------

typedef struct member {
    fr_team *team;
    fr_engine *engine;
    fr_task task;
    void *context;
    int code;
    pthread_t thread;
} member;

static void *work(void *of)
{
    member *m = of;
    m->code = enter(m->team, m->engine);
    if (m->code == RG_GOOD)
        m->code = m->task(m->team, m->engine, m->context);
    return NULL;
}

// The row that comes first of those that could not be read is read again, to say why.
static int complain(const fr_team *t)
{
    int64_t row = -1;
    for (int i = 0; i < t->n; i++) {
        const int64_t bad = t->engine[i].bad_row;
        row = bad >= 0 && (row < 0 || bad < row) ? bad : row;
        t->engine[i].bad_row = -1;
    }
    return row < 0 ? RG_GOOD : fr_feed_complain(t->files, row);
}

int fr_team_run(fr_team *t, fr_task task, void *context)
{
    member of[FR_TEAM_MAX];
    int code = RG_GOOD;
    const bool turns = strcmp(rg_cli_text(t->cli, "device", "gpu"), "host") == 0;
    for (int i = t->n - 1; i >= 0; i--) {
        of[i] = (member){.team = t, .engine = &t->engine[i], .task = task, .context = context};
        if (i == 0 || turns)
            work(&of[i]);
        else if (pthread_create(&of[i].thread, NULL, work, &of[i]) != 0)
            exit(rg_fail(RG_LACKS, "no thread for gpu%d", i));
    }
    for (int i = 0; i < t->n; i++) {
        if (i > 0 && !turns)
            pthread_join(of[i].thread, NULL);
        code = of[i].code > code ? of[i].code : code;
    }
    const int told = complain(t);
    return code > told ? code : told;
}

int64_t fr_team_share(const fr_team *t, const fr_engine *e, int64_t n, int64_t *first)
{
    *first = n * e->index / t->n;
    return n * (e->index + 1) / t->n - *first;
}

void fr_team_progress(fr_team *t, int64_t particles)
{
    pthread_mutex_lock(&t->lock);
    rg_progress_at(&t->progress, t->progress.done + (double)particles);
    pthread_mutex_unlock(&t->lock);
}

static int close_engine(fr_team *t, fr_engine *e, void *context)
{
    (void)t, (void)context;
    fr_engine_close(e);
    return RG_GOOD;
}

void fr_team_close(fr_team *t)
{
    for (int i = 0; i < t->n; i++)
        wait_until_open(t, i);
    if (t->engine && t->engine->device)
        fr_team_run(t, close_engine, NULL);
    free(t->engine);
    t->engine = NULL;
}

// ---- stages --------------------------------------------------------------------------------------------------------------

static const char *const stage_name[FR_STAGES] = {"open", "setup", "reference", "read",  "copy",
                                                  "step", "merge", "map",       "fsc", "write"};
enum { FIRST_AFTER = FR_STEP }; // the routines stand before it

static void put_stage(FILE *f, const char *name, double busy_s, double whole_s, int64_t calls)
{
    if (busy_s > 0 || calls)
        fprintf(f, "%s\t%.4f\t%.4f\t%" PRId64 "\n", name, busy_s, busy_s / whole_s, calls);
}

static void put_stages(const fr_team *t, FILE *f, double whole_s)
{
    fprintf(f, "stage\tbusy_s\tshare\tcalls\n");
    for (int s = 0; s < FR_STAGES; s++) {
        double most_s = 0;
        for (int r = 0; r < FR_DOES && s == FIRST_AFTER; r++) {
            const fr_call *longest = &t->engine->does[r];
            int64_t runs = 0;
            for (int i = 0; i < t->n; i++) {
                const fr_call *c = &t->engine[i].does[r];
                longest = c->spent_s > longest->spent_s ? c : longest;
                runs += c->runs;
            }
            if (longest->entry) {
                char *name = rg_print("%s:%s", longest->name, longest->entry->name);
                put_stage(f, name, longest->spent_s, whole_s, runs);
                free(name);
            }
        }
        for (int i = 0; i < t->n; i++)
            most_s = t->engine[i].stage_s[s] > most_s ? t->engine[i].stage_s[s] : most_s;
        put_stage(f, stage_name[s], most_s, whole_s, 0);
    }
    fprintf(f, "whole\t%.4f\t1.0000\t0\n", whole_s);
}

int fr_team_report(const fr_team *t, const char *out)
{
    const rg_particles *p = &t->files->particles;
    const double whole_s = rg_seconds() - t->began_s;
    rg_device_facts facts;
    rg_file file;
    int code = rg_file_open_beside(&file, out, "_stages", ".tsv");
    if (code != RG_GOOD)
        return code;
    t->engine->device->facts(&facts);
    fprintf(file.stream, "# command: %s\n# %" PRId64 " images of %" PRId64 "^2 pixels; %d x %s, %d threads each\n",
            rg_cli_line(t->cli), p->n, p->side, t->n, facts.name, t->engine->threads);
    put_stages(t, file.stream, whole_s);
    put_stages(t, stdout, whole_s);
    return rg_file_commit(&file);
}
