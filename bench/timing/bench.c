// SPDX-License-Identifier: MIT
// bench.c: the command `bench`. It makes the plan (plan.c); verifies it in child processes, before this one has a GPU context
// or threads, because neither survives a fork; opens the device; measures the machine's sustained rates; then times in rounds,
// each in its own process (process.c), every measurement in turn, in alternating order.
#include "timing.h"

typedef struct session {
    const rg_bench_options *options;
    rg_bench_plan plan;
    rg_out out;
    const rg_device *gpu; // NULL when there is none, or --device cpu
    rg_progress progress;
    double visits;
    int code;
} session;

// ---- rows ----------------------------------------------------------------------------------------------------------------

static void add_row(session *b, const rg_measurement *measurement) {
    rg_rates rates;
    rg_rates_known(&b->out, measurement, &rates);
    int code = rg_out_add(&b->out, rg_measurement_row(measurement, &rates));
    if (code) b->code = code;
}

// ---- rounds --------------------------------------------------------------------------------------------------------------

static void heard(void *of) {
    session *b = of;
    rg_progress_at(&b->progress, ++b->visits);
}

// Groups shapes that one process visits in about half a minute. A killed run loses the group being timed; a process, with its
// GPU context, costs about a second.
static int batch_end(const session *b, int first) {
    int past = first;
    double seconds = 0;
    while (past < b->plan.n && seconds < 30) {
        const int from = past;
        past = rg_bench_plan_group(&b->plan, from);
        for (int i = from; i < past; i++)
            seconds += b->plan.measurement[i].done ? 0 : b->options->max_s / (double)b->options->rounds;
    }
    return past;
}

static void time_batch(session *b, int first, int past) {
    for (int i = first; i < past; i++) rg_refuse_long(&b->plan.measurement[i], &b->out, b->options->max_call_s);
    for (int k = 0; k < b->options->rounds && !b->code; k++)
        b->code = rg_round_run(&(rg_round){b->options, &b->plan, first, past, k, heard, b});
    for (int i = first; i < past && !b->code; i++) {
        rg_measurement *measurement = &b->plan.measurement[i];
        measurement->done = true;
        if (!measurement->in_file) add_row(b, measurement);
    }
}

// Writes the rows of a group in the order of the table, not of completion.
static void show_group(const session *b, int first, int past) {
    RG_FREED rg_row *row = rg_alloc((size_t)(past - first) * sizeof *row);
    int n = 0;
    for (int i = first; i < past; i++) {
        RG_ENDS(rg_row_free) rg_row key = rg_measurement_key(&b->plan.measurement[i]);
        const rg_row *found = rg_out_find(&b->out, &key);
        if (found) row[n++] = *found;
    }
    rg_show_rows(stdout, row, n, b->options->given.seed);
}

// ---- the run -------------------------------------------------------------------------------------------------------------

// The hash of each shape's first inputs, so that compare can tell whether two files timed the same work, and of each variant's
// source.
static void head_inputs(const session *b, rg_head *head) {
    for (int i = 0; i < b->plan.n; i = rg_bench_plan_group(&b->plan, i)) {
        const rg_measurement *measurement = &b->plan.measurement[i];
        char shape[96];
        rg_shape_print(measurement->entry->algo, &measurement->shape, shape);
        RG_FREED char *key = rg_print("input %s %s", measurement->entry->algo->name, shape);
        if (rg_inputs_bytes(measurement->entry->algo, &measurement->shape) > rg_free_bytes(rg_device_cpu())) {
            rg_head_add(head, key, "unknown (does not fit in memory)");
        } else {
            RG_ENDS(rg_inputs_free) rg_inputs in;
            rg_inputs_make(&in, measurement->entry->algo, &measurement->shape);
            rg_inputs_fill(&in, rg_bits(b->options->given.seed, 0));
            rg_head_add(head, key, "fnv1a %016" PRIx64, rg_inputs_hash(&in));
        }
    }
    const rg_entry *last = NULL; // measurements of a variant follow each other within a shape
    for (int i = 0; i < b->plan.n; i++) {
        const rg_entry *e = b->plan.measurement[i].entry;
        bool known = e == last;
        for (int k = 0; k < i && !known; k++) known = b->plan.measurement[k].entry == e;
        if (!known) rg_head_source(head, e);
        last = e;
    }
}

static void leave_out_finished(session *b) {
    for (int i = 0; i < b->plan.n; i++) {
        rg_measurement *measurement = &b->plan.measurement[i];
        RG_ENDS(rg_row_free) rg_row key = rg_measurement_key(measurement);
        if (rg_out_find(&b->out, &key)) measurement->done = measurement->in_file = true;
    }
}

// Opens the GPU even if all measurements are on the CPU: the head names the whole machine, so that several runs can make one
// file.
static void open_gpu(session *b) {
    char why[200] = "";
    if (strcmp(b->options->given.device, "cpu")) b->gpu = rg_device_open(b->options->given.device, why);
    for (int i = 0; i < b->plan.n; i++) {
        rg_measurement *measurement = &b->plan.measurement[i];
        if (measurement->done || measurement->entry->variant->space == RG_HOST) continue;
        if (!b->gpu) rg_measurement_end(measurement, RG_SKIP, RG_STOP_LACKS, "%s", why);
    }
}

// The whole interval as a part of the median: beyond it a comparison at the usual gates says UNSURE.
static const double WIDE = 0.2;

static int outcome(const session *b) {
    int wrong = 0, timed = 0, busy = 0, wide = 0, cores;
    double most = 0;
    char others[64] = "";
    for (int i = 0; i < b->out.n_rows; i++) {
        const rg_row *row = &b->out.row[i];
        const char *status = row->cell[RG_C_STATUS];
        busy += rg_cell_word(row, RG_C_STOP) == RG_STOP_BUSY;
        const bool is_wide = rg_row_is_timed(row) && rg_row_width(row) > WIDE;
        wide += is_wide;
        if (is_wide) most = fmax(most, rg_row_other_load(row, &cores)); // NaN: not known
        timed += !strcmp(status, "PASS");
        wrong += *status && strcmp(status, "PASS") && strcmp(status, "SKIP");
    }
    if (most >= RG_OTHERS_LEAST) snprintf(others, sizeof others, "; others had up to %.2f cores meanwhile", most);
    if (wide)
        rg_warn(
            "bench: %d of %d rows have an interval wider than %.0f %% of the median, which `compare` may call UNSURE%s: time them again "
            "when it is quieter, or with more --max-seconds",
            wide, timed, 100 * WIDE, others);
    if (wrong)
        return rg_fail(
            RG_WRONG, "bench: %d row%s did not pass and %s no times", wrong, rg_plural(wrong), wrong > 1 ? "have" : "has");
    if (busy)
        return rg_fail(RG_UNSURE, "bench: %d row%s no time, since others are busy here: go on with --resume when it is quieter",
            busy, busy > 1 ? "s have" : " has");
    return timed ? RG_GOOD : rg_fail(RG_LACKS, "bench: nothing could be timed here; each row says why");
}

// Lists the measurements with parameters from data/tuned, once for each variant and shape, on the terminal and in the file's
// head.
static void tell_tuned(const session *b, rg_head *head) {
    const rg_measurement *last = NULL;
    for (int i = 0; i < b->plan.n; i++) {
        const rg_measurement *measurement = &b->plan.measurement[i];
        if (!measurement->tuned ||
            (last && last->entry == measurement->entry &&
                !memcmp(&last->shape, &measurement->shape, sizeof measurement->shape)))
            continue;
        char shape[96], words[192], params[192];
        last = measurement;
        rg_shape_print(measurement->entry->algo, &measurement->shape, shape);
        rg_params_print(measurement->entry->variant, measurement->param, params);
        rg_shape_describe(measurement->entry->algo, &measurement->shape, words);
        printf("tuned: %s:%s %s runs with %s\n", measurement->entry->algo->name, measurement->entry->name, words, params);
        RG_FREED char *key = rg_print("tuned %s:%s %s", measurement->entry->algo->name, measurement->entry->name, shape);
        rg_head_add(head, key, "%s", params);
    }
}

static int run_session(session *b) {
    const rg_bench_options *o = b->options;
    leave_out_finished(b);
    rg_bench_plan_verify(&b->plan, o);
    open_gpu(b);
    rg_head head;
    rg_head_make(&head, b->gpu, o->given.seed, o->given.line);
    head_inputs(b, &head);
    tell_tuned(b, &head);
    int code = rg_out_start(&b->out, &head);
    rg_head_free(&head);
    if (!code) code = rg_rates_measure(&b->out, &b->plan, b->gpu);
    if (code) return code;
    rg_show_probes(stdout, b->out.row, b->out.n_rows);
    rg_progress_begin(&b->progress, "bench", "visits", (double)b->plan.n * (double)o->rounds);
    for (int i = 0, past; i < b->plan.n && !b->code; i = past) {
        past = batch_end(b, i);
        time_batch(b, i, past);
        b->visits = past * (double)o->rounds;
        rg_progress_end(&b->progress);
        for (int k = i, next; k < past; k = next) {
            next = rg_bench_plan_group(&b->plan, k);
            show_group(b, k, next);
        }
    }
    rg_progress_end(&b->progress);
    if (b->code) return b->code;
    code = rg_out_commit(&b->out);
    return code ? code : outcome(b);
}

static int run(void *options) {
    rg_bench_options *o = options;
    int code = rg_bench_options_check(o);
    if (code) return code;
    if (o->serve) return rg_round_serve(o);
    if (o->self_test) return rg_self_test(o);
    if (o->job) return rg_bench_job(o);
    session b = {.options = o};
    code = rg_bench_plan_make(o, &b.plan);
    if (!code) code = rg_out_begin(&b.out, o->out, o->resume);
    if (!code) code = run_session(&b);
    rg_out_free(&b.out);
    rg_bench_plan_free(&b.plan);
    return code;
}

static bool serves(const void *typed) { return ((const rg_bench_options *)typed)->serve != NULL; }

const rg_command rg_cmd_bench = {
    .name = "bench",
    .words = "[ALGO[:VARIANT]]...",
    .summary = "time variants, each only after it has passed verify here",
    .help = "Times the variants ALGO:VARIANT... (default: all) at the shapes of a preset or of --shape. A variant is\n"
            "timed only after it has passed verify on small shapes in the same run. Its outputs at the timed shape are\n"
            "compared with the reference afterwards, in every process. A row that fails has status FAIL (CRASH, TIMEOUT)\n"
            "and no times; a row that cannot run here has status SKIP. The columns `stop` and `detail` give the reason.\n"
            "For timed rows `stop` says what ended the sampling: time (--max-seconds) or rounds (--rounds). Further columns\n"
            "hold the width of the median's 95 % interval, the mean power, the load of other processes, and why the\n"
            "clock was throttled.\n\n"
            "Rounds: each round is a process that visits every row once, with fresh inputs and in alternating order, so\n"
            "that drift affects all rows alike. The interval covers what changes between processes (addresses, plans,\n"
            "clocks): it is Student's t over the medians of the processes. In the column `samples`, ';' separates the\n"
            "samples of one process and '|' the processes. The first calls in a process warm up and do not count, unless\n"
            "one takes longer than --max-seconds (then it is the only sample) or, on a CPU, longer than its share of that\n"
            "time (then it is the sample of its process). A row has at most 400 samples. CPU threads are pinned. Variants\n"
            "with threads are timed on one core and on all cores (--threads N: on N).\n\n"
            "Scopes: `device` is the time of a call on data in place, by events on a GPU. `kernel` is the same less the\n"
            "cost of an empty measurement. `transfer` (GPU) adds the copies of inputs and outputs through pinned memory;\n"
            "`pageable` copies from and to ordinary memory, as the papers' programs did. Modes: `cold` flushes the caches\n"
            "before every call; `hot` times calls back to back, as many in a sample as fill 1 ms. The column `prepare` has\n"
            "the time of plans and textures. `rate` is work / median. `bound` names the resource that limits the variant,\n"
            "and `fraction` is the share of that bound that its median reaches, at the rates measured in the same run.\n"
            "These rates are the rows of the algorithm `probe`.\n\n"
            "--job \"autocorr *.png --max-offset 250 --variant gather --out {out}\" times a whole command. Its rows have\n"
            "scope `job`: algo is the command's first word, variant that of its --variant, shape the text of --shape,\n"
            "params the number of GPUs, or of threads where there are none. Each run is a process that sees only so many\n"
            "GPUs. There are at least five runs, unless one takes longer than --max-seconds; a first short run does not\n"
            "count. The outputs of every run must agree with those of the first within 1e-3 and satisfy --check; the column\n"
            "`check` says which of these held. `peak_bytes` is the memory of the process, `gpu_peak_bytes` the growth of\n"
            "memory in use that the driver reports over all GPUs. The head holds a hash of the files that the command\n"
            "names. --energy repeats the runs for at least 5 s and reads the counters around them.\n\n"
            "--self-test times one variant under two names and reports the median false difference with its interval.\n"
            "Exit code 1 means more than 0.5 % on a GPU or 1 % on a CPU. Emulated variants (--device host) are not timed:\n"
            "exit code 4. --device cpu leaves the GPU variants out.\n\n"
            "Memory is predicted and compared with what is free before it is allocated. A row is skipped when one call\n"
            "would take longer than --max-call. --resume measures only rows that did not pass. Exit codes: 0 good; 1 a row\n"
            "failed; 2 bad usage; 3 other processes leave too little of this machine to time anything; 4 nothing could be\n"
            "timed here.",
    .option = rg_bench_option,
    .bytes = sizeof(rg_bench_options),
    .run = run,
    .no_forks = serves,
};
