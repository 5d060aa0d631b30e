// SPDX-License-Identifier: MIT
// job_reconstruct.c: reconstruct --method frealign (FREALIGN IFLAG 0; Li, Grigorieff and Cheng 2010, their Fig. 1C on one
// device): every particle under every operator into numerator and denominator, odd and even rows apart; R = num / (f + den) of
// each half and of both; inverse transform, division by the interpolation's transform, mask; Fourier shell correlation of the
// halves.
#include "job.h"
#include "../../data/fsc.h"
#include "../gridding/job.h"
#include "pose.h"

#include <fftw3.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reconstruction {
    fr_files files;
    fr_engine engine;
    gr_symmetry symmetry;
    const char *out;
    bool write_halves, paper;
    int64_t side, outer;
    double f, pbc, mean_score, mass_kDa, mask_px; // f below 0: the rule
    rg_buffer weight, volume;
    float *half[2]; // (N/2+1) x N x N records
} reconstruction;

static int take_options(reconstruction *r, const rg_cli *cli)
{
    const char *preset = rg_cli_text(cli, "preset", "v9"), *group = rg_cli_text(cli, "sym", "C1");
    double finest_A, pixel_A = r->files.particles.pixel_A;
    r->side = r->files.particles.side;
    r->write_halves = rg_cli_flag(cli, "half-maps");
    r->paper = strcmp(preset, "paper") == 0;
    if (!r->paper && strcmp(preset, "v9") != 0)
        return rg_fail(RG_USAGE, "--preset: expected v9 or paper, found \"%s\"", preset);
    const char *why = gr_symmetry_make(&r->symmetry, group);
    if (why)
        return rg_fail(RG_USAGE, "--sym %s: %s", group, why);
    int code = rg_cli_real(cli, "f", -1, 0, 1e30, &r->f);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "resolution", 2 * pixel_A, 2 * pixel_A, 1e6, &finest_A);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "pbc", 0, 0, 1e9, &r->pbc);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "mass", 0, 0, 1e9, &r->mass_kDa);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "mask-radius", 0, 0, 1e6, &r->mask_px);
    if (code != RG_GOOD)
        return code;
    r->outer = (int64_t)floor((double)r->side * pixel_A / finest_A + 1e-9);
    if (r->files.particles.n < 2)
        return rg_fail(RG_USAGE, "%s: expected at least two rows for the halves, found one", r->files.input);
    if (r->pbc > 0 && !r->files.par.n)
        return rg_fail(RG_USAGE, "--pbc: expected a .par file with scores, found %s", r->files.input);
    for (int64_t i = 0; i < r->files.par.n; i++)
        r->mean_score += r->files.par.row[i].value[RG_PAR_SCORE] / (double)r->files.par.n;
    return RG_GOOD;
}

// ---- insertion -----------------------------------------------------------------------------------------------------------

// weight[0] is the occupancy of a .par file, weight[1] r^2 the exponent.
static void weigh(const reconstruction *r, int64_t i, float weight[2])
{
    const double *v = r->files.par.n ? r->files.par.row[i].value : NULL, side = (double)r->side;
    const double pixel_A = r->files.particles.pixel_A;
    weight[0] = v && rg_par_version(&r->files.par) == 9 ? (float)(v[RG_PAR_OCC] / 100) : 1;
    weight[1] = 0;
    if (r->pbc > 0)
        weight[1] = (float)(2 * fmin(2, (v[RG_PAR_SCORE] - r->mean_score) / (r->pbc * pixel_A * pixel_A)) * 4 / (side * side));
}

static int insert_batch(reconstruction *r, int64_t first, int64_t n)
{
    fr_engine *e = &r->engine;
    const int64_t operators = r->symmetry.n;
    float *pose = rg_alloc((size_t)(n * operators * FR_POSE_FLOATS) * sizeof *pose),
          *weight = rg_alloc((size_t)(2 * n) * sizeof *weight);
    for (int64_t i = 0; i < n; i++) {
        const rg_particle *q = &r->files.particles.row[first + 2 * i];
        const double degree = 3.14159265358979323846 / 180, at_home[2] = {0, 0}; // ctfapply has shifted the image
        double m[9], turned[9];
        weigh(r, first + 2 * i, weight + 2 * i);
        fr_rotation(q->rot_deg * degree, q->tilt_deg * degree, q->psi_deg * degree, m);
        for (int64_t o = 0; o < operators; o++) {
            gr_multiply(r->symmetry.matrix[o], m, turned);
            fr_pose(turned, 1, at_home, r->side, pose + (i * operators + o) * FR_POSE_FLOATS);
        }
    }
    int error = e->device->upload(e->pose.base, pose, (size_t)(n * operators * FR_POSE_FLOATS) * sizeof *pose);
    error = error ? error : e->device->upload(r->weight.base, weight, (size_t)(2 * n) * sizeof *weight);
    free(weight);
    free(pose);
    if (error)
        return rg_fail(RG_WRONG, "%s: poses cannot be copied", e->device->name);
    const rg_shape shape = {.n = {[FR_SIDE] = r->side,
                                  [FR_PARTICLES] = n,
                                  [FR_KIND] = r->paper ? FR_INSERT_PAPER : FR_INSERT_V9,
                                  [FR_TRIALS] = operators,
                                  [FR_OUTER] = r->outer}};
    void *const arg[] = {e->d.base, e->c.base, e->pose.base, r->weight.base, r->volume.base};
    return fr_engine_run(e, FR_DO_INSERT, &shape, arg);
}

// Rows h, h + 2, .. into half h.
static int insert_half(reconstruction *r, int h, rg_progress *progress)
{
    fr_engine *e = &r->engine;
    const int64_t rows = (r->files.particles.n - h + 1) / 2;
    size_t bytes = (size_t)(FR_RECORD * fr_voxels(r->side)) * sizeof(float);
    int code = e->device->fill(r->volume.base, 0, bytes) == RG_OK ? RG_GOOD
                                                                  : rg_fail(RG_WRONG, "%s: cannot be cleared", e->device->name);
    for (int64_t begin = 0; begin < rows && code == RG_GOOD; begin += e->batch) {
        const int64_t n = rows - begin < e->batch ? rows - begin : e->batch;
        code = fr_engine_load(e, &r->files, h + 2 * begin, 2, n, 0);
        code = code == RG_GOOD ? insert_batch(r, h + 2 * begin, n) : code;
        rg_progress_at(progress, progress->done + (double)n);
    }
    r->half[h] = rg_alloc(bytes);
    if (code == RG_GOOD && e->device->download(r->half[h], r->volume.base, bytes) != RG_OK)
        code = rg_fail(RG_WRONG, "%s: the volume cannot be copied", e->device->name);
    return code;
}

static int insert(reconstruction *r)
{
    const int64_t n = (r->files.particles.n + 1) / 2, batch = n < 64 ? n : 64;
    const float setting[FR_SETTINGS] = {0.45f * (float)r->side, 0, 0}; // the mask is for X, which is not inserted
    rg_progress progress;
    fr_engine *e = &r->engine;
    int code = fr_engine_size(e, r->side, batch, r->symmetry.n, NULL, 1, setting);
    if (code != RG_GOOD)
        return code;
    int error = rg_buffer_make(&r->weight, e->device, (size_t)(2 * batch) * sizeof(float), sizeof(float), false);
    error = error ? error
                  : rg_buffer_make(&r->volume, e->device, (size_t)(FR_RECORD * fr_voxels(r->side)) * sizeof(float),
                                   sizeof(float), false);
    if (error)
        return rg_fail(RG_LACKS, "%s: a volume of %" PRId64 "^3 needs %.2f GiB of memory that is not free", e->device->name,
                       r->side, 16.0 * (double)fr_voxels(r->side) / 0x1p30);
    rg_progress_begin(&progress, "reconstruct", "images", (double)r->files.particles.n);
    for (int h = 0; h < 2 && code == RG_GOOD; h++)
        code = insert_half(r, h, &progress);
    rg_progress_end(&progress);
    return code;
}

// ---- maps ----------------------------------------------------------------------------------------------------------------

// FREALIGN's rule: a tenth of the operators times the mean of what an addition adds to a node. Additions: every coefficient of
// the plane to 8 nodes, half of them in the half space.
static double rule(const reconstruction *r, const float *volume)
{
    double total = 0, plane = 0;
    for (int64_t e = 0; e < fr_voxels(r->side); e++)
        total += volume[FR_RECORD * e + 2];
    for (int64_t j = -r->outer; j <= r->outer; j++)
        plane += 2 * (double)fr_root(r->outer * r->outer - j * j) + 1;
    const double additions = 4 * plane * (double)r->files.particles.n * r->symmetry.n;
    return r->f >= 0 ? r->f : 0.1 * r->symmetry.n * total / additions;
}

// sin(pi x) / (pi x) squared is the transform of the trilinear weights; the paper's sums of squared weights stay as they are.
static double correction(const reconstruction *r, int64_t x)
{
    const double t = 3.14159265358979323846 * (double)x / (double)r->side, s = x ? sin(t) / t : 1;
    return r->paper ? 1 : s * s;
}

static void mask(const reconstruction *r, float *map)
{
    const int64_t side = r->side;
    double sum = 0, n = 0;
    if (!(r->mask_px > 0))
        return;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t z = 0; z < side; z++)
            for (int64_t y = 0; y < side; y++)
                for (int64_t x = 0; x < side; x++) {
                    const int64_t dx = x - side / 2, dy = y - side / 2, dz = z - side / 2, rr = dx * dx + dy * dy + dz * dz;
                    float *v = &map[(z * side + y) * side + x];
                    if (pass) {
                        const float e = fr_mask((float)r->mask_px, rr);
                        *v = e * *v + (1 - e) * (float)(n > 0 ? sum / n : 0);
                    } else if (fr_on_edge((float)r->mask_px, rr)) {
                        sum += *v;
                        n++;
                    }
                }
}

static void make_map(const reconstruction *r, const float *volume, double f, float *map)
{
    const int64_t side = r->side, width = fr_width(side);
    const double scale = (r->paper ? 1 : 0.5) / ((double)side * (double)side * (double)side); // v9 adds 2c D
    fftwf_complex *grid = fftwf_alloc_complex((size_t)fr_voxels(side));
    if (!grid)
        exit(rg_fail(RG_LACKS, "out of memory for a transform of %" PRId64 "^3 points", side));
#if HAVE_FFTW_OMP
    fftwf_init_threads();
    fftwf_plan_with_nthreads(r->engine.threads);
#endif
    fftwf_plan plan = fftwf_plan_dft_c2r_3d((int)side, (int)side, (int)side, grid, (float *)grid, FFTW_ESTIMATE);
#if HAVE_FFTW_OMP
    fftwf_plan_with_nthreads(1);
#endif
#pragma omp parallel for num_threads(r->engine.threads)
    for (int64_t row = 0; row < side * side; row++)
        for (int64_t x = 0; x < width; x++) {
            const int64_t e = row * width + x, y = fr_frequency(side, row % side), z = fr_frequency(side, row / side);
            const int64_t rr = x * x + y * y + z * z;
            const float *v = volume + FR_RECORD * e;
            const double den = v[2] + f, sign = (x + y + z) & 1 ? -1 : 1;
            const bool inside = rr <= r->outer * r->outer && 4 * rr < side * side && den > 0;
            grid[e][0] = inside ? (float)(sign * scale * v[0] / den) : 0;
            grid[e][1] = inside ? (float)(sign * scale * v[1] / den) : 0;
        }
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
#pragma omp parallel for num_threads(r->engine.threads)
    for (int64_t row = 0; row < side * side; row++)
        for (int64_t x = 0; x < side; x++) {
            const double by =
                correction(r, x - side / 2) * correction(r, row % side - side / 2) * correction(r, row / side - side / 2);
            map[row * side + x] = (float)(((float *)grid)[row * 2 * width + x] / by);
        }
    fftwf_free(grid);
    mask(r, map);
}

static char *name_of(const reconstruction *r, const char *suffix)
{
    const char *dot = strrchr(r->out, '.'), *slash = strrchr(r->out, '/');
    int stem = dot && dot > (slash ? slash : r->out) ? (int)(dot - r->out) : (int)strlen(r->out);
    return strchr(suffix, '.') ? rg_print("%.*s%s", stem, r->out, suffix)
                               : rg_print("%.*s%s%s", stem, r->out, suffix, r->out + stem);
}

static int write_map(const reconstruction *r, const char *suffix, const float *map)
{
    rg_mrc_out out;
    char *path = name_of(r, suffix);
    int code = rg_mrc_write_begin(&out, path, r->side, r->side, r->side, RG_MRC_FLOAT32, r->files.particles.pixel_A, true);
    free(path);
    if (code != RG_GOOD)
        return code;
    for (int64_t z = 0; z < r->side && code == RG_GOOD; z++)
        code = rg_mrc_write_section(&out, map + z * r->side * r->side);
    if (code == RG_GOOD)
        return rg_mrc_write_commit(&out);
    rg_mrc_write_abandon(&out);
    return code;
}

// part_ssnr: the square root of 2 FSC / (1 - FSC) times nodes over weights of the shell, times the share of the box that the
// mask keeps over that of the particle (0.81 Da a cubic A; 1 without --mass).
static int write_fsc(const reconstruction *r, const rg_cli *cli, const float *a, const float *b, const float *volume)
{
    const int64_t side = r->side, shells = side / 2 + 1;
    const double length_A = (double)side * r->files.particles.pixel_A, pi = 3.14159265358979323846;
    const double radius = r->mask_px > 0 ? r->mask_px : (double)side / 2, box = (double)side * (double)side * (double)side;
    const double particle = r->mass_kDa * 1000 / 0.81 / (length_A * length_A * length_A);
    const double share = r->mass_kDa > 0 ? 4 * pi / 3 * radius * radius * radius / box / particle : 1;
    double *fsc = rg_alloc((size_t)shells * sizeof *fsc), *nodes = rg_alloc((size_t)shells * sizeof *nodes),
           *weights = rg_alloc((size_t)shells * sizeof *weights);
    rg_file file;
    char *path = name_of(r, "_fsc.tsv");
    rg_fsc(side, a, b, fsc);
    for (int64_t e = 0; e < fr_voxels(side); e++) {
        const int64_t row = e / fr_width(side), x = e % fr_width(side), y = fr_frequency(side, row % side),
                      z = fr_frequency(side, row / side);
        const int64_t s = fr_ring(x * x + y * y + z * z);
        if (s < shells) {
            nodes[s]++;
            weights[s] += volume[FR_RECORD * e + 2];
        }
    }
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        fprintf(file.stream,
                "# command: %s\n# frequency in 1/A, resolution in A\nshell\tfrequency\tresolution\tfsc\tpart_ssnr\n",
                rg_cli_line(cli));
        for (int64_t s = 0; s < shells; s++) {
            double ratio = fsc[s] < 1 ? 2 * fsc[s] / (1 - fsc[s]) : INFINITY;
            fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\t%.9g\n", s, (double)s / length_A, length_A / (double)s, fsc[s],
                    ratio > 0 && weights[s] > 0 ? sqrt(ratio * nodes[s] / weights[s] * share) : 0);
        }
        code = rg_file_commit(&file);
    }
    free(path);
    free(weights);
    free(nodes);
    free(fsc);
    return code;
}

static int write_all(reconstruction *r, const rg_cli *cli)
{
    const size_t voxels = (size_t)(r->side * r->side * r->side);
    float *map[2] = {rg_alloc(voxels * sizeof(float)), rg_alloc(voxels * sizeof(float))};
    double f[2];
    int code = RG_GOOD;
    for (int h = 0; h < 2 && code == RG_GOOD; h++) {
        f[h] = rule(r, r->half[h]);
        make_map(r, r->half[h], f[h], map[h]);
        if (r->write_halves)
            code = write_map(r, h ? "_half2" : "_half1", map[h]);
    }
    for (int64_t e = 0; e < FR_RECORD * fr_voxels(r->side); e++)
        r->half[0][e] += r->half[1][e];
    if (code == RG_GOOD)
        code = write_fsc(r, cli, map[0], map[1], r->half[0]);
    if (code == RG_GOOD) {
        make_map(r, r->half[0], r->f >= 0 ? r->f : f[0] + f[1], map[0]);
        code = write_map(r, "", map[0]);
    }
    printf("f\t%.6g and %.6g\n", f[0], f[1]);
    free(map[0]);
    free(map[1]);
    return code;
}

int fr_reconstruct(const rg_cli *cli)
{
    double began_s = rg_seconds();
    reconstruction r = {.out = rg_cli_text(cli, "out", NULL)};
    if (rg_cli_count(cli) != 1 || !r.out)
        return rg_fail(RG_USAGE, "reconstruct: expected PARTICLES and --out VOL.mrc (see regather reconstruct --help)");
    int code = fr_files_open(&r.files, cli, true);
    if (code == RG_GOOD)
        code = take_options(&r, cli);
    if (code == RG_GOOD)
        code = fr_engine_open(&r.engine, cli, 1u << FR_DO_APPLY | 1u << FR_DO_INSERT);
    if (code == RG_GOOD)
        code = insert(&r);
    if (code == RG_GOOD)
        code = write_all(&r, cli);
    if (code == RG_GOOD)
        fr_engine_report(&r.engine, rg_seconds() - began_s);
    fr_engine_close(&r.engine);
    rg_buffer_free(&r.weight);
    rg_buffer_free(&r.volume);
    free(r.half[0]);
    free(r.half[1]);
    fr_files_close(&r.files);
    return code;
}
