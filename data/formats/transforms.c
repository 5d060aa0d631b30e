// SPDX-License-Identifier: MIT
#include "transforms.h"
#include "../../impl/base/malformed.h"
#include "../../impl/base/tsv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180;

void rg_similarity_apply(const rg_similarity *s, const double p[2], double moved[2])
{
    double c = s->scale * cos(s->rotation_deg * DEGREE), d = s->scale * sin(s->rotation_deg * DEGREE), x = p[0], y = p[1];
    moved[0] = c * x - d * y + s->shift_x_px;
    moved[1] = d * x + c * y + s->shift_y_px;
}

static double wrap_deg(double a) { return a - 360 * floor((a + 180) / 360); }

rg_similarity rg_similarity_then(const rg_similarity *first, const rg_similarity *second)
{
    double shift[2];
    rg_similarity_apply(second, (const double[2]){first->shift_x_px, first->shift_y_px}, shift);
    return (rg_similarity){wrap_deg(first->rotation_deg + second->rotation_deg), shift[0], shift[1],
                           first->scale * second->scale};
}

rg_similarity rg_similarity_inverse(const rg_similarity *s)
{
    rg_similarity turn = {-s->rotation_deg, 0, 0, 1 / s->scale};
    double shift[2];
    rg_similarity_apply(&turn, (const double[2]){s->shift_x_px, s->shift_y_px}, shift);
    return (rg_similarity){wrap_deg(-s->rotation_deg), -shift[0], -shift[1], 1 / s->scale};
}

// A = Rz(psi) Ry(tilt) Rz(rot), each [[c, s], [-s, c]]: its third row is (sin tilt cos rot, sin tilt sin rot, cos tilt) and its
// third column (-sin tilt cos psi, sin tilt sin psi, cos tilt).
void rg_pose_angles(const double a[9], rg_pose *pose)
{
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
double rg_rotation_apart_deg(const double a[9], const double b[9])
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return 2 * asin(fmin(1, sqrt(sum / 8))) / DEGREE;
}

// ---- files ---------------------------------------------------------------------------------------------------------------

int rg_similarities_write(const char *path, const char *head, int64_t n, const rg_similarity *s, const double *correlation,
                          const char *extra_name, const double *extra, const char *const *edge)
{
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD)
        return code;
    fprintf(file.stream, "%simage\trotation_deg\tshift_x_px\tshift_y_px\tscale%s%s%s%s\n", head,
            correlation ? "\tcorrelation" : "", extra ? "\t" : "", extra ? extra_name : "", edge ? "\tedge" : "");
    for (int64_t i = 0; i < n; i++) {
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\t%.9g", i + 1, s[i].rotation_deg, s[i].shift_x_px, s[i].shift_y_px,
                s[i].scale);
        if (correlation)
            fprintf(file.stream, "\t%.9g", correlation[i]);
        if (extra)
            fprintf(file.stream, "\t%.9g", extra[i]);
        if (edge)
            fprintf(file.stream, "\t%s", edge[i]);
        putc('\n', file.stream);
    }
    return rg_file_commit(&file);
}

int rg_poses_write(const char *path, const char *head, int64_t n, const char *const *name, const rg_pose *pose,
                   const double *correlation)
{
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD)
        return code;
    fprintf(file.stream, "%sparticle\trot_deg\ttilt_deg\tpsi_deg\tshift_x_px\tshift_y_px\tshift_z_px%s\n", head,
            correlation ? "\tcorrelation" : "");
    for (int64_t i = 0; i < n; i++) {
        const rg_pose *p = &pose[i];
        rg_tsv_print(file.stream, "%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g", name[i], p->rot_deg, p->tilt_deg, p->psi_deg,
                p->shift_px[0], p->shift_px[1], p->shift_px[2]);
        if (correlation)
            fprintf(file.stream, "\t%.9g", correlation[i]);
        putc('\n', file.stream);
    }
    return rg_file_commit(&file);
}

// The numbers behind the first column, a name: n rows of at least this many.
static int read_rows(const char *path, int64_t n, int numbers, double *value)
{
    rg_tsv t;
    int code = rg_tsv_read(path, &t);
    if (code != RG_GOOD)
        return code;
    if (t.n_columns <= numbers)
        code = rg_fail(RG_USAGE, "%s: line %d: expected a name and %d numbers, found %d columns", path, t.names_line, numbers,
                       t.n_columns);
    else if (t.n_rows != n)
        code = rg_fail(RG_USAGE, "%s: expected %" PRId64 " rows, found %d", path, n, t.n_rows);
    for (int i = 0; code == RG_GOOD && i < t.n_rows; i++)
        for (int k = 0; code == RG_GOOD && k < numbers; k++)
            if (!isfinite(value[i * numbers + k] = rg_tsv_number_at(&t, i, k + 1)))
                code = rg_tsv_fault(&t, i, k + 1, "a finite number");
    rg_tsv_free(&t);
    return code;
}

int rg_similarities_read(const char *path, int64_t n, rg_similarity *s)
{
    double *v = rg_alloc((size_t)(4 * n) * sizeof *v);
    int code = read_rows(path, n, 4, v);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++)
        s[i] = (rg_similarity){v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]};
    free(v);
    return code;
}

int rg_poses_read(const char *path, int64_t n, rg_pose *pose)
{
    double *v = rg_alloc((size_t)(6 * n) * sizeof *v);
    int code = read_rows(path, n, 6, v);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++)
        pose[i] = (rg_pose){v[6 * i], v[6 * i + 1], v[6 * i + 2], {v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]}};
    free(v);
    return code;
}

int rg_tilts_read(const char *path, int64_t *n, double **tilt_deg)
{
    FILE *file;
    int64_t bytes, room = 0;
    char *line = NULL;
    size_t line_room = 0;
    int code = rg_input_open(path, &file, &bytes);
    *n = 0;
    *tilt_deg = NULL;
    if (code != RG_GOOD)
        return code;
    for (int64_t at = 0, length; code == RG_GOOD && (length = getline(&line, &line_room, file)) >= 0; at += length) {
        char *end;
        double angle = strtod(line, &end);
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (end == line || end[strspn(end, " \t\r\n")] || !(fabs(angle) <= 360)) {
            code = rg_malformed(path, at, "expected one angle in degrees on the line, found %s",
                                rg_quote_bytes(line, (int)(length < 40 ? length : 40)));
            break;
        }
        if (*n == room) {
            room = room ? 2 * room : 64;
            double *more = rg_alloc((size_t)room * sizeof *more);
            if (*n)
                memcpy(more, *tilt_deg, (size_t)*n * sizeof *more);
            free(*tilt_deg);
            *tilt_deg = more;
        }
        (*tilt_deg)[(*n)++] = angle;
    }
    if (code == RG_GOOD && *n == 0)
        code = rg_malformed(path, 0, "expected one angle in degrees a line, found none");
    fclose(file);
    free(line);
    if (code != RG_GOOD) {
        free(*tilt_deg);
        *tilt_deg = NULL;
    }
    return code;
}
