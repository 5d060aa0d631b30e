// SPDX-License-Identifier: MIT
// fsc.c: regather fsc, the Fourier shell correlation of two maps.
#include "../../data/formats/mrc.h"
#include "../../data/geometry/fsc.h"
#include "../../data/geometry/volume.h"
#include "../base/log.h"
#include "../base/memory.h"
#include "../base/summary.h"

// Pearson's correlation over all voxels.
static double correlation(const rg_volume *a, const rg_volume *b) {
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

static bool is_constant(const rg_volume *m) {
    for (int64_t i = 1; i < m->side * m->side * m->side; i++)
        if (m->value[i] != m->value[0]) return false;
    return true;
}

typedef struct comparison {
    rg_given given;
    const char *out, *mask;
    double mask_radius_px; // NaN: none
} comparison;

// The mask's values, or those of a sphere whose edge is a cosine six voxels wide; malloc'ed, NULL after an error.
static float *mask_of(const comparison *c, int64_t side) {
    enum { EDGE = 6 };
    static const float SLACK = 1e-3f; // resampling and rounding move a mask slightly beyond 0 and 1
    rg_volume mask = {0};
    float most = 0;
    if (c->mask) {
        int code = rg_volume_read(c->mask, &mask);
        if (code == RG_GOOD && mask.side != side)
            code =
                rg_fail(RG_USAGE, "%s: expected a mask of %" PRId64 " voxels a side, found %" PRId64, c->mask, side, mask.side);
        if (code == RG_GOOD) rg_mrc_mask_bytes(mask.value, side * side * side);
        for (int64_t i = 0; i < side * side * side && code == RG_GOOD; i++) {
            if (!(mask.value[i] >= -SLACK && mask.value[i] <= 1 + SLACK))
                code = rg_fail(RG_USAGE, "%s: expected a mask from 0 to 1, found %g", c->mask, mask.value[i]);
            mask.value[i] = fminf(fmaxf(mask.value[i], 0), 1);
            most = fmaxf(most, mask.value[i]);
        }
        if (code == RG_GOOD && most == 0) code = rg_fail(RG_USAGE, "%s: expected a mask, found 0 everywhere", c->mask);
        if (code != RG_GOOD) {
            free(mask.value);
            mask.value = NULL;
        }
        return mask.value;
    }
    float *value = rg_alloc((size_t)(side * side * side) * sizeof *value);
    for (int64_t i = 0; i < side * side * side; i++) {
        const double x = (double)(i % side - side / 2), y = (double)(i / side % side - side / 2),
                     z = (double)(i / side / side - side / 2);
        const double beyond = (sqrt(x * x + y * y + z * z) - c->mask_radius_px) / EDGE;
        value[i] = (float)(beyond <= 0 ? 1 : beyond >= 1 ? 0 : (1 + cos(M_PI * beyond)) / 2);
    }
    return value;
}

enum { UNMASKED, MASKED, RANDOM, CURVES };
static const char *const curve_name[CURVES] = {"fsc_unmasked", "fsc_masked", "fsc_random"};
static const double OPPOSITE = 0.5; // maps whose first shell is this anticorrelated have opposite contrast, not noise
static const double KNOWN = 0.8;    // of the unmasked curve: phases beyond are randomised

// Writes the corrected curve to fsc and its three parts to curve; RG_GOOD, or one line and RG_USAGE.
static int compare_masked(const comparison *c, const rg_volume *a, const rg_volume *b, double *fsc, double *const *curve) {
    const int64_t side = a->side, voxels = side * side * side;
    float *mask = mask_of(c, side), *of[2];
    int64_t from = 1;
    if (!mask) return RG_USAGE;
    rg_fsc(side, a->value, b->value, curve[UNMASKED]);
    while (from < side / 2 && curve[UNMASKED][from] >= KNOWN) from++;
    for (int random = 0; random < 2; random++) {
        for (int m = 0; m < 2; m++) {
            of[m] = rg_alloc((size_t)voxels * sizeof *of[m]);
            memcpy(of[m], m ? b->value : a->value, (size_t)voxels * sizeof *of[m]);
            if (random) rg_fsc_randomise(side, of[m], from, 2 * c->given.seed + (uint64_t)m, of[m]);
            for (int64_t i = 0; i < voxels; i++) of[m][i] *= mask[i];
        }
        rg_fsc(side, of[0], of[1], curve[random ? RANDOM : MASKED]);
        free(of[0]);
        free(of[1]);
    }
    free(mask);
    rg_fsc_correct(side, curve[MASKED], curve[RANDOM], from, fsc);
    return RG_GOOD;
}

// Need of two maps and their transforms; with a mask, two maps more.
static double need(const void *of, int64_t side) {
    const comparison *c = of;
    const double maps = c->mask || !isnan(c->mask_radius_px) ? 5 : 2, n = (double)side;
    return n * n * (4 * maps * n + 2 * 16 * (n / 2 + 1));
}

static int compare(const comparison *c, const rg_volume *a, const rg_volume *b) {
    const char *const *name = c->given.word.item;
    if (a->side != b->side)
        return rg_fail(RG_USAGE, "%s has %" PRId64 " voxels a side, %s has %" PRId64, name[0], a->side, name[1], b->side);
    if (a->voxel_A > 0 && b->voxel_A > 0 && fabs(a->voxel_A - b->voxel_A) > 1e-3 * a->voxel_A)
        rg_warn("%s has voxels of %g A, %s of %g A; the first is used", name[0], a->voxel_A, name[1], b->voxel_A);
    for (int i = 0; i < 2; i++)
        if (is_constant(i ? b : a))
            return rg_fail(RG_USAGE, "%s: expected a map, found %g everywhere, whose correlation is undefined", name[i],
                (i ? b : a)->value[0]);
    double voxel_A = a->voxel_A > 0 ? a->voxel_A : b->voxel_A;
    if (!(voxel_A > 0)) {
        rg_warn("neither map has a voxel size; 1 A is used");
        voxel_A = 1;
    }
    if (rg_dry_run) {
        rg_plan("maps", "%" PRId64 "^3 voxels of %g A", a->side, voxel_A);
        rg_plan_memory("memory", need(c, a->side), rg_memory_free(), need, c, "a side of");
        return rg_file_can_write(c->out);
    }
    RG_FREED double *fsc = rg_alloc((size_t)(a->side / 2 + 1) * sizeof *fsc);
    double *curve[CURVES];
    const bool masked = c->mask || !isnan(c->mask_radius_px);
    for (int k = 0; k < CURVES; k++) curve[k] = rg_alloc((size_t)(a->side / 2 + 1) * sizeof *curve[k]);
    int code = RG_GOOD;
    if (masked)
        code = compare_masked(c, a, b, fsc, curve);
    else
        rg_fsc(a->side, a->value, b->value, fsc);
    if (code == RG_GOOD)
        code = rg_fsc_write(
            c->out, c->given.line, a->side, voxel_A, fsc, masked ? CURVES : 0, curve_name, (const double *const *)curve);
    for (int i = 0; i < 2 && code == RG_GOOD; i++) {
        const double level = i ? 0.143 : 0.5;
        RG_FREED char *words = rg_fsc_words(a->side, voxel_A, fsc, level);
        printf("FSC = %.3g\t%s\n", level, words);
    }
    if (code == RG_GOOD) {
        const double whole = correlation(a, b);
        if (memcmp(a->value, b->value, (size_t)(a->side * a->side * a->side) * sizeof *a->value) == 0)
            rg_warn("%s and %s have the same voxels: an FSC of 1 says nothing about the map", name[0], name[1]);
        printf("correlation\t%.6f\n", whole);
        if (whole < 0 && fsc[1] < -OPPOSITE)
            rg_warn("the maps are of opposite contrast: the FSC of their first shell is %.3f; reconstruct --invert is for "
                    "particles that are dark in their images",
                fsc[1]);
        rg_fsc_show(masked ? "the two maps, corrected for the mask," : "the two maps", a->side, voxel_A, fsc);
        rg_summary_found("The correlation coefficient of their voxels is %.6f.", whole);
        rg_summary_did("maps", "%" PRId64 "^3 voxels of %g A", a->side, voxel_A);
        rg_volume_show(a, "the first map");
        rg_volume_show(b, "the second map");
    }
    for (int k = 0; k < CURVES; k++) free(curve[k]);
    return code;
}

static int run(void *options) {
    const comparison *c = options;
    const double began_s = rg_seconds();
    double radius_px = c->mask_radius_px;
    rg_volume a = {0}, b = {0};
    int code = rg_volume_size(c->given.word.item[0], &a);
    if (code == RG_GOOD && !isnan(radius_px)) code = rg_option_within("mask-radius", &radius_px, 0, 1, (double)a.side / 2);
    if (code == RG_GOOD)
        code = rg_memory_allows(rg_memory_free(), need, c, a.side, "a side of", "two maps of %" PRId64 "^3 voxels", a.side);
    if (code == RG_GOOD) code = rg_volume_read(c->given.word.item[0], &a);
    if (code == RG_GOOD) code = rg_volume_read(c->given.word.item[1], &b);
    if (code == RG_GOOD) code = compare(c, &a, &b);
    rg_summary_stage("whole", rg_seconds() - began_s);
    free(a.value);
    free(b.value);
    return code;
}

static const rg_option options[] = {
    {"out", "F.tsv", "the table; its plot goes to F.svg", RG_TO(comparison, out), .endings = ".tsv", .beside = ".svg?gnuplot",
        .required = true},
    {"mask", "MASK.mrc", "multiply both maps by this one, from 0 to 1, and correct the curve for it: see above",
        RG_TO(comparison, mask), .excludes = "mask-radius"},
    {"mask-radius", "PX", "the same with a sphere of this radius, its edge six voxels of cosine",
        RG_TO(comparison, mask_radius_px), 1, 1e6L, .unit = "voxels"},
    {0},
};

const rg_command rg_cmd_fsc = {
    .name = "fsc",
    .words = "A.mrc B.mrc",
    .summary = "Fourier shell correlation of two maps",
    .help = "Writes columns shell, frequency, resolution and fsc. Shell s, from 0 to side / 2, holds the frequencies f, in\n"
            "whole numbers a box, with floor(|f| + 0.5) = s, each frequency of the whole space once. frequency is\n"
            "s / (side voxel) in 1/A, resolution its inverse.\n\n"
            "A mask correlates neighbouring shells. With --mask or --mask-radius, the phases of both maps are therefore\n"
            "randomised from the first shell on whose unmasked FSC is below 0.8. fsc is then (masked - random) / (1 - random)\n"
            "from two shells after it (Chen et al. 2013). This is the curve that judges halves of independent refinements\n"
            "(gold standard). The columns fsc_unmasked, fsc_masked and fsc_random have the rest.\n\n"
            "fsc prints where the curve first falls below 0.5 and 0.143, with limits of one standard deviation,\n"
            "(1 - FSC^2) / sqrt(n) for a shell of n frequencies, and the correlation coefficient of the maps' voxels.",
    .option = options,
    .bytes = sizeof(comparison),
    .run = run,
    .job = true,
    .page = true,
};
