// SPDX-License-Identifier: MIT
#include "stacks.h"

// ---- what the rows leave out and repeat ------------------------------------------------------------------------------------

// Subsets of a stack are common, and so are rows of one image for each operator of a symmetry: neither is an error, both are
// said.
static void warn_of_unnamed_and_repeated(const rg_particles *p) {
    int64_t **seen = rg_alloc((size_t)p->n_stacks * sizeof *seen), unnamed = 0, first = -1, repeated = 0, again = -1;
    int first_stack = 0;
    for (int s = 0; s < p->n_stacks; s++) seen[s] = rg_alloc((size_t)(p->stack[s].images / 64 + 1) * sizeof **seen);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t *word = &seen[p->row[i].stack][p->row[i].image / 64], bit = (int64_t)(UINT64_C(1) << p->row[i].image % 64);
        if (*word & bit) again = repeated++ ? again : i;
        *word |= bit;
    }
    for (int s = 0; s < p->n_stacks; s++) {
        for (int64_t i = 0; i < p->stack[s].images; i++)
            if (!(seen[s][i / 64] >> i % 64 & 1)) {
                first_stack = unnamed ? first_stack : s;
                first = unnamed++ ? first : i;
            }
        free(seen[s]);
    }
    free(seen);
    if (unnamed)
        rg_warn("%s: %" PRId64 " row%s; %" PRId64 " image%s of its stacks %s left out, the first is image %" PRId64 " of %s",
            p->path, p->n, rg_plural(p->n), unnamed, rg_plural(unnamed),
            unnamed == 1 ? "has no row and is" : "have no row and are", first + 1, p->stack[first_stack].path);
    if (repeated)
        rg_warn("%s: line %" PRId64 " names image %" PRId64 " of %s, which an earlier one has; %" PRId64 " row%s in all: such "
                "images count twice, and halves that share them agree by themselves",
            p->path, p->row[again].line, p->row[again].image + 1, p->stack[p->row[again].stack].path, repeated,
            rg_plural(repeated));
}

// ---- columns -------------------------------------------------------------------------------------------------------------

enum {
    ROT,
    TILT,
    PSI,
    X_PX,
    Y_PX,
    X_A,
    Y_A,
    U,
    V,
    ANGLE,
    PHASE,
    B,
    SCALE,
    GROUP,
    IMAGE,
    KV,
    CS,
    CONTRAST,
    PIXEL,
    DETECTOR,
    MAG,
    PREMULTIPLIED,
    FLIPPED,
    SUBSET,
    SIZE,
    DIMENSIONS,
    COLUMNS
};

static const char *const column_name[COLUMNS] = {"rlnAngleRot", "rlnAngleTilt", "rlnAnglePsi", "rlnOriginX", "rlnOriginY",
    "rlnOriginXAngst", "rlnOriginYAngst", "rlnDefocusU", "rlnDefocusV", "rlnDefocusAngle", "rlnPhaseShift", "rlnCtfBfactor",
    "rlnCtfScalefactor", "rlnOpticsGroup", "rlnImageName", "rlnVoltage", "rlnSphericalAberration", "rlnAmplitudeContrast",
    "rlnImagePixelSize", "rlnDetectorPixelSize", "rlnMagnification", "rlnCtfDataAreCtfPremultiplied",
    "rlnCtfDataArePhaseFlipped", "rlnRandomSubset", "rlnImageSize", "rlnImageDimensionality"};

typedef struct reading {
    rg_particles *p;
    rg_star star;
    const rg_star_table *rows, *optics;
    int column[COLUMNS], optics_column[COLUMNS]; // -1: absent
    int64_t *optics_row;                         // of each group number, -1: none
    int64_t groups;
    int pixel_px; // rlnPixelSize, which RELION before 3.1 sometimes writes
} reading;

#define ROW_FAULT(r, row, ...) rg_star_fault((r)->star.path, (r)->rows->row_line[row], __VA_ARGS__)

// The line with the value of a column that exists.
static int64_t line_of(const reading *r, int64_t row, int64_t optics_row, int which) {
    return r->column[which] >= 0 ? r->rows->row_line[row] : r->optics->row_line[optics_row];
}

// The number of a column in the particle's row or its optics group; standard if it is in neither.
static int number(const reading *r, int64_t row, int64_t optics_row, int which, double standard, double *value) {
    *value = standard;
    if (r->column[which] >= 0) return rg_star_real(&r->star, r->rows, row, r->column[which], value);
    if (optics_row >= 0 && r->optics_column[which] >= 0)
        return rg_star_real(&r->star, r->optics, optics_row, r->optics_column[which], value);
    return RG_GOOD;
}

static bool has(const reading *r, int which) { return r->column[which] >= 0 || (r->optics && r->optics_column[which] >= 0); }

static int read_groups(reading *r) {
    enum { MOST = 1 << 20 };
    if (!r->optics) return RG_GOOD;
    int column = r->optics_column[GROUP];
    if (column < 0) return rg_star_fault(r->star.path, r->optics->line, "expected _rlnOpticsGroup in data_optics, found none");
    if (r->column[GROUP] < 0)
        return rg_star_fault(r->star.path, r->rows->line,
            "expected a column _rlnOpticsGroup in data_%s beside data_optics, found "
            "none",
            r->rows->name);
    for (int64_t row = 0; row < r->optics->n_rows; row++) {
        int64_t group;
        int code = rg_star_int(&r->star, r->optics, row, column, 0, MOST, &group);
        if (code != RG_GOOD) return code;
        if (group >= r->groups) {
            while (r->groups <= group) {
                r->optics_row = rg_grow(r->optics_row, r->groups, sizeof *r->optics_row);
                r->optics_row[r->groups++] = -1;
            }
        }
        if (r->optics_row[group] >= 0)
            return rg_star_fault(
                r->star.path, r->optics->row_line[row], "expected each optics group once, found %" PRId64 " again", group);
        r->optics_row[group] = row;
    }
    return RG_GOOD;
}

static int group_of(const reading *r, int64_t row, int64_t *optics_row) {
    int64_t group;
    *optics_row = -1;
    if (!r->optics) return RG_GOOD;
    int code = rg_star_int(&r->star, r->rows, row, r->column[GROUP], 0, INT32_MAX, &group);
    if (code != RG_GOOD) return code;
    if (group >= r->groups || r->optics_row[group] < 0)
        return ROW_FAULT(r, row, "expected an optics group of data_optics, found %" PRId64, group);
    *optics_row = r->optics_row[group];
    return RG_GOOD;
}

// ---- one row -------------------------------------------------------------------------------------------------------------

// A value other than 0 in one of these columns means that this suite would misread the images.
static int refuse_not_done(const rg_star *star, const rg_star_table *rows) {
    static const struct {
        const char *column, *what;
    } not_done[] = {
        {"rlnTomoSubTomosAre2DStacks", "two-dimensional stacks of RELION 5, whose frames have poses and doses of their own"},
        {"rlnTomoVisibleFrames", "two-dimensional stacks of RELION 5, whose frames have poses and doses of their own"},
        {"rlnTomoProjX", "projection matrices of a tilt series"},
        {"rlnCtfImage", "volumes of the CTF, as subtomograms have them"},
    };
    for (int t = 0; t < star->n_tables; t++)
        for (size_t i = 0; i < sizeof not_done / sizeof *not_done; i++) {
            const rg_star_table *table = &star->table[t];
            const int column = rg_star_column(table, not_done[i].column);
            const bool counts = table == rows || strcmp(table->name, "general") == 0 || strcmp(table->name, "optics") == 0;
            for (int64_t row = 0; column >= 0 && counts && row < table->n_rows; row++)
                if (strcmp(rg_star_cell(table, row, column), "0") != 0)
                    return rg_star_fault(star->path, table->row_line[row],
                        "expected single images with one pose each, found a "
                        "column _%s (%s), which is not done here",
                        not_done[i].column, not_done[i].what);
        }
    return RG_GOOD;
}

// Aberrations and distortions beyond the CTF, as RELION refines them: ignored with one warning.
static void say_ignored(const rg_star *star, const rg_star_table *rows) {
    static const char *const ignored[] = {"rlnBeamTiltX", "rlnBeamTiltY", "rlnOddZernike", "rlnEvenZernike", "rlnMagMat00",
        "rlnMagMat01", "rlnMagMat10", "rlnMagMat11"};
    char text[256] = "";
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        const char *neutral = !strcmp(ignored[i], "rlnMagMat00") || !strcmp(ignored[i], "rlnMagMat11") ? "1" : "0";
        bool counts = false;
        for (int t = 0; t < star->n_tables && !counts; t++) {
            const rg_star_table *table = &star->table[t];
            const int column = table == rows || !strcmp(table->name, "optics") ? rg_star_column(table, ignored[i]) : -1;
            for (int64_t row = 0; column >= 0 && row < table->n_rows && !counts; row++) {
                const char *cell = rg_star_cell(table, row, column);
                // A number, or a list of coefficients in brackets.
                counts = *cell == '[' ? strpbrk(cell, "123456789") != NULL : strtod(cell, NULL) != strtod(neutral, NULL);
            }
        }
        if (counts) snprintf(text + strlen(text), sizeof text - strlen(text), "%s_%s", *text ? ", " : "", ignored[i]);
    }
    if (*text) rg_warn("%s: columns that are ignored here and differ from an ideal microscope: %s", star->path, text);
}

static int pixel_of(const reading *r, int64_t row, int64_t optics_row, double *pixel_A) {
    double detector_um, magnification;
    int code = RG_GOOD;
    *pixel_A = 0;
    if (has(r, PIXEL)) return number(r, row, optics_row, PIXEL, 0, pixel_A);
    if (r->pixel_px >= 0) return rg_star_real(&r->star, r->rows, row, r->pixel_px, pixel_A);
    if (!has(r, DETECTOR) && has(r, MAG))
        return ROW_FAULT(r, row,
            "expected _rlnDetectorPixelSize or _rlnImagePixelSize beside _rlnMagnification, without which "
            "it says no pixel size, found neither");
    if (!has(r, DETECTOR)) return RG_GOOD;
    code = number(r, row, optics_row, DETECTOR, 0, &detector_um);
    if (code == RG_GOOD) code = number(r, row, optics_row, MAG, 10000, &magnification);
    if (code == RG_GOOD) *pixel_A = detector_um * 1e4 / magnification;
    return code;
}

// All rows must have the same pixel size: the images of a job are inserted into one map.
static int read_pixel(reading *r, int64_t row, int64_t optics_row) {
    double pixel_A;
    int code = pixel_of(r, row, optics_row, &pixel_A);
    if (code != RG_GOOD) return code;
    bool known = has(r, PIXEL) || r->pixel_px >= 0 || has(r, DETECTOR);
    if (known && !(pixel_A >= 1e-3 && pixel_A <= 1e6))
        return ROW_FAULT(r, row, "expected a pixel size from 0.001 to 1e6 A, found %g", pixel_A);
    if (row == 0)
        r->p->pixel_A = pixel_A;
    else if (known && fabs(pixel_A - r->p->pixel_A) > 1e-6 * r->p->pixel_A)
        return ROW_FAULT(r, row, "expected a pixel of %g A as in the first row, found %g A", r->p->pixel_A, pixel_A);
    return RG_GOOD;
}

// "000001@stack.mrcs", or the name of a file of one image.
static int read_name(reading *r, int64_t row, const char **name) {
    const char *text = rg_star_cell(r->rows, row, r->column[IMAGE]), *at = strchr(text, '@');
    char *end;
    rg_particle *particle = &r->p->row[row];
    particle->image = 0;
    *name = at ? at + 1 : text;
    if (at) {
        long long image = strtoll(text, &end, 10);
        if (end != at || image < 1) return ROW_FAULT(r, row, "expected IMAGE@STACK with images from 1, found \"%.60s\"", text);
        particle->image = image - 1;
    }
    return **name ? RG_GOOD : ROW_FAULT(r, row, "expected the name of a stack, found \"%.60s\"", text);
}

static int read_origin(const reading *r, int64_t row, int in_A, int in_px, double *origin_px) {
    double value;
    int code = number(r, row, -1, in_A, NAN, &value);
    if (code != RG_GOOD) return code;
    if (isnan(value)) return number(r, row, -1, in_px, 0, origin_px);
    if (value != 0 && !(r->p->pixel_A > 0))
        return ROW_FAULT(r, row, "expected a pixel size for origins in A, found none in the file");
    *origin_px = value == 0 ? 0 : value / r->p->pixel_A;
    return RG_GOOD;
}

// Whether the images are as column `which` states; all rows must agree.
static int read_flag(const reading *r, int64_t row, int64_t optics_row, int which, bool *flag) {
    double value;
    int code = number(r, row, optics_row, which, 0, &value);
    if (code == RG_GOOD && value != 0 && value != 1)
        code = rg_star_fault(
            r->star.path, line_of(r, row, optics_row, which), "expected 0 or 1 for _%s, found %g", column_name[which], value);
    if (code == RG_GOOD && row && *flag != (value == 1))
        code = ROW_FAULT(r, row, "expected _%s %d as in the first row, found %g", column_name[which], *flag, value);
    *flag = value == 1;
    return code;
}

static int read_numbers(reading *r, int64_t row, int64_t optics_row) {
    rg_particle *q = &r->p->row[row];
    double subset;
    // most, least: beyond any microscope (defoci of 1 mm, 10 MV), or beyond the range of single precision for a map.
    const struct {
        int which;
        double standard, least, most, *value;
    } need[] = {
        {ROT, 0, 0, 1e6, &q->rot_deg},
        {TILT, 0, 0, 1e6, &q->tilt_deg},
        {PSI, 0, 0, 1e6, &q->psi_deg},
        {U, 0, 0, 1e7, &q->ctf.defocus_u_A},
        {V, 0, 0, 1e7, &q->ctf.defocus_v_A},
        {ANGLE, 0, 0, 1e6, &q->ctf.defocus_angle_deg},
        {PHASE, 0, 0, 1e6, &q->ctf.phase_shift_deg},
        {B, 0, 0, 1e6, &q->ctf.b_factor_A2},
        {SCALE, 1, 1e-6, 1e6, &q->ctf.scale},
        {KV, 0, 1, 1e4, &q->ctf.voltage_kV},
        {CS, 0, 0, 1e4, &q->ctf.cs_mm},
        {CONTRAST, 0, 0, 1, &q->ctf.amplitude_contrast},
    };
    int code = RG_GOOD;
    for (size_t i = 0; i < sizeof need / sizeof *need && code == RG_GOOD; i++) {
        code = number(r, row, optics_row, need[i].which, need[i].standard, need[i].value);
        if (code == RG_GOOD && fabs(*need[i].value) > need[i].most)
            code = rg_star_fault(r->star.path, line_of(r, row, optics_row, need[i].which),
                "expected a number within +-%g for _%s, found %g", need[i].most, column_name[need[i].which], *need[i].value);
        if (code == RG_GOOD && has(r, need[i].which) && fabs(*need[i].value) < need[i].least)
            code = rg_star_fault(r->star.path, line_of(r, row, optics_row, need[i].which),
                "expected a number beyond +-%g for _%s, found %g", need[i].least, column_name[need[i].which], *need[i].value);
    }
    if (code == RG_GOOD) code = read_origin(r, row, X_A, X_PX, &q->origin_x_px);
    if (code == RG_GOOD) code = read_origin(r, row, Y_A, Y_PX, &q->origin_y_px);
    if (code == RG_GOOD) code = read_flag(r, row, optics_row, PREMULTIPLIED, &r->p->premultiplied);
    if (code == RG_GOOD) code = read_flag(r, row, optics_row, FLIPPED, &r->p->phase_flipped);
    if (code == RG_GOOD && !(fabs(q->origin_x_px) <= 1e6 && fabs(q->origin_y_px) <= 1e6))
        code = ROW_FAULT(r, row, "expected an origin within 1e6 pixels, found %g, %g", q->origin_x_px, q->origin_y_px);
    if (code == RG_GOOD) code = number(r, row, -1, SUBSET, 0, &subset);
    if (code == RG_GOOD) q->subset = subset == 1 || subset == 2 ? (int)subset : 0;
    if (code == RG_GOOD && q->ctf.voltage_kV < 0)
        code = ROW_FAULT(r, row, "expected a voltage above 0 kV, found %g", q->ctf.voltage_kV);
    return code;
}

// ---- the whole -----------------------------------------------------------------------------------------------------------

int rg_particles_table(const rg_star *star, const rg_star_table **table) {
    static const char *const usual[] = {"particles", "images", ""};
    *table = NULL;
    for (int t = 0; t < star->n_tables; t++)
        if (rg_star_column(&star->table[t], "cisTEMPositionInStack") >= 0)
            return rg_star_fault(star->path, star->table[t].line,
                "expected RELION's columns, found cisTEM's; what they are there: _rlnImageName PositionInStack@StackFilename, "
                "_rlnAngleRot AnglePhi, _rlnAngleTilt AngleTheta, _rlnAnglePsi AnglePsi, _rlnOriginXAngst -XShift, "
                "_rlnOriginYAngst -YShift, _rlnDefocusU Defocus1, _rlnDefocusV Defocus2, _rlnPhaseShift 57.2958 PhaseShift");
    for (int i = 0; i < 3 && !*table; i++) *table = rg_star_find(star, usual[i]);
    for (int t = 0; t < star->n_tables && !(*table && rg_star_column(*table, column_name[IMAGE]) >= 0); t++)
        if (rg_star_column(&star->table[t], column_name[IMAGE]) >= 0) *table = &star->table[t];
    if (!*table)
        return rg_star_fault(star->path, star->table[0].line,
            "expected a block data_particles, data_images or data_, or one with "
            "a column _rlnImageName, found data_%s",
            star->table[0].name);
    for (const rg_star_table *t = *table + 1; t < star->table + star->n_tables; t++)
        if (!strcmp(t->name, (*table)->name) && rg_star_column(t, column_name[IMAGE]) >= 0)
            return rg_star_fault(
                star->path, t->line, "expected one block data_%s, found another: files put one after the other?", t->name);
    for (int i = 0; i < 3; i++)
        if (strcmp((*table)->name, usual[i]) == 0) return RG_GOOD;
    for (const rg_star_table *t = *table + 1; t < star->table + star->n_tables; t++)
        if (rg_star_column(t, column_name[IMAGE]) >= 0)
            return rg_star_fault(star->path, t->line,
                "expected one block with a column _rlnImageName, or data_particles, found "
                "data_%s and data_%s",
                (*table)->name, t->name);
    return RG_GOOD;
}

static void warn_of_defoci(const rg_particles *p) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        least = fmin(least, p->row[i].ctf.defocus_u_A);
        most = fmax(most, p->row[i].ctf.defocus_u_A);
    }
    rg_warn_of_defoci(p->path, "rows", least, most);
}

static int find_columns(reading *r, bool poses) {
    int code = rg_particles_table(&r->star, &r->rows);
    code = code == RG_GOOD ? refuse_not_done(&r->star, r->rows) : code;
    if (code != RG_GOOD) return code;
    r->optics = rg_star_find(&r->star, "optics");
    say_ignored(&r->star, r->rows);
    const char *name = r->rows->name;
    if (*name && strcmp(name, "particles") != 0 && strcmp(name, "images") != 0)
        rg_warn("%s: data_%s is taken, the block that has _rlnImageName", r->star.path, name);
    for (int i = 0; i < COLUMNS; i++) {
        r->column[i] = rg_star_column(r->rows, column_name[i]);
        r->optics_column[i] = r->optics ? rg_star_column(r->optics, column_name[i]) : -1;
    }
    r->pixel_px = rg_star_column(r->rows, "rlnPixelSize");
    static const int needed[] = {IMAGE, ROT, TILT, PSI}, for_ctf[] = {U, V, ANGLE, KV, CS, CONTRAST};
    for (int i = 0; i < (poses ? 4 : 1); i++)
        if (r->column[needed[i]] < 0)
            return rg_star_fault(r->star.path, r->rows->line, "expected a column _%s in data_%s, found none",
                column_name[needed[i]], r->rows->name);
    for (int i = 5; i >= 0; i--)
        if (!has(r, for_ctf[i])) r->p->lacks_ctf = column_name[for_ctf[i]];
    if (!r->rows->n_rows)
        return rg_star_fault(r->star.path, r->rows->line, "expected rows in data_%s, found none", r->rows->name);
    return RG_GOOD;
}

// Checks a column that must have this value if it exists; `what` continues the message.
static int expect(
    const reading *r, int64_t row, int64_t optics_row, int which, int64_t value, const char *what, const char *of) {
    double found;
    const int code = number(r, row, optics_row, which, (double)value, &found);
    return code != RG_GOOD || found == (double)value
        ? code
        : rg_star_fault(r->star.path, line_of(r, row, optics_row, which), "expected %" PRId64 " for _%s%s%s, found %g", value,
              column_name[which], what, of, found);
}

static int read_row(reading *r, rg_stack_names *names, int64_t row) {
    rg_particle *q = &r->p->row[row];
    const char *name;
    int64_t optics_row;
    q->line = r->rows->row_line[row];
    int code = group_of(r, row, &optics_row);
    if (code == RG_GOOD) code = read_pixel(r, row, optics_row);
    if (code == RG_GOOD) code = expect(r, row, optics_row, DIMENSIONS, 2, "", " (`regather average` takes subtomograms)");
    if (code == RG_GOOD) code = read_name(r, row, &name);
    if (code == RG_GOOD) code = rg_particles_stack(r->p, names, name, q->line, &q->stack);
    const rg_particle_stack *stack = &r->p->stack[q->stack];
    if (code == RG_GOOD && stack->images > 1 && !strchr(rg_star_cell(r->rows, row, r->column[IMAGE]), '@'))
        code = ROW_FAULT(r, row, "expected IMAGE@STACK, found \"%.120s\", which has %" PRId64 " image%s", name, stack->images,
            rg_plural(stack->images));
    if (code == RG_GOOD && q->image >= stack->images)
        code = ROW_FAULT(
            r, row, "expected an image from 1 to %" PRId64 " of %s, found %" PRId64, stack->images, stack->path, q->image + 1);
    // If stacks were binned later, the pixel size of the file is wrong as well.
    if (code == RG_GOOD) code = expect(r, row, optics_row, SIZE, r->p->side, ", the side of the images of ", stack->path);
    return code == RG_GOOD ? read_numbers(r, row, optics_row) : code;
}

static int open_rows(rg_particles *p, const char *star_path, bool poses) {
    *p = (rg_particles){.path = rg_print("%s", star_path), .open = -1};
    reading r = {.p = p};
    rg_stack_names names = {0};
    int code = rg_star_read(star_path, &r.star);
    if (code == RG_GOOD) {
        code = find_columns(&r, poses);
        if (code == RG_GOOD) code = read_groups(&r);
        p->n = code == RG_GOOD ? r.rows->n_rows : 0;
        p->row = rg_alloc((size_t)p->n * sizeof *p->row);
        bool has_rows[3] = {false};
        for (int64_t row = 0; row < p->n && code == RG_GOOD; row++) {
            code = read_row(&r, &names, row);
            has_rows[p->row[row].subset] = true;
        }
        p->subsets = has_rows[1] && has_rows[2];
        rg_star_free(&r.star);
    }
    rg_particles_stacks_end(p, &names);
    free(r.optics_row);
    if (code == RG_GOOD) {
        warn_of_unnamed_and_repeated(p);
        warn_of_defoci(p);
    } else {
        rg_particles_close(p);
    }
    return code;
}

static void close_stack(rg_particles *p) {
    if (p->open >= 0) rg_mrc_close(&p->file);
    p->open = -1;
}

rg_particles *rg_particles_reader(const rg_particles *p) {
    rg_particles *reader = rg_alloc(sizeof *reader);
    *reader = *p;
    reader->open = -1;
    return reader;
}

void rg_particles_reader_close(void *reader) {
    close_stack(reader);
    free(reader);
}

int rg_particles_plain(const rg_particles *p) {
    if (!p->premultiplied && !p->phase_flipped) return RG_GOOD;
    return rg_fail(RG_USAGE, "%s: expected images to which no CTF has been applied, found _%s 1", p->path,
        column_name[p->premultiplied ? PREMULTIPLIED : FLIPPED]);
}

int rg_particles_half(const rg_particles *p, int64_t i) { return p->subsets ? p->row[i].subset - 1 : (int)(i % 2); }

int rg_particles_halves(const rg_particles *p) {
    for (int64_t i = 0; i < p->n; i++)
        if (rg_particles_half(p, i) < 0)
            return rg_star_fault(p->path, p->row[i].line,
                "expected 1 or 2 for _rlnRandomSubset, which says whose half map it is, "
                "found neither");
    return p->n > 1 ? RG_GOOD : rg_fail(RG_USAGE, "%s: expected at least two rows for half maps, found one", p->path);
}

int rg_particles_open(rg_particles *p, const char *star_path) { return open_rows(p, star_path, true); }
int rg_particles_open_without_poses(rg_particles *p, const char *star_path) { return open_rows(p, star_path, false); }

void rg_particles_close(rg_particles *p) {
    close_stack(p);
    for (int i = 0; i < p->n_stacks; i++) free(p->stack[i].path);
    free(p->stack);
    free(p->row);
    free(p->path);
    *p = (rg_particles){.open = -1};
}

// Magnitudes have the order of their bits, with infinities and NaNs above all numbers; as integers, the loop is vectorised.
static bool all_good(const float *value, int64_t n) {
    const uint32_t *bits = (const void *)value;
    uint32_t found = 0, most;
    memcpy(&most, &RG_VALUE_MOST, sizeof most);
    for (int64_t i = 0; i < n; i++) found |= (bits[i] & 0x7FFFFFFF) > most;
    return !found;
}

int rg_particles_image(rg_particles *p, int64_t i, float *image) {
    const rg_particle *q = &p->row[i];
    int code = RG_GOOD;
    if (p->open != q->stack) {
        close_stack(p);
        code = rg_mrc_open(&p->file, p->stack[q->stack].path);
        if (code != RG_GOOD) return code;
        p->open = q->stack;
        if (p->file.nx != p->side || p->file.ny != p->side)
            return rg_fail(RG_USAGE, "%s: changed while it was being read", p->file.path);
    }
    code = rg_mrc_section(&p->file, q->image, image);
    if (code != RG_GOOD || all_good(image, p->side * p->side)) return code;
    for (int64_t j = 0; j < p->side * p->side && code == RG_GOOD; j++)
        if (!(fabsf(image[j]) <= RG_VALUE_MOST))
            code = rg_fail(RG_USAGE,
                "%s: image %" PRId64 ": expected finite values within +-%g, found %g at column %" PRId64 ", row %" PRId64,
                p->file.path, q->image + 1, RG_VALUE_MOST, image[j], j % p->side, j / p->side);
    return code;
}
