// SPDX-License-Identifier: MIT
#include "fsc.h"
#include "../phantoms/noise.h"
#include "../../impl/base/core.h"
#include "../../impl/base/plot.h"
#include "../../impl/base/summary.h"

#include <fftw3.h>

static fftw_complex *transform(int64_t side, const float *map) {
    size_t n = (size_t)side, pitch = n / 2 + 1;
    fftw_complex *f = fftw_alloc_complex(n * n * pitch);
    if (!f) rg_end(RG_LACKS, "out of memory for the transform of %zu^3 voxels", n);
    fftw_plan plan = fftw_plan_dft_r2c_3d((int)n, (int)n, (int)n, (double *)f, f, FFTW_ESTIMATE);
    for (size_t row = 0; row < n * n; row++)
        for (size_t x = 0; x < n; x++) ((double *)f)[row * 2 * pitch + x] = map[row * n + x];
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return f;
}

// Frequencies of the half x > 0 stand for two, except x = 0 and, for even sides, x = side / 2, whose mates are stored too.
void rg_fsc(int64_t side, const float *a, const float *b, double *fsc) {
    fftw_complex *fa = transform(side, a), *fb = transform(side, b);
    int64_t shells = side / 2 + 1, pitch = side / 2 + 1;
    RG_FREED double *sum = rg_alloc((size_t)(3 * shells) * sizeof *sum);
    for (int64_t i = 0; i < side * side * pitch; i++) {
        int64_t x = i % pitch, y = i / pitch % side, z = i / pitch / side;
        y -= y > side / 2 ? side : 0;
        z -= z > side / 2 ? side : 0;
        int64_t shell = (int64_t)floor(sqrt((double)(x * x + y * y + z * z)) + 0.5);
        double times = x == 0 || 2 * x == side ? 1 : 2;
        if (shell >= shells) continue;
        sum[3 * shell] += times * (fa[i][0] * fb[i][0] + fa[i][1] * fb[i][1]);
        sum[3 * shell + 1] += times * (fa[i][0] * fa[i][0] + fa[i][1] * fa[i][1]);
        sum[3 * shell + 2] += times * (fb[i][0] * fb[i][0] + fb[i][1] * fb[i][1]);
    }
    for (int64_t s = 0; s < shells; s++)
        fsc[s] = sum[3 * s + 1] > 0 && sum[3 * s + 2] > 0 ? sum[3 * s] / sqrt(sum[3 * s + 1]) / sqrt(sum[3 * s + 2]) : NAN;
    fftw_free(fa);
    fftw_free(fb);
}

// The shell of the frequency at i of the stored half; *mate: the place of its mate if that is stored too, else i.
static int64_t shell_of(int64_t side, int64_t i, int64_t *mate) {
    const int64_t pitch = side / 2 + 1, x = i % pitch, row = i / pitch % side, plane = i / pitch / side;
    const int64_t y = row > side / 2 ? row - side : row, z = plane > side / 2 ? plane - side : plane;
    *mate = x == 0 || 2 * x == side ? ((side - plane) % side * side + (side - row) % side) * pitch + x : i;
    return (int64_t)floor(sqrt((double)(x * x + y * y + z * z)) + 0.5);
}

void rg_fsc_randomise(int64_t side, const float *map, int64_t from_shell, uint64_t seed, float *out) {
    const int64_t pitch = side / 2 + 1;
    fftw_complex *f = transform(side, map);
    for (int64_t i = 0, mate; i < side * side * pitch; i++) {
        const int64_t x = i % pitch;
        const bool paired = x == 0 || 2 * x == side;
        if (shell_of(side, i, &mate) < from_shell || (paired && mate < i)) continue; // set with its mate
        const double size = hypot(f[i][0], f[i][1]), angle = 2 * M_PI * rg_uniform(seed, (uint64_t)i);
        const bool real = paired && mate == i; // its own mate: only its sign can be drawn
        f[i][0] = real ? copysign(size, cos(angle)) : size * cos(angle);
        f[i][1] = real ? 0 : size * sin(angle);
        if (paired && !real) {
            f[mate][0] = f[i][0];
            f[mate][1] = -f[i][1];
        }
    }
    const int n = (int)side;
    fftw_plan plan = fftw_plan_dft_c2r_3d(n, n, n, f, (double *)f, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    const double voxels = (double)side * (double)side * (double)side;
    for (int64_t i = 0; i < side * side * side; i++) out[i] = (float)(((double *)f)[i / side * 2 * pitch + i % side] / voxels);
    fftw_free(f);
}

void rg_fsc_correct(int64_t side, const double *masked, const double *random, int64_t from_shell, double *corrected) {
    for (int64_t s = 0; s <= side / 2; s++)
        corrected[s] = s < from_shell + 2 ? masked[s] : (masked[s] - random[s]) / (1 - random[s]);
}

// Where the curve first falls below the level, in shells, interpolated linearly; NaN if it does not.
static double crossing_of(const double *fsc, int64_t shells, double level) {
    for (int64_t s = 2; s < shells; s++)
        if (fsc[s] < level && fsc[s - 1] >= level) return (double)(s - 1) + (fsc[s - 1] - level) / (fsc[s - 1] - fsc[s]);
    return NAN;
}

// The number of frequencies of the whole space in each shell, counted in the octant without negative ones.
static void count_frequencies(int64_t side, double *times) {
    const int64_t half = side / 2;
    for (int64_t z = 0; z <= half; z++)
        for (int64_t y = 0; y <= half; y++)
            for (int64_t x = 0; x <= half; x++) {
                const int64_t shell = (int64_t)floor(sqrt((double)(x * x + y * y + z * z)) + 0.5);
                if (shell <= half)
                    times[shell] += (x && 2 * x != side ? 2 : 1) * (y && 2 * y != side ? 2 : 1) * (z && 2 * z != side ? 2 : 1);
            }
}

char *rg_fsc_words(int64_t side, double voxel_A, const double *fsc, double level) {
    const int64_t shells = side / 2 + 1;
    const double length_A = (double)side * voxel_A, shell = crossing_of(fsc, shells, level);
    if (isnan(shell))
        return fsc[1] < level ? rg_print("below at all shells, from %.4g A on", length_A)
                              : rg_print("above at all shells, to %.4g A", length_A / (double)(shells - 1));
    double *times = rg_alloc((size_t)shells * sizeof *times), *moved = rg_alloc((size_t)shells * sizeof *moved), ends[2];
    count_frequencies(side, times);
    for (int e = 0; e < 2; e++) {
        for (int64_t s = 0; s < shells; s++) moved[s] = fsc[s] + (e ? 1 : -1) * (1 - fsc[s] * fsc[s]) / sqrt(times[s]);
        ends[e] = crossing_of(moved, shells, level);
    }
    free(times);
    free(moved);
    // A curve below the level from the first shell on, within a deviation, may cross it at a later shell that deviates.
    RG_FREED char *low = !(ends[0] <= shell) ? rg_print("below the first shell") : rg_print("%.4g", ends[0] / length_A);
    RG_FREED char *high = isnan(ends[1]) ? rg_print("beyond the last shell") : rg_print("%.4g", ends[1] / length_A);
    return rg_print(
        "%.4g A (%.4g per A, %s to %s within one standard deviation of FSC)", length_A / shell, shell / length_A, low, high);
}

static int write_table(const char *path, const char *command, int64_t side, double voxel_A, const double *fsc, int more,
    const char *const *name, const double *const *curve) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    double length = (double)side * voxel_A;
    fprintf(file.stream, "# command: %s\n# maps of %" PRId64 "^3 voxels of %.9g A\n", command, side, voxel_A);
    fprintf(file.stream, "# frequency in 1/A, resolution in A\nshell\tfrequency\tresolution\tfsc");
    for (int k = 0; k < more; k++) fprintf(file.stream, "\t%s", name[k]);
    for (int64_t s = 0; s <= side / 2; s++) {
        fprintf(file.stream, "\n%" PRId64 "\t%.17g\t%.17g\t%.17g", s, (double)s / length, length / (double)s, fsc[s]);
        for (int k = 0; k < more; k++) fprintf(file.stream, "\t%.17g", curve[k][s]);
    }
    putc('\n', file.stream);
    return rg_file_commit(&file);
}

static int plot(const char *table) {
    RG_FREED char *svg = rg_path_beside(table, "", ".svg");
    rg_plot p = {0};
    rg_plot_path(&p, "DATA", table);
    return rg_plot_draw(&p, "fsc.gp", svg);
}

int rg_fsc_write(const char *path, const char *command, int64_t side, double voxel_A, const double *fsc, int more,
    const char *const *name, const double *const *curve) {
    int code = write_table(path, command, side, voxel_A, fsc, more, name, curve);
    return code == RG_GOOD ? plot(path) : code;
}

void rg_fsc_show(const char *of, int64_t side, double voxel_A, const double *fsc) {
    static const double level[2] = {0.143, 0.5};
    const int64_t shells = side / 2 + 1;
    const double length_A = (double)side * voxel_A, crossing = crossing_of(fsc, shells, level[0]);
    if (!rg_summary_wanted()) return;
    RG_FREED double *frequency = rg_alloc((size_t)shells * sizeof *frequency);
    for (int64_t s = 0; s < shells; s++) frequency[s] = (double)s / length_A;
    for (int k = 0; k < 2; k++) {
        RG_FREED char *words = rg_fsc_words(side, voxel_A, fsc, level[k]);
        rg_summary_found("Where the Fourier shell correlation of %s falls below %g: %s.", of, level[k], words);
    }
    RG_FREED char *title = isnan(crossing)
        ? rg_print("Fourier shell correlation of %s does not cross 0.143", of)
        : rg_print("Fourier shell correlation of %s: 0.143 at %.4g A", of, length_A / crossing);
    rg_summary_curves(&(rg_drawn_curves){
        .is = {title, "Dashed: 0.5 and 0.143.", "Fourier shell correlation against frequency with lines at 0.5 and 0.143",
            "frequency (1/A)", "FSC"},
        .n = shells - 1,
        .at = frequency + 1,
        .curves = 1,
        .name = (const char *[]){"FSC"},
        .value = (const double *[]){fsc + 1},
        .level = {0.5, 0.143}});
}
