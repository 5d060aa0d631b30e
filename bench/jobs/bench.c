// SPDX-License-Identifier: MIT
// bench.c: `bench --job`: times a whole command of this program, files to files, on one GPU and on several. Each run is a
// process that sees only the GPUs it may use; the first of each kind does not count unless it is long. The outputs of a run are
// compared with those of the first run on the same kind of processor, GPU or CPU.
#include "run.h"

#include "../timing/timing.h"

#include "../../impl/base/process.h"
#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/source.h"

enum { KINDS_MOST = 16, LEAST_SAMPLES = 5 };
// Sums of floats in another order: n terms of a voxel differ by sqrt(n) 2^-24 or so, and 1e6 of them by 6e-5; and numbers
// printed with four digits.
static const double ALIKE = 1e-3;

typedef struct job_kind {
    int gpus;
    int n;
    double sample_ns[RG_SAMPLES_MAX], spent_s, joules;
    double peak_bytes, gpu_peak_bytes, difference; // the largest of all runs
    int files;
    rg_status status;
    rg_stop stop;
    char detail[300];
    rg_energy_word energy;
    double energy_s;
    int energy_runs, energy_devices;
    bool done;
} job_kind;

typedef struct job_bench {
    const rg_bench_options *options;
    const char *command;
    char unit[64], program[4096], folder[4096];
    char first[2][4096]; // outputs of the first run without and with a GPU; "": not run yet
    double work;
    job_kind kind[KINDS_MOST];
    int n_kinds;
} job_bench;

// ---- the command line ----------------------------------------------------------------------------------------------------

// "1,2,4" into kinds; 0 hides the GPUs.
static int read_gpus(job_bench *b, const char *text) {
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

static int read_options(job_bench *b) {
    const rg_bench_options *o = b->options;
    char why[200], all[16];
    b->command = o->job;
    if (!b->command[strspn(b->command, " ")])
        return rg_fail(
            RG_USAGE, "--job: expected a command of this program, as in \"autocorr *.png --max-offset 250 --out {out}\"");
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

__attribute__((format(printf, 4, 5))) static void fail(
    job_kind *kind, rg_status status, rg_stop stop, const char *format, ...) {
    RG_FORMAT(kind->detail, sizeof kind->detail, format);
    kind->stop = stop;
    kind->done = true;
    kind->status = status;
}

// Checks the outputs in this folder against those of the first run, and by --check.
static void check_outputs(const job_bench *b, job_kind *kind, const char *folder) {
    const rg_job_outputs found = rg_job_outputs_compare(b->first[kind->gpus > 0], folder);
    kind->files = found.files;
    kind->difference = fmax(kind->difference, found.largest);
    if (strstr(b->command, "{out}") && !found.files)
        fail(kind, RG_FAIL, RG_STOP_NO_OUTPUT, "%s", "");
    else if (!(found.largest <= ALIKE))
        fail(kind, RG_FAIL, RG_STOP_UNLIKE, "by %.3g of at most %g, %s is the first", found.largest, ALIKE, found.first);
    if (!b->options->check || kind->done) return;
    RG_FREED char *line = rg_job_put_out(b->options->check, "{out}", folder);
    const int code = rg_shell(line, NULL);
    if (code) fail(kind, RG_FAIL, RG_STOP_CHECK, "exit status %d", code);
}

static double run_once(job_bench *b, job_kind *kind) {
    char *first = b->first[kind->gpus > 0];
    const bool is_first = !*first;
    rg_job_run run;
    const char *folder = rg_job_run_again(b->program, b->command, first, b->folder, kind->gpus, &run);
    if (run.code) {
        fail(kind,
            run.code == RG_LACKS ? RG_SKIP
                : run.code > 127 ? RG_CRASH
                                 : RG_FAIL,
            RG_STOP_EXIT, "%d: %s", run.code, run.said);
    } else {
        kind->peak_bytes = fmax(kind->peak_bytes, run.peak_bytes);
        kind->gpu_peak_bytes = fmax(kind->gpu_peak_bytes, kind->gpus ? run.gpu_peak_bytes : NAN); // fmax ignores NaN
        check_outputs(b, kind, folder);
    }
    if (is_first && *first && kind->status != RG_PASS) { // not a reference for other runs
        rg_job_folder_remove(first);
        *first = '\0';
    }
    return run.wall_s;
}

// Repeats the job until the window is long enough, and reads the energy counters of its GPUs, or of the CPU if it uses none,
// before and after.
static void measure_energy(job_bench *b, job_kind *kind) {
    rg_energy energy;
    double seconds, watts;
    int runs = 0;
    if (kind->gpus)
        rg_energy_start_gpus(kind->gpus, &energy);
    else
        rg_energy_start(rg_device_cpu(), &energy);
    for (; kind->status == RG_PASS && rg_seconds() - energy.start_s < RG_ENERGY_WINDOW_S && (!runs || !isnan(energy.start_J));
         runs++)
        run_once(b, kind);
    rg_energy_stop(kind->gpus ? NULL : rg_device_cpu(), &energy, &kind->joules, &seconds, &watts);
    kind->joules /= runs;
    kind->energy = energy.word;
    kind->energy_s = seconds;
    kind->energy_runs = runs;
    kind->energy_devices = kind->gpus ? kind->gpus : energy.n_packages;
}

// ---- rounds and rows -----------------------------------------------------------------------------------------------------

// Each run is a separate process.
static rg_samples samples_of(const job_kind *kind) {
    static int past[RG_SAMPLES_MAX];
    for (int i = 0; i < kind->n; i++) past[i] = i + 1;
    return (rg_samples){kind->n, kind->n, rg_unconst(kind->sample_ns), past};
}

static void take(job_bench *b, job_kind *kind, double seconds) {
    const rg_bench_options *o = b->options;
    kind->sample_ns[kind->n++] = seconds * 1e9;
    kind->spent_s += seconds;
    kind->done = kind->n >= LEAST_SAMPLES && (kind->spent_s >= o->max_s || kind->n >= o->rounds);
    if (kind->done) kind->stop = kind->n < o->rounds ? RG_STOP_TIME : RG_STOP_ROUNDS;
}

static void visit(job_bench *b, job_kind *kind) {
    double seconds = run_once(b, kind);
    if (!kind->done) take(b, kind, seconds);
}

// The first run is not counted unless it takes its share of the time: hashing has brought the files into the page cache. A run
// that takes all the time is the only one.
static void warm_up(job_bench *b, job_kind *kind) {
    double seconds = run_once(b, kind);
    if (!kind->done && seconds > b->options->max_s / LEAST_SAMPLES) take(b, kind, seconds);
    if (kind->n && seconds > b->options->max_s) {
        kind->done = true;
        kind->stop = RG_STOP_ONE_CALL;
    }
}

static void time_kinds(job_bench *b) {
    rg_progress progress;
    int left = 0, visits = 0;
    char why[200];
    int have = rg_gpu_count(why);
    rg_progress_begin(&progress, "bench", "runs", (double)b->n_kinds * (double)(b->options->rounds + 1));
    for (int k = 0; k < b->n_kinds; k++) {
        job_kind *kind = &b->kind[k];
        if (kind->gpus > have)
            fail(kind, RG_SKIP, RG_STOP_GPUS, "needs %d, this machine has %d", kind->gpus, have);
        else
            warm_up(b, kind);
        left += !kind->done;
        rg_progress_at(&progress, ++visits);
    }
    for (int round = 0; left; round++)
        for (int i = 0; i < b->n_kinds; i++) {
            job_kind *kind = &b->kind[round % 2 ? b->n_kinds - 1 - i : i];
            if (kind->done) continue;
            visit(b, kind);
            left -= kind->done;
            rg_progress_at(&progress, ++visits);
        }
    for (int k = 0; k < b->n_kinds; k++)
        if (b->options->energy && b->kind[k].status == RG_PASS) measure_energy(b, &b->kind[k]);
    rg_progress_end(&progress);
}

// Reads from the command of --job its first word and the values of --variant and --threads; with GPUs, threads only if given.

rg_row rg_bench_job_key(const rg_bench_options *o, int gpus) {
    char algo[64] = "", variant[64] = "default";
    const char *named = strstr(o->job, "--variant "), *threads = strstr(o->job, "--threads ");
    sscanf(o->job, " %63s", algo);
    if (named) sscanf(named, "--variant %63s", variant);
    rg_row row = rg_row_empty();
    rg_set_cell(&row, RG_C_ALGO, "%s", algo);
    rg_set_cell(&row, RG_C_VARIANT, "%s", variant);
    rg_set_cell(&row, RG_C_SHAPE, "%s", o->shape.n ? o->shape.item[0] : "-");
    if (gpus && !threads)
        rg_set_cell(&row, RG_C_PARAMS, "gpus=%d", gpus);
    else
        rg_set_cell(&row, RG_C_PARAMS, "gpus=%d;threads=%d", gpus, threads ? atoi(strchr(threads, ' ')) : rg_cpu_cores());
    rg_set_cell(&row, RG_C_SPACE, "%s", gpus ? "device" : "host");
    rg_set_cell(&row, RG_C_SCOPE, "job");
    rg_set_cell(&row, RG_C_MODE, "hot");
    return row;
}

static rg_row row_of(const job_bench *b, const job_kind *kind) {
    rg_row row = rg_bench_job_key(b->options, kind->gpus);
    rg_set_cell(&row, RG_C_UNIT, "ns");
    char source[64];
    rg_job_source_of(row.cell[RG_C_ALGO], source);
    rg_set_cell(&row, RG_C_SOURCE, "%s", source);
    rg_set_number(&row, RG_C_WORK, b->work);
    rg_set_cell(&row, RG_C_RATE_UNIT, "%s", b->unit);
    rg_set_cell(&row, RG_C_STATUS, "%s", rg_status_name[kind->status]);
    rg_set_cell(&row, RG_C_STOP, "%s", rg_stop_word[kind->stop].word);
    rg_set_cell(&row, RG_C_DETAIL, "%s", kind->detail);
    if (kind->status != RG_PASS) return row;
    const rg_samples samples = samples_of(kind);
    rg_set_times(&row, &samples, b->work);
    rg_set_cell(&row, RG_C_ROUNDS, "%d", kind->n);
    rg_set_cell(&row, RG_C_ENERGY, "%s", rg_energy_of[kind->energy].word);
    rg_set_number(&row, RG_C_JOULES, kind->joules);
    if (!isnan(kind->joules)) {
        rg_set_number(&row, RG_C_ENERGY_S, kind->energy_s);
        rg_set_cell(&row, RG_C_ENERGY_CALLS, "%d", kind->energy_runs);
        rg_set_cell(&row, RG_C_ENERGY_DEVICES, "%d", kind->energy_devices);
    }
    rg_set_number(&row, RG_C_PEAK_BYTES, kind->peak_bytes);
    rg_set_number(&row, RG_C_GPU_PEAK_BYTES, kind->gpu_peak_bytes);
    rg_set_number(&row, RG_C_ERROR, kind->difference);
    rg_set_number(&row, RG_C_TOL, ALIKE);
    const char *command = b->options->check;
    const rg_held_against check = kind->files ? kind->n > 1 ? RG_HELD_RUNS : RG_HELD_ONE_RUN
        : command                             ? RG_HELD_COMMAND
                                              : RG_HELD_EXIT;
    rg_set_cell(&row, RG_C_CHECK, "%s", rg_held_against_word[check].word);
    if (kind->files) rg_set_cell(&row, RG_C_CHECKED, "%d", kind->files);
    rg_set_cell(&row, RG_C_AGAINST, "%s", command ? command : "");
    return row;
}

static int write_rows(job_bench *b, const char *inputs) {
    rg_out out;
    rg_head head;
    char why[200];
    int wrong = 0, timed = 0;
    int code = rg_out_begin(&out, b->options->out, b->options->resume);
    const rg_device *gpu = strcmp(b->options->given.device, "cpu") ? rg_device_open(b->options->given.device, why) : NULL;
    rg_head_make(&head, gpu, b->options->given.seed, b->options->given.line);
    RG_ENDS(rg_row_free) rg_row any = row_of(b, &b->kind[0]);
    RG_FREED char *key = rg_input_key(&any);
    rg_head_add(&head, key, "%s", inputs);
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
    if (code) return code;
    if (wrong) return rg_fail(RG_WRONG, "bench: the job failed; see above");
    return timed ? RG_GOOD : rg_fail(RG_LACKS, "bench: the job could not be timed here; see above");
}

int rg_bench_job(const rg_bench_options *o) {
    job_bench b = {.options = o};
    for (int k = 0; k < KINDS_MOST; k++) {
        b.kind[k].joules = b.kind[k].gpu_peak_bytes = NAN;
        b.kind[k].status = RG_PASS;
    }
    int code = read_options(&b);
    if (code) return code;
    RG_FREED char *program = rg_own_program();
    if (!program) return rg_fail(RG_LACKS, "bench: /proc/self/exe cannot be read, the program does not know where it is");
    snprintf(b.program, sizeof b.program, "%s", program);
    code = rg_job_folder_make(b.folder);
    if (code) return code;
    char inputs[96];
    rg_job_inputs_hash(b.command, inputs);
    time_kinds(&b);
    code = write_rows(&b, inputs);
    rg_job_folder_remove(b.folder);
    for (int i = 0; i < 2; i++)
        if (*b.first[i]) rg_job_folder_remove(b.first[i]);
    return code;
}
