// SPDX-License-Identifier: MIT
// input.c: reads particles from RELION's or FREALIGN's files, and writes the results to either.
#include "particles.h"
#include "../../base/memory.h"

bool fr_is_par(const char *path) {
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".par") == 0;
}

const rg_option fr_par_options[] = {
    {"stack", "S.mrc", "the images of a .par file", RG_TO(fr_files, stack), .needs = ".par"},
    {"pixel", "A", "pixel size of a .par file's images", RG_TO(fr_files, optics.pixel_A), 1e-3L, 1e6L, .unit = "Angstrom",
        .needs = ".par"},
    {"kv", "KV", "acceleration voltage of a .par file's images", RG_TO(fr_files, optics.voltage_kV), 1, 1e5L, "300", "kV",
        .needs = ".par"},
    {"cs", "MM", "spherical aberration of a .par file's images", RG_TO(fr_files, optics.cs_mm), 0, 1e3L, "2.7", "mm",
        .needs = ".par"},
    {"amplitude-contrast", "W", "of a .par file's images", RG_TO(fr_files, optics.amplitude_contrast), -1, 1, "0.07",
        .needs = ".par"},
    {0},
};

const rg_option fr_input_options[] = {
    {.name = "", .kind = RG_GROUP, .group = fr_par_options},
    {"invert", NULL, "reverse the images' contrast: particles are dark in them", RG_TO(fr_files, invert)},
    {0},
};

static int open_par(fr_files *f) {
    if (!f->stack || isnan(f->optics.pixel_A))
        return rg_fail(RG_USAGE,
            "%s: a .par file says neither where its images are nor how large a pixel is: expected --stack "
            "and --pixel",
            f->input);
    int code = rg_par_read(f->input, &f->par);
    return code == RG_GOOD ? rg_par_particles(&f->par, f->stack, &f->optics, &f->particles) : code;
}

// Files write defocus 0 where nobody has measured it, so it is rejected.
static int check(const fr_files *f) {
    const rg_particles *p = &f->particles;
    if (p->side % 2 || p->side < 16)
        return rg_fail(RG_USAGE, "%s: expected images of an even side from 16 pixels on, found %" PRId64, f->input, p->side);
    if (p->lacks_ctf) return rg_fail(RG_USAGE, "%s: expected a column _%s, found none", f->input, p->lacks_ctf);
    if (!(p->pixel_A > 0)) return rg_fail(RG_USAGE, "%s: expected a pixel size, found none in it nor in its stacks", f->input);
    if (rg_particles_plain(p) != RG_GOOD) return RG_USAGE;
    for (int64_t i = 0; i < p->n; i++)
        if (p->row[i].ctf.defocus_u_A == 0 && p->row[i].ctf.defocus_v_A == 0)
            return rg_star_fault(f->input, p->row[i].line, "expected a defocus, found 0");
    return RG_GOOD;
}

int fr_files_open(fr_files *f, const char *input, bool poses) {
    f->input = input;
    f->particles.open = -1;
    int code = fr_is_par(input) ? open_par(f)
        : poses                 ? rg_particles_open(&f->particles, input)
                                : rg_particles_open_without_poses(&f->particles, input);
    return code == RG_GOOD ? check(f) : code;
}

void fr_files_close(fr_files *f) {
    rg_particles_close(&f->particles);
    if (f->par.row) rg_par_free(&f->par);
    free(f->score);
    free(f->sigma);
    free(f->magnification);
}

void fr_optics_of(const fr_files *f, int64_t i, double defocus_A, double magnification, float optics[FR_OPTICS]) {
    const rg_ctf_of *o = &f->particles.row[i].ctf;
    const double wave = rg_electron_wavelength_A(o->voltage_kV);
    const double step = 1 / ((double)f->particles.side * f->particles.pixel_A * magnification), ss = step * step;
    const double c = cos(o->defocus_angle_deg * M_PI / 180), s = sin(o->defocus_angle_deg * M_PI / 180);
    // RELION's CTF is -sin(chi - shift - asin(contrast)) = w2 cos(chi') - w1 sin(chi'), chi' in half turns here.
    const double u = o->defocus_u_A + defocus_A, v = o->defocus_v_A + defocus_A, w = o->amplitude_contrast;
    const double sign = (f->invert ? 1 : -1) * o->scale;
    const double turn = o->phase_shift_deg * M_PI / 180 + asin(w);
    optics[0] = (float)(-wave * ss * (u * c * c + v * s * s));
    optics[1] = (float)(-wave * ss * 2 * (u - v) * c * s);
    optics[2] = (float)(-wave * ss * (u * s * s + v * c * c));
    optics[3] = (float)(0.5 * 1e7 * o->cs_mm * wave * wave * wave * ss * ss);
    optics[4] = (float)(sign * cos(turn));
    optics[5] = (float)(sign * sin(turn));
}

// ---- the reference -------------------------------------------------------------------------------------------------------

static int read_section(rg_mrc *mrc, const char *path, int64_t z, float *section) {
    const int64_t n = mrc->nx * mrc->ny;
    int code = rg_mrc_section(mrc, z, section);
    for (int64_t e = 0; e < n && code == RG_GOOD; e++)
        if (!(fabsf(section[e]) <= RG_VALUE_MOST))
            code = rg_fail(RG_USAGE, "%s: expected finite values within +-%g, found %g in section %" PRId64, path,
                RG_VALUE_MOST, section[e], z + 1);
    return code;
}

// Reads sections in parallel, each thread with its own open file, silently. From the first bad one on, they are read again in
// order to report the error.
static int read_sections(const char *path, int64_t side, float *volume) {
    int64_t bad = side;
#pragma omp parallel reduction(min : bad)
    {
        rg_mrc mrc;
        const bool was_silent = rg_silent;
        rg_silent = true;
        const int opened = rg_mrc_open(&mrc, path);
#pragma omp for
        for (int64_t z = 0; z < side; z++)
            if (opened != RG_GOOD || read_section(&mrc, path, z, volume + z * side * side) != RG_GOOD) bad = z < bad ? z : bad;
        rg_mrc_close(&mrc);
        rg_silent = was_silent;
    }
    if (bad == side) return RG_GOOD;
    RG_ENDS(rg_mrc_close) rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    for (int64_t z = bad; z < side && code == RG_GOOD; z++) code = read_section(&mrc, path, z, volume + z * side * side);
    return code;
}

static double need(const void *of, int64_t side) { return (void)of, 4 * (double)side * (double)side * (double)side; }

static int read_volume(const char *path, int64_t *side, double *pixel_A, float **volume) {
    rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    if (code != RG_GOOD) return code;
    if (mrc.nx != mrc.ny || mrc.nx != mrc.nz)
        code = rg_fail(
            RG_USAGE, "%s: expected a cubic map, found %" PRId64 " x %" PRId64 " x %" PRId64, path, mrc.nx, mrc.ny, mrc.nz);
    else if (mrc.nx % 2)
        code = rg_fail(RG_USAGE, "%s: expected a map of an even side, found %" PRId64, path, mrc.nx);
    *side = mrc.nx;
    *pixel_A = rg_mrc_voxel_A(&mrc, true);
    rg_mrc_close(&mrc);
    if (code != RG_GOOD) return code;
    code = rg_memory_allows(rg_memory_free(), need, NULL, *side, "a side of", "%s: its %" PRId64 "^3 voxels", path, *side);
    if (code != RG_GOOD) return code;
    *volume = rg_alloc((size_t)(*side * *side * *side) * sizeof **volume);
    code = read_sections(path, *side, *volume);
    int64_t n = *side * *side * *side, same = 1;
    while (code == RG_GOOD && same < n && (*volume)[same] == (*volume)[0]) same++;
    if (code == RG_GOOD && same == n) code = rg_fail(RG_USAGE, "%s: expected a map, found %g everywhere", path, (*volume)[0]);
    if (code != RG_GOOD) {
        free(*volume);
        *volume = NULL;
    }
    return code;
}

int fr_reference_side(const char *path, int64_t *own) {
    rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    if (code != RG_GOOD) return code;
    *own = mrc.nx;
    rg_mrc_close(&mrc);
    return RG_GOOD;
}

int fr_reference_read(const char *path, double said_A, int64_t side, double pixel_A, int64_t *own, float **volume) {
    double own_A;
    int code = read_volume(path, own, &own_A, volume);
    if (code != RG_GOOD) return code;
    own_A = said_A > 0 ? said_A : own_A;
    if (!(own_A > 0) && *own == side) {
        rg_warn("%s: has no voxel size; the images' pixel size of %g A is used", path, pixel_A);
        own_A = pixel_A;
    }
    if (fabs((double)*own * own_A - (double)side * pixel_A) <= 0.01 * (double)side * pixel_A) return RG_GOOD;
    free(*volume);
    *volume = NULL;
    return rg_fail(RG_USAGE,
        "%s: %" PRId64 " voxels of %g A are %.1f A wide, the images %.1f A (%" PRId64 " pixels of %g A): "
        "cut or pad it to their field of view, or correct its size with --reference-pixel",
        path, *own, own_A, (double)*own * own_A, (double)side * pixel_A, side, pixel_A);
}

// ---- results -------------------------------------------------------------------------------------------------------------

enum { ROT, TILT, PSI, ORIGIN_X, ORIGIN_Y, DEFOCUS_U, DEFOCUS_V, SCORE, SIGMA, MAGNIFICATION, WRITTEN };

// Formats one new value; malloc'ed.
static char *value_of(const fr_files *f, int64_t i, int which, bool in_A) {
    const rg_particle *q = &f->particles.row[i];
    const double scale = in_A ? f->particles.pixel_A : 1;
    const double value[WRITTEN] = {q->rot_deg, q->tilt_deg, q->psi_deg, q->origin_x_px * scale, q->origin_y_px * scale,
        q->ctf.defocus_u_A, q->ctf.defocus_v_A, f->score[i], f->sigma[i], f->magnification[i]};
    return rg_print(which == SIGMA ? "%.6g" : "%.6f", value[which]);
}

// Stacks are also looked up beside the STAR file, so their names must resolve from another folder too.
static bool in_one_folder(const char *a, const char *b) {
    const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
    const size_t n = end_a ? (size_t)(end_a - a) : 0;
    return !end_a == !end_b && n == (end_b ? (size_t)(end_b - b) : 0) && strncmp(a, b, n) == 0;
}

// RELION reads a stack that is not called .mrcs only with the suffix :mrcs.
static char *image_name(const rg_particles *p, int64_t i) {
    const char *path = p->stack[p->row[i].stack].path;
    return rg_print("%06" PRId64 "@%s%s", p->row[i].image + 1, path, rg_ends_with(path, ".mrcs") ? "" : ":mrcs");
}

// Writes the input's table with new values in its columns; missing columns follow the others.
static int write_star(const fr_files *f, const char *path) {
    rg_star star;
    int code = rg_star_read(f->input, &star);
    if (code != RG_GOOD) return code;
    const rg_star_table *found;
    code = rg_particles_table(&star, &found);
    if (code != RG_GOOD) {
        rg_star_free(&star);
        return code;
    }
    rg_star_table *t = rg_unconst(found);
    const bool in_A = rg_star_column(t, "rlnOriginXAngst") >= 0 || rg_star_column(t, "rlnOriginX") < 0;
    const char *const name[WRITTEN] = {"rlnAngleRot", "rlnAngleTilt", "rlnAnglePsi", in_A ? "rlnOriginXAngst" : "rlnOriginX",
        in_A ? "rlnOriginYAngst" : "rlnOriginY", "rlnDefocusU", "rlnDefocusV", "rgFrealignScore", "rgFrealignSigma",
        "rgFrealignMagnification"};
    const int image = in_one_folder(f->input, path) ? -1 : rg_star_column(t, "rlnImageName");
    int column[WRITTEN], columns = t->n_columns;
    RG_FREED const char **names = rg_alloc((size_t)(columns + WRITTEN) * sizeof *names);
    memcpy(names, t->column, (size_t)columns * sizeof *names);
    for (int c = 0; c < WRITTEN; c++) {
        column[c] = rg_star_column(t, name[c]);
        if (column[c] < 0) names[column[c] = columns++] = name[c];
    }
    RG_FREED const char **cell = rg_alloc((size_t)(t->n_rows * columns) * sizeof *cell);
    RG_FREED char **made = rg_alloc((size_t)(t->n_rows * (WRITTEN + 1)) * sizeof *made);
    for (int64_t i = 0; i < t->n_rows; i++) {
        memcpy(cell + i * columns, t->cell + i * t->n_columns, (size_t)t->n_columns * sizeof *cell);
        for (int c = 0; c < WRITTEN; c++)
            if (f->defocused || (c != DEFOCUS_U && c != DEFOCUS_V)) // otherwise they stay as written
                cell[i * columns + column[c]] = made[i * (WRITTEN + 1) + c] = value_of(f, i, c, in_A);
        if (image >= 0) cell[i * columns + image] = made[i * (WRITTEN + 1) + WRITTEN] = image_name(&f->particles, i);
    }
    const rg_star_table old = *t;
    t->cell = cell;
    t->column = names;
    t->n_columns = columns;
    code = rg_star_write(path, &star);
    *t = old;
    for (int64_t i = 0; i < t->n_rows * (WRITTEN + 1); i++) free(made[i]);
    rg_star_free(&star);
    return code;
}

int fr_files_fit(const fr_files *f, const char *path) {
    const rg_particles *p = &f->particles;
    const rg_ctf_of *first = &p->row[0].ctf;
    bool lost[6] = {false};
    static const char *const column[6] = {"_rlnPhaseShift", "_rlnCtfBfactor", "_rlnCtfScalefactor", "different _rlnVoltage",
        "different _rlnSphericalAberration", "different _rlnAmplitudeContrast"};
    if (!fr_is_par(path) || f->par.n) return RG_GOOD;
    if (p->n_stacks > 1)
        return rg_fail(
            RG_USAGE, "%s: a .par file has rows of one stack, %s names %d; write a STAR file", path, f->input, p->n_stacks);
    for (int64_t i = 0; i < p->n; i++) {
        const rg_ctf_of *o = &p->row[i].ctf;
        const bool of_row[6] = {o->phase_shift_deg != 0, o->b_factor_A2 != 0, o->scale != 1, o->voltage_kV != first->voltage_kV,
            o->cs_mm != first->cs_mm, o->amplitude_contrast != first->amplitude_contrast};
        for (int c = 0; c < 6; c++) lost[c] |= of_row[c];
    }
    char text[200] = "";
    for (int c = 0; c < 6; c++)
        if (lost[c]) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "", column[c]);
    return *text ? rg_fail(RG_USAGE, "%s: a .par file cannot hold what %s has: %s; write a STAR file", path, f->input, text)
                 : RG_GOOD;
}

// Reports values of a STAR file that a .par file cannot hold, and that its readers need as options.
static void say_beside(const fr_files *f, const char *path) {
    const rg_particles *p = &f->particles;
    const rg_ctf_of *o = &p->row[0].ctf;
    rg_warn(
        "%s: holds poses, defocus and scores; give --stack %s --pixel %.6g --kv %g --cs %g --amplitude-contrast %g with it; "
        "other columns of %s are not in it",
        path, p->stack[0].path, p->pixel_A, o->voltage_kV, o->cs_mm, o->amplitude_contrast, f->input);
}

// Keeps the rows of a .par file; writes rows of version 9 for a STAR file.
static int write_par(const fr_files *f, const char *path) {
    rg_par made = {0}, *par = rg_unconst(&f->par);
    const rg_particles *p = &f->particles;
    if (!f->par.n) {
        say_beside(f, path);
        par = &made;
        rg_par_make(par, 9, p->n);
        for (int64_t i = 0; i < p->n; i++) {
            double *v = par->row[i].value;
            v[RG_PAR_NO] = (double)(p->row[i].image + 1);
            v[RG_PAR_DF1] = p->row[i].ctf.defocus_u_A;
            v[RG_PAR_DF2] = p->row[i].ctf.defocus_v_A;
            v[RG_PAR_ANGAST] = p->row[i].ctf.defocus_angle_deg;
        }
    }
    for (int64_t i = 0; i < p->n; i++) {
        double *v = par->row[i].value, before = v[RG_PAR_SCORE];
        rg_par_set_pose(par, i, &p->row[i], p->pixel_A);
        if (f->defocused) {
            v[RG_PAR_DF1] = p->row[i].ctf.defocus_u_A;
            v[RG_PAR_DF2] = p->row[i].ctf.defocus_v_A;
        }
        v[RG_PAR_MAG] *= f->magnification[i];
        v[RG_PAR_SIGMA] = f->sigma[i];
        v[RG_PAR_CHANGE] = f->score[i] - before;
        v[RG_PAR_SCORE] = f->score[i];
        v[RG_PAR_PRESA] = acos(fmax(-1, fmin(1, f->score[i] / 100))) * 180 / M_PI;
    }
    int code = rg_par_write(path, par);
    if (made.row) rg_par_free(&made);
    return code;
}

// Writes a new STAR file for rows of a .par file.
static int write_new_star(const fr_files *f, const char *path, const char *command) {
    static const char *const optics[] = {"rlnOpticsGroup", "rlnOpticsGroupName", "rlnAmplitudeContrast",
        "rlnSphericalAberration", "rlnVoltage", "rlnImagePixelSize", "rlnImageSize", "rlnImageDimensionality"};
    static const char *const row[] = {"rlnImageName", "rlnOpticsGroup", "rlnAngleRot", "rlnAngleTilt", "rlnAnglePsi",
        "rlnOriginXAngst", "rlnOriginYAngst", "rlnDefocusU", "rlnDefocusV", "rgFrealignScore", "rgFrealignSigma",
        "rgFrealignMagnification", "rlnDefocusAngle"};
    const rg_particles *p = &f->particles;
    rg_file out;
    int code = rg_file_open(&out, path);
    if (code != RG_GOOD) return code;
    fprintf(out.stream, "# command: %s\n", command);
    rg_star_write_head(out.stream, "optics", RG_COUNT(optics), optics);
    const rg_ctf_of *o = &p->row[0].ctf;
    fprintf(out.stream, "1 opticsGroup1 %g %g %g %.17g %" PRId64 " 2\n", o->amplitude_contrast, o->cs_mm, o->voltage_kV,
        p->pixel_A, p->side);
    rg_star_write_head(out.stream, "particles", RG_COUNT(row), row);
    bool written = true;
    for (int64_t i = 0; i < p->n && written; i++) {
        const rg_particle *q = &p->row[i];
        char *cell[RG_COUNT(row)] = {image_name(p, i), rg_print("1")};
        for (int c = 0; c < WRITTEN; c++) cell[2 + c] = value_of(f, i, c, true);
        cell[2 + WRITTEN] = rg_print("%.6f", q->ctf.defocus_angle_deg);
        written = rg_star_write_row(out.stream, RG_COUNT(row), (const char *const *)cell);
        for (int c = 0; c < RG_COUNT(row); c++) free(cell[c]);
    }
    if (!written) {
        rg_file_abandon(&out);
        return rg_fail(RG_USAGE, "%s: the name of the stack has quotes that STAR cannot hold", path);
    }
    return rg_file_commit(&out);
}

int fr_files_write(const fr_files *f, const char *path, const char *command) {
    return fr_is_par(path) ? write_par(f, path) : f->par.n ? write_new_star(f, path, command) : write_star(f, path);
}
