// SPDX-License-Identifier: MIT
#include "run.h"

#include "../stats/stats.h"

#include "../../data/formats/image.h"
#include "../../data/formats/mrc.h"
#include "../../data/formats/particles.h"
#include "../../data/formats/transforms.h"
#include "../../data/geometry/volume.h"
#include "../../impl/suite.h"

static bool is_photo(const char *name) { return rg_ends_with(name, ".png") || rg_ends_with(name, ".pgm"); }

uint64_t rg_nonce_seed(const char *nonce) {
    char hex[65];
    rg_sha256_of(nonce, strlen(nonce), hex);
    hex[16] = '\0';
    return strtoull(hex, NULL, 16) >> 1;
}

// ---- errors --------------------------------------------------------------------------------------------------------------

static double map_error(const char *truth, const char *found) {
    rg_volume a = {0}, b = {0};
    double error = NAN, scale, offset;
    if (!rg_volume_read(truth, &a) && !rg_volume_read(found, &b) && a.side == b.side)
        error = 1 - rg_volume_fit(&a, &b, &scale, &offset);
    free(a.value);
    free(b.value);
    return error;
}

static double poses_error(const char *truth, const char *found) {
    rg_particles p[2];
    double median = NAN;
    int opened = 0;
    while (opened < 2 && !rg_particles_open(&p[opened], opened ? found : truth)) opened++;
    if (opened == 2 && p[0].n == p[1].n && p[0].n > 0) {
        RG_FREED double *apart = rg_alloc((size_t)p[0].n * sizeof *apart);
        for (int64_t i = 0; i < p[0].n; i++) {
            double a[2][9];
            for (int k = 0; k < 2; k++)
                rg_particle_matrix(p[k].row[i].rot_deg, p[k].row[i].tilt_deg, p[k].row[i].psi_deg, a[k]);
            apart[i] = rg_rotation_apart_deg(a[0], a[1]);
        }
        median = rg_median(apart, (int)p[0].n);
    }
    while (opened) rg_particles_close(&p[--opened]);
    return median;
}

static double transforms_error(const char *truth, const char *found) {
    static const char *const column[] = {"shift_x_px", "shift_y_px"};
    RG_ENDS(rg_tsv_free) rg_tsv a = {0}, b = {0};
    double largest = NAN;
    const bool read = !rg_tsv_read(truth, &a) && !rg_tsv_read(found, &b) && a.n_rows == b.n_rows;
    for (int i = 0; read && i < 2 * a.n_rows; i++) {
        const double d = fabs(rg_tsv_number(&a, i / 2, column[i % 2]) - rg_tsv_number(&b, i / 2, column[i % 2]));
        largest = isnan(d) ? INFINITY : fmax(largest, d);
    }
    return largest;
}

static uint64_t pixel(const rg_image *a, int64_t at) {
    return a->bits == 8 ? ((uint8_t *)a->pixel)[at] : ((uint16_t *)a->pixel)[at];
}

// S(x, y) = sum over the overlap of a(p) a(p - (x, y)), as in `regather autocorr --help`.
static double sum_at(const rg_image *a, int64_t x0, int64_t y0) {
    uint64_t sum = 0;
    for (int64_t y = y0 > 0 ? y0 : 0; y < a->height + (y0 < 0 ? y0 : 0); y++)
        for (int64_t x = x0 > 0 ? x0 : 0; x < a->width + (x0 < 0 ? x0 : 0); x++) {
            const int64_t at = y * a->width + x, other = (y - y0) * a->width + x - x0;
            sum += pixel(a, at) * pixel(a, other);
        }
    return (double)sum;
}

static double photo_error(const char *photo, const char *c2d, uint64_t seed) {
    enum { ELEMENTS = 16 };
    rg_image image;
    rg_mrc m;
    double largest = 0;
    if (rg_image_read(photo, 0, NULL, &image)) return NAN;
    if (rg_mrc_open(&m, c2d)) {
        rg_image_free(&image);
        return NAN;
    }
    RG_FREED float *value = rg_alloc((size_t)(m.nx * m.ny) * sizeof *value);
    const int64_t r = m.nx / 2;
    if (m.nx != m.ny || rg_mrc_section(&m, 0, value)) largest = NAN;
    for (int i = 0; i < ELEMENTS && !isnan(largest); i++) {
        const int64_t at = (int64_t)(rg_bits(seed, (uint64_t)i) % (uint64_t)(m.nx * m.ny));
        const double expected = sum_at(&image, at % m.nx - r, at / m.nx - r) / sum_at(&image, 0, 0),
                     d = fabs(expected - (double)value[at]);
        largest = isnan(d) ? NAN : fmax(largest, d);
    }
    rg_mrc_close(&m);
    rg_image_free(&image);
    return largest;
}

static double sums_error(const char *in, const char *out, uint64_t seed) {
    RG_ENDS(rg_job_list_free) rg_job_list l = rg_job_outputs_list(in);
    double largest = 0;
    int photos = 0;
    for (int i = 0; i < l.n; i++) {
        if (!is_photo(l.name[i])) continue;
        RG_FREED char *photo = rg_print("%s/%s", in, l.name[i]),
                      *c2d = rg_print("%s/%.*s.c2d.mrc", out, (int)strlen(l.name[i]) - 4, l.name[i]);
        const double error = photo_error(photo, c2d, seed + (uint64_t)i);
        largest = isnan(error) || isnan(largest) ? NAN : fmax(largest, error);
        photos++;
    }
    return photos ? largest : NAN;
}

double rg_job_error(const rg_work *w, const char *in, const char *folder, uint64_t seed) {
    static const char *const truth[] = {"map.mrc", "particles.star", "truth.tsv", ""},
                             *const found[] = {".mrc", ".star", ".tsv", ""};
    RG_FREED char *a = rg_print("%s/%s", in, truth[w->check]), *b = rg_print("%s/out%s", folder, found[w->check]);
    return w->check == RG_CHECK_MAP       ? map_error(a, b)
        : w->check == RG_CHECK_POSES      ? poses_error(a, b)
        : w->check == RG_CHECK_TRANSFORMS ? transforms_error(a, b)
                                          : sums_error(in, b, seed);
}

// ---- samples -------------------------------------------------------------------------------------------------------------

// The values of a file by position: of a map or an image, or the numbers of a text, without its lines that begin with #, which
// name the run.
typedef struct values {
    uint64_t n;
    rg_mrc map;
    float *section; // of a map
    rg_image image; // pixel NULL: none
    double *number; // of a text
} values;

static void read_numbers(values *v, const char *path) {
    RG_FREED char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    while (f && getline(&line, &room, f) > 0) {
        char *rest;
        for (char *word = *line == '#' ? NULL : strtok_r(line, " \t\r\n", &rest); word;
             word = strtok_r(NULL, " \t\r\n", &rest)) {
            char *end;
            const double number = strtod(word, &end);
            if (*end) continue;
            v->number = rg_grow(v->number, (int64_t)v->n, sizeof *v->number);
            v->number[v->n++] = number;
        }
    }
    if (f) fclose(f);
}

static void values_open(values *v, const char *path) {
    *v = (values){0};
    if (rg_job_is_map(path)) {
        if (rg_mrc_open(&v->map, path)) return;
        v->section = rg_alloc((size_t)(v->map.nx * v->map.ny) * sizeof *v->section);
        v->n = (uint64_t)(v->map.nx * v->map.ny * v->map.nz);
    } else if (is_photo(path)) {
        if (rg_image_read(path, 0, NULL, &v->image)) return;
        v->n = (uint64_t)(v->image.width * v->image.height);
    } else {
        read_numbers(v, path);
    }
}

static double value_at(values *v, uint64_t at) {
    if (v->number) return v->number[at];
    if (!v->section) return (double)pixel(&v->image, (int64_t)at);
    const uint64_t plane = (uint64_t)(v->map.nx * v->map.ny);
    return rg_mrc_section(&v->map, (int64_t)(at / plane), v->section) ? NAN : (double)v->section[at % plane];
}

static void values_close(values *v) {
    if (v->section) rg_mrc_close(&v->map);
    if (v->image.pixel) rg_image_free(&v->image);
    free(v->section);
    free(v->number);
}

char *rg_job_samples(const char *folder, uint64_t seed) {
    RG_ENDS(rg_job_list_free) rg_job_list l = rg_job_outputs_list(folder);
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (!to) rg_end(RG_LACKS, "out of memory");
    fprintf(to, "file\tplace\tvalue\n");
    for (int i = 0; i < l.n && i < RG_SAMPLED_FILES; i++) {
        RG_FREED char *path = rg_print("%s/%s", folder, l.name[i]);
        RG_ENDS(values_close) values v;
        values_open(&v, path);
        for (uint64_t k = 0; k < RG_SAMPLES_A_FILE && k < v.n; k++) {
            const uint64_t at = v.n <= RG_SAMPLES_A_FILE ? k : rg_bits(seed + (uint64_t)i, k) % v.n;
            rg_tsv_print(to, "%s\t%lld\t%.9g\n", l.name[i], (long long)at, value_at(&v, at));
        }
    }
    fclose(to);
    return text;
}

// Rows first..past of one file.
static void compare_file(const rg_tsv *a, const rg_tsv *b, int first, int past, rg_alike *found) {
    const char *name = rg_tsv_cell(a, first, "file");
    const bool map = rg_job_is_map(name), pixels = map || is_photo(name), poses = rg_ends_with(name, ".star");
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

rg_alike rg_samples_alike(const rg_tsv *a, const rg_tsv *b) {
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
