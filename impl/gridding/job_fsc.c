// SPDX-License-Identifier: MIT
// job_fsc.c: regather fsc, the Fourier shell correlation of two maps (Harauz and van Heel 1986).
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static fftw_complex *transform(int64_t side, const float *map)
{
    size_t n = (size_t)side, pitch = n / 2 + 1;
    fftw_complex *f = fftw_alloc_complex(n * n * pitch);
    if (!f)
        exit(rg_fail(RG_LACKS, "out of memory for the transform of %zu^3 voxels", n));
    fftw_plan plan = fftw_plan_dft_r2c_3d((int)n, (int)n, (int)n, (double *)f, f, FFTW_ESTIMATE);
    for (size_t row = 0; row < n * n; row++)
        for (size_t x = 0; x < n; x++)
            ((double *)f)[row * 2 * pitch + x] = map[row * n + x];
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return f;
}

// Frequencies of the half x > 0 stand for two, except x = 0 and, for even sides, x = side / 2, whose mates are stored too.
void gr_fsc(int64_t side, const float *a, const float *b, double *fsc)
{
    fftw_complex *fa = transform(side, a), *fb = transform(side, b);
    int64_t shells = side / 2 + 1, pitch = side / 2 + 1;
    double *sum = rg_alloc((size_t)(3 * shells) * sizeof *sum);
    for (int64_t i = 0; i < side * side * pitch; i++) {
        int64_t x = i % pitch, y = i / pitch % side, z = i / pitch / side;
        y -= y > side / 2 ? side : 0;
        z -= z > side / 2 ? side : 0;
        int64_t shell = (int64_t)floor(sqrt((double)(x * x + y * y + z * z)) + 0.5);
        double times = x == 0 || 2 * x == side ? 1 : 2;
        if (shell >= shells)
            continue;
        sum[3 * shell] += times * (fa[i][0] * fb[i][0] + fa[i][1] * fb[i][1]);
        sum[3 * shell + 1] += times * (fa[i][0] * fa[i][0] + fa[i][1] * fa[i][1]);
        sum[3 * shell + 2] += times * (fb[i][0] * fb[i][0] + fb[i][1] * fb[i][1]);
    }
    for (int64_t s = 0; s < shells; s++)
        fsc[s] = sum[3 * s + 1] > 0 && sum[3 * s + 2] > 0 ? sum[3 * s] / sqrt(sum[3 * s + 1]) / sqrt(sum[3 * s + 2]) : NAN;
    free(sum);
    fftw_free(fa);
    fftw_free(fb);
}

// ---- the command ---------------------------------------------------------------------------------------------------------

typedef struct map {
    int64_t side;
    double voxel_A;
    float *value;
} map;

static int read_map(const char *path, map *m)
{
    rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    if (code != RG_GOOD)
        return code;
    if (mrc.nx != mrc.ny || mrc.nx != mrc.nz || mrc.nx < 2) {
        code = rg_fail(RG_USAGE, "%s: expected a cubic map, found %" PRId64 " x %" PRId64 " x %" PRId64, path, mrc.nx, mrc.ny,
                       mrc.nz);
        rg_mrc_close(&mrc);
        return code;
    }
    *m = (map){.side = mrc.nx, .voxel_A = mrc.voxel_A[0]};
    int64_t plane = m->side * m->side;
    m->value = rg_alloc((size_t)(plane * m->side) * sizeof *m->value);
    for (int64_t z = 0; z < m->side && code == RG_GOOD; z++)
        code = rg_mrc_section(&mrc, z, m->value + z * plane);
    for (int64_t i = 0; i < plane * m->side && code == RG_GOOD; i++)
        if (!isfinite(m->value[i]))
            code = rg_fail(RG_USAGE, "%s: expected finite values, found %g in section %" PRId64, path, m->value[i], i / plane);
    rg_mrc_close(&mrc);
    return code;
}

// Pearson's correlation over all voxels.
static double correlation(const map *a, const map *b)
{
    double n = (double)(a->side * a->side * a->side), mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < a->side * a->side * a->side; i++) {
        mean_a += a->value[i] / n;
        mean_b += b->value[i] / n;
    }
    for (int64_t i = 0; i < a->side * a->side * a->side; i++) {
        double da = a->value[i] - mean_a, db = b->value[i] - mean_b;
        ab += da * db;
        aa += da * da;
        bb += db * db;
    }
    return ab / sqrt(aa) / sqrt(bb);
}

// Where the curve first falls below the level, in shells, on the line between its neighbours; NaN when it does not.
static double crossing(const double *fsc, int64_t shells, double level)
{
    for (int64_t s = 2; s < shells; s++)
        if (fsc[s] < level && fsc[s - 1] >= level)
            return (double)(s - 1) + (fsc[s - 1] - level) / (fsc[s - 1] - fsc[s]);
    return NAN;
}

static int write_table(const rg_cli *cli, const char *path, int64_t side, double voxel_A, const double *fsc)
{
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD)
        return code;
    double length = (double)side * voxel_A;
    fprintf(file.stream, "# command: %s\n# maps of %" PRId64 "^3 voxels of %.9g A\n", rg_cli_line(cli), side, voxel_A);
    fprintf(file.stream, "# frequency in 1/A, resolution in A\nshell\tfrequency\tresolution\tfsc\n");
    for (int64_t s = 0; s <= side / 2; s++)
        fprintf(file.stream, "%" PRId64 "\t%.17g\t%.17g\t%.17g\n", s, (double)s / length, length / (double)s, fsc[s]);
    return rg_file_commit(&file);
}

static int plot(const char *table)
{
    char *gnuplot = rg_program_path("gnuplot");
    if (!gnuplot) {
        rg_warn("no gnuplot here, so the plot is left out (see regather doctor)");
        return RG_GOOD;
    }
    const char *dot = strrchr(table, '.'), *slash = strrchr(table, '/');
    int stem = dot && dot > (slash ? slash : table) ? (int)(dot - table) : (int)strlen(table);
    char *svg = rg_print("%.*s.svg", stem, table);
    const char *const argument[] = {table, NULL};
    int code = rg_gnuplot(gnuplot, "plots/fsc.gp", svg, argument);
    free(svg);
    free(gnuplot);
    return code;
}

static int compare(const rg_cli *cli, const map *a, const map *b)
{
    const char *out = rg_cli_text(cli, "out", NULL);
    if (a->side != b->side)
        return rg_fail(RG_USAGE, "%s has %" PRId64 " voxels a side, %s has %" PRId64, rg_cli_word(cli, 0), a->side,
                       rg_cli_word(cli, 1), b->side);
    if (a->voxel_A > 0 && b->voxel_A > 0 && fabs(a->voxel_A - b->voxel_A) > 1e-3 * a->voxel_A)
        rg_warn("%s has voxels of %g A, %s of %g A; the first is taken", rg_cli_word(cli, 0), a->voxel_A, rg_cli_word(cli, 1),
                b->voxel_A);
    double voxel_A = a->voxel_A > 0 ? a->voxel_A : b->voxel_A;
    if (!(voxel_A > 0)) {
        rg_warn("neither map has a voxel size; 1 A is taken");
        voxel_A = 1;
    }
    double *fsc = rg_alloc((size_t)(a->side / 2 + 1) * sizeof *fsc);
    gr_fsc(a->side, a->value, b->value, fsc);
    int code = write_table(cli, out, a->side, voxel_A, fsc);
    if (code == RG_GOOD)
        code = plot(out);
    for (int i = 0; i < 2 && code == RG_GOOD; i++) {
        double level = i ? 0.143 : 0.5, shell = crossing(fsc, a->side / 2 + 1, level);
        if (isnan(shell))
            printf("FSC = %.3g\tnot reached\n", level);
        else
            printf("FSC = %.3g\t%.4g A\n", level, (double)a->side * voxel_A / shell);
    }
    if (code == RG_GOOD)
        printf("correlation\t%.6f\n", correlation(a, b));
    free(fsc);
    return code;
}

static int run(const rg_cli *cli)
{
    map a = {0}, b = {0};
    if (rg_cli_count(cli) != 2 || !rg_cli_text(cli, "out", NULL))
        return rg_fail(RG_USAGE, "fsc: expected two maps and --out F.tsv (see regather fsc --help)");
    int code = read_map(rg_cli_word(cli, 0), &a);
    if (code == RG_GOOD)
        code = read_map(rg_cli_word(cli, 1), &b);
    if (code == RG_GOOD)
        code = compare(cli, &a, &b);
    free(a.value);
    free(b.value);
    return code;
}

static const rg_option options[] = {
    {"out", "F.tsv", "the table; its plot goes to F.svg", false},
    {NULL, NULL, NULL, false},
};

const rg_command rg_cmd_fsc = {
    .name = "fsc",
    .usage = "A.mrc B.mrc --out F.tsv",
    .summary = "Fourier shell correlation of two maps",
    .help = "Writes columns shell frequency resolution fsc: shell s holds the frequencies f, in whole numbers a box, with\n"
            "floor(|f| + 0.5) = s, s = 0 .. side / 2, each frequency of the whole space once. frequency = s / (side voxel)\n"
            "in 1/A, resolution its inverse. No mask is applied. Prints where the curve first falls below 0.5 and 0.143, and\n"
            "the correlation coefficient of the maps' voxels.",
    .option = options,
    .run = run,
};
