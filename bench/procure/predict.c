// SPDX-License-Identifier: MIT
// predict.c: the command `predict`: times of kernels and jobs on a machine that nobody has run, from its rates: see predict.h.
#include "archive.h"
#include "predict.h"

#include "../../impl/base/core.h"
#include "../../impl/base/options.h"
#include "../../impl/suite.h"

#include <stdlib.h>
#include <string.h>

typedef struct request {
    rg_given given;
    const char *workload, *probes, *records, *grid, *out;
    int size;
} request;

// Rates of a machine as machine.tsv of an archive, or a buyer with a datasheet, has them.
typedef struct rates {
    double per_s[RG_ON][RG_RESOURCES];
} rates;

static int read_rates(const rg_tsv *t, rates *r)
{
    int found = 0;
    for (int on = 0; on < RG_ON; on++)
        for (int k = 0; k < RG_RESOURCES; k++) {
            r->per_s[on][k] = NAN;
            char *key = rg_print("probe %s %s", rg_on_name[on], rg_resource_name[k]), *end;
            for (int row = 0; row < t->n_rows; row++) {
                const char *text = rg_tsv_cell(t, row, "value");
                if (strcmp(rg_tsv_cell(t, row, "key"), key)) continue;
                const double rate = strtod(text, &end);
                if (end == text || !(rate > 0 && rate < INFINITY) || *end != ' ' || strcmp(end + 1, rg_resource_unit[k])) {
                    char *expected = rg_print("a number and %s", rg_resource_unit[k]);
                    const int code = rg_tsv_fault(t, row, "value", expected);
                    free(expected), free(key);
                    return code;
                }
                r->per_s[on][k] = rate;
                found++;
            }
            free(key);
        }
    return found ? RG_GOOD
                 : rg_fail(RG_USAGE, "%s: expected rows of key \"probe cpu memory\" and the like, found none", t->path);
}

static void put_row(FILE *f, const char *kind, const char *name, const char *at, double seconds, double factor,
    const char *left_out, int rows, int machines, const char *by, const char *says)
{
    // Low and high at twice the rms: about 95 of 100.
    const double number[] = {seconds, seconds / (factor * factor), seconds * factor * factor, factor};
    rg_tsv_print(f, "%s\t%s\t%s\t", kind, name, at);
    for (int i = 0; i < RG_COUNT(number); i++) rg_tsv_put(f, "%.4g", number[i], '\t');
    rg_tsv_print(f, "%s\t%d\t%d\t%s\t%s\n", left_out, rows, machines, *by ? by : "-", *says ? says : "-");
}

// ---- kernels ---------------------------------------------------------------------------------------------------------------

// Beyond twice what was measured it is a guess, and said to be one.
static void extrapolates(const rg_fit *f, double bound_s, int limit, double rate, char says[200])
{
    size_t n = 0;
    *says = '\0';
    if (f->machines < 2) n += (size_t)snprintf(says + n, 200 - n, "extrapolates: measured on one machine");
    if (bound_s < f->low_s / 2 || bound_s > 2 * f->high_s)
        n += (size_t)snprintf(
            says + n, 200 - n, "%s: size, bounds were %.3g to %.3g s", n ? "" : "extrapolates", f->low_s, f->high_s);
    if (f->machines > 1 && (rate < f->low_per_s[limit] / 2 || rate > 2 * f->high_per_s[limit]))
        snprintf(says + n, 200 - n, "%s: %s, rates were %.3g to %.3g", n ? "" : "extrapolates", rg_resource_name[limit],
            f->low_per_s[limit], f->high_per_s[limit]);
}

static void predict_entry(FILE *f, const rg_points *p, const rg_entry *e, const rates *r)
{
    const rg_algo *algo = e->algo;
    const rg_on on = rg_entry_on(e);
    const rg_fit fit = rg_fit_of(p, e);
    int64_t param[RG_PARAMS_MAX] = {0};
    char *name = rg_print("%s:%s", algo->name, e->name);
    rg_params_standard(e->variant, param);
    for (int i = 0; i < algo->n_bench_shapes && fit.n; i++) {
        const rg_shape *shape = &algo->bench_shape[i].shape;
        char text[96], says[200], by[64];
        if (algo->bench_shape[i].preset != RG_PAPER || (e->variant->refuse && e->variant->refuse(shape, param))) continue;
        const rg_bound_s bound = rg_bound(e, shape, param, r->per_s[on]);
        rg_shape_print(algo, shape, text);
        snprintf(by, sizeof by, "%s %s", rg_on_name[on], rg_resource_name[bound.limit]);
        if (isnan(bound.longest_s))
            snprintf(says, sizeof says, "the machine's file has no row \"probe %s\"", by);
        else
            extrapolates(&fit, bound.longest_s, bound.limit, r->per_s[on][bound.limit], says);
        put_row(f, "kernel", name, text, rg_fit_s(&fit, &bound), fit.factor, fit.left_out, fit.n, fit.machines, by, says);
    }
    free(name);
}

static bool any_rate(const rates *r, rg_on on)
{
    for (int k = 0; k < RG_RESOURCES; k++)
        if (!isnan(r->per_s[on][k])) return true;
    return false;
}

// Where the machine's file says nothing of a processor, none of its kernels is asked for.
static void predict_kernels(FILE *f, const rg_points *p, const rates *r)
{
    for (int i = 0; i < rg_entry_count(); i++) {
        const rg_entry *e = rg_entry_at(i);
        if (e->variant->cost && any_rate(r, rg_entry_on(e)) &&
            e == rg_entry_find(e->algo->name, e->name)) // else its emulated twin
            predict_entry(f, p, e, r);
    }
}

// ---- jobs ------------------------------------------------------------------------------------------------------------------

// A job states no costs: it is held against one rate, that which tells the archives' times best when each is left out in turn.
static const struct {
    const char *name;
    rg_on on;
    rg_resource resource;
    bool gpu_first;
} ruler[] = {
    {"cpu fp32", RG_ON_CPU, RG_F32_MAD, false},
    {"cpu memory", RG_ON_CPU, RG_MEM_BYTES, false},
    {"gpu or cpu fp32", RG_ON_CPU, RG_F32_MAD, true},
    {"gpu or cpu memory", RG_ON_CPU, RG_MEM_BYTES, true},
    {"nothing", RG_ON, RG_F32_MAD, false},
};
enum { RULERS = sizeof ruler / sizeof *ruler, ARCHIVES_MOST = 24 };

static double read_off(const rates *r, int k)
{
    if (ruler[k].on == RG_ON) return 1;
    const double of_gpu = r->per_s[RG_ON_GPU][ruler[k].resource];
    return ruler[k].gpu_first && !isnan(of_gpu) ? of_gpu : r->per_s[ruler[k].on][ruler[k].resource];
}

typedef struct told {
    int n;
    double seconds[ARCHIVES_MOST];
    rates of[ARCHIVES_MOST];
} told;

// exp(mean log(t rate)) over archives but `out`; then the seconds at a rate of 1.
static double scaled(const told *t, int k, int out)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++) sum += i == out ? 0 : log(t->seconds[i] * read_off(&t->of[i], k));
    return exp(sum / (t->n - (out >= 0)));
}

static double job_factor(const told *t, int k)
{
    double squares = 0;
    for (int i = 0; i < t->n; i++) {
        const double off = log(scaled(t, k, i) / read_off(&t->of[i], k) / t->seconds[i]);
        squares += off * off;
    }
    return t->n > 1 ? exp(sqrt(squares / t->n)) : NAN;
}

static void predict_job(FILE *f, const rg_work *w, const told *t, const rates *r)
{
    char says[200] = "";
    int best = -1;
    double factor = NAN, low = INFINITY, high = 0;
    for (int k = 0; k < RULERS && t->n; k++) {
        const double its = job_factor(t, k), rate = read_off(r, k);
        if (!isnan(rate) && !isnan(scaled(t, k, -1)) && (best < 0 || its < factor)) {
            best = k;
            factor = its;
        }
    }
    if (best < 0) {
        put_row(f, "job", w->job, w->command, NAN, NAN, "none", t->n, t->n, "",
            t->n ? "no rate is known of all machines" : "no archive has it");
        return;
    }
    for (int i = 0; i < t->n; i++) {
        low = fmin(low, read_off(&t->of[i], best));
        high = fmax(high, read_off(&t->of[i], best));
    }
    const double rate = read_off(r, best);
    if (t->n < 2)
        snprintf(says, sizeof says, "extrapolates: measured on one machine");
    else if (rate < low / 2 || rate > 2 * high)
        snprintf(says, sizeof says, "extrapolates: %s, rates were %.3g to %.3g", ruler[best].name, low, high);
    put_row(f, "job", w->job, w->command, scaled(t, best, -1) / rate, factor, t->n > 1 ? "machine" : "none", t->n, t->n,
        ruler[best].name, says);
}

static int predict_jobs(FILE *f, const request *r, const rates *target)
{
    static told t[RG_JOBS_MOST];
    rg_workload w;
    int code = rg_workload_read(r->workload, (rg_size)r->size, &w);
    if (code) return code;
    memset(t, 0, sizeof t);
    for (int i = 0; i < r->given.word.n && !code; i++) {
        rg_archive a;
        rates of;
        code = rg_archive_read(r->given.word.item[i], &a);
        if (code) break;
        if ((int)a.size != r->size)
            code =
                rg_fail(RG_USAGE, "%s: expected size %s, found %s", a.bundle.path, rg_size_name[r->size], rg_size_name[a.size]);
        code = code ? code : read_rates(&a.machine, &of);
        for (int j = 0; j < w.n && !code; j++) {
            const int its = rg_workload_find(&a.workload, w.job[j].job);
            const double seconds = rg_archive_median(&a, w.job[j].job);
            if (its < 0 || strcmp(a.workload.job[its].command, w.job[j].command) ||
                strcmp(a.workload.job[its].input, w.job[j].input) || isnan(seconds))
                continue;
            t[j].of[t[j].n] = of;
            t[j].seconds[t[j].n++] = seconds;
        }
        rg_archive_free(&a);
    }
    for (int j = 0; j < w.n && !code; j++) predict_job(f, &w.job[j], &t[j], target);
    rg_workload_free(&w);
    return code;
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static int write_table(const request *r, const rg_points *p)
{
    rg_tsv machine;
    rates target;
    rg_file file = {.stream = stdout};
    int code = rg_tsv_read(r->probes, &machine);
    if (code) return code;
    code = rg_tsv_needs(&machine, "key value");
    code = code ? code : read_rates(&machine, &target);
    code = code ? code : r->out ? rg_file_open(&file, r->out) : RG_GOOD;
    if (!code) {
        rg_tsv_print(file.stream, "# regather predict %s\n# command: %s\n", RG_VERSION, r->given.line);
        fprintf(file.stream, "kind\tname\tat\tpredicted_s\tlow_s\thigh_s\tfactor\tleft_out\trows\tmachines\tby\tsays\n");
        code = r->workload ? predict_jobs(file.stream, r, &target) : RG_GOOD;
        if (!code) predict_kernels(file.stream, p, &target);
        if (r->out && code)
            rg_file_abandon(&file);
        else if (r->out)
            code = rg_file_commit(&file);
    }
    rg_tsv_free(&machine);
    return code;
}

static int run(void *typed)
{
    const request *r = typed;
    rg_points p = {0};
    char *folder = r->records ? rg_print("%s", r->records) : rg_share_path("data/machines");
    int code = r->given.word.n > ARCHIVES_MOST
        ? rg_fail(RG_USAGE, "predict: expected at most %d archives, found %d", ARCHIVES_MOST, r->given.word.n)
        : !r->probes == !r->grid ? rg_fail(RG_USAGE, "predict: expected --probes MACHINE.tsv, or --grid GRID.tsv --out DIR")
                                 : rg_points_read_folder(&p, folder);
    if (!code) code = r->grid ? rg_crossover(&p, r->grid, r->out, r->given.line) : write_table(r, &p);
    rg_points_free(&p);
    free(folder);
    return code;
}

static const rg_option options[] = {
    {"probes", "MACHINE.tsv", "rates of the machine: that file of an archive, or one from its datasheet",
        RG_TO(request, probes), .excludes = "grid"},
    {"workload", "FILE.tsv", "the jobs, too", RG_TO(request, workload), .needs = "probes"},
    {"size", "small|medium|full", "of the jobs", RG_TO(request, size), 0, 0, "small"},
    {"records", "DIR", "result files of bench", RG_TO(request, records), .otherwise = "those that are shipped, data/machines"},
    {"grid", "GRID.tsv", "rows of bench, scatter and gather over two extents: the map where they cross", RG_TO(request, grid),
        .needs = "out"},
    {"out", "FILE", "the table; of --grid, a folder", RG_TO(request, out), .otherwise = "the output"},
    {0},
};

const rg_command rg_cmd_predict = {
    .name = "predict",
    .words = "[A.rgz]...",
    .summary = "times of kernels and jobs on a machine from its rates, with the error that such predictions had",
    .help =
        "MACHINE.tsv has columns key and value and rows \"probe cpu memory\", \"1.2e11 B/s\": cpu (all\n"
        "cores), core (one) or gpu, and a resource: memory, shared, fp32, fp64, int32, int16, int8,\n"
        "matrix_int8, atomic, atomic16, atomic_mem, texture. `tar xzOf A.rgz machine.tsv` gives one that was\n"
        "measured.\n\n"
        "Kernels, at the sizes of the papers: cost() of a variant over these rates gives M, its bound by\n"
        "memory, and C, the largest of the others; its time is s + k M + l C, all above 0, fitted to the rows\n"
        "in data/machines. Jobs: the medians of the archives named, scaled by the one rate that tells them\n"
        "best. `factor` is the error: the rms of log(predicted / measured) over machines, each predicted\n"
        "without its own rows (left_out machine), as a factor; where only one machine was measured, over\n"
        "sizes (left_out size), which says nothing of another machine. Twice that is low_s to high_s. `says`\n"
        "has \"extrapolates\" wherever size or rate are beyond twice of what was measured, or one machine is\n"
        "all there is.\n\n"
        "--grid: DIR/crossover.tsv and .svg: time of scatter over that of gather, measured, and the border\n"
        "that the rows in --records but for those of GRID.tsv predict at its rates. GRID.tsv is written by,\n"
        "for example:\n"
        "  regather bench gridding:simd_scatter gridding:simd_gather --scope kernel --shape s65,i1,o1,b19,k0 ... --out GRID.tsv",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
