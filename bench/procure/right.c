// SPDX-License-Identifier: MIT
// right.c: see right.h.
#include "right.h"

#include "../timing/job_files.h"
#include "../timing/stats.h"

#include "../../data/formats/image.h"
#include "../../data/formats/mrc.h"
#include "../../data/formats/particles.h"
#include "../../data/formats/transforms.h"
#include "../../data/geometry/volume.h"
#include "../../impl/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_map(const char *name) { return rg_ends_with(name, ".mrc") || rg_ends_with(name, ".mrcs"); }
static bool is_photo(const char *name) { return rg_ends_with(name, ".png") || rg_ends_with(name, ".pgm"); }

uint64_t rg_nonce_seed(const char *nonce)
{
    char hex[65];
    rg_sha256_of(nonce, strlen(nonce), hex);
    hex[16] = '\0';
    return strtoull(hex, NULL, 16) >> 1;
}

// ---- errors --------------------------------------------------------------------------------------------------------------

static double map_error(const char *truth, const char *found)
{
    rg_volume v[2];
    if (rg_volume_read(truth, &v[0])) return NAN;
    if (rg_volume_read(found, &v[1])) {
        free(v[0].value);
        return NAN;
    }
    double sum[2] = {0}, square[2] = {0}, product = 0, r = NAN;
    const int64_t n = v[0].side * v[0].side * v[0].side;
    if (v[0].side == v[1].side) {
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < n; i++) sum[k] += v[k].value[i];
        for (int64_t i = 0; i < n; i++) {
            const double a = v[0].value[i] - sum[0] / (double)n, b = v[1].value[i] - sum[1] / (double)n;
            square[0] += a * a;
            square[1] += b * b;
            product += a * b;
        }
        r = product / sqrt(square[0] * square[1]);
    }
    free(v[0].value);
    free(v[1].value);
    return 1 - r;
}

static double poses_error(const char *truth, const char *found)
{
    rg_particles p[2];
    double median = NAN;
    if (rg_particles_open(&p[0], truth)) return NAN;
    if (rg_particles_open(&p[1], found)) {
        rg_particles_close(&p[0]);
        return NAN;
    }
    if (p[0].n == p[1].n && p[0].n > 0) {
        double *apart = rg_alloc((size_t)p[0].n * sizeof *apart);
        for (int64_t i = 0; i < p[0].n; i++) {
            double a[2][9];
            for (int k = 0; k < 2; k++)
                rg_particle_matrix(p[k].row[i].rot_deg, p[k].row[i].tilt_deg, p[k].row[i].psi_deg, a[k]);
            apart[i] = rg_rotation_apart_deg(a[0], a[1]);
        }
        median = rg_median(apart, (int)p[0].n);
        free(apart);
    }
    rg_particles_close(&p[0]);
    rg_particles_close(&p[1]);
    return median;
}

static double transforms_error(const char *truth, const char *found)
{
    rg_tsv t[2];
    double largest = NAN;
    if (rg_tsv_read(truth, &t[0])) return NAN;
    if (rg_tsv_read(found, &t[1])) {
        rg_tsv_free(&t[0]);
        return NAN;
    }
    if (t[0].n_rows == t[1].n_rows && t[0].n_rows > 0) {
        largest = 0;
        for (int i = 0; i < t[0].n_rows; i++)
            for (int c = 0; c < 2; c++) {
                const char *column = c ? "shift_y_px" : "shift_x_px";
                const double d = fabs(rg_tsv_number(&t[0], i, column) - rg_tsv_number(&t[1], i, column));
                largest = isnan(d) ? INFINITY : fmax(largest, d);
            }
    }
    rg_tsv_free(&t[0]);
    rg_tsv_free(&t[1]);
    return largest;
}

// S(x, y) = sum over the overlap of a(p) a(p - (x, y)), as `regather autocorr --help` has it.
static double sum_at(const rg_image *a, int64_t x0, int64_t y0)
{
    uint64_t sum = 0;
    for (int64_t y = y0 > 0 ? y0 : 0; y < a->height + (y0 < 0 ? y0 : 0); y++)
        for (int64_t x = x0 > 0 ? x0 : 0; x < a->width + (x0 < 0 ? x0 : 0); x++) {
            const int64_t at = y * a->width + x, other = (y - y0) * a->width + x - x0;
            sum += a->bits == 8 ? (uint64_t)((uint8_t *)a->pixel)[at] * ((uint8_t *)a->pixel)[other]
                                : (uint64_t)((uint16_t *)a->pixel)[at] * ((uint16_t *)a->pixel)[other];
        }
    return (double)sum;
}

static double photo_error(const char *photo, const char *c2d, uint64_t seed)
{
    enum { ELEMENTS = 16 };
    rg_image image;
    rg_mrc m;
    double largest = 0;
    if (rg_image_read(photo, 0, NULL, &image)) return NAN;
    if (rg_mrc_open(&m, c2d)) {
        rg_image_free(&image);
        return NAN;
    }
    float *value = rg_alloc((size_t)(m.nx * m.ny) * sizeof *value);
    const int64_t r = m.nx / 2;
    if (m.nx != m.ny || rg_mrc_section(&m, 0, value)) largest = NAN;
    for (int i = 0; i < ELEMENTS && !isnan(largest); i++) {
        const int64_t at = (int64_t)(rg_bits(seed, (uint64_t)i) % (uint64_t)(m.nx * m.ny));
        const double expected = sum_at(&image, at % m.nx - r, at / m.nx - r) / sum_at(&image, 0, 0),
                     d = fabs(expected - (double)value[at]);
        largest = isnan(d) ? NAN : fmax(largest, d);
    }
    free(value);
    rg_mrc_close(&m);
    rg_image_free(&image);
    return largest;
}

static double sums_error(const char *in, const char *out, uint64_t seed)
{
    rg_job_list l = rg_job_outputs_list(in);
    double largest = 0;
    int photos = 0;
    for (int i = 0; i < l.n; i++) {
        if (!is_photo(l.name[i])) continue;
        char *photo = rg_print("%s/%s", in, l.name[i]),
             *c2d = rg_print("%s/%.*s.c2d.mrc", out, (int)strlen(l.name[i]) - 4, l.name[i]);
        const double error = photo_error(photo, c2d, seed + (uint64_t)i);
        largest = isnan(error) || isnan(largest) ? NAN : fmax(largest, error);
        photos++;
        free(photo), free(c2d);
    }
    rg_job_list_free(&l);
    return photos ? largest : NAN;
}

double rg_right_error(const rg_work *w, const char *in, const char *folder, uint64_t seed)
{
    static const char *const truth[] = {"map.mrc", "particles.star", "truth.tsv", ""},
                             *const found[] = {".mrc", ".star", ".tsv", ""};
    char *a = rg_print("%s/%s", in, truth[w->check]), *b = rg_print("%s/out%s", folder, found[w->check]);
    const double error = w->check == RG_CHECK_MAP ? map_error(a, b)
        : w->check == RG_CHECK_POSES              ? poses_error(a, b)
        : w->check == RG_CHECK_TRANSFORMS         ? transforms_error(a, b)
                                                  : sums_error(in, b, seed);
    free(a), free(b);
    return error;
}

// ---- samples -------------------------------------------------------------------------------------------------------------

static uint64_t place(uint64_t seed, int file, int i, uint64_t n)
{
    return n <= RG_SAMPLES_A_FILE ? (uint64_t)i : rg_bits(seed + (uint64_t)file, (uint64_t)i) % n;
}

static void sample_map(FILE *to, const char *path, const char *name, int file, uint64_t seed)
{
    rg_mrc m;
    if (rg_mrc_open(&m, path)) return;
    const uint64_t plane = (uint64_t)(m.nx * m.ny), n = plane * (uint64_t)m.nz;
    float *section = rg_alloc(plane * sizeof *section);
    for (int i = 0; i < RG_SAMPLES_A_FILE && (uint64_t)i < n; i++) {
        const uint64_t at = place(seed, file, i, n);
        if (!rg_mrc_section(&m, (int64_t)(at / plane), section))
            rg_tsv_print(to, "%s\t%lld\t%.9g\n", name, (long long)at, (double)section[at % plane]);
    }
    free(section);
    rg_mrc_close(&m);
}

static void sample_photo(FILE *to, const char *path, const char *name, int file, uint64_t seed)
{
    rg_image image;
    if (rg_image_read(path, 0, NULL, &image)) return;
    const uint64_t n = (uint64_t)(image.width * image.height);
    for (int i = 0; i < RG_SAMPLES_A_FILE && (uint64_t)i < n; i++) {
        const uint64_t at = place(seed, file, i, n);
        rg_tsv_print(to, "%s\t%lld\t%d\n", name, (long long)at,
            image.bits == 8 ? ((uint8_t *)image.pixel)[at] : ((uint16_t *)image.pixel)[at]);
    }
    rg_image_free(&image);
}

// Lines that begin with # name the run.
static void sample_text(FILE *to, const char *path, const char *name, int file, uint64_t seed)
{
    double *value = NULL;
    uint64_t n = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    while (f && getline(&line, &room, f) > 0) {
        char *rest;
        for (char *word = *line == '#' ? NULL : strtok_r(line, " \t\r\n", &rest); word;
             word = strtok_r(NULL, " \t\r\n", &rest)) {
            char *end;
            const double v = strtod(word, &end);
            if (*end) continue;
            value = rg_more(value, n, sizeof *value);
            value[n++] = v;
        }
    }
    if (f) fclose(f);
    for (int i = 0; i < RG_SAMPLES_A_FILE && (uint64_t)i < n; i++) {
        const uint64_t at = place(seed, file, i, n);
        rg_tsv_print(to, "%s\t%lld\t%.9g\n", name, (long long)at, value[at]);
    }
    free(value);
    free(line);
}

char *rg_right_samples(const char *folder, uint64_t seed)
{
    rg_job_list l = rg_job_outputs_list(folder);
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (!to) rg_end(RG_LACKS, "out of memory");
    fprintf(to, "file\tplace\tvalue\n");
    for (int i = 0; i < l.n && i < RG_SAMPLED_FILES; i++) {
        char *path = rg_print("%s/%s", folder, l.name[i]);
        const char *name = l.name[i];
        if (is_map(name))
            sample_map(to, path, name, i, seed);
        else if (is_photo(name))
            sample_photo(to, path, name, i, seed);
        else
            sample_text(to, path, name, i, seed);
        free(path);
    }
    fclose(to);
    rg_job_list_free(&l);
    return text;
}

// Rows first..past of one file.
static void compare_file(const rg_tsv *a, const rg_tsv *b, int first, int past, rg_alike *found)
{
    const char *name = rg_tsv_cell(a, first, "file");
    const bool map = is_map(name), pixels = map || is_photo(name), poses = rg_ends_with(name, ".star");
    const double share = poses ? 0.02 : rg_ends_with(name, ".tsv") ? 0.01 : 1e-3, least = poses ? 10 : 1;
    double largest = 0;
    int differ = 0;
    for (int i = first; i < past; i++) largest = fmax(largest, fabs(rg_tsv_number(b, i, "value")));
    for (int i = first; i < past; i++) {
        const double u = rg_tsv_number(a, i, "value"), v = rg_tsv_number(b, i, "value");
        const double scale = pixels ? largest : fmax(least, fmax(fabs(u), fabs(v)));
        if (fabs(u - v) <= share * scale || (isnan(u) && isnan(v))) continue;
        if (!differ++ && !*found->first)
            snprintf(found->first, sizeof found->first, "%.80s at %s: %.6g, here %.6g", name, rg_tsv_cell(a, i, "place"), u, v);
    }
    found->differ += differ;
    found->files_differ += differ > (map ? 0 : RG_MAY_DIFFER * (past - first));
}

rg_alike rg_right_alike(const rg_tsv *a, const rg_tsv *b)
{
    rg_alike found = {.n = a->n_rows};
    if (a->n_rows != b->n_rows) {
        snprintf(found.first, sizeof found.first, "%d values, here %d", a->n_rows, b->n_rows);
        found.differ = found.files_differ = 1;
        return found;
    }
    for (int i = 0; i < a->n_rows; i++)
        if (strcmp(rg_tsv_cell(a, i, "file"), rg_tsv_cell(b, i, "file")) ||
            strcmp(rg_tsv_cell(a, i, "place"), rg_tsv_cell(b, i, "place"))) {
            snprintf(found.first, sizeof found.first, "%.60s at %.20s, here %.40s at %.20s", rg_tsv_cell(a, i, "file"),
                rg_tsv_cell(a, i, "place"), rg_tsv_cell(b, i, "file"), rg_tsv_cell(b, i, "place"));
            found.differ = found.files_differ = 1;
            return found;
        }
    for (int first = 0, past; first < a->n_rows; first = past) {
        for (past = first + 1; past < a->n_rows && !strcmp(rg_tsv_cell(a, past, "file"), rg_tsv_cell(a, first, "file"));)
            past++;
        compare_file(a, b, first, past, &found);
    }
    return found;
}
