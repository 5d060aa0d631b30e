// SPDX-License-Identifier: MIT
// ledger.h: all machines, all claims, and the verdict on each claim for each machine. Nothing changes after rg_ledger_judge.
#pragma once

#include "../../impl/base/options.h"
#include "judge.h"

typedef struct rg_ledger {
    rg_claims claims;
    rg_tsv findings;    // reference/findings.tsv: sentences about claims, which report/words fills in
    rg_tsv found;       // reference/found.tsv: the conclusions from the claims of all papers
    rg_knowledge up_to; // the rows that count, for all machines
    int n_machines;
    rg_bench_machine *machine; // [0] is this one
    rg_judgement *verdict;     // of claim i on machine m: [i * n_machines + m]
} rg_ledger;

// Reads the claims, papers and findings. own: the path of other claims, which may lack some that findings mention (NULL: the
// project's). RG_GOOD, or one line and RG_USAGE, as the next two.
int rg_ledger_read(rg_ledger *, const char *own);
// The files of the command line: result files, files of the checker, tables as "NAME=FILE.tsv" or FILE.tables.tsv. If the only
// result file NAME.tsv was made by `record`, or NAME.*.tsv exist beside it, it is a reference machine: the page is about it,
// with all of these files.
typedef struct rg_named_files {
    rg_list result, checks, table;
} rg_named_files;
int rg_ledger_add_here(rg_ledger *, const rg_named_files *);
int rg_ledger_add_references(rg_ledger *, const char *folder); // every NAME.tsv in it, except that of the named machine
void rg_ledger_judge(rg_ledger *);
void rg_ledger_free(rg_ledger *);

static inline const rg_judgement *rg_verdict_on(const rg_ledger *l, int claim, int machine) {
    return &l->verdict[claim * l->n_machines + machine];
}
static inline rg_rows rg_rows_on(const rg_ledger *l, int machine) { return (rg_rows){&l->machine[machine], l->up_to}; }
// Counts the verdicts on the paper's claims (NULL: of all papers), or on this project's additions to them; returns the sum.
int rg_count_outcomes(const rg_ledger *, int machine, const char *paper, bool additions, int count[RG_OUTCOMES]);
// Returns whether files of the machine decide a claim of the paper (NULL: of any).
bool rg_has_verdicts(const rg_ledger *, int machine, const char *paper);
