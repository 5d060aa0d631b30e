// SPDX-License-Identifier: MIT
// threshold.c: sizes at which code takes another path, as verify/thresholds.tsv declares them: a shape below, at, above each.
//
// A row applies to the variants that it names, "*" to all. A plug-in, which declares nothing, gets the rows of every variant of
// its algorithm that runs on its processor: a modified copy of one of them then meets the sizes at which that one changes path.
// "w7|8,h5" is two shapes; a row of "triples" gives enough shapes that every three of its numbers occur in one of them, on the
// emulated GPU every two.
#include "checker.h"
#include "../../impl/base/core.h"
#include "../../impl/base/tsv.h"

static const char *const side[] = {"below", "at", "above"};

static rg_tsv *table(void) {
    static rg_tsv read;
    if (!read.path) {
        RG_FREED char *path = rg_share_path("verify/thresholds.tsv");
        if (rg_tsv_read(path, &read) || rg_tsv_needs(&read, "algo variants params patterns when below at above what why"))
            exit(RG_USAGE);
    }
    return &read;
}

// Whether one of the words is the variant's name; of_space: whether one of them names a variant for the same processor.
static bool speaks_of(const char *words, const rg_entry *e, bool of_space) {
    if (strcmp(words, "*") == 0) return true;
    char name[64];
    for (int used; sscanf(words, " %63s%n", name, &used) == 1; words += used) {
        if (!of_space && strcmp(name, e->variant->name) == 0) return true;
        const rg_entry *other = of_space ? rg_entry_find(e->algo->name, name) : NULL;
        if (other && other->origin == RG_BUILT_IN && other->variant->space == e->variant->space) return true;
    }
    return false;
}

static unsigned patterns_of(const rg_tsv *t, int row) {
    unsigned mask = 0;
    for (int p = 0; p < RG_PATTERNS; p++)
        if (strstr(rg_tsv_cell(t, row, "patterns"), rg_pattern_name[p])) mask |= 1u << p;
    return mask;
}

// Writes shape number `index` of a cell, and its alternative of each dimension to level[]. Returns the number of shapes.
static int64_t pick(const char *cell, int64_t index, char text[256], int level[RG_DIMS]) {
    int64_t shapes = 1;
    char *to = text;
    for (int d = 0; *cell && d < RG_DIMS; d++) {
        const size_t name = strcspn(cell, "0123456789"), all = strcspn(cell, ",");
        int alternatives = 1;
        for (size_t i = name; i < all; i++) alternatives += cell[i] == '|';
        level[d] = (int)(index / shapes % alternatives);
        shapes *= alternatives;
        const char *number = cell + name;
        for (int i = 0; i < level[d]; i++) number = strchr(number, '|') + 1;
        to += snprintf(
            to, (size_t)(text + 256 - to), "%s%.*s%.*s", d ? "," : "", (int)name, cell, (int)strcspn(number, "|,"), number);
        cell += all + (cell[all] != 0);
    }
    return shapes;
}

static bool is_triples(const rg_tsv *t, int row) { return strcmp(rg_tsv_cell(t, row, "when"), "triples") == 0; }

// Reads a case. False if the algorithm does not have this shape of a triple, if a variant refuses a row for all variants, or if
// a plug-in lacks the parameters; any other cell that cannot be read is an error in the table.
static bool case_of(const rg_tsv *t, int row, const rg_entry *e, const char *text, rg_case *c) {
    char why[160];
    const bool any = strcmp(rg_tsv_cell(t, row, "variants"), "*") == 0;
    *c = (rg_case){.patterns = patterns_of(t, row), .any = any};
    if (!rg_params_parse(e->variant, rg_tsv_cell(t, row, "params"), c->param, why)) {
        if (e->origin == RG_PLUGGED_IN) return false;
    } else if (rg_shape_parse(e->algo, text, &c->shape, why)) {
        return !any || !e->variant->refuse || !e->variant->refuse(&c->shape, c->param);
    } else if (is_triples(t, row)) {
        return false;
    }
    rg_end(RG_USAGE, "%s: line %d: %s", t->path, t->row_line[row], why);
}

// ---- every three numbers together ----------------------------------------------------------------------------------------

enum { LEVELS = 16, SHAPES_MOST = 4096 };
typedef bool triples[RG_DIMS][LEVELS][RG_DIMS][LEVELS][RG_DIMS][LEVELS];

// The number of a shape's triples that have not occurred yet; on the emulated GPU, of its pairs.
static int fresh(triples met, const int level[RG_DIMS], bool pairs, bool note) {
    int n = 0;
    for (int a = 0; a < RG_DIMS; a++)
        for (int b = a + 1; b < RG_DIMS; b++)
            for (int c = pairs ? b : b + 1; c < (pairs ? b + 1 : RG_DIMS); c++) {
                bool *is = &met[a][level[a]][b][level[b]][c][level[c]];
                n += !*is;
                *is |= note;
            }
    return n;
}

// Takes the shape with most new triples, until none has any.
static void cover(const rg_tsv *t, int row, const rg_entry *e, const char *cell, rg_threshold *take, void *of) {
    char text[256];
    rg_case c;
    int level[RG_DIMS] = {0}, most = 1, gain;
    const int64_t shapes = pick(cell, 0, text, level);
    if (shapes > SHAPES_MOST) rg_end(RG_USAGE, "%s: line %d: more than %d shapes", t->path, t->row_line[row], SHAPES_MOST);
    RG_FREED triples *met = rg_alloc(sizeof *met);
    memset(met, 0, sizeof *met);
    RG_FREED bool *there = rg_alloc((size_t)shapes);
    for (int64_t i = 0; i < shapes; i++) pick(cell, i, text, level), there[i] = case_of(t, row, e, text, &c);
    while (most > 0) {
        int64_t best = 0;
        most = 0;
        for (int64_t i = 0; i < shapes; i++) {
            if (!there[i]) continue;
            pick(cell, i, text, level);
            gain = fresh(*met, level, e->emulated, false);
            if (gain > most) best = i, most = gain;
        }
        pick(cell, best, text, level);
        fresh(*met, level, e->emulated, true);
        if (most > 0 && case_of(t, row, e, text, &c)) take(of, &c);
    }
}

void rg_thresholds(const rg_entry *e, bool deep, rg_threshold *take, void *of) {
    const rg_tsv *t = table();
    for (int row = 0; row < t->n_rows; row++) {
        const bool is_deep = strcmp(rg_tsv_cell(t, row, "when"), "deep") == 0;
        if (strcmp(rg_tsv_cell(t, row, "algo"), e->algo->name) || is_deep != deep ||
            !speaks_of(rg_tsv_cell(t, row, "variants"), e, e->origin == RG_PLUGGED_IN))
            continue;
        for (int k = 0; k < RG_COUNT(side); k++) {
            const char *cell = rg_tsv_cell(t, row, side[k]);
            char text[256];
            int level[RG_DIMS];
            rg_case c;
            if (!*cell) continue;
            if (is_triples(t, row))
                cover(t, row, e, cell, take, of);
            else
                for (int64_t i = 0; i < pick(cell, i, text, level); i++)
                    if (case_of(t, row, e, text, &c)) take(of, &c);
        }
    }
}
