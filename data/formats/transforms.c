// SPDX-License-Identifier: MIT
#include "transforms.h"
#include "../../impl/base/malformed.h"
#include "../../impl/base/tsv.h"

static const double DEGREE = M_PI / 180;

static double wrap_deg(double a) { return a - 360 * floor((a + 180) / 360); }

rg_affine rg_affine_of(const rg_similarity *s) {
    const double c = s->scale * cos(s->rotation_deg * DEGREE), d = s->scale * sin(s->rotation_deg * DEGREE);
    return (rg_affine){{c, -d, d, c}, {s->shift_x_px, s->shift_y_px}};
}

rg_similarity rg_affine_similarity(const rg_affine *t) {
    const double *a = t->a;
    return (rg_similarity){
        wrap_deg(atan2(a[2] - a[1], a[0] + a[3]) / DEGREE), t->shift_px[0], t->shift_px[1], sqrt(a[0] * a[3] - a[1] * a[2])};
}

void rg_affine_apply(const rg_affine *t, const double p[2], double moved[2]) {
    const double x = p[0], y = p[1];
    moved[0] = t->a[0] * x + t->a[1] * y + t->shift_px[0];
    moved[1] = t->a[2] * x + t->a[3] * y + t->shift_px[1];
}

rg_affine rg_affine_then(const rg_affine *first, const rg_affine *second) {
    const double *f = first->a, *s = second->a;
    rg_affine both = {
        {s[0] * f[0] + s[1] * f[2], s[0] * f[1] + s[1] * f[3], s[2] * f[0] + s[3] * f[2], s[2] * f[1] + s[3] * f[3]}, {0, 0}};
    rg_affine_apply(second, first->shift_px, both.shift_px);
    return both;
}

rg_affine rg_affine_inverse(const rg_affine *t) {
    const double *a = t->a, det = a[0] * a[3] - a[1] * a[2];
    rg_affine inverse = {{a[3] / det, -a[1] / det, -a[2] / det, a[0] / det}, {0, 0}};
    rg_affine_apply(&inverse, (const double[2]){-t->shift_px[0], -t->shift_px[1]}, inverse.shift_px);
    return inverse;
}

// With S = diag(1, -1) the other end's centre is off by e = (0, height - 1 - 2 floor(height / 2)): A' = S A S and
// shift' = S shift + e - A' e.
rg_affine rg_affine_flip_rows(const rg_affine *t, int64_t height) {
    const double e = (double)(height - 1 - 2 * (height / 2));
    const double a[4] = {t->a[0], -t->a[1], -t->a[2], t->a[3]};
    return (rg_affine){{a[0], a[1], a[2], a[3]}, {t->shift_px[0] - a[1] * e, -t->shift_px[1] + e - a[3] * e}};
}

rg_affine rg_tilt_stretch(double axis_deg, double from_deg, double to_deg) {
    const double by = cos(to_deg * DEGREE) / cos(from_deg * DEGREE) - 1;
    const double x = cos(axis_deg * DEGREE), y = sin(axis_deg * DEGREE); // across the axis
    return (rg_affine){{1 + by * x * x, by * x * y, by * x * y, 1 + by * y * y}, {0, 0}};
}

// A = Rz(psi) Ry(tilt) Rz(rot), each [[c, s], [-s, c]]: its third row is (sin tilt cos rot, sin tilt sin rot, cos tilt) and its
// third column (-sin tilt cos psi, sin tilt sin psi, cos tilt).
void rg_pose_angles(const double a[9], rg_pose *pose) {
    double across = hypot(a[6], a[7]);
    pose->tilt_deg = atan2(across, a[8]) / DEGREE;
    if (across > 1e-12) {
        pose->rot_deg = atan2(a[7], a[6]) / DEGREE;
        pose->psi_deg = atan2(a[5], -a[2]) / DEGREE;
    } else {
        pose->rot_deg = 0;
        pose->psi_deg = atan2(a[1], a[4]) / DEGREE;
    }
}

// The chord |A - B| = 2 sqrt 2 sin(angle / 2), which stays exact where the angle is small.
double rg_rotation_apart_deg(const double a[9], const double b[9]) {
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return 2 * asin(fmin(1, sqrt(sum / 8))) / DEGREE;
}

// ---- files ---------------------------------------------------------------------------------------------------------------

int rg_transforms_write(const char *path, const char *head, int64_t n, const rg_affine *t, rg_transform_columns with) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "%simage\trotation_deg\tshift_x_px\tshift_y_px\tscale%s%s%s%s\n", head,
        with.correlation ? "\tcorrelation" : "", with.tilt_deg ? "\ttilt_deg" : "", with.linear ? "\ta11\ta12\ta21\ta22" : "",
        with.edge ? "\tedge" : "");
    for (int64_t i = 0; i < n; i++) {
        const rg_similarity s = rg_affine_similarity(&t[i]);
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\t%.9g", i + 1, s.rotation_deg, s.shift_x_px, s.shift_y_px, s.scale);
        if (with.correlation) fprintf(file.stream, "\t%.9g", with.correlation[i]);
        if (with.tilt_deg) fprintf(file.stream, "\t%.9g", with.tilt_deg[i]);
        for (int k = 0; k < 4 && with.linear; k++) fprintf(file.stream, "\t%.9g", t[i].a[k]);
        if (with.edge) fprintf(file.stream, "\t%s", with.edge[i]);
        putc('\n', file.stream);
    }
    return rg_file_commit(&file);
}

int rg_xf_write(const char *path, int64_t n, const rg_affine *t, int64_t width, int64_t height) {
    rg_file file;
    int code = rg_file_open(&file, path);
    // Our centre minus IMOD's.
    const double d[2] = {(double)(width / 2) - (double)(width - 1) / 2, (double)(height / 2) - (double)(height - 1) / 2};
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        const double *a = t[i].a;
        fprintf(file.stream, "%12.7f%12.7f%12.7f%12.7f%12.3f%12.3f\n", a[0], a[1], a[2], a[3],
            t[i].shift_px[0] + d[0] - (a[0] * d[0] + a[1] * d[1]), t[i].shift_px[1] + d[1] - (a[2] * d[0] + a[3] * d[1]));
    }
    return code == RG_GOOD ? rg_file_commit(&file) : code;
}

int rg_tilts_write(const char *path, int64_t n, const double *tilt_deg) {
    rg_file file;
    int code = rg_file_open(&file, path);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) fprintf(file.stream, "%.2f\n", tilt_deg[i]);
    return code == RG_GOOD ? rg_file_commit(&file) : code;
}

int rg_poses_write(
    const char *path, const char *head, int64_t n, const char *const *name, const rg_pose *pose, const double *correlation) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "%sparticle\trot_deg\ttilt_deg\tpsi_deg\tshift_x_px\tshift_y_px\tshift_z_px%s\n", head,
        correlation ? "\tcorrelation" : "");
    for (int64_t i = 0; i < n; i++) {
        const rg_pose *p = &pose[i];
        rg_tsv_print(file.stream, "%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g", name[i], p->rot_deg, p->tilt_deg, p->psi_deg,
            p->shift_px[0], p->shift_px[1], p->shift_px[2]);
        if (correlation) fprintf(file.stream, "\t%.9g", correlation[i]);
        putc('\n', file.stream);
    }
    return rg_file_commit(&file);
}

// Reads the numbers after the first column, a name: n rows of at least this many; then the numbers of the `more` columns with
// these names, NaN if absent.
static int read_rows(const char *path, int64_t n, int numbers, double *value, int more, const char *const *name) {
    rg_tsv t;
    int code = rg_tsv_read(path, &t);
    if (code != RG_GOOD) return code;
    if (t.n_columns <= numbers)
        code = rg_fail(RG_USAGE, "%s: line %d: expected a name and %d numbers, found %d columns", path, t.names_line, numbers,
            t.n_columns);
    else if (t.n_rows != n)
        code = rg_fail(RG_USAGE, "%s: expected %" PRId64 " row%s, found %d", path, n, rg_plural(n), t.n_rows);
    for (int i = 0; code == RG_GOOD && i < t.n_rows; i++) {
        double *row = value + i * (numbers + more);
        for (int k = 0; code == RG_GOOD && k < numbers; k++)
            if (!isfinite(row[k] = rg_tsv_number_at(&t, i, k + 1))) code = rg_tsv_fault_at(&t, i, k + 1, "a finite number");
        for (int k = 0; k < more; k++) row[numbers + k] = rg_tsv_number(&t, i, name[k]);
    }
    rg_tsv_free(&t);
    return code;
}

int rg_transforms_read(const char *path, int64_t n, rg_affine *t) {
    static const char *const linear[4] = {"a11", "a12", "a21", "a22"};
    RG_FREED double *v = rg_alloc((size_t)(8 * n) * sizeof *v);
    int code = read_rows(path, n, 4, v, 4, linear);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        const double *row = v + 8 * i;
        t[i] = rg_affine_of(&(rg_similarity){row[0], row[1], row[2], row[3]});
        if (isfinite(row[4] + row[5] + row[6] + row[7])) memcpy(t[i].a, row + 4, sizeof t[i].a);
    }
    return code;
}

int rg_poses_read(const char *path, int64_t n, rg_pose *pose) {
    RG_FREED double *v = rg_alloc((size_t)(6 * n) * sizeof *v);
    int code = read_rows(path, n, 6, v, 0, NULL);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++)
        pose[i] = (rg_pose){v[6 * i], v[6 * i + 1], v[6 * i + 2], {v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]}};
    return code;
}

int rg_tilts_read(const char *path, int64_t *n, double **tilt_deg) {
    FILE *file;
    int64_t bytes;
    char *line = NULL;
    size_t line_room = 0;
    int code = rg_input_open(path, &file, &bytes);
    *n = 0;
    *tilt_deg = NULL;
    if (code != RG_GOOD) return code;
    for (int64_t at = 0, length; code == RG_GOOD && (length = getline(&line, &line_room, file)) >= 0; at += length) {
        char *end;
        double angle;
        const bool number = rg_decimal(line, &end, &angle);
        if (line[strspn(line, " \t\r\n")] == '\0') continue;
        if (!number || end[strspn(end, " \t\r\n")] || !(fabs(angle) <= 360)) {
            const bool more = number && rg_decimal(end, &end, &angle);
            code = rg_malformed(path, at, "expected one angle in degrees on the line, found %s%s",
                rg_quote_bytes(line, (int)(length < 40 ? length : 40)),
                more ? "; awk '{ print $1 }' FILE takes the first column" : "");
            break;
        }
        *tilt_deg = rg_grow(*tilt_deg, *n, sizeof **tilt_deg);
        (*tilt_deg)[(*n)++] = angle;
    }
    if (code == RG_GOOD && *n == 0) code = rg_malformed(path, 0, "expected one angle in degrees a line, found none");
    fclose(file);
    free(line);
    if (code != RG_GOOD) {
        free(*tilt_deg);
        *tilt_deg = NULL;
    }
    return code;
}
