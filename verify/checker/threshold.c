// SPDX-License-Identifier: MIT
// threshold.c: sizes at which code takes another path, as verify/thresholds.tsv declares them: a shape below, at, above each.
//
// A row speaks of the variants that it names. A plug-in, of which nothing is declared, takes those of every variant of its
// algorithm that runs where it does: what is a copy of one of them, changed, meets the sizes at which that one turns.
#include "checker.h"
#include "../../impl/base/core.h"
#include "../../impl/base/tsv.h"
#include <stdlib.h>
#include <string.h>

static const char *const side[] = {"below", "at", "above"};

static rg_tsv *table(void)
{
    static rg_tsv read;
    if (!read.path) {
        char *path = rg_share_path("verify/thresholds.tsv");
        if (rg_tsv_read(path, &read) || rg_tsv_needs(&read, "algo variants params patterns when below at above what why"))
            exit(RG_USAGE);
        free(path);
    }
    return &read;
}

// Whether one of the words is the variant's name; `of_space`: whether one of them runs where the entry does.
static bool speaks_of(const char *words, const rg_entry *e, bool of_space)
{
    char name[64];
    for (int used; sscanf(words, " %63s%n", name, &used) == 1; words += used) {
        if (!of_space && strcmp(name, e->variant->name) == 0) return true;
        const rg_entry *other = of_space ? rg_entry_find(e->algo->name, name) : NULL;
        if (other && other->origin == RG_BUILT_IN && other->variant->space == e->variant->space) return true;
    }
    return false;
}

static unsigned patterns_of(const rg_tsv *t, int row)
{
    unsigned mask = 0;
    for (int p = 0; p < RG_PATTERNS; p++)
        if (strstr(rg_tsv_cell(t, row, "patterns"), rg_pattern_name[p])) mask |= 1u << p;
    return mask;
}

// A cell that nobody can read is a fault of the table, but for parameters that a plug-in lacks.
static bool case_of(const rg_tsv *t, int row, const rg_entry *e, const char *cell, rg_case *c)
{
    char why[160];
    *c = (rg_case){.patterns = patterns_of(t, row)};
    if (!rg_params_parse(e->variant, rg_tsv_cell(t, row, "params"), c->param, why)) {
        if (e->origin == RG_PLUGGED_IN) return false;
    } else if (rg_shape_parse(e->algo, cell, &c->shape, why)) {
        return true;
    }
    rg_end(RG_USAGE, "%s: line %d: %s", t->path, t->row_line[row], why);
}

void rg_thresholds(const rg_entry *e, bool deep, rg_threshold *take, void *of)
{
    const rg_tsv *t = table();
    for (int row = 0; row < t->n_rows; row++) {
        const bool is_deep = strcmp(rg_tsv_cell(t, row, "when"), "deep") == 0;
        if (strcmp(rg_tsv_cell(t, row, "algo"), e->algo->name) || is_deep != deep ||
            !speaks_of(rg_tsv_cell(t, row, "variants"), e, e->origin == RG_PLUGGED_IN))
            continue;
        for (int k = 0; k < RG_COUNT(side); k++) {
            rg_case c;
            const char *cell = rg_tsv_cell(t, row, side[k]);
            if (*cell && case_of(t, row, e, cell, &c)) take(of, &c);
        }
    }
}
