// SPDX-License-Identifier: MIT
#include "par.h"
#include "stacks.h"
#include "../../impl/base/malformed.h"

// most: the largest magnitude that is read. Degrees to a thousand turns or so; shifts in A or pixels to 1e6 and defoci to 1 mm:
// beyond any detector and any lens, so that a number that makes a map of NaN or zeros is told of.
static const struct {
    const char *name;
    int width, decimals;
    double most;
} field[RG_PAR_FIELDS] = {{"NO", 7, 0, INT32_MAX}, {"PSI", 8, 2, 1e6}, {"THETA", 8, 2, 1e6}, {"PHI", 8, 2, 1e6},
    {"SHX", 10, 2, 1e6}, {"SHY", 10, 2, 1e6}, {"MAG", 8, 0, 1e9}, {"FILM", 6, 0, 1e9}, {"DF1", 9, 1, 1e7}, {"DF2", 9, 1, 1e7},
    {"ANGAST", 8, 2, 1e6}, {"OCC", 8, 2, 1e9}, {"LogP", 10, 0, 1e15}, {"SIGMA", 11, 4, 1e15}, {"SCORE", 8, 2, 1e9},
    {"CHANGE", 8, 2, 1e9}, {"PRESA", 8, 2, 1e9}, {"PSHIFT", 8, 2, 1e6}};

// Columns NO .. ANGAST are common to all kinds. `longest`: rows up to this length, without trailing blanks, are of the kind if
// their words do not decide it (FREALIGN's rule).
enum { COMMON = RG_PAR_ANGAST + 1, KINDS = 5, COLUMNS_MAX = 17 };
static const struct {
    int version, columns, longest;
    rg_par_field last[COLUMNS_MAX - COMMON];
} kind[KINDS] = {
    {8, 12, 95, {RG_PAR_PRESA}},
    {8, 13, 0, {RG_PAR_PRESA, RG_PAR_CHANGE}},                                                       // by its words only
    {9, 17, 0, {RG_PAR_PSHIFT, RG_PAR_OCC, RG_PAR_LOGP, RG_PAR_SIGMA, RG_PAR_SCORE, RG_PAR_CHANGE}}, // cisTEM's, likewise
    {9, 15, 128, {RG_PAR_OCC, RG_PAR_LOGP, RG_PAR_SCORE, RG_PAR_CHANGE}},
    {9, 16, 1 << 20, {RG_PAR_OCC, RG_PAR_LOGP, RG_PAR_SIGMA, RG_PAR_SCORE, RG_PAR_CHANGE}},
};

static int field_of(int k, int column) { return column < COMMON ? column : (int)kind[k].last[column - COMMON]; }

static int width_of(int k, int which) {
    bool is_shift = which == RG_PAR_SHX || which == RG_PAR_SHY;
    return is_shift && kind[k].version == 8 ? 8 : field[which].width;
}

int rg_par_version(const rg_par *p) { return kind[p->kind].version; }

// ---- reading -------------------------------------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Splits the line into words, begin[] and length[]; those beyond COLUMNS_MAX are only counted.
static int cut(const char *line, const char *end, const char *begin[], int length[]) {
    int n = 0;
    while (line < end) {
        while (line < end && is_blank(*line)) line++;
        const char *from = line;
        while (line < end && !is_blank(*line)) line++;
        if (line > from && n < COLUMNS_MAX) {
            begin[n] = from;
            length[n] = (int)(line - from);
        }
        n += line > from;
    }
    return n;
}

static void cut_widths(int k, const char *line, const char *end, const char *begin[], int length[]) {
    for (int c = 0; c < kind[k].columns; c++) {
        int width = width_of(k, field_of(k, c));
        begin[c] = line;
        length[c] = (int)(end - line < width ? end - line : width);
        line += length[c];
    }
}

static bool number(const char *text, int length, double *value) {
    char copy[64], *end;
    while (length && is_blank(text[0])) text++, length--;
    while (length && is_blank(text[length - 1])) length--;
    if (!length || length >= (int)sizeof copy) return false;
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    return rg_decimal(copy, &end, value) && end == copy + length;
}

// Sets the row from the columns; returns -1, or the first column that is not a number.
static int parse_words(int k, const char *const begin[], const int length[], rg_par_row *row) {
    for (int c = 0; c < kind[k].columns; c++)
        if (!number(begin[c], length[c], &row->value[field_of(k, c)])) return c;
    return -1;
}

static int width_of_all(int k) {
    int width = 0;
    for (int c = 0; c < kind[k].columns; c++) width += width_of(k, field_of(k, c));
    return width;
}

// Reads the columns by the widths of the kind with rows of exactly this length, if columns touch: the number of words may be
// that of another kind. Else by words, if their number is that of a kind and they are numbers. Else by the widths of the kind
// that the length determines.
static int read_columns(rg_par *p, const char *line, const char *end, int64_t line_number, rg_par_row *row, int *which) {
    const char *begin[COLUMNS_MAX], *of_width[COLUMNS_MAX];
    int length[COLUMNS_MAX], lengths[COLUMNS_MAX], words = cut(line, end, begin, length), k = 0, by_length = 0;
    for (*which = 0; *which < KINDS; ++*which) {
        cut_widths(*which, line, end, of_width, lengths);
        if (kind[*which].longest && end - line == width_of_all(*which) && words < kind[*which].columns &&
            parse_words(*which, of_width, lengths, row) < 0)
            return RG_GOOD;
    }
    *row = (rg_par_row){.line = line_number};
    while (k < KINDS && kind[k].columns != words) k++;
    int bad = k < KINDS ? parse_words(k, begin, length, row) : COLUMNS_MAX;
    *which = k;
    if (bad < 0) return RG_GOOD;
    while (by_length < KINDS - 1 && end - line > kind[by_length].longest) by_length++;
    cut_widths(by_length, line, end, of_width, lengths);
    *row = (rg_par_row){.line = line_number};
    *which = by_length;
    if (words < kind[by_length].columns && parse_words(by_length, of_width, lengths, row) < 0) return RG_GOOD;
    if (k == KINDS)
        return rg_star_fault(
            p->path, line_number, "expected 12 or 13 columns (version 8), 15, 16 or 17 (version 9), found %d", words);
    return rg_star_fault(p->path, line_number, "expected a number in column %s, found %s", field[field_of(k, bad)].name,
        rg_quote_bytes(begin[bad], length[bad]));
}

static int read_row(rg_par *p, const char *line, const char *end, int64_t line_number) {
    rg_par_row *row = &p->row[p->n];
    int k;
    *row = (rg_par_row){.line = line_number};
    int code = read_columns(p, line, end, line_number, row, &k);
    if (code != RG_GOOD) return code;
    if (p->n && k != p->kind)
        return rg_star_fault(p->path, line_number, "expected %d columns as in the rows before, found %d", kind[p->kind].columns,
            kind[k].columns);
    p->kind = k;
    for (int c = 0; c < kind[k].columns; c++) {
        const int which = field_of(k, c);
        if (fabs(row->value[which]) > field[which].most)
            return rg_star_fault(p->path, line_number, "expected a number within +-%g in column %s, found %g",
                field[which].most, field[which].name, row->value[which]);
    }
    double no = row->value[RG_PAR_NO];
    if (!(no >= 1 && no <= INT32_MAX && no == floor(no)))
        return rg_star_fault(p->path, line_number, "expected a whole number from 1 in column NO, found %g", no);
    if (!(row->value[RG_PAR_MAG] > 0))
        return rg_star_fault(p->path, line_number, "expected a magnification above 0, found %g", row->value[RG_PAR_MAG]);
    p->n++;
    return RG_GOOD;
}

static int read_rows(rg_par *p, const char *text, const char *end) {
    int64_t line_number = 0;
    int code = RG_GOOD;
    for (const char *line = text, *next; line < end && code == RG_GOOD; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        const char *last = next;
        line_number++;
        while (last > line && is_blank(last[-1])) last--;
        if (last == line || *line == 'C' || *line == 'c') continue;
        p->row = rg_grow(p->row, p->n, sizeof *p->row);
        code = read_row(p, line, last, line_number);
    }
    if (code == RG_GOOD && !p->n) code = rg_star_fault(p->path, line_number + 1, "expected rows of numbers, found none");
    return code;
}

int rg_par_read(const char *path, rg_par *p) {
    char *text;
    int64_t bytes;
    *p = (rg_par){0};
    int code = rg_input_text(path, INT64_MAX, &text, &bytes);
    if (code != RG_GOOD) return code;
    p->path = rg_print("%s", path);
    code = read_rows(p, text, text + bytes);
    free(text);
    if (code != RG_GOOD) rg_par_free(p);
    return code;
}

void rg_par_free(rg_par *p) {
    free(p->path);
    free(p->row);
    *p = (rg_par){0};
}

// ---- writing -------------------------------------------------------------------------------------------------------------

void rg_par_make(rg_par *p, int version, int64_t n) {
    *p = (rg_par){
        .path = rg_print("%s", ""), .kind = version == 8 ? 0 : KINDS - 1, .n = n, .row = rg_alloc((size_t)n * sizeof *p->row)};
    for (int64_t i = 0; i < n; i++) {
        p->row[i].value[RG_PAR_NO] = (double)(i + 1);
        p->row[i].value[RG_PAR_MAG] = 10000;
        p->row[i].value[RG_PAR_OCC] = 100;
    }
}

static int write_row(const rg_par *p, int64_t i, FILE *out, const char *path) {
    for (int c = 0; c < kind[p->kind].columns; c++) {
        int which = field_of(p->kind, c), width = width_of(p->kind, which);
        double value = p->row[i].value[which];
        char text[64];
        int length = snprintf(text, sizeof text, "%*.*f", width, field[which].decimals, value);
        const bool touches = c && kind[p->kind].longest == 0 && length == width && text[0] != ' '; // read by its words only
        const bool lost = which == RG_PAR_MAG && !(strtod(text, NULL) > 0); // a magnification that reads as 0
        if (!isfinite(value) || length > width || touches || lost)
            return rg_fail(RG_USAGE, "%s: row %" PRId64 ": %g does not fit into column %s of %d characters", path, i + 1, value,
                field[which].name, touches ? width - 1 : width);
        fputs(text, out);
    }
    putc('\n', out);
    return RG_GOOD;
}

int rg_par_write(const char *path, const rg_par *p) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    putc('C', file.stream);
    for (int c = 0; c < kind[p->kind].columns; c++) {
        int which = field_of(p->kind, c), width = width_of(p->kind, which);
        fprintf(file.stream, "%*s", c ? width : width - 1, field[which].name);
    }
    putc('\n', file.stream);
    for (int64_t i = 0; i < p->n && code == RG_GOOD; i++) code = write_row(p, i, file.stream, path);
    return rg_file_end(&file, code);
}

// ---- as particles --------------------------------------------------------------------------------------------------------

static void convert(const rg_par *par, int64_t i, const rg_par_optics *o, rg_particle *q) {
    const double *v = par->row[i].value, to_px = rg_par_version(par) == 8 ? 1 : 1 / o->pixel_A;
    *q = (rg_particle){
        .rot_deg = v[RG_PAR_PHI],
        .tilt_deg = v[RG_PAR_THETA],
        .psi_deg = v[RG_PAR_PSI],
        .origin_x_px = -v[RG_PAR_SHX] * to_px,
        .origin_y_px = -v[RG_PAR_SHY] * to_px,
        .ctf = {.voltage_kV = o->voltage_kV,
            .cs_mm = o->cs_mm,
            .amplitude_contrast = o->amplitude_contrast,
            .defocus_u_A = v[RG_PAR_DF1],
            .defocus_v_A = v[RG_PAR_DF2],
            .defocus_angle_deg = v[RG_PAR_ANGAST],
            .scale = 1},
        .image = (int64_t)v[RG_PAR_NO] - 1,
        .line = par->row[i].line,
    };
}

int rg_par_particles(const rg_par *par, const char *stack, const rg_par_optics *o, rg_particles *p) {
    rg_stack_names names = {0};
    int which;
    *p = (rg_particles){.path = rg_print("%s", par->path), .pixel_A = o->pixel_A, .open = -1};
    int code = rg_particles_stack(p, &names, stack, 1, &which);
    rg_particles_stacks_end(p, &names);
    if (code == RG_GOOD && par->n != p->stack[0].images)
        code = rg_fail(RG_USAGE, "%s: expected %" PRId64 " row%s, one for each image of %s, found %" PRId64, par->path,
            p->stack[0].images, rg_plural(p->stack[0].images), p->stack[0].path, par->n);
    p->n = par->n;
    p->row = rg_alloc((size_t)par->n * sizeof *p->row);
    for (int64_t i = 0; i < par->n && code == RG_GOOD; i++) {
        const double *v = par->row[i].value;
        convert(par, i, o, &p->row[i]);
        if (p->row[i].image >= p->stack[0].images)
            code = rg_star_fault(
                par->path, par->row[i].line, "expected NO from 1 to %" PRId64 ", found %g", p->stack[0].images, v[RG_PAR_NO]);
        else if (v[RG_PAR_PSHIFT] != 0)
            code = rg_star_fault(par->path, par->row[i].line,
                "expected no phase shift (PSHIFT 0), whose unit is not the same in all programs, found %g; a STAR file of RELION has "
                "_rlnPhaseShift in degrees",
                v[RG_PAR_PSHIFT]);
        else if (v[RG_PAR_MAG] != par->row[0].value[RG_PAR_MAG])
            code = rg_star_fault(par->path, par->row[i].line, "expected the magnification %g of the first row, found %g",
                par->row[0].value[RG_PAR_MAG], v[RG_PAR_MAG]);
    }
    if (code != RG_GOOD) rg_particles_close(p);
    return code;
}

void rg_par_set_pose(rg_par *par, int64_t i, const rg_particle *q, double pixel_A) {
    double *v = par->row[i].value, from_px = rg_par_version(par) == 8 ? 1 : pixel_A;
    v[RG_PAR_PSI] = q->psi_deg;
    v[RG_PAR_THETA] = q->tilt_deg;
    v[RG_PAR_PHI] = q->rot_deg;
    v[RG_PAR_SHX] = -q->origin_x_px * from_px;
    v[RG_PAR_SHY] = -q->origin_y_px * from_px;
}
