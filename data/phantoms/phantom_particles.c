// SPDX-License-Identifier: MIT
// phantom_particles.c: makes images of the sums of Gaussians of blobs.h at random orientations, with their STAR file and map.
#include "blobs.h"
#include "noise.h"
#include "../formats/particles.h"
#include "phantom.h"

#include <fftw3.h>

enum { BATCH = 64 };

typedef enum { ICOSAHEDRAL, ASYMMETRIC, D7, SHAPES } shape_of; // in the order of --shape

typedef struct phantom {
    rg_given given;
    int64_t side, images;
    shape_of shape;
    double sigma_px;
    int n_blobs;
    rg_blob blob[RG_D7_BLOBS];
    double voltage_kV, cs_mm, contrast, pixel_A, shift_px, snr, noise_sd; // snr 0: no noise
    bool ctf;
    const char *folder;
    fftw_plan forward, inverse; // of 2 side x 2 side pixels, only with a CTF
} phantom;

static const struct {
    int n_blobs;
    double voltage_kV, cs_mm, contrast, box_A; // box_A 0: pixels of 1.5 A
} shapes[SHAPES] = {
    [ICOSAHEDRAL] = {RG_ICOSAHEDRAL_BLOBS, 300, 2.7, 0.1, 0},
    [ASYMMETRIC] = {RG_ASYMMETRIC_BLOBS, 300, 2.7, 0.1, 0},
    [D7] = {RG_D7_BLOBS, 200, 2, 0.07, 258},
};

static const rg_option options[] = {
    {"out", "DIR", "the folder for the files, made when missing", RG_TO(phantom, folder), .required = true},
    {"shape", "icosahedral|asymmetric|d7", "of the particle, see above", RG_TO(phantom, shape), 0, 0, "icosahedral"},
    {"box", "N", "side of images and map", RG_TO(phantom, side), 8, 4096, "64", "pixels"},
    {"images", "N", "how many", RG_TO(phantom, images), 1, INT32_MAX, "2000"},
    {"pixel", "A", "size of a pixel", RG_TO(phantom, pixel_A), 1e-3L, 1e6L, .otherwise = "1.5, d7: 258 / box",
        .unit = "Angstrom"},
    {"sigma", "PX", "standard deviation of a Gaussian", RG_TO(phantom, sigma_px), 0.4L, 1024, "0.8", "pixels"},
    {"shift", "PX", "shifts lie within +-PX on every axis", RG_TO(phantom, shift_px), 0, 1024, "2", "pixels"},
    {"snr", "S", "add white noise, its variance that of the first image over S; 0: none", RG_TO(phantom, snr), 0, 1e12L, "0"},
    {"ctf", NULL, "images under a CTF, see above", RG_TO(phantom, ctf)},
    {0},
};

static void set_up(phantom *p) {
    const shape_of shape = p->shape;
    const double sigma = p->sigma_px;
    if (isnan(p->pixel_A)) p->pixel_A = shapes[shape].box_A > 0 ? shapes[shape].box_A / (double)p->side : 1.5;
    p->n_blobs = shapes[shape].n_blobs;
    p->voltage_kV = shapes[shape].voltage_kV;
    p->cs_mm = shapes[shape].cs_mm;
    p->contrast = shapes[shape].contrast;
    if (shape == ICOSAHEDRAL)
        rg_blobs_icosahedral(p->side, sigma, p->blob);
    else if (shape == ASYMMETRIC)
        rg_blobs_asymmetric(p->side, sigma, p->given.seed, p->blob);
    else
        rg_blobs_d7(p->side, sigma, p->given.seed, p->blob);
}

// ---- one particle --------------------------------------------------------------------------------------------------------

static double uniform(const phantom *p, int64_t i, int which) {
    return rg_uniform(p->given.seed + 0x5DEECE66D, (uint64_t)i * 16 + (uint64_t)which);
}

// Rounds as the STAR file does, so that the image matches the numbers that are read.
static double six_digits(double v) { return round(v * 1e6) / 1e6; }

static rg_particle particle_of(const phantom *p, int64_t i) {
    const double degree = 180 / M_PI;
    rg_particle q = {
        .rot_deg = six_digits(360 * uniform(p, i, 0) - 180),
        .tilt_deg = six_digits(degree * acos(1 - 2 * uniform(p, i, 1))),
        .psi_deg = six_digits(360 * uniform(p, i, 2) - 180),
        .origin_x_px = six_digits(p->shift_px * p->pixel_A * (2 * uniform(p, i, 3) - 1)) / p->pixel_A,
        .origin_y_px = six_digits(p->shift_px * p->pixel_A * (2 * uniform(p, i, 4) - 1)) / p->pixel_A,
        .image = i,
        .ctf = {.voltage_kV = p->voltage_kV, .cs_mm = p->cs_mm, .amplitude_contrast = p->contrast, .scale = 1},
    };
    q.ctf.defocus_u_A = six_digits(10000 + 15000 * uniform(p, i, 5));
    q.ctf.defocus_v_A = six_digits(q.ctf.defocus_u_A - 500 * uniform(p, i, 6));
    q.ctf.defocus_angle_deg = six_digits(180 * uniform(p, i, 7) - 90);
    return q;
}

// The projection over twice the side, times the CTF in Fourier space: signal that the CTF moves out of the image does not wrap
// around.
static void apply_ctf(const phantom *p, const rg_particle *q, double *wide) {
    int64_t side = 2 * p->side, half = side / 2 + 1;
    fftw_complex *f = fftw_alloc_complex((size_t)(side * half));
    rg_ctf ctf = rg_ctf_make(&q->ctf);
    fftw_execute_dft_r2c(p->forward, wide, f);
    double step = 1 / ((double)side * p->pixel_A), scale = 1 / ((double)side * (double)side);
    for (int64_t y = 0; y < side; y++)
        for (int64_t x = 0; x < half; x++) {
            double c = scale * rg_ctf_at(&ctf, (double)x * step, (double)(y <= side / 2 ? y : y - side) * step);
            f[y * half + x][0] *= c;
            f[y * half + x][1] *= c;
        }
    fftw_execute_dft_c2r(p->inverse, f, wide);
    fftw_free(f);
}

static void make_image(const phantom *p, int64_t i, double *image) {
    rg_particle q = particle_of(p, i);
    double a[9];
    const double origin[2] = {q.origin_x_px, q.origin_y_px};
    rg_particle_matrix(q.rot_deg, q.tilt_deg, q.psi_deg, a);
    if (p->ctf) {
        int64_t lead = p->side - p->side / 2; // offset of the image in the wide one, whose centre is at `side`
        double *wide = fftw_alloc_real((size_t)(4 * p->side * p->side));
        rg_blobs_image(p->n_blobs, p->blob, a, origin, 2 * p->side, p->side, wide);
        apply_ctf(p, &q, wide);
        for (int64_t y = 0; y < p->side; y++)
            memcpy(image + y * p->side, wide + (y + lead) * 2 * p->side + lead, (size_t)p->side * sizeof *image);
        fftw_free(wide);
    } else {
        rg_blobs_image(p->n_blobs, p->blob, a, origin, p->side, p->side / 2, image);
    }
    if (p->noise_sd > 0) rg_add_noise(p->noise_sd, p->given.seed, i, p->side * p->side, image);
}

// ---- the files -----------------------------------------------------------------------------------------------------------

static const char *const optics_column[] = {"rlnOpticsGroup", "rlnOpticsGroupName", "rlnAmplitudeContrast",
    "rlnSphericalAberration", "rlnVoltage", "rlnImagePixelSize", "rlnImageSize", "rlnImageDimensionality"};
static const char *const row_column[] = {"rlnImageName", "rlnOpticsGroup", "rlnAngleRot", "rlnAngleTilt", "rlnAnglePsi",
    "rlnOriginXAngst", "rlnOriginYAngst", "rlnDefocusU", "rlnDefocusV", "rlnDefocusAngle"};
enum { WITHOUT_CTF = 7 };

static void write_star(const phantom *p, FILE *f) {
    rg_star_write_head(f, "optics", RG_COUNT(optics_column), optics_column);
    fprintf(f, "1 opticsGroup1 %g %g %g %.17g %" PRId64 " 2\n", p->contrast, p->cs_mm, p->voltage_kV, p->pixel_A, p->side);
    rg_star_write_head(f, "particles", p->ctf ? RG_COUNT(row_column) : WITHOUT_CTF, row_column);
    for (int64_t i = 0; i < p->images; i++) {
        rg_particle q = particle_of(p, i);
        fprintf(f, "%06" PRId64 "@particles.mrcs 1 %.6f %.6f %.6f %.6f %.6f", i + 1, q.rot_deg, q.tilt_deg, q.psi_deg,
            q.origin_x_px * p->pixel_A, q.origin_y_px * p->pixel_A);
        if (p->ctf) fprintf(f, " %.6f %.6f %.6f", q.ctf.defocus_u_A, q.ctf.defocus_v_A, q.ctf.defocus_angle_deg);
        putc('\n', f);
    }
}

static int write_sections(const phantom *p, const char *name, int64_t sections, bool is_map) {
    RG_FREED char *path = rg_print("%s/%s", p->folder, name);
    int64_t pixels = p->side * p->side;
    rg_mrc_out out;
    rg_progress progress;
    int code = rg_mrc_write_begin(&out, path, p->side, p->side, sections, RG_MRC_FLOAT32, p->pixel_A, is_map);
    if (code != RG_GOOD) return code;
    double *image = rg_alloc((size_t)(BATCH * pixels) * sizeof *image);
    double *factors = is_map ? rg_blobs_factors(p->n_blobs, p->blob, p->side) : NULL;
    float *section = rg_alloc((size_t)(BATCH * pixels) * sizeof *section);
    rg_progress_begin(&progress, is_map ? "map" : "images", is_map ? "sections" : "images", (double)sections);
    for (int64_t first = 0; first < sections && code == RG_GOOD; first += BATCH) {
        int64_t count = sections - first < BATCH ? sections - first : BATCH;
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            if (is_map)
                rg_blobs_section(p->n_blobs, p->blob, factors, p->side, first + i, image + i * pixels);
            else
                make_image(p, first + i, image + i * pixels);
            for (int64_t j = i * pixels; j < (i + 1) * pixels; j++) section[j] = (float)image[j];
        }
        for (int64_t i = 0; i < count && code == RG_GOOD; i++) code = rg_mrc_write_section(&out, section + i * pixels);
        rg_progress_at(&progress, (double)(first + count));
    }
    rg_progress_end(&progress);
    free(section);
    free(image);
    free(factors);
    return rg_mrc_write_end(&out, code);
}

// One level of noise for all images: the variance of the first one, without noise, over the signal-to-noise ratio.
static double noise_of(phantom *p) {
    int64_t pixels = p->side * p->side;
    double *image = rg_alloc((size_t)pixels * sizeof *image), sum = 0, squares = 0;
    make_image(p, 0, image);
    for (int64_t j = 0; j < pixels; j++) {
        sum += image[j];
        squares += image[j] * image[j];
    }
    free(image);
    double mean = sum / (double)pixels;
    return sqrt((squares / (double)pixels - mean * mean) / p->snr);
}

static void make_plans(phantom *p) {
    int side = (int)(2 * p->side);
    double *wide = fftw_alloc_real((size_t)side * (size_t)side);
    fftw_complex *f = fftw_alloc_complex((size_t)side * (size_t)(side / 2 + 1));
    p->forward = fftw_plan_dft_r2c_2d(side, side, wide, f, FFTW_ESTIMATE);
    p->inverse = fftw_plan_dft_c2r_2d(side, side, f, wide, FFTW_ESTIMATE);
    fftw_free(f);
    fftw_free(wide);
}

// A batch of images or of the map's sections, in double precision and as written; the factors of the blobs along three axes;
// with a CTF, an image of twice the side and its transform for each core.
static double need(const void *of, int64_t side) {
    const phantom *p = of;
    const double pixels = (double)side * (double)side;
    return BATCH * 12 * pixels + 24.0 * RG_D7_BLOBS * (double)side + (p->ctf ? 64 * pixels * (double)(p->given.cores + 1) : 0);
}

static int run(void *typed) {
    phantom *p = typed;
    rg_file star;
    int code = rg_memory_allows(
        rg_memory_free(), need, p, p->side, "--box", "images of %" PRId64 " x %" PRId64 " pixels", p->side, p->side);
    if (code == RG_GOOD) code = rg_make_folder(p->folder);
    if (code != RG_GOOD) return code;
    set_up(p);
    if (rg_dry_run) {
        static const char *const name[] = {"map.mrc", "particles.mrcs", "particles.star"};
        RG_FREED char *what = rg_print(
            "%" PRId64 " image%s of %" PRId64 "^2 pixels of %g A", p->images, rg_plural(p->images), p->side, p->pixel_A);
        rg_phantom_plan(p->folder, what, need(p, p->side), need, p, "--box", RG_COUNT(name), name);
        return RG_GOOD;
    }
    if (p->ctf) make_plans(p);
    if (p->snr > 0) p->noise_sd = noise_of(p);
    code = write_sections(p, "map.mrc", p->side, true);
    if (code == RG_GOOD) code = write_sections(p, "particles.mrcs", p->images, false);
    if (code == RG_GOOD) {
        RG_FREED char *path = rg_print("%s/particles.star", p->folder);
        code = rg_file_open(&star, path);
    }
    if (code == RG_GOOD) {
        fprintf(star.stream, "# command: %s\n", p->given.line);
        write_star(p, star.stream);
        code = rg_file_commit(&star);
    }
    if (p->ctf) {
        fftw_destroy_plan(p->forward);
        fftw_destroy_plan(p->inverse);
    }
    return code;
}

const rg_command rg_phantom_particles = {
    .name = "phantom particles",
    .words = "",
    .summary = "particle images at random orientations, their STAR file and map, for reconstruct",
    .help = "DIR/particles.mrcs and particles.star (RELION 3.1: angles, origins in A, CTF with --ctf), and\n"
            "map.mrc, the map of which the images are projections: a sum of Gaussians below the Nyquist\n"
            "frequency, without interpolation (data/phantoms/blobs.h). icosahedral: 60 equal parts in RELION's\n"
            "setting I1; asymmetric: 24 unequal parts; d7: 168 parts in a barrel of the 20S proteasome's size and\n"
            "symmetry (Li et al. 2010). Orientations are uniform over all rotations. An image is the projection\n"
            "shifted by -origin, with --ctf times RELION's CTF (protein bright) over twice the box: 300 kV, Cs\n"
            "2.7 mm, 10 % amplitude contrast (d7: 200 kV, 2 mm, 7 %), underfocus 1 to 2.5 um, astigmatism to 500\n"
            "A; plus noise. A stack is written as it is made, whatever its size.",
    .option = options,
    .bytes = sizeof(phantom),
    .run = run,
    .job = true,
    .one_process = true,
    .of = &rg_cmd_phantom,
};
