// SPDX-License-Identifier: MIT
// tsv.c: small tables by column name: the claims, the published numbers, the curves that the job writes.
#include "../impl/base/core.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 64 };

// Cuts line at its tabs into at most `most` pieces; returns how many there are.
static int cut(char *line, char **piece, int most)
{
    int n = 0;
    for (char *at = line;; n++) {
        if (n < most)
            piece[n] = at;
        at = strchr(at, '\t');
        if (!at)
            return n + 1;
        *at++ = 0;
    }
}

static int take_names(rg_tsv *t, char *line)
{
    char *piece[NAMES_MOST];
    t->n_columns = cut(line, piece, NAMES_MOST);
    if (t->n_columns > NAMES_MOST)
        return rg_fail(RG_USAGE, "%s: expected at most %d columns, found %d", t->path, NAMES_MOST, t->n_columns);
    t->column = rg_alloc((size_t)t->n_columns * sizeof *t->column);
    for (int c = 0; c < t->n_columns; c++)
        t->column[c] = rg_print("%s", piece[c]);
    return RG_GOOD;
}

static int take_row(rg_tsv *t, char *line, int line_number)
{
    char *piece[NAMES_MOST];
    int n = cut(line, piece, NAMES_MOST);
    if (n != t->n_columns)
        return rg_fail(RG_USAGE, "%s: line %d: expected %d cells, found %d", t->path, line_number, t->n_columns, n);
    size_t cells = (size_t)(t->n_rows + 1) * (size_t)n;
    char **grown = realloc(t->cell, cells * sizeof *grown);
    if (!grown)
        return rg_fail(RG_LACKS, "%s: out of memory", t->path);
    t->cell = grown;
    for (int c = 0; c < n; c++)
        t->cell[t->n_rows * n + c] = rg_print("%s", strcmp(piece[c], "-") ? piece[c] : "");
    t->n_rows++;
    return RG_GOOD;
}

int rg_tsv_read(const char *path, rg_tsv *t)
{
    *t = (rg_tsv){.path = rg_print("%s", path)};
    FILE *f = fopen(path, "r");
    if (!f)
        return rg_fail(RG_USAGE, "%s: cannot be opened", path);
    char *line = NULL;
    size_t room = 0;
    int code = RG_GOOD, line_number = 0;
    while (code == RG_GOOD && getline(&line, &room, f) >= 0) {
        line_number++;
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == '#' || line[0] == 0)
            continue;
        code = t->column ? take_row(t, line, line_number) : take_names(t, line);
    }
    free(line);
    fclose(f);
    if (code == RG_GOOD && !t->column)
        code = rg_fail(RG_USAGE, "%s: expected a row of column names, found none", path);
    return code;
}

void rg_tsv_free(rg_tsv *t)
{
    for (int i = 0; i < t->n_rows * t->n_columns; i++)
        free(t->cell[i]);
    for (int c = 0; c < t->n_columns && t->column; c++)
        free(t->column[c]);
    free(t->cell);
    free(t->column);
    free(t->path);
    *t = (rg_tsv){0};
}

const char *rg_tsv_cell(const rg_tsv *t, int row, const char *column)
{
    for (int c = 0; c < t->n_columns; c++)
        if (!strcmp(t->column[c], column))
            return t->cell[row * t->n_columns + c];
    return "";
}

double rg_tsv_number(const rg_tsv *t, int row, const char *column)
{
    const char *text = rg_tsv_cell(t, row, column);
    char *end;
    double value = strtod(text, &end);
    return end == text || *end ? NAN : value;
}

const char *rg_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
