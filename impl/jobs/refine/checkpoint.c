// SPDX-License-Identifier: MIT
// part.c: OUT.part: the command, then a line a finished particle: its row and all that is new of it, 17 digits. Lines are
// handed to the system batch by batch; a last line without its end is not taken.
#include "refine.h"
#include "../../base/malformed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = 10 };
#define LINE "%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf"

static void values_of(const fr_files *f, int64_t i, double v[VALUES])
{
    const rg_particle *q = &f->particles.row[i];
    const double all[VALUES] = {q->rot_deg,           q->tilt_deg,          q->psi_deg, q->origin_x_px, q->origin_y_px,
                                q->ctf.defocus_u_A, q->ctf.defocus_v_A, f->score[i], f->sigma[i],    f->magnification[i]};
    memcpy(v, all, sizeof all);
}

static void restore(fr_files *f, int64_t i, const double v[VALUES])
{
    rg_particle *q = &f->particles.row[i];
    double *const to[VALUES] = {&q->rot_deg,         &q->tilt_deg,        &q->psi_deg,  &q->origin_x_px, &q->origin_y_px,
                                &q->ctf.defocus_u_A, &q->ctf.defocus_v_A, &f->score[i], &f->sigma[i],    &f->magnification[i]};
    for (int k = 0; k < VALUES; k++)
        *to[k] = v[k];
}

// The command without --resume, which must be the one that left the file behind; malloc'ed.
static char *command_of(const char *typed)
{
    char *line = rg_print("%s", typed), *word = strstr(line, " --resume");
    if (word)
        memmove(word, word + strlen(" --resume"), strlen(word + strlen(" --resume")) + 1);
    return line;
}

static int read_part(fr_checkpoint *p, fr_files *f, const char *command, bool *done)
{
    char line[512];
    double v[VALUES];
    int64_t row, bytes;
    FILE *file;
    int code = access(p->path, F_OK) == 0 ? rg_input_open(p->path, &file, &bytes)
                                          : rg_fail(RG_USAGE, "--resume: expected %s, found none", p->path);
    if (code != RG_GOOD)
        return code;
    const size_t length = strlen(command);
    char *head = rg_alloc(length + 2);
    if (fread(head, 1, length + 1, file) != length + 1 || strncmp(head, command, length) != 0 || head[length] != '\n')
        code = rg_fail(RG_USAGE, "%s: left behind by another command than \"%s\"", p->path, command);
    free(head);
    while (code == RG_GOOD && fgets(line, sizeof line, file)) {
        if (!strchr(line, '\n'))
            break;
        if (sscanf(line, "%" SCNd64 "\t" LINE, &row, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9])
                != 1 + VALUES || row < 0 || row >= f->particles.n)
            code = rg_fail(RG_USAGE, "%s: expected the values of a row, found \"%.40s\"", p->path, line);
        else {
            restore(f, row, v);
            p->resumed += !done[row];
            done[row] = true;
        }
    }
    fclose(file);
    return code;
}

int fr_checkpoint_open(fr_checkpoint *p, const rg_given *given, bool resume, fr_files *f, const char *out)
{
    const int64_t n = f->particles.n;
    bool *done = rg_alloc((size_t)n * sizeof *done);
    char *command = command_of(given->line);
    *p = (fr_checkpoint){.path = rg_print("%s.part", out), .row = rg_alloc((size_t)n * sizeof *p->row)};
    f->score = rg_alloc((size_t)n * sizeof *f->score);
    f->sigma = rg_alloc((size_t)n * sizeof *f->sigma);
    f->magnification = rg_alloc((size_t)n * sizeof *f->magnification);
    int code = rg_file_can_write(out);
    if (code == RG_GOOD && resume)
        code = read_part(p, f, command, done);
    else if (code == RG_GOOD && access(p->path, F_OK) == 0)
        code = rg_fail(RG_USAGE, "%s: left by a run that did not end: go on with --resume, or remove it", p->path);
    for (int64_t i = 0; i < n; i++)
        if (!done[i])
            p->row[p->rows++] = i;
    if (code == RG_GOOD && !(p->file = fopen(p->path, "w")))
        code = rg_fail(RG_USAGE, "%s: cannot write here: %s", p->path, strerror(errno));
    if (code == RG_GOOD) {
        fprintf(p->file, "%s\n", command);
        for (int64_t i = 0; i < n; i++)
            if (done[i])
                fr_checkpoint_add(p, f, &i, 1);
        fflush(p->file);
    }
    free(command);
    free(done);
    return code;
}

void fr_checkpoint_add(fr_checkpoint *p, const fr_files *f, const int64_t *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double v[VALUES];
        values_of(f, row[i], v);
        fprintf(p->file, "%" PRId64, row[i]);
        for (int k = 0; k < VALUES; k++)
            fprintf(p->file, "\t%.17g", v[k]);
        fputc('\n', p->file);
    }
    p->kept += n;
    if (fflush(p->file) != 0 && !p->warned) {
        rg_warn("%s: a write failed (%s); --resume will not find all particles", p->path, strerror(errno));
        p->warned = true;
    }
}

void fr_checkpoint_close(fr_checkpoint *p, bool finished)
{
    if (p->file)
        fclose(p->file);
    if (p->file && (finished || !p->kept))
        unlink(p->path);
    free(p->path);
    free(p->row);
    *p = (fr_checkpoint){0};
}
