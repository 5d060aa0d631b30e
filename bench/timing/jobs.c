// SPDX-License-Identifier: MIT
// jobs.c: `bench --job`: a whole command of this program, files to files, on one GPU and on several. Each run is a process of its
// own that sees only the GPUs it may use; the first of each kind warms the page cache and is not counted.

#include "job_run.h"
#include "lineup.h"

#include "../../impl/runtime/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS_MOST = 16, LEAST_SAMPLES = 2 };

typedef struct job_kind {
    int gpus;
    int n;
    double sample_ns[RG_SAMPLES_MAX], spent_s, joules, joules_s;
    rg_status status;
    char stop[300], energy[300];
    bool done;
} job_kind;

typedef struct job_bench {
    const rg_bench_options *options;
    const char *command, *label;
    char algo[64], variant[64], unit[64], program[4096], folder[4096];
    double work;
    int threads; // of a run without GPUs
    job_kind kind[KINDS_MOST];
    int n_kinds;
} job_bench;

// ---- the command line ----------------------------------------------------------------------------------------------------

// "1,2,4" into kinds; 0 hides the GPUs.
static int read_gpus(job_bench *b, const char *text)
{
    for (const char *at = text; *at && b->n_kinds < KINDS_MOST; at += *at == ',') {
        char *end;
        long gpus = strtol(at, &end, 10);
        if (end == at || gpus < 0 || gpus > 64 || (*end && *end != ','))
            return rg_fail(RG_USAGE, "--gpus: expected numbers of GPUs with commas, as in 1,2,4, found \"%s\"", text);
        b->kind[b->n_kinds++].gpus = (int)gpus;
        at = end;
    }
    return b->n_kinds ? RG_GOOD : rg_fail(RG_USAGE, "--gpus: expected numbers of GPUs with commas, found \"%s\"", text);
}

static int read_options(job_bench *b)
{
    const rg_bench_options *o = b->options;
    char why[200], all[16];
    b->command = o->job;
    b->label = o->shape.n ? o->shape.item[0] : "-";
    sscanf(b->command, " %63s", b->algo);
    const char *variant = strstr(b->command, "--variant ");
    strcpy(b->variant, "default");
    if (variant)
        sscanf(variant, "--variant %63s", b->variant);
    const char *threads = strstr(b->command, "--threads ");
    b->threads = rg_cpu_cores();
    if (threads)
        sscanf(threads, "--threads %d", &b->threads);
    if (!*b->algo)
        return rg_fail(RG_USAGE, "--job: expected a command of this program, as in \"autocorr *.png --max-offset 250 --out {out}\"");
    const char *work = o->work;
    char *end;
    b->work = strtod(work, &end);
    if (!(b->work > 0) || *end != ':' || !end[1] || strlen(end) > 60)
        return rg_fail(RG_USAGE, "--work: expected N:UNIT as in 16:photographs, found \"%s\"", work);
    snprintf(b->unit, sizeof b->unit, "%s/s", end + 1);
    snprintf(all, sizeof all, "%d", strcmp(o->given.device, "cpu") ? rg_gpu_count(why) : 0);
    return read_gpus(b, o->gpus ? o->gpus : all);
}

// ---- one run -------------------------------------------------------------------------------------------------------------

static double run_once(const job_bench *b, job_kind *kind)
{
    char *line = rg_job_line(b->command, b->folder), said[200];
    const rg_job_run run = rg_job_run_once(line, b->program, b->folder, kind->gpus);
    if (run.code) {
        rg_job_last_line(b->folder, said);
        kind->done = true;
        kind->status = run.code == RG_LACKS ? RG_SKIP : run.code > 127 ? RG_CRASH : RG_FAIL;
        snprintf(kind->stop, sizeof kind->stop, "exit status %d: %s", run.code, said);
    }
    free(line);
    return run.wall_s;
}

// One more run with the energy counters of its GPUs, or of the CPU for none, read around it.
static void measure_energy(const job_bench *b, job_kind *kind)
{
    enum { GPUS_MOST = 64 };
    const rg_device *device[GPUS_MOST] = {rg_device_cpu()};
    rg_energy energy[GPUS_MOST];
    int n = kind->gpus ? kind->gpus : 1;
    char why[200] = "", name[16];
    for (int g = 0; g < kind->gpus; g++) {
        snprintf(name, sizeof name, "gpu%d", g);
        device[g] = rg_device_open(name, why);
        if (!device[g]) {
            snprintf(kind->energy, sizeof kind->energy, "none: %s", why);
            return;
        }
    }
    for (int g = 0; g < n; g++)
        rg_energy_start(device[g], &energy[g]);
    run_once(b, kind);
    double total = 0, joules, watts;
    for (int g = 0; g < n; g++) {
        rg_energy_stop(device[g], &energy[g], &joules, &kind->joules_s, &watts);
        total += joules;
    }
    bool long_enough = kind->joules_s >= RG_ENERGY_WINDOW_S;
    kind->joules = long_enough ? total : NAN;
    if (long_enough)
        snprintf(kind->energy, sizeof kind->energy, "%s x %d, window %.1f s, mean %.0f W", energy[0].source, n, kind->joules_s,
                 total / kind->joules_s);
    else
        snprintf(kind->energy, sizeof kind->energy, "none: the job took %.2f s, a window of %d s is needed", kind->joules_s,
                 RG_ENERGY_WINDOW_S);
}

// ---- rounds and rows -----------------------------------------------------------------------------------------------------

// Every run is a process of its own.
static rg_samples samples_of(const job_kind *kind)
{
    static int past[RG_SAMPLES_MAX];
    for (int i = 0; i < kind->n; i++)
        past[i] = i + 1;
    return (rg_samples){kind->n, kind->n, (double *)kind->sample_ns, past};
}

static bool enough(job_kind *kind, const rg_bench_options *o)
{
    rg_summary s;
    if (kind->n < LEAST_SAMPLES)
        return false;
    const rg_samples samples = samples_of(kind);
    rg_summarise(&samples, &s);
    const char *why = rg_relative_width(&s) < 0.01 ? "interval" : kind->spent_s >= o->max_s ? "time" : "rounds";
    snprintf(kind->stop, sizeof kind->stop, "%s", why);
    return strcmp(why, "rounds") || kind->n >= o->rounds;
}

static void visit(job_bench *b, job_kind *kind)
{
    double seconds = run_once(b, kind);
    if (kind->done)
        return;
    kind->sample_ns[kind->n++] = seconds * 1e9;
    kind->spent_s += seconds;
    kind->done = enough(kind, b->options);
}

// Not counted, unless it takes longer than all samples may: then it is the only one, as in bench.c.
static void warm_up(const job_bench *b, job_kind *kind)
{
    double seconds = run_once(b, kind);
    if (kind->done || seconds < b->options->max_s)
        return;
    kind->sample_ns[kind->n++] = seconds * 1e9;
    kind->done = true;
    snprintf(kind->stop, sizeof kind->stop, "time");
}

static void time_kinds(job_bench *b)
{
    rg_progress progress;
    int left = 0, visits = 0;
    char why[200];
    int have = rg_gpu_count(why);
    rg_progress_begin(&progress, "bench", "runs", (double)b->n_kinds * (double)(b->options->rounds + 1));
    for (int k = 0; k < b->n_kinds; k++) {
        job_kind *kind = &b->kind[k];
        if (kind->gpus > have) {
            kind->done = true;
            kind->status = RG_SKIP;
            snprintf(kind->stop, sizeof kind->stop, "needs %d GPUs, this machine has %d", kind->gpus, have);
        } else {
            warm_up(b, kind);
        }
        left += !kind->done;
        rg_progress_at(&progress, ++visits);
    }
    for (int round = 0; left; round++)
        for (int i = 0; i < b->n_kinds; i++) {
            job_kind *kind = &b->kind[round % 2 ? b->n_kinds - 1 - i : i];
            if (kind->done)
                continue;
            visit(b, kind);
            left -= kind->done;
            rg_progress_at(&progress, ++visits);
        }
    for (int k = 0; k < b->n_kinds; k++)
        if (b->options->energy && b->kind[k].status == RG_PASS)
            measure_energy(b, &b->kind[k]);
    rg_progress_end(&progress);
}

static rg_row row_of(const job_bench *b, const job_kind *kind)
{
    rg_row row = rg_empty_row();
    rg_set_cell(&row, RG_C_ALGO, "%s", b->algo);
    rg_set_cell(&row, RG_C_VARIANT, "%s", b->variant);
    rg_set_cell(&row, RG_C_SHAPE, "%s", b->label);
    if (kind->gpus)
        rg_set_cell(&row, RG_C_PARAMS, "gpus=%d", kind->gpus);
    else
        rg_set_cell(&row, RG_C_PARAMS, "gpus=0;threads=%d", b->threads);
    rg_set_cell(&row, RG_C_SPACE, "%s", kind->gpus ? "device" : "host");
    rg_set_cell(&row, RG_C_SCOPE, "job");
    rg_set_cell(&row, RG_C_MODE, "hot");
    rg_set_cell(&row, RG_C_UNIT, "ns");
    rg_set_number(&row, RG_C_WORK, b->work);
    rg_set_cell(&row, RG_C_RATE_UNIT, "%s", b->unit);
    rg_set_cell(&row, RG_C_STATUS, "%s", rg_status_name[kind->status]);
    rg_set_cell(&row, RG_C_STOP, "%s", kind->stop);
    if (kind->status != RG_PASS)
        return row;
    const rg_samples samples = samples_of(kind);
    rg_set_times(&row, &samples, b->work);
    rg_set_number(&row, RG_C_JOULES, kind->joules);
    rg_set_cell(&row, RG_C_ENERGY_SOURCE, "%s", kind->energy);
    return row;
}

static int write_rows(job_bench *b)
{
    rg_out out;
    rg_head head;
    char why[200];
    int wrong = 0, timed = 0;
    int code = rg_out_begin(&out, b->options->out, b->options->resume);
    const rg_device *gpu = strcmp(b->options->given.device, "cpu") ? rg_device_open(b->options->given.device, why) : NULL;
    rg_head_make(&head, gpu, b->options->given.seed, b->options->given.line);
    code = code ? code : rg_out_start(&out, &head);
    rg_head_free(&head);
    int first = out.n_rows;
    for (int k = 0; k < b->n_kinds && !code; k++) {
        code = rg_out_add(&out, row_of(b, &b->kind[k]));
        timed += b->kind[k].status == RG_PASS;
        wrong += b->kind[k].status != RG_PASS && b->kind[k].status != RG_SKIP;
    }
    if (!code) {
        rg_show_rows(stdout, out.row + first, out.n_rows - first, b->options->given.seed);
        code = rg_out_commit(&out);
    }
    rg_out_free(&out);
    if (code)
        return code;
    if (wrong)
        return rg_fail(RG_WRONG, "bench: the job failed; see above");
    return timed ? RG_GOOD : rg_fail(RG_LACKS, "bench: the job could not be timed here; see above");
}

int rg_bench_job(const rg_bench_options *o)
{
    job_bench b = {.options = o};
    for (int k = 0; k < KINDS_MOST; k++) {
        b.kind[k].joules = NAN;
        b.kind[k].status = RG_PASS;
    }
    int code = read_options(&b);
    if (code)
        return code;
    char *program = rg_own_program();
    if (!program)
        return rg_fail(RG_LACKS, "bench: /proc/self/exe cannot be read, the program does not know where it is");
    snprintf(b.program, sizeof b.program, "%s", program);
    free(program);
    code = rg_job_folder_make(b.folder);
    if (code)
        return code;
    time_kinds(&b);
    code = write_rows(&b);
    rg_job_folder_remove(b.folder);
    return code;
}
