// SPDX-License-Identifier: MIT
#include "ledger.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include <dirent.h>

// ---- claims and sentences ------------------------------------------------------------------------------------------------

static void drop_row(rg_tsv *t, int row) {
    const size_t after = (size_t)(--t->n_rows - row), columns = (size_t)t->n_columns;
    char **cell = t->cell + (size_t)row * columns;
    memmove(cell, cell + columns, after * columns * sizeof *cell);
    memmove(&t->row_line[row], &t->row_line[row + 1], after * sizeof *t->row_line);
}

static int read_findings(rg_ledger *l, bool of_some) {
    RG_FREED char *path = rg_share_path("reference/findings.tsv");
    int code = rg_tsv_read(path, &l->findings);
    if (code == RG_GOOD) code = rg_tsv_needs(&l->findings, "id label holds fails open");
    for (int i = code == RG_GOOD ? l->findings.n_rows : 0; i-- > 0 && code == RG_GOOD;) {
        const char *id = rg_tsv_cell(&l->findings, i, "id");
        if (rg_claim_of(&l->claims, id) >= 0) continue;
        if (of_some)
            drop_row(&l->findings, i);
        else
            code = rg_fail(RG_USAGE, "%s: expected ids of claims, found \"%s\"", path, id);
    }
    return code;
}

int rg_ledger_read(rg_ledger *l, const char *own) {
    RG_FREED char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv"),
                  *found = rg_share_path("reference/found.tsv");
    int code = rg_claims_read(own ? own : claims, papers, &l->claims);
    if (code == RG_GOOD) code = read_findings(l, own != NULL);
    if (code == RG_GOOD) code = rg_tsv_read(found, &l->found);
    if (code == RG_GOOD) code = rg_tsv_needs(&l->found, "place figure claims text");
    return code;
}

// ---- machines ------------------------------------------------------------------------------------------------------------

static rg_bench_machine *new_machine(rg_ledger *l, bool here) {
    l->machine = rg_grow(l->machine, l->n_machines, sizeof *l->machine);
    l->machine[l->n_machines] = (rg_bench_machine){.here = here};
    return &l->machine[l->n_machines++];
}

// Files "h200.tsv", "h200.verify.tsv" and the table "h200.stages.tsv" belong to one machine, h200.
static void set_label(rg_bench_machine *m, const char *name) {
    snprintf(m->label, sizeof m->label, "%.*s", (int)strcspn(name, "."), name);
}

static int add_table(rg_bench_machine *m, const char *given) {
    const char *equals = strchr(given, '=');
    if (equals) return rg_machine_add(m, equals + 1, RG_FILE_TABLE, given, (int)(equals - given));
    if (strstr(given, ".tables.tsv")) return rg_machine_add(m, given, RG_FILE_ANY, NULL, 0);
    return rg_fail(RG_USAGE, "--table: expected NAME=FILE.tsv, found \"%s\"", given);
}

static int is_tsv(const struct dirent *entry) { return entry->d_name[0] != '.' && rg_ends_with(entry->d_name, ".tsv"); }

// Adds the files of a folder: those of the machine `only`, or of all machines except the named one.
static int add_folder(rg_ledger *l, const char *folder, rg_bench_machine *only) {
    struct dirent **entry;
    const int n = scandir(folder, &entry, is_tsv, alphasort);
    int code = n < 0 ? rg_fail(RG_USAGE, "--machines: %s: cannot be read: %s", folder, strerror(errno)) : RG_GOOD;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *rest = name + strcspn(name, ".") + 1;
        rg_bench_machine named, *m = NULL;
        set_label(&named, name);
        for (int k = 0; k < l->n_machines; k++)
            if (!l->machine[k].here && !strcmp(l->machine[k].label, named.label)) m = &l->machine[k];
        RG_FREED char *path = rg_print("%s/%s", folder, name);
        const bool mine = only ? m == only && strcmp(name, rg_base_name(m->file[0].result.path)) : m != l->machine;
        if (mine && !m) set_label(m = new_machine(l, false), name);
        if (mine && code == RG_GOOD)
            code = rg_machine_add(m, path, rg_ends_with(name, ".verify.tsv") ? RG_FILE_CHECKS : RG_FILE_ANY, rest,
                (int)strlen(rest) - (int)strlen(".tsv"));
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return code;
}

// A record's rows say where they were made; for other files, those in the same folder decide. The program's own folder is not
// searched, so that a record reads the same everywhere.
static int add_beside(rg_ledger *l, rg_bench_machine *m, const char *path) {
    const int before = m->n_files + m->n_tables, tables = m->n_tables, n = (int)(rg_base_name(path) - path);
    RG_FREED char *folder = n ? rg_print("%.*s", n, path) : rg_print(".");
    bool record = false;
    for (int i = 0; i < m->file[0].result.n_rows && !record; i++) record = *m->file[0].result.row[i].cell[RG_C_MADE];
    rg_bench_machine was = *m;
    m->here = false;
    set_label(m, rg_base_name(path));
    const int code = add_folder(l, folder, m);
    m->alone = record && m->n_tables == tables;
    if (code == RG_GOOD && !record && m->n_files + m->n_tables == before) *m = was;
    return code;
}

int rg_ledger_add_here(rg_ledger *l, const rg_named_files *named) {
    rg_bench_machine *m = new_machine(l, true);
    int code = RG_GOOD;
    for (int i = 0; code == RG_GOOD && i < named->result.n; i++)
        code = rg_machine_add(m, named->result.item[i], RG_FILE_ROWS, NULL, 0);
    for (int i = 0; code == RG_GOOD && i < named->checks.n; i++)
        code = rg_machine_add(m, named->checks.item[i], RG_FILE_CHECKS, NULL, 0);
    for (int i = 0; code == RG_GOOD && i < named->table.n; i++) code = add_table(m, named->table.item[i]);
    if (code != RG_GOOD) return code;
    const char *name = rg_result_head(&m->file[0].result, "machine");
    snprintf(m->label, sizeof m->label, "%s", name ? name : "unnamed machine");
    return named->result.n == 1 ? add_beside(l, m, named->result.item[0]) : RG_GOOD;
}

int rg_ledger_add_references(rg_ledger *l, const char *folder) { return add_folder(l, folder, NULL); }

// ---- verdicts ------------------------------------------------------------------------------------------------------------

void rg_ledger_judge(rg_ledger *l) {
    const int claims = l->claims.claim.n_rows;
    l->verdict = rg_alloc((size_t)claims * (size_t)l->n_machines * sizeof *l->verdict);
    for (int i = 0; i < claims; i++)
        for (int m = 0; m < l->n_machines; m++)
            l->verdict[i * l->n_machines + m] = rg_judge_claim(&l->claims, i, rg_rows_on(l, m));
}

void rg_ledger_free(rg_ledger *l) {
    for (int m = 0; m < l->n_machines; m++) rg_machine_free(&l->machine[m]);
    free(l->machine);
    free(l->verdict);
    rg_claims_free(&l->claims);
    rg_tsv_free(&l->findings);
    rg_tsv_free(&l->found);
}

int rg_count_outcomes(const rg_ledger *l, int machine, const char *paper, bool additions, int count[RG_OUTCOMES]) {
    int n = 0;
    memset(count, 0, RG_OUTCOMES * sizeof *count);
    for (int i = 0; i < l->claims.claim.n_rows; i++)
        if (rg_is_of(&l->claims, i, paper) && rg_is_addition(&l->claims, i) == additions) {
            count[rg_verdict_on(l, i, machine)->outcome]++;
            n++;
        }
    return n;
}

bool rg_has_verdicts(const rg_ledger *l, int machine, const char *paper) {
    bool any = false;
    for (int i = 0; i < l->claims.claim.n_rows && !any; i++)
        any = !rg_is_defect(&l->claims, i) && rg_is_of(&l->claims, i, paper) &&
            rg_verdict_on(l, i, machine)->outcome != RG_NOT_TESTABLE;
    return any;
}
