// SPDX-License-Identifier: MIT
// job.c: regather autocorr, photographs to characteristic lengths (Lu et al. 2009), through whichever variant of the table.
#include "autocorr.h"

#include "../../runtime/cpu.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rg_option options[] = {
    {"max-offset", "R", "the largest offset |X0|, |Y0| in pixels, below the longer side of every photograph", false},
    {"norm", "KIND", "raw (default), overlap or centred: see above", false},
    {"prominence", "P",
     "R_max must stand out by more than P (C1D(0) - the minimum before it) on both sides; default 0: any maximum", false},
    {"variant", "NAME",
     "which variant does the work, with parameters as NAME:block=128;...; default: the fastest that passed here", false},
    {"cross", "OTHER", "correlate every PHOTO (a) with this photograph (b) instead of with itself", false},
    {"times", "FILE.tsv", "columns photo and time: the abscissa of R_max over a series; default: the photograph's number",
     false},
    {"grey-range", "LOW:HIGH",
     "take signed or floating-point files: LOW becomes 0, HIGH 65535, in between rounded, beyond clamped", false},
    {"dump-sums", NULL, "write NAME.sums.tsv too: the exact integers X0 Y0 S", false},
    {"spectrum", NULL,
     "add k_peak_length: the longer side / the whole wave number at which the ring-averaged power spectrum peaks", false},
    {"resume", NULL, "leave out photographs whose files stand, made from the same input by the same request", false},
    {"out", "DIR", "the folder for the results, made when missing", false},
    {NULL, NULL, NULL, false},
};

static const char help[] =
    "Reads grey photographs (PNG, PGM, PPM, TIFF, MRC, told apart by content; 8 or 16 bits; every page of a TIFF file\n"
    "and every section of an MRC stack is one) and computes, in exact integers over the overlap of the photograph\n"
    "with its shifted self,\n"
    "    S(X0, Y0) = sum over x, y of a(x, y) b(x - X0, y - Y0),      b = a unless --cross.\n"
    "Colour becomes grey by Rec. 601 luma, (299 R + 587 G + 114 B + 500) div 1000; an alpha channel is left out; no\n"
    "gamma.\n"
    "\n"
    "C2D(X0, Y0) by --norm, with N = (width - |X0|)(height - |Y0|) and N0 = width height:\n"
    "    raw      S(X0, Y0) / S(0, 0), which is eq. 1 of Lu et al. 2009\n"
    "    overlap  [S(X0, Y0) / N] / [S(0, 0) / N0]\n"
    "    centred  c(X0, Y0) / c(0, 0), c = [sum over the overlap of (a - mean a)(b - mean b)] / N\n"
    "The means are those of the whole photographs. Where N is 0, overlap and centred do not exist: C2D holds 0 there\n"
    "and C1D leaves those offsets out.\n"
    "\n"
    "In DIR, for each photograph NAME (file name without ending; _0001.. is added for pages):\n"
    "    NAME.c2d.mrc  (2R+1) x (2R+1) floats, row Y0 + R, column X0 + R, C2D(0,0) = 1\n"
    "    NAME.c1d.tsv  columns R C1D n: the mean of C2D over the n offsets with floor(|(X0, Y0)| + 0.5) = R\n"
    "    NAME.svg      both, drawn by gnuplot (left out, and said, where there is no gnuplot)\n"
    "and for a series rmax.tsv (photo R_max time C1D half_width) and rmax.svg with the straight lines through it.\n"
    "R_max is the first local maximum of C1D after its first minimum, by the parabola through three points; 'none'\n"
    "where there is none. half_width is the lag L at which the mean of the centred C2D(L, 0) and C2D(0, L) falls to\n"
    "0.5.\n"
    "\n"
    "After each photograph 16 random sums are computed again by the reference; a wrong one ends the job with exit 1.";

static int take_range(ac_job *job, const char *text)
{
    char *end = NULL;
    if (!text)
        return RG_GOOD;
    job->range.low = strtod(text, &end);
    bool good = end != text && *end == ':';
    if (good) {
        const char *second = end + 1;
        job->range.high = strtod(second, &end);
        good = end != second && *end == '\0' && isfinite(job->range.low) && isfinite(job->range.high)
               && job->range.high > job->range.low;
    }
    job->range.given = good;
    return good ? RG_GOOD : rg_fail(RG_USAGE, "--grey-range: expected LOW:HIGH with LOW < HIGH, found \"%s\"", text);
}

static int take_options(ac_job *job, const rg_cli *cli)
{
    int64_t threads, seed;
    const char *norm = rg_cli_text(cli, "norm", ac_norm_name[AC_RAW]);
    if (rg_cli_count(cli) == 0)
        return rg_fail(RG_USAGE, "autocorr: no photograph named (see regather autocorr --help)");
    if (!rg_cli_text(cli, "max-offset", NULL) || !rg_cli_text(cli, "out", NULL))
        return rg_fail(RG_USAGE, "autocorr: --max-offset R and --out DIR are needed (see regather autocorr --help)");
    int code = rg_cli_int(cli, "max-offset", 0, 0, (INT64_C(1) << 29) - 1, &job->r);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "prominence", 0, 0, 1, &job->prominence);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "threads", rg_cpu_cores(), 1, 4096, &threads);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "seed", 1, 0, INT64_MAX, &seed);
    if (code != RG_GOOD)
        return code;
    job->threads = job->threads_each = (int)threads;
    job->seed = (uint64_t)seed;
    for (job->norm = AC_RAW; strcmp(norm, ac_norm_name[job->norm]) != 0; job->norm++)
        if (job->norm == AC_CENTRED)
            return rg_fail(RG_USAGE, "--norm: expected raw, overlap or centred, found \"%s\"", norm);
    job->out = rg_cli_text(cli, "out", NULL);
    job->device = rg_cli_text(cli, "device", "gpu");
    job->command = rg_cli_line(cli);
    job->cross_path = rg_cli_text(cli, "cross", NULL);
    job->dump_sums = rg_cli_flag(cli, "dump-sums");
    job->spectrum = rg_cli_flag(cli, "spectrum");
    job->resume = rg_cli_flag(cli, "resume");
    return take_range(job, rg_cli_text(cli, "grey-range", NULL));
}

static void print_length(double length)
{
    if (isnan(length))
        printf("\tnone");
    else
        printf("\t%.2f", length);
}

static void print_results(const ac_job *job)
{
    printf("photo\tR_max\thalf_width%s\n", job->spectrum ? "\tk_peak_length" : "");
    for (int64_t i = 0; i < job->n_photos; i++) {
        const ac_result *r = &job->result[i];
        printf("%s", job->photo[i].name);
        print_length(r->r_max);
        print_length(r->half_width);
        if (job->spectrum)
            print_length(r->k_peak_length);
        printf("%s\n", r->resumed ? "\t(stood already)" : "");
    }
}

static int run_job(ac_job *job)
{
    job->result = rg_alloc((size_t)job->n_photos * sizeof *job->result);
    for (int64_t i = 0; i < job->n_photos; i++)
        job->result[i] = (ac_result){.r_max = NAN, .c1d = NAN, .half_width = NAN, .k_peak_length = NAN};
    int code = rg_make_folder(job->out);
    if (code == RG_GOOD)
        code = ac_series(job);
    if (code == RG_GOOD && job->n_photos > 1)
        code = ac_write_growth(job);
    if (code == RG_GOOD)
        print_results(job);
    free(job->result);
    return code;
}

static int run(const rg_cli *cli)
{
    ac_job job = {.algo = rg_algo_find("autocorr")};
    int code = take_options(&job, cli);
    if (code == RG_GOOD)
        code = ac_input(&job, cli);
    if (code == RG_GOOD)
        code = ac_pick(&job, rg_cli_text(cli, "variant", NULL));
    if (code == RG_GOOD) {
        job.gnuplot = rg_program_path("gnuplot");
        if (!rg_quiet)
            fprintf(stderr, "autocorr: variant %s: %s\n", job.entry->name, job.why);
        if (!job.gnuplot)
            rg_warn("no gnuplot here, so NAME.svg and rmax.svg are left out (see regather doctor)");
        code = run_job(&job);
        free(job.gnuplot);
    }
    ac_input_free(&job);
    return code;
}

const rg_command rg_cmd_autocorr = {
    .name = "autocorr",
    .usage = "PHOTO... --max-offset R [--norm raw|overlap|centred] [--cross OTHER] --out DIR",
    .summary = "spatial autocorrelation of photographs: C2D, C1D, and R_max over a series",
    .help = help,
    .option = options,
    .old_run = run,
    .one_process = true,
};
