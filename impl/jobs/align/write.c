// SPDX-License-Identifier: MIT
// write.c: the tables of transforms, their plot, and the aligned series.
#include "../../base/plot.h"
#include "../../../data/formats/mrc.h"
#include "align.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double aj_median(int64_t n, double *v)
{
    qsort(v, (size_t)n, sizeof *v, compare_doubles);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int aj_write_errors(const char *path, const char *command, int quantities, const char *const *quantity, int64_t n, double **v)
{
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD)
        return code;
    fprintf(file.stream, "# command: %s\nquantity\tmedian\tlargest\n", command);
    for (int q = 0; q < quantities; q++) {
        double median = aj_median(n, v[q]);
        fprintf(file.stream, "%s\t%.9g\t%.9g\n", quantity[q], median, v[q][n - 1]);
    }
    return rg_file_commit(&file);
}

// Of all images but the first; a shift's error is the longer of its parts.
static int write_errors(const aj_align *job)
{
    static const char *const quantity[] = {"rotation_deg", "shift_px", "scale"};
    int64_t n = job->series.n - 1;
    double *room = rg_alloc((size_t)(3 * n) * sizeof *room), *error[3] = {room, room + n, room + 2 * n};
    for (int64_t i = 0; i < n; i++) {
        const rg_similarity *found = &job->step[i + 1], *truth = &job->truth[i + 1];
        error[0][i] = fabs(remainder(found->rotation_deg - truth->rotation_deg, 360));
        error[1][i] = fmax(fabs(found->shift_x_px - truth->shift_x_px), fabs(found->shift_y_px - truth->shift_y_px));
        error[2][i] = fabs(found->scale - truth->scale);
    }
    char *path = rg_path_beside(job->out, "", ".errors.tsv");
    int code = aj_write_errors(path, job->command, 3, quantity, n, error);
    free(path);
    free(room);
    return code;
}

static int plot(const aj_align *job)
{
    char *svg = rg_path_beside(job->out, "", ".svg");
    rg_plot plot = {0};
    rg_plot_path(&plot, "DATA", job->out);
    rg_plot_text(&plot, "X", job->tilt_deg ? "tilt_deg" : "image");
    int code = rg_plot_draw(&plot, "align.gp", svg);
    free(svg);
    return code;
}

int aj_write_tables(const aj_align *job)
{
    static const char convention[] = "a feature at p stands at c + scale Rot(rotation) (p - c) + shift in";
    char *head = rg_print("# command: %s\n# %" PRId64 " images of %" PRId64 " x %" PRId64 " pixels, variant %s\n# %s the image "
                          "before\n", job->command, job->series.n, job->series.width, job->series.height,
                          job->pair.scorer[0].frame.entry->name, convention);
    char *whole_head = rg_print("# command: %s\n# %s image 1\n", job->command, convention);
    char *whole = rg_path_beside(job->out, "", ".cumulative.tsv");
    const char *extra = job->tilt_deg ? "tilt_deg" : NULL;
    int code = rg_similarities_write(job->out, head, job->series.n, job->step, job->correlation, extra, job->tilt_deg,
                                     job->edge);
    if (code == RG_GOOD)
        code = rg_similarities_write(whole, whole_head, job->series.n, job->whole, NULL, extra, job->tilt_deg,
                                     NULL);
    if (code == RG_GOOD && job->truth)
        code = write_errors(job);
    if (code == RG_GOOD)
        code = plot(job);
    free(head);
    free(whole_head);
    free(whole);
    return code;
}

// Pixels from outside an image are its mean: the rule `zero` about the mean.
static int align_image(aj_align *job, int64_t i, float *image, float *moved)
{
    const int64_t side[3] = {job->series.width, job->series.height, 1}, n = side[0] * side[1];
    const rg_similarity *s = &job->whole[i];
    float matrix[6];
    int code = rg_series_read(&job->series, i, false, image);
    if (code != RG_GOOD)
        return code;
    double mean = aj_mean(n, image, job->threads);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t p = 0; p < n; p++)
        image[p] = (float)(image[p] - mean);
    af_matrix_2d(s->rotation_deg * 3.14159265358979323846 / 180, (const double[2]){s->shift_x_px, s->shift_y_px}, s->scale,
                 matrix);
    code = aj_warp(&job->pair.warp, side, AF_ZERO, job->threads, image, 1, matrix, moved);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t p = 0; p < n; p++)
        moved[p] = (float)(moved[p] + mean);
    return code;
}

int aj_write_aligned(aj_align *job)
{
    rg_mrc_out out;
    int64_t n = job->series.width * job->series.height;
    rg_progress progress;
    int code = rg_mrc_write_begin(&out, job->aligned, job->series.width, job->series.height, job->series.n, RG_MRC_FLOAT32,
                                  job->series.pixel_A, false);
    if (code != RG_GOOD)
        return code;
    float *image = rg_alloc((size_t)n * sizeof *image), *moved = rg_alloc((size_t)n * sizeof *moved);
    rg_progress_begin(&progress, "aligned series", "images", (double)job->series.n);
    for (int64_t i = 0; i < job->series.n && code == RG_GOOD; i++) {
        code = align_image(job, i, image, moved);
        if (code == RG_GOOD)
            code = rg_mrc_write_section(&out, moved);
        rg_progress_at(&progress, (double)(i + 1));
    }
    rg_progress_end(&progress);
    free(image);
    free(moved);
    if (code == RG_GOOD)
        return rg_mrc_write_commit(&out);
    rg_mrc_write_abandon(&out);
    return code;
}
