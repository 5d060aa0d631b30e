// SPDX-License-Identifier: MIT
// fsc.c: regather fsc, the Fourier shell correlation of two maps.
#include "../../data/geometry/fsc.h"
#include "../../data/geometry/volume.h"
#include "../base/log.h"
#include "../gpu/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Pearson's correlation over all voxels.
static double correlation(const rg_volume *a, const rg_volume *b)
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

static bool is_constant(const rg_volume *m)
{
    for (int64_t i = 1; i < m->side * m->side * m->side; i++)
        if (m->value[i] != m->value[0])
            return false;
    return true;
}

typedef struct comparison {
    rg_given given;
    const char *out;
} comparison;

static int compare(const comparison *c, const rg_volume *a, const rg_volume *b)
{
    const char *const *name = c->given.word.item;
    if (a->side != b->side)
        return rg_fail(RG_USAGE, "%s has %" PRId64 " voxels a side, %s has %" PRId64, name[0], a->side,
                       name[1], b->side);
    if (a->voxel_A > 0 && b->voxel_A > 0 && fabs(a->voxel_A - b->voxel_A) > 1e-3 * a->voxel_A)
        rg_warn("%s has voxels of %g A, %s of %g A; the first is taken", name[0], a->voxel_A, name[1],
                b->voxel_A);
    for (int i = 0; i < 2; i++)
        if (is_constant(i ? b : a))
            return rg_fail(RG_USAGE, "%s: expected a map, found %g everywhere, whose correlation is undefined",
                           name[i], (i ? b : a)->value[0]);
    double voxel_A = a->voxel_A > 0 ? a->voxel_A : b->voxel_A;
    if (!(voxel_A > 0)) {
        rg_warn("neither map has a voxel size; 1 A is taken");
        voxel_A = 1;
    }
    if (rg_dry_run) {
        const double n = (double)a->side, maps = 2 * 4 * n * n * n, transforms = 2 * 16 * n * n * (n / 2 + 1);
        rg_device_facts facts = {0};
        rg_device_cpu()->facts(&facts);
        rg_plan("maps", "%" PRId64 "^3 voxels of %g A", a->side, voxel_A);
        rg_plan_memory(maps + transforms, (double)facts.free_bytes);
        return rg_file_can_write(c->out);
    }
    double *fsc = rg_alloc((size_t)(a->side / 2 + 1) * sizeof *fsc);
    rg_fsc(a->side, a->value, b->value, fsc);
    int code = rg_fsc_write(c->out, c->given.line, a->side, voxel_A, fsc);
    for (int i = 0; i < 2 && code == RG_GOOD; i++) {
        const double level = i ? 0.143 : 0.5;
        char *words = rg_fsc_words(a->side, voxel_A, fsc, level);
        printf("FSC = %.3g\t%s\n", level, words);
        free(words);
    }
    if (code == RG_GOOD)
        printf("correlation\t%.6f\n", correlation(a, b));
    free(fsc);
    return code;
}

static int run(void *options)
{
    const comparison *c = options;
    rg_volume a = {0}, b = {0};
    int code = rg_volume_read(c->given.word.item[0], &a);
    if (code == RG_GOOD)
        code = rg_volume_read(c->given.word.item[1], &b);
    if (code == RG_GOOD)
        code = compare(c, &a, &b);
    free(a.value);
    free(b.value);
    return code;
}

static const rg_option options[] = {
    {"out", "F.tsv", "the table; its plot goes to F.svg", RG_TO(comparison, out), .endings = ".tsv", .beside = ".svg?gnuplot",
     .required = true},
    {0},
};

const rg_command rg_cmd_fsc = {
    .name = "fsc",
    .words = "A.mrc B.mrc",
    .summary = "Fourier shell correlation of two maps",
    .help = "Writes columns shell frequency resolution fsc: shell s holds the frequencies f, in whole numbers a box, with\n"
            "floor(|f| + 0.5) = s, s = 0 .. side / 2, each frequency of the whole space once. frequency = s / (side voxel)\n"
            "in 1/A, resolution its inverse. No mask is applied. Prints where the curve first falls below 0.5 and 0.143,\n"
            "between which frequencies within one standard deviation (1 - FSC^2) / sqrt(n) of a shell of n frequencies, and the\n"
            "correlation coefficient of the maps' voxels.",
    .option = options,
    .bytes = sizeof(comparison),
    .run = run,
    .job = true,
};
