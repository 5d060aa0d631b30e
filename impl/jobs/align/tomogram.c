// SPDX-License-Identifier: MIT
// tomogram.c: writes an aligned series as RELION 4's tomograms' file, with all columns that RELION requires.
#include "../../../data/formats/mdoc.h"
#include "../../../data/formats/star.h"
#include "../../../data/geometry/ctf.h"
#include "../../base/log.h"
#include "align.h"

static const double DEGREE = M_PI / 180;

const rg_option aj_tomogram_options[] = {
    {"tomogram", "FILE.star",
        "write the series as RELION 4's tomograms' file: projection matrices of a tomogram as wide and high as "
        "the images",
        RG_TO(aj_tomogram, path), .endings = ".star", .beside = "", .needs = "tilt-axis"},
    {"mdoc", "FILE.mdoc", "SerialEM's file of the series: voltage, dose and defocus of its images, by their angles",
        RG_TO(aj_tomogram, mdoc), .needs = "tomogram"},
    {"thickness", "PX", "of that tomogram", RG_TO(aj_tomogram, thickness_px), 1, 1e6L, "256", "pixels", .needs = "tomogram"},
    {"pixel", "A", "size of a pixel", RG_TO(aj_tomogram, pixel_A), 1e-3L, 1e6L, .unit = "Angstrom",
        .otherwise = "the series' own", .needs = "tomogram"},
    {"kv", "KV", "acceleration voltage", RG_TO(aj_tomogram, voltage_kV), 1, 1e5L, .unit = "kV", .otherwise = "that of --mdoc",
        .needs = "tomogram"},
    {"cs", "MM", "spherical aberration", RG_TO(aj_tomogram, cs_mm), 0, 1e3L, "2.7", "mm", .needs = "tomogram"},
    {"amplitude-contrast", "W", "of the microscope", RG_TO(aj_tomogram, contrast), -1, 1, "0.07", .needs = "tomogram"},
    {"dose", "E", "electrons of an image; the images were taken in the order that --mdoc says, else in that of the file",
        RG_TO(aj_tomogram, dose), 0, 1e4L, .unit = "electrons an A^2", .otherwise = "those of --mdoc", .needs = "tomogram"},
    {"defocus", "A", "underfocus of all images", RG_TO(aj_tomogram, defocus_A), -1e6L, 1e6L, .unit = "Angstrom",
        .otherwise = "those of --mdoc", .needs = "tomogram"},
    {"hand", "H", "1 or -1: whether defocus grows or falls with the tomogram's z", RG_TO(aj_tomogram, hand), -1, 1, "-1",
        .needs = "tomogram"},
    {0},
};

// Gives each image the .mdoc entry of the nearest angle, within a degree, each entry once.
static int take_images(aj_tomogram *t, const rg_mdoc *m, int64_t n, const double *tilt_deg) {
    RG_FREED bool *taken = rg_alloc((size_t)m->n * sizeof *taken);
    int code = RG_GOOD;
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        int64_t best = -1;
        double least = 1;
        for (int64_t k = 0; k < m->n; k++)
            if (!taken[k] && fabs(m->image[k].tilt_deg - tilt_deg[i]) < least) { // false for NaN
                least = fabs(m->image[k].tilt_deg - tilt_deg[i]);
                best = k;
            }
        if (best < 0)
            code = rg_fail(RG_USAGE, "%s: expected an image at %g degrees, as image %" PRId64 " of the series, found none",
                t->mdoc, tilt_deg[i], i + 1);
        else {
            taken[best] = true;
            t->image[i] = m->image[best];
        }
    }
    return code;
}

static int read_mdoc(aj_tomogram *t, int64_t n, const double *tilt_deg) {
    RG_ENDS(rg_mdoc_free) rg_mdoc m;
    int code = rg_mdoc_read(t->mdoc, &m);
    if (code == RG_GOOD) code = take_images(t, &m, n, tilt_deg);
    if (isnan(t->voltage_kV)) t->voltage_kV = m.voltage_kV;
    if (code == RG_GOOD)
        rg_log_note("%s: defocus by %s, dose by %s, order of acquisition by %s", t->mdoc,
            !isnan(t->defocus_A)   ? "--defocus"
                : m.target_defocus ? "TargetDefocus"
                                   : "TargetDefocus, of images without it Defocus",
            !isnan(t->dose)               ? "--dose"
                : !isnan(m.image[0].dose) ? "ExposureDose"
                                          : "nothing: not all images have an ExposureDose above 0",
            rg_mdoc_order_name(m.order));
    return code;
}

int aj_tomogram_check(aj_align *job) {
    aj_tomogram *t = &job->tomogram;
    const int64_t n = job->series.n;
    if (!t->path) return RG_GOOD;
    t->image = rg_alloc((size_t)n * sizeof *t->image);
    for (int64_t i = 0; i < n; i++) t->image[i] = (rg_mdoc_image){NAN, NAN, NAN, NAN, i};
    int code = t->mdoc ? read_mdoc(t, n, job->tilt_deg) : RG_GOOD;
    bool has_dose = true, has_defocus = true;
    double least_A = INFINITY, most_A = -INFINITY;
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        rg_mdoc_image *image = &t->image[i];
        if (!isnan(t->dose)) {
            image->prior_dose = (double)image->taken_before * t->dose;
            image->dose = t->dose;
        }
        if (!isnan(t->defocus_A)) image->defocus_A = t->defocus_A;
        has_dose &= !isnan(image->dose + image->prior_dose);
        has_defocus &= !isnan(image->defocus_A);
        least_A = fmin(least_A, image->defocus_A);
        most_A = fmax(most_A, image->defocus_A);
    }
    if (code == RG_GOOD && has_defocus) rg_warn_of_defoci(t->mdoc ? t->mdoc : "--defocus", "images", least_A, most_A);
    if (isnan(t->pixel_A) && job->series.pixel_A > 0) t->pixel_A = job->series.pixel_A;
    if (code == RG_GOOD && t->hand == 0) code = rg_fail(RG_USAGE, "--hand: expected 1 or -1, found 0");
    if (code == RG_GOOD && (isnan(t->pixel_A) || isnan(t->voltage_kV) || !has_dose || !has_defocus))
        code = rg_fail(RG_USAGE, "%s: RELION reads no tomogram without what neither images nor options say:%s%s%s%s", t->path,
            isnan(t->pixel_A) ? " --pixel" : "", isnan(t->voltage_kV) ? " --kv" : "", has_dose ? "" : " --dose",
            has_defocus ? "" : " --defocus");
    return code;
}

// Projects a point X of the tomogram, in pixels from its corner, to the first two entries of P (X, 1): turned about y, with x
// becoming x cos(tilt) + z sin(tilt) as in IMOD's tilt, then through the images' transforms backwards. *cell: rows of P,
// malloc'ed.
static void projection(const aj_align *job, int64_t i, const rg_affine *frame, char **cell) {
    const double centre[3] = {
        (double)(job->series.width / 2), (double)(job->series.height / 2), floor(job->tomogram.thickness_px / 2)};
    const double c = cos(job->tilt_deg[i] * DEGREE), s = sin(job->tilt_deg[i] * DEGREE);
    const rg_affine out = rg_affine_inverse(frame);
    const double row[3][3] = {{out.a[0] * c, out.a[1], out.a[0] * s}, {out.a[2] * c, out.a[3], out.a[2] * s}, {-s, 0, c}};
    for (int k = 0; k < 3; k++) {
        double at = k < 2 ? centre[k] + out.shift_px[k] : 0;
        for (int axis = 0; axis < 3; axis++) at -= row[k][axis] * centre[axis];
        cell[k] = rg_print("[%.10g,%.10g,%.10g,%.10g]", row[k][0], row[k][1], row[k][2], at);
    }
    cell[3] = rg_print("[0,0,0,1]");
}

static bool write_row(FILE *to, int n, char **cell) {
    const bool written = rg_star_write_row(to, n, (const char *const *)cell);
    for (int c = 0; c < n; c++) free(cell[c]);
    return written;
}

int aj_tomogram_write(const aj_align *job, const rg_affine *frame) {
    static const char *const global[] = {"rlnTomoName", "rlnTomoTiltSeriesName", "rlnTomoFrameCount", "rlnTomoSizeX",
        "rlnTomoSizeY", "rlnTomoSizeZ", "rlnTomoHand", "rlnOpticsGroupName", "rlnTomoTiltSeriesPixelSize", "rlnVoltage",
        "rlnSphericalAberration", "rlnAmplitudeContrast", "rlnTomoImportFractionalDose"};
    static const char *const image[] = {"rlnTomoProjX", "rlnTomoProjY", "rlnTomoProjZ", "rlnTomoProjW", "rlnDefocusU",
        "rlnDefocusV", "rlnDefocusAngle", "rlnCtfScalefactor", "rlnMicrographPreExposure"};
    const aj_tomogram *t = &job->tomogram;
    double dose = 0;
    rg_file file;
    int code = rg_file_open(&file, t->path);
    if (code != RG_GOOD) return code;
    for (int64_t i = 0; i < job->series.n; i++) dose += t->image[i].dose / (double)job->series.n;
    fprintf(file.stream, "# command: %s\n", job->command);
    rg_star_write_head(file.stream, "global", RG_COUNT(global), global);
    char *first[RG_COUNT(global)] = {rg_print("tomogram1"), rg_print("%s", job->series.image[0].path),
        rg_print("%" PRId64, job->series.n), rg_print("%" PRId64, job->series.width), rg_print("%" PRId64, job->series.height),
        rg_print("%.0f", t->thickness_px), rg_print("%" PRId64, t->hand), rg_print("opticsGroup1"),
        rg_print("%.9g", t->pixel_A), rg_print("%.9g", t->voltage_kV), rg_print("%.9g", t->cs_mm),
        rg_print("%.9g", t->contrast), rg_print("%.9g", dose)};
    bool written = write_row(file.stream, RG_COUNT(global), first);
    rg_star_write_head(file.stream, "tomogram1", RG_COUNT(image), image);
    for (int64_t i = 0; i < job->series.n && written; i++) {
        const rg_mdoc_image *of = &t->image[i];
        char *cell[RG_COUNT(image)] = {[4] = rg_print("%.9g", of->defocus_A),
            rg_print("%.9g", of->defocus_A),
            rg_print("0"),
            rg_print("%.9g", cos(job->tilt_deg[i] * DEGREE)),
            rg_print("%.9g", of->prior_dose)};
        projection(job, i, &frame[i], cell);
        written = write_row(file.stream, RG_COUNT(image), cell);
    }
    if (written) return rg_file_commit(&file);
    rg_file_abandon(&file);
    return rg_fail(RG_USAGE, "%s: the name of the series has quotes that STAR cannot hold", t->path);
}
