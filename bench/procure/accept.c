// SPDX-License-Identifier: MIT
// accept.c: the command `accept`: checks whether the delivered machine is as fast as the archive of the offer promised.
//
// The ratio of the weighted geometric means, here over promised, is judged as a duel is: by an interval that misses the truth
// once in 100 (Student's t over whole-process runs, and RG_SESSION for each of the two archives). Whole interval below the
// gate: good; above it: not good; else unsure.
#include "score.h"

#include "../stats/rule.h"
#include "../jobs/run.h"
#include "../timing/timing.h"

#include "../../impl/base/core.h"
#include "../../impl/base/process.h"

typedef struct request {
    rg_given given;
    const char *peak, *out;
    double gate_percent, budget_s;
    bool here, busy;
} request;

// The archive's own workload and nonce, measured here. RG_GOOD, or one line and a code.
static int measure_here(const request *r, const rg_archive *a, char path[4200]) {
    RG_FREED char *program = rg_own_program();
    char folder[4096], seconds[40];
    const rg_bundled *f = rg_bundle_find(&a->bundle, "workload.tsv");
    if (!program) return rg_fail(RG_LACKS, "accept: /proc/self/exe cannot be read, the program does not know where it is");
    int code = rg_job_folder_make(folder);
    if (code) return code;
    RG_FREED char *workload = rg_print("%s/workload.tsv", folder);
    rg_file file;
    snprintf(path, 4200, "%s", r->out);
    code = rg_file_open(&file, workload);
    if (!code) {
        fwrite(f->bytes, 1, f->n, file.stream);
        code = rg_file_commit(&file);
    }
    snprintf(seconds, sizeof seconds, "%g", isnan(r->budget_s) ? rg_size_s[a->size] : r->budget_s);
    const char *more[4] = {NULL};
    int n = 0;
    if (rg_quiet) more[n++] = "--quiet";
    if (r->busy) more[n++] = "--busy";
    if (r->peak) more[n++] = "--peak", more[n++] = r->peak;
    const char *const word[] = {program, "measure", "--workload", workload, "--size", rg_size_name[a->size], "--nonce",
        rg_archive_value(a, "nonce"), "--seconds", seconds, "--out", r->out, more[0], more[1], more[2], more[3], NULL};
    code = code ? code : rg_child_run(&(rg_child){.program = program, .word = word});
    if (code < 0 || code > 127) code = rg_fail(RG_LACKS, "accept: the measurement ended by itself");
    rg_job_folder_remove(folder);
    return code;
}

typedef enum { ACCEPTED, REFUSED, UNSURE } verdict;
static const char *const word_of[] = {"ACCEPTED", "REFUSED", "UNSURE"};
static const int code_of[] = {RG_GOOD, RG_WRONG, RG_UNSURE};

static int compare(const request *r, const rg_archive *a, const rg_archive *b) {
    rg_job_score promised[RG_JOBS_MOST], found[RG_JOBS_MOST];
    const rg_workload *w = &a->workload;
    const rg_bundled *of[2] = {rg_bundle_find(&a->bundle, "workload.tsv"), rg_bundle_find(&b->bundle, "workload.tsv")};
    double seconds = 0, log_ratio = 0;
    if (of[0]->n != of[1]->n || memcmp(of[0]->bytes, of[1]->bytes, of[0]->n) || a->size != b->size)
        return rg_fail(RG_USAGE, "%s: expected the workload and size of %s, found others", b->bundle.path, a->bundle.path);
    if (strcmp(rg_archive_value(a, "division"), rg_archive_value(b, "division")))
        return rg_fail(RG_USAGE, "%s: expected %s as in %s, found %s", b->bundle.path, rg_archive_value(a, "division"),
            a->bundle.path, rg_archive_value(b, "division"));
    for (int k = 0; k < 2; k++) {
        const char *key = k ? "nonce" : "revision", *here = rg_archive_value(b, key), *there = rg_archive_value(a, key);
        if (strcmp(here, there))
            rg_warn("%s: %s %s, %s in %s: this may explain the difference", b->bundle.path, key, here, there, a->bundle.path);
    }
    int code = rg_job_scores(a, w, promised, &seconds);
    code = code ? code : rg_job_scores(b, w, found, &seconds);
    if (code) return code;
    for (int j = 0; j < w->n; j++) {
        log_ratio += w->job[j].weight * log(found[j].median_s / promised[j].median_s);
        rg_tsv_print(stdout, "%s\t%.4g s promised, %.4g s here, %.4g times\n", w->job[j].job, promised[j].median_s,
            found[j].median_s, found[j].median_s / promised[j].median_s);
    }
    const rg_variance variance = rg_score_variance(w, promised, found);
    const double half = rg_half_interval(&variance, RG_DUEL_ERROR);
    const double gate = log1p(r->gate_percent / 100);
    const verdict v = log_ratio + half <= gate ? ACCEPTED : log_ratio - half > gate ? REFUSED : UNSURE;
    rg_tsv_print(stdout, "%s\t%s: %.4g [%.4g, %.4g] times the promised time, at most %.4g was promised\n", word_of[v], a->label,
        exp(log_ratio), exp(log_ratio - half), exp(log_ratio + half), exp(gate));
    return code_of[v];
}

static int run(void *typed) {
    const request *r = typed;
    rg_archive a, b;
    char path[4200];
    if (r->here ? r->given.word.n != 1 || !r->out : r->given.word.n != 2)
        return rg_fail(RG_USAGE, "accept: expected PROMISED.rgz --here --out HERE.rgz, or PROMISED.rgz HERE.rgz");
    int code = rg_archive_read(r->given.word.item[0], &a);
    if (code) return code;
    if (r->here)
        code = measure_here(r, &a, path);
    else
        snprintf(path, sizeof path, "%s", r->given.word.item[1]);
    code = code ? code : rg_archive_read(path, &b);
    if (!code) {
        code = compare(r, &a, &b);
        rg_archive_free(&b);
    }
    rg_archive_free(&a);
    return code;
}

static const rg_option options[] = {
    {"here", NULL, "measure this machine now, by the archive's own workload and nonce", RG_TO(request, here), .needs = "out"},
    {"gate", "PERCENT", "loss of speed that is still accepted", RG_TO(request, gate_percent), 0.1L, 100, "5", "percent"},
    {"seconds", "S", "time for the measurement, as of measure", RG_TO(request, budget_s), 0, 1000000, .unit = "seconds",
        .otherwise = "600 of small, 3600 of medium"},
    {"peak", "FILE.tsv", "of a peak archive: that of the vendor", RG_TO(request, peak)},
    {"busy", NULL, "go on where others are busy, as of measure", RG_TO(request, busy), .needs = "here"},
    {"out", "HERE.rgz", "the archive of this machine", RG_TO(request, out)},
    {0},
};

const rg_command rg_cmd_accept = {
    .name = "accept",
    .words = "PROMISED.rgz [HERE.rgz]",
    .summary = "on delivery: whether a machine does what the archive of its offer promised",
    .help = "Measures the same workload again on the delivered machine (--here, or HERE.rgz, which a kit made there) and\n"
            "compares the weighted geometric means of the times. ACCEPTED: the whole 99 % interval of the ratio lies below\n"
            "the gate. REFUSED: it lies above. Else UNSURE. At most one verdict in 100 is wrong. The interval includes 1 %\n"
            "between archives for each side.\n\n"
            "--here takes as long as the kit did: 10 minutes for size small, an hour for medium (--seconds; at least five\n"
            "runs a job). Comparing two archives takes no time.\n\n"
            "Exit codes: 0 accepted; 1 refused; 2 bad usage or archive; 3 unsure, or others were busy on this machine.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
