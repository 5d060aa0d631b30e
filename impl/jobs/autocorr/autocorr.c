// SPDX-License-Identifier: MIT
// autocorr.c: regather autocorr: computes characteristic lengths of photographs (Lu et al. 2009), with any variant of the
// table.
#include "autocorr.h"

#include "../pipeline/ranks.h"
#include "../../base/summary.h"
#include "../../base/tsv.h"

#include <float.h>

static const rg_option options[] = {
    {"max-offset", "R", "the largest offset |X0|, |Y0|, below the longer side of every photograph", RG_TO(ac_job, r), 0,
        (1 << 29) - 1, .unit = "pixels", .required = true},
    {"norm", "raw|overlap|centred", "see above", RG_TO(ac_job, norm), 0, 0, "raw"},
    {"prominence", "P", "R_max must stand out by more than P (C1D(0) - the minimum before it) on both sides; 0: any maximum",
        RG_TO(ac_job, prominence), 0, 1, "0"},
    {"mask", "IMAGE",
        "leave out the pixels at which this image is 0 or less: they take the mean of the others, rounded to a grey value, in every "
        "photograph and in --cross",
        RG_TO(ac_job, mask_path)},
    {"pixel-um", "UM", "size of a pixel: lengths in micrometres beside those in pixels", RG_TO(ac_job, pixel_um), 1e-9L, 1e9L,
        .unit = "micrometres"},
    {"cross", "OTHER", "correlate every PHOTO (a) with this photograph (b) instead of with itself", RG_TO(ac_job, cross_path)},
    {"times", "FILE.tsv", "columns photo and time: the abscissa of R_max over a series", RG_TO(ac_job, times),
        .otherwise = "the photograph's number"},
    {"grey-range", "LOW:HIGH",
        "take signed or floating-point files: LOW becomes 0, HIGH 65535, in between rounded, beyond clamped",
        RG_TO(ac_job, grey_range), -DBL_MAX, DBL_MAX},
    {"dump-sums", NULL, "write NAME.sums.tsv too: the exact integers X0 Y0 S", RG_TO(ac_job, dump_sums)},
    {"spectrum", NULL,
        "add k_peak_length: the longer side / the whole wave number at which the ring-averaged power spectrum peaks",
        RG_TO(ac_job, spectrum)},
    {"resume", NULL, "skip photographs whose results exist, made from the same input by the same request",
        RG_TO(ac_job, resume)},
    {"out", "DIR", "the folder for the results, made when missing", RG_TO(ac_job, out), .required = true},
    RG_OPTIONS_OF(rg_computing_options, ac_job, computing),
    {0},
};

static const char help[] =
    "Reads grey photographs (PNG, PGM, PPM, TIFF or MRC, recognised by content; 8 or 16 bits; every page of a TIFF\n"
    "file and every section of an MRC stack is one photograph). Computes, in exact integers, over the overlap of\n"
    "the photograph with its shifted copy,\n"
    "    S(X0, Y0) = sum over x, y of a(x, y) b(x - X0, y - Y0),      b = a unless --cross.\n"
    "Colour becomes grey by Rec. 601 luma, (299 R + 587 G + 114 B + 500) div 1000. An alpha channel is ignored; no\n"
    "gamma is applied. TIFF is turned as its tag Orientation says, with a warning.\n\n"
    "C2D(X0, Y0) by --norm, with N = (width - |X0|)(height - |Y0|) and N0 = width height:\n"
    "    raw      S(X0, Y0) / S(0, 0), which is eq. 1 of Lu et al. 2009\n"
    "    overlap  [S(X0, Y0) / N] / [S(0, 0) / N0]\n"
    "    centred  c(X0, Y0) / c(0, 0), c = [sum over the overlap of (a - mean a)(b - mean b)] / N\n"
    "The means are those of the whole photographs. Where N is 0, overlap and centred are not defined: C2D holds 0\n"
    "there, and C1D leaves these offsets out.\n\n"
    "For each photograph NAME (file name without ending; pages add _0001..), DIR receives\n"
    "    NAME.c2d.mrc  (2R+1) x (2R+1) floats, row Y0 + R, column X0 + R, C2D(0,0) = 1\n"
    "    NAME.c1d.tsv  columns R C1D n: the mean of C2D over the n offsets with floor(|(X0, Y0)| + 0.5) = R\n"
    "    NAME.svg      both, drawn by gnuplot (where there is none, this is said and the file left out)\n"
    "and for a series rmax.tsv (photo R_max time C1D half_width), rmax.svg with straight lines fitted to it, and\n"
    "rmax_stages.tsv: the seconds of reading all photographs, and of the rest.\n"
    "R_max is the first local maximum of C1D after its first minimum, by the parabola through three points, or\n"
    "'none'. The head of NAME.c1d.tsv says how far it stands out (see --prominence); a warning tells when that is\n"
    "next to nothing. half_width is the lag L at which the mean of the centred C2D(L, 0) and C2D(0, L) falls to 0.5.\n\n"
    "All sums of each photograph are checked by an identity, at random numbers drawn after the sums are computed.\n"
    "For a variant that rounds, the reference computes 16 sums again. A wrong sum ends the job with exit code 1.";

static int check_range(ac_job *job) {
    const double low = job->grey_range[0], high = job->grey_range[1];
    job->range = (rg_grey_range){.given = !isnan(low), .low = low, .high = high};
    return !job->range.given || low < high
        ? RG_GOOD
        : rg_fail(RG_USAGE, "--grey-range: expected LOW:HIGH with LOW < HIGH, found %g:%g", low, high);
}

static void print_length(double length) {
    if (isnan(length))
        printf("\tnone");
    else
        printf("\t%.2f", length);
}

static void print_results(const ac_job *job) {
    printf("photo\tR_max\thalf_width%s%s\n", job->spectrum ? "\tk_peak_length" : "",
        isnan(job->pixel_um) ? "" : "\tR_max_um\thalf_width_um");
    for (int64_t i = 0; i < job->n_photos; i++) {
        const ac_result *r = &job->result[i];
        rg_tsv_print(stdout, "%s", job->photo[i].name);
        print_length(r->r_max);
        print_length(r->half_width);
        if (job->spectrum) print_length(r->k_peak_length);
        if (!isnan(job->pixel_um)) {
            print_length(r->r_max * job->pixel_um);
            print_length(r->half_width * job->pixel_um);
        }
        printf("%s\n", r->resumed ? "\t(stood already)" : "");
    }
}

// Reports a maximum that the requested curve does not show.
static void say_centred(const ac_job *job) {
    int64_t found = 0, first = 0;
    for (int64_t i = job->n_photos - 1; i >= 0; i--)
        if (!isnan(job->result[i].r_max_centred)) {
            found++;
            first = i;
        }
    if (found)
        rg_warn("%lld of %lld photographs have no R_max by --norm %s and one by --norm centred, the first %s: %.2f",
            (long long)found, (long long)job->n_photos, ac_norm_name[job->norm], job->photo[first].name,
            job->result[first].r_max_centred);
}

// Reports weak maxima: one that rises above the trough by less than a line's width of the plotted curve, a five-hundredth of
// its fall, may be noise.
static void say_ripples(const ac_job *job) {
    static const double LEAST = 0.002;
    int64_t found = 0, first = 0;
    for (int64_t i = job->n_photos - 1; i >= 0; i--)
        if (job->result[i].prominence < LEAST) { // false for NaN
            found++;
            first = i;
        }
    if (found)
        rg_warn(
            "%lld of %lld R_max stand out by less than %g of C1D(0) - the minimum, the first of %s by %.2g: a ripple? --prominence %g "
            "passes such over",
            (long long)found, (long long)job->n_photos, LEAST, job->photo[first].name, job->result[first].prominence, LEAST);
}

static int write_stages(const ac_job *job, double correlate_s) {
    rg_file file;
    RG_FREED char *path = rg_print("%s/rmax_stages.tsv", job->out);
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    const double whole_s = job->read_s + correlate_s, busy_s[] = {job->read_s, correlate_s, whole_s};
    static const char *const stage[] = {"read", "correlate", "whole"};
    fprintf(file.stream, "# autocorr, %" PRId64 " photographs, offsets to %" PRId64 "\n# %s on %s\n# threads: %d\n",
        job->n_photos, job->r, job->entry->name, job->device, job->threads);
    fprintf(file.stream, "stage\tbusy_s\tshare\tcalls\tneeds\n");
    for (int i = 0; i < RG_COUNT(stage); i++)
        fprintf(file.stream, "%s\t%.4f\t%.4f\t%" PRId64 "\t-\n", stage[i], busy_s[i], busy_s[i] / whole_s,
            i < 2 ? job->n_photos : 1);
    return rg_file_commit(&file);
}

static int run_job(ac_job *job) {
    job->result = rg_alloc((size_t)job->n_photos * sizeof *job->result);
    for (int64_t i = 0; i < job->n_photos; i++)
        job->result[i] = (ac_result){
            .r_max = NAN, .r_max_centred = NAN, .c1d = NAN, .prominence = NAN, .half_width = NAN, .k_peak_length = NAN};
    const double began_s = rg_seconds();
    int code = rg_make_folder(job->out);
    if (code == RG_GOOD) code = ac_series(job);
    const double correlate_s = rg_seconds() - began_s;
    rg_summary_stage("reading", job->read_s);
    rg_summary_stage("correlating and writing", correlate_s);
    if (code == RG_GOOD) ac_show(job);
    if (code == RG_GOOD && job->n_photos > 1 && rg_rank == 0) code = ac_write_growth(job);
    if (code == RG_GOOD && job->n_photos > 1 && rg_rank == 0) code = write_stages(job, correlate_s);
    if (code == RG_GOOD) print_results(job);
    if (code == RG_GOOD) say_centred(job);
    if (code == RG_GOOD) say_ripples(job);
    free(job->result);
    rg_summary_stage("whole", job->read_s + rg_seconds() - began_s);
    return code;
}

// Chooses the variant, which must accept the shapes of all photographs.
static int choose(ac_job *job, const char *requested) {
    rg_choice c;
    RG_FREED rg_shape *shape = rg_alloc((size_t)job->n_photos * sizeof *shape);
    for (int64_t i = 0; i < job->n_photos; i++) shape[i] = job->photo[i].shape;
    int code = rg_choose(job->algo, job->device, requested, shape, job->n_photos, NULL, &c);
    job->entry = c.entry;
    memcpy(job->param, c.param, sizeof job->param);
    job->why = requested ? "requested" : "the first of the declared order that can run here";
    return code;
}

// Opens the GPU while photographs are read. Errors are reported once the GPU is needed.
static void *open_gpu(void *of) {
    const ac_job *job = of;
    char why[200];
    rg_device_open(rg_ranks_device(job->device), why);
    return NULL;
}

static bool may_need_gpu(const ac_job *job, const char *variant) {
    if (strncmp(job->device, "gpu", 3) != 0 || rg_dry_run) return false;
    if (!variant) return true;
    RG_FREED char *name = rg_print("%.*s", (int)strcspn(variant, ":"), variant);
    const rg_entry *entry = rg_entry_named(job->algo, job->device, name);
    return entry && !rg_on_cpu(entry);
}

static int read_and_choose(ac_job *job, const char *variant) {
    pthread_t opening;
    const bool early = may_need_gpu(job, variant) && pthread_create(&opening, NULL, open_gpu, job) == 0;
    int code = ac_input(job);
    if (early) pthread_join(opening, NULL);
    return code == RG_GOOD ? choose(job, variant) : code;
}

static int run(void *typed) {
    ac_job *job = typed;
    const char *variant;
    job->algo = rg_algo_find("autocorr");
    job->threads = rg_given_threads(&job->given);
    job->seed = job->given.seed;
    job->device = job->given.device;
    job->command = job->given.line;
    int code = check_range(job);
    if (code == RG_GOOD) code = rg_computing_variant(&job->computing, job->algo->name, &variant);
    if (code == RG_GOOD) code = read_and_choose(job, variant);
    if (code == RG_GOOD) {
        job->gnuplot = rg_program_path("gnuplot");
        if (!rg_quiet) fprintf(stderr, "autocorr: variant %s: %s\n", job->entry->name, job->why);
        if (!job->gnuplot && !rg_dry_run)
            rg_warn("no gnuplot here, so NAME.svg and rmax.svg are not drawn (see regather doctor)");
        rg_ranks_say("autocorr");
        if (rg_dry_run)
            code = ac_plan(job);
        else
            code = run_job(job);
        free(job->gnuplot);
    }
    ac_input_free(job);
    return code;
}

const rg_command rg_cmd_autocorr = {
    .name = "autocorr",
    .words = "PHOTO...",
    .summary = "spatial autocorrelation of photographs: C2D, C1D, and R_max over a series",
    .help = help,
    .option = options,
    .bytes = sizeof(ac_job),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
