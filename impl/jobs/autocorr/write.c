// SPDX-License-Identifier: MIT
// write.c: writes the files of a photograph and of a series. The curve's head has the request and the input's hash, by which
// --resume recognises finished work.
#include "../../../data/formats/mrc.h"
#include "../../base/log.h"
#include "../../base/memory.h"
#include "../../runtime/tuned.h"
#include "../../base/memory.h"
#include "../../base/plot.h"
#include "../../base/summary.h"
#include "../../base/tsv.h"
#include "autocorr.h"

static char *file_of(const ac_job *job, const ac_photo *photo, const char *ending) {
    return rg_print("%s/%s.%s", job->out, photo->name, ending);
}

// Everything that determines the contents of the files, on one line.
static char *request_of(const ac_job *job, const ac_photo *photo) {
    return rg_print("input %016" PRIx64 ", other %016" PRIx64 ", max-offset %" PRId64
                    ", norm %s, prominence %.17g, spectrum %s",
        photo->hash, job->cross_hash, job->r, ac_norm_name[job->norm], job->prominence, job->spectrum ? "yes" : "no");
}

static void print_length(FILE *out, double length) {
    if (isnan(length))
        fprintf(out, "none");
    else
        fprintf(out, "%.17g", length);
}

static int write_c2d(const char *path, const ac_field *f, ac_norm norm, long double unit) {
    rg_mrc_out m;
    int64_t side = ac_side(f->r);
    int code = rg_mrc_write_begin(&m, path, side, side, 1, RG_MRC_FLOAT32, 0, false);
    if (code != RG_GOOD) return code;
    RG_FREED float *c2d = rg_alloc((size_t)(side * side) * sizeof *c2d);
    ac_c2d(f, norm, unit, c2d);
    code = rg_mrc_write_section(&m, c2d);
    return rg_mrc_write_end(&m, code);
}

static int write_sums(const char *path, const ac_field *f) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "X0\tY0\tS\n");
    for (int64_t i = 0; i < ac_side(f->r) * ac_side(f->r); i++)
        fprintf(file.stream, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", ac_x0(f->r, i), ac_y0(f->r, i), f->sums[i]);
    return rg_file_commit(&file);
}

static int write_c1d(
    const ac_job *job, const ac_photo *photo, const char *path, const double *c1d, const int64_t *n, const ac_result *result) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    RG_FREED char *request = request_of(job, photo);
    const char *command = job->n_photos > 1 ? "see regather.log" : job->command; // that of a series is as long as all names
    rg_tsv_print(file.stream,
        "# photo: %s\n# page: %" PRId64 " of %" PRId64 "\n# size: %" PRId64 " x %" PRId64 "\n# command: %s\n", photo->path,
        photo->place.page + 1, photo->pages, photo->shape.n[AC_WIDTH], photo->shape.n[AC_HEIGHT], command);
    if (job->cross_path) rg_tsv_print(file.stream, "# cross: %s\n", job->cross_path);
    fprintf(file.stream, "# variant: %s (%s)\n# request: %s\n", job->entry->name, job->why, request);
    static const char *const key[] = {"R_max", "C1D(R_max)", "prominence", "half_width", "k_peak_length"};
    const double value[] = {result->r_max, result->c1d, result->prominence, result->half_width, result->k_peak_length};
    for (int i = 0; i < RG_COUNT(key); i++) {
        fprintf(file.stream, "# %s: ", key[i]);
        print_length(file.stream, value[i]);
        putc('\n', file.stream);
    }
    fprintf(file.stream, "R\tC1D\tn\n");
    for (int64_t ring = 0; ring <= job->r; ring++)
        fprintf(file.stream, "%" PRId64 "\t%.17g\t%" PRId64 "\n", ring, c1d[ring], n[ring]);
    return rg_file_commit(&file);
}

static int plot_photo(const ac_job *job, const ac_photo *photo, const char *c1d, const char *c2d, const ac_result *result) {
    RG_FREED char *svg = file_of(job, photo, "svg");
    rg_plot plot = {0};
    rg_plot_path(&plot, "C1D", c1d);
    rg_plot_path(&plot, "C2D", c2d);
    rg_plot_number(&plot, "SIDE", (double)ac_side(job->r));
    rg_plot_number(&plot, "R_MAX", result->r_max);
    rg_plot_number(&plot, "C1D_AT_R_MAX", result->c1d);
    rg_plot_text(&plot, "NAME", photo->name);
    rg_plot_text(&plot, "NORM", ac_norm_name[job->norm]);
    return rg_plot_draw(&plot, "autocorr_job.gp", svg);
}

// A background's slope hides the maximum in curves that keep the mean.
static void find_centred(const ac_job *job, const ac_field *f, ac_result *result) {
    char why[120];
    double ignored, *c1d = rg_alloc((size_t)(job->r + 1) * sizeof *c1d);
    RG_FREED int64_t *n = rg_alloc((size_t)(job->r + 1) * sizeof *n);
    const long double unit = ac_unit(f, AC_CENTRED, why);
    if (unit > 0) {
        ac_c1d(f, AC_CENTRED, unit, c1d, n);
        ac_peak(c1d, job->r + 1, job->prominence, &result->r_max_centred, &ignored);
    }
    free(c1d);
}

int ac_write_photo(const ac_job *job, const ac_photo *photo, const ac_field *f, ac_result *result) {
    char why[120];
    long double unit = ac_unit(f, job->norm, why);
    if (!(unit > 0)) return rg_fail(RG_USAGE, "%s: %s", photo->path, why);
    RG_FREED double *c1d = rg_alloc((size_t)(job->r + 1) * sizeof *c1d);
    RG_FREED int64_t *n = rg_alloc((size_t)(job->r + 1) * sizeof *n);
    ac_c1d(f, job->norm, unit, c1d, n);
    result->r_max = result->c1d = result->prominence = NAN;
    result->r_max_centred = NAN;
    if (!ac_peak(c1d, job->r + 1, job->prominence, &result->r_max, &result->c1d) && job->norm != AC_CENTRED)
        find_centred(job, f, result);
    if (!isnan(result->r_max)) result->prominence = ac_prominence(c1d, job->r + 1, result->r_max);
    result->half_width = ac_half_width(f);

    RG_FREED char *c2d_path = file_of(job, photo, "c2d.mrc"), *c1d_path = file_of(job, photo, "c1d.tsv");
    RG_FREED char *sums_path = file_of(job, photo, "sums.tsv");
    int code = write_c2d(c2d_path, f, job->norm, unit);
    if (code == RG_GOOD && job->dump_sums) code = write_sums(sums_path, f);
    if (code == RG_GOOD) code = write_c1d(job, photo, c1d_path, c1d, n, result);
    if (code == RG_GOOD && job->gnuplot) code = plot_photo(job, photo, c1d_path, c2d_path, result);
    return code;
}

int ac_plan(const ac_job *job) {
    static const char *const ending[] = {"c2d.mrc", "sums.tsv", "c1d.tsv", "svg"};
    const bool written[] = {true, job->dump_sums, true, job->gnuplot};
    rg_plan("photographs", "%" PRId64 ", offsets to %" PRId64 ", variant %s", job->n_photos, job->r, job->entry->name);
    double sums = 0;
    for (int64_t i = 0; i < job->n_photos; i++) sums += job->algo->work(&job->photo[i].shape);
    rg_plan_memory("memory of a photograph", ac_lane_need(job, job->r), rg_memory_free(), ac_lane_need, job, "--max-offset");
    const int code = ac_plan_gpu(job);
    if (code != RG_GOOD) return code;
    rg_plan_time(job->entry, job->device, &job->photo[0].shape, sums);
    for (int64_t i = 0; i < job->n_photos; i++)
        for (int k = 0; k < RG_COUNT(ending); k++)
            if (written[k]) {
                RG_FREED char *path = file_of(job, &job->photo[i], ending[k]);
                rg_plan_file(path);
            }
    static const char *const of_series[] = {"rmax_stages.tsv", "rmax.tsv", "rmax.svg"};
    for (int k = 0; k < 2 + (job->gnuplot != NULL) && job->n_photos > 1; k++) {
        RG_FREED char *path = rg_print("%s/%s", job->out, of_series[k]);
        rg_plan_file(path);
    }
    return RG_GOOD;
}

static bool stands(const ac_job *job, const ac_photo *photo, const char *ending) {
    RG_FREED char *path = file_of(job, photo, ending);
    return access(path, R_OK) == 0;
}

// Reads "# KEY: number" or "# KEY: none" from a curve's head.
static double length_of(const rg_tsv *t, const char *key) {
    const char *text = rg_tsv_head(t, key);
    return !text || strncmp(text, "none", 4) == 0 ? NAN : strtod(text, NULL);
}

bool ac_already_written(const ac_job *job, const ac_photo *photo, ac_result *result) {
    bool whole = stands(job, photo, "c1d.tsv") && stands(job, photo, "c2d.mrc") &&
        (!job->dump_sums || stands(job, photo, "sums.tsv")) && (!job->gnuplot || stands(job, photo, "svg"));
    RG_FREED char *request = request_of(job, photo), *path = file_of(job, photo, "c1d.tsv");
    rg_tsv t = {0};
    rg_file_continues(path);
    rg_silent = true; // a damaged file is written again
    bool same = whole && rg_tsv_read(path, &t) == RG_GOOD && rg_tsv_head(&t, "request") &&
        strcmp(rg_tsv_head(&t, "request"), request) == 0;
    rg_silent = false;
    result->r_max = length_of(&t, "R_max");
    result->c1d = length_of(&t, "C1D(R_max)");
    result->prominence = length_of(&t, "prominence");
    result->half_width = length_of(&t, "half_width");
    result->k_peak_length = length_of(&t, "k_peak_length");
    rg_tsv_free(&t);
    result->done = result->resumed = same;
    return result->done;
}

// ---- the job's page ------------------------------------------------------------------------------------------------------

static void show_c2d(const ac_job *job, int64_t i) {
    const int64_t side = ac_side(job->r);
    const ac_result *r = &job->result[i];
    RG_FREED char *path = file_of(job, &job->photo[i], "c2d.mrc");
    RG_FREED float *c2d = rg_alloc((size_t)(side * side) * sizeof *c2d);
    rg_mrc mrc;
    if (rg_summary_has(rg_mrc_open(&mrc, path))) {
        RG_FREED char *title = isnan(r->r_max) ? rg_print("C2D of %s: no R_max", job->photo[i].name)
                                               : rg_print("C2D of %s: R_max %.2f pixels", job->photo[i].name, r->r_max);
        if (rg_summary_has(rg_mrc_section(&mrc, 0, c2d)))
            rg_summary_picture(&(rg_drawn_picture){.is = {title, "Grey from the lowest to the highest but 0.5 % at either end.",
                                                       "the two-dimensional correlation in grey, its centre in the "
                                                       "middle",
                                                       "X0 (pixels)", "Y0 (pixels)"},
                .width = side,
                .height = side,
                .value = c2d,
                .x0 = -(double)job->r,
                .y0 = -(double)job->r,
                .step = 1,
                .down = true});
        rg_mrc_close(&mrc);
    }
}

// Shows C1D of the first, the middle and the last photograph, from their files, whichever run wrote them.
static void show_c1d(const ac_job *job, int n, const int64_t *which) {
    const char *name[3];
    double *value[3];
    int read = 0;
    for (int k = 0; k < n; k++) {
        RG_FREED char *path = file_of(job, &job->photo[which[k]], "c1d.tsv");
        rg_tsv t;
        value[read] = rg_alloc((size_t)(job->r + 1) * sizeof **value);
        name[read] = job->photo[which[k]].name;
        if (rg_summary_has(rg_tsv_read(path, &t))) {
            for (int64_t i = 0; i <= job->r; i++) value[read][i] = i < t.n_rows ? rg_tsv_number(&t, (int)i, "C1D") : NAN;
            rg_tsv_free(&t);
        }
        read++;
    }
    RG_FREED double *at = rg_alloc((size_t)(job->r + 1) * sizeof *at);
    for (int64_t i = 0; i <= job->r; i++) at[i] = (double)i;
    rg_summary_curves(
        &(rg_drawn_curves){.is = {"C1D: the mean of C2D over rings", "R_max is its first maximum after its first minimum.",
                               "C1D against R", "R (pixels)", "C1D"},
            .n = job->r + 1,
            .at = at,
            .curves = read,
            .name = name,
            .value = (const double *const *)value});
    for (int k = 0; k < read; k++) free(value[k]);
}

void ac_show(const ac_job *job) {
    const int64_t n = job->n_photos, which[3] = {0, n / 2, n - 1};
    const int shown = n > 2 ? 3 : (int)n;
    double low = INFINITY, high = -INFINITY, least = INFINITY;
    int64_t found = 0;
    if (!rg_summary_wanted()) return;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(job->result[i].r_max)) {
            low = fmin(low, job->result[i].r_max);
            high = fmax(high, job->result[i].r_max);
            least = fmin(least, job->result[i].prominence);
            found++;
        }
    if (found)
        rg_summary_found("%" PRId64 " of %" PRId64 " photographs have an R_max, from %.2f to %.2f pixels; the weakest stands "
                         "out by %.2g of the "
                         "curve's fall.",
            found, n, low, high, least);
    else
        rg_summary_found("No photograph has an R_max by `--norm %s`.", ac_norm_name[job->norm]);
    if (found && !isnan(job->pixel_um))
        rg_summary_found("That is %.4g to %.4g micrometres.", low * job->pixel_um, high * job->pixel_um);
    if (n < 2) rg_summary_found("How far an R_max is off, one photograph does not say; a series of them does.");
    rg_summary_did(
        "photographs", "%" PRId64 ", offsets to %" PRId64 " pixels, normalisation %s", n, job->r, ac_norm_name[job->norm]);
    bool rounds = false;
    for (int64_t i = 0; i < n; i++) rounds |= ac_rounds(job, &job->photo[i].shape);
    rg_summary_did("variant", "autocorr:%s (%s); of each photograph %s", job->entry->name, job->why,
        rounds ? "16 sums or more were computed again, and agree"
               : "all sums were checked by an identity that only right ones keep");
    const int64_t pair[3] = {0, n - 1, n - 1};
    show_c1d(job, shown, shown == 3 ? which : pair);
    show_c2d(job, 0);
    if (n > 1) show_c2d(job, n - 1);
}
