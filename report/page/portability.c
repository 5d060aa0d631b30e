// SPDX-License-Identifier: MIT
// portability.c: configurations that were best on the papers' machines, as parts of the best found here: one more column of the
// published table of portability, and one more row of the table of optima.
#include "../../impl/base/core.h"
#include "../../impl/runtime/table.h"
#include "page.h"

enum { PRESETS_MOST = 8, CELLS_MOST = 24, TEXT = 240 };

// "A=1;B=2" of algo:variant as rg_matches wants it.
static void spec_of(const rg_tsv *presets, int i, const char *params, char spec[TEXT])
{
    snprintf(spec, TEXT, "%s:%s%s%s", rg_tsv_cell(presets, i, "algo"), rg_tsv_cell(presets, i, "variant"), *params ? " " : "",
        params);
    for (char *c = spec; *c; c++)
        if (*c == ';') *c = ' ';
}

static const char *published_cell(const rg_claims *c, int paper, const char *on, const char *run)
{
    char id[64];
    snprintf(id, sizeof id, "S5.%.20s.%.20s", on, run);
    return rg_published_number(c, paper, id, "value");
}

// The part of the best rate on machine m; "" when it was not timed there.
static void share(rg_rows rows, const rg_tsv *presets, int i, char text[TEXT])
{
    char spec[TEXT], all[TEXT];
    const rg_row *pair[2];
    spec_of(presets, i, rg_tsv_cell(presets, i, "params"), spec);
    spec_of(presets, i, rg_tsv_cell(presets, i, "among"), all);
    const char *shape = rg_common_shape(rows, spec, spec, "s257,i52", "kernel,device");
    *text = 0;
    if (!shape || !rg_pick_pair(rows, spec, all, shape, "kernel,device", pair)) return;
    const rg_estimate ratio = rg_time_ratio(pair[1], pair[0]);
    snprintf(text, TEXT, "%.0f [%.0f, %.0f]", 100 * ratio.value, 100 * ratio.low, 100 * ratio.high);
}

static void best_row(const rg_report *r, int m, const rg_tsv *presets, rg_data *table, int cells, int at)
{
    char spec[TEXT], label[TEXT];
    spec_of(presets, 0, rg_tsv_cell(presets, 0, "among"), spec);
    const char *shape = rg_common_shape(rg_rows_on(&r->ledger, m), spec, spec, "s257,i52", "kernel,device");
    const rg_row *best = shape ? rg_pick(rg_rows_on(&r->ledger, m), spec, shape, "kernel,device") : NULL;
    if (!best) return;
    const char *cell[CELLS_MOST];
    for (int c = 0; c < cells; c++) cell[c] = "";
    snprintf(label, sizeof label, "best on %.100s, `%.60s`", r->ledger.machine[m].label, shape);
    cell[0] = label;
    cell[1] = best->cell[RG_C_PARAMS];
    cell[at] = "100";
    rg_add_row(table, cell, cells);
}

static void lay_table(const rg_report *r, const rg_tsv *presets, int paper, rg_data *d)
{
    const char *column[CELLS_MOST] = {"Tuned on", "Configuration"};
    char align[CELLS_MOST + 1] = "nl", label[CELLS_MOST][TEXT];
    int n = 2;
    for (int i = 0; i < presets->n_rows && i < PRESETS_MOST; i++, n++) {
        snprintf(label[n], TEXT, "%.40s (published)", rg_tsv_cell(presets, i, "preset"));
        column[n] = label[n];
        align[n] = 'r';
    }
    int first = n;
    for (int m = 0; m < r->ledger.n_machines && n < CELLS_MOST; m++, n++) {
        snprintf(label[n], TEXT, "%.96s", rg_machine_name(&r->ledger.machine[m], "This machine"));
        column[n] = label[n];
        align[n] = 'r';
    }
    align[n] = 0;
    rg_data *table = rg_add_table(d, rg_portability_caption, align, column, n);
    for (int i = 0; i < presets->n_rows; i++) {
        const char *cell[CELLS_MOST] = {rg_tsv_cell(presets, i, "preset"), rg_tsv_cell(presets, i, "params")};
        char text[CELLS_MOST][TEXT];
        for (int c = 2; c < first; c++)
            cell[c] = published_cell(&r->ledger.claims, paper, cell[0], rg_tsv_cell(presets, c - 2, "preset"));
        for (int c = first; c < n; c++) {
            share(rg_rows_on(&r->ledger, c - first), presets, i, text[c]);
            cell[c] = *text[c] ? text[c] : "not run";
        }
        rg_add_row(table, cell, n);
    }
    for (int m = 0; m < r->ledger.n_machines && first + m < n; m++) best_row(r, m, presets, table, n, first + m);
}

static bool was_run(const rg_report *r, const rg_tsv *presets)
{
    char text[TEXT] = "";
    for (int m = 0; m < r->ledger.n_machines && !*text; m++)
        for (int i = 0; i < presets->n_rows && !*text; i++) share(rg_rows_on(&r->ledger, m), presets, i, text);
    return *text;
}

int rg_lay_portability(const rg_report *r, rg_data *d, const char *paper)
{
    const int i = rg_paper_of(&r->ledger.claims, paper);
    int code = RG_GOOD;
    for (int a = 0; i >= 0 && a < rg_algo_count() && code == RG_GOOD; a++) {
        const rg_algo *algo = rg_algo_at(a);
        RG_ENDS(rg_tsv_free) rg_tsv presets = {0};
        if (!algo->presets || strcmp(algo->paper, paper)) continue;
        RG_FREED char *path = rg_share_path(algo->presets);
        code = rg_tsv_read(path, &presets);
        if (was_run(r, &presets)) lay_table(r, &presets, i, d);
    }
    return code;
}
