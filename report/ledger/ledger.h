// SPDX-License-Identifier: MIT
// ledger.h: all machines, all claims, and the verdict on each claim on each machine. Nothing of it changes once it is judged.
#pragma once

#include "../../impl/base/options.h"
#include "judge.h"

typedef struct rg_ledger {
    rg_claims claims;
    rg_tsv findings;    // reference/findings.tsv: a claim's sentences, which report/words fills
    rg_tsv found;       // reference/found.tsv: what the claims of all papers come to
    rg_knowledge up_to; // which rows count, on every machine
    int n_machines;
    rg_bench_machine *machine; // [0] is this one
    rg_judgement *verdict;     // of claim i on machine m: [i * n_machines + m]
} rg_ledger;

// The claims, papers and findings; own: of a file of one's own, which need not have all that findings speak of (NULL: the
// project's). RG_GOOD, or one line and RG_USAGE, as the next two.
int rg_ledger_read(rg_ledger *, const char *own);
// What was named on the command line: result files, files of the checker, tables as "NAME=FILE.tsv" or FILE.tables.tsv. One result
// file NAME.tsv that `record` made, or beside which NAME.*.tsv lie, is a reference machine: the page is about it, with all of these.
typedef struct rg_named_files {
    rg_list result, checks, table;
} rg_named_files;
int rg_ledger_add_here(rg_ledger *, const rg_named_files *);
int rg_ledger_add_references(rg_ledger *, const char *folder); // every NAME.tsv of it, but of the machine that was named
void rg_ledger_judge(rg_ledger *);
void rg_ledger_free(rg_ledger *);

static inline const rg_judgement *rg_verdict_on(const rg_ledger *l, int claim, int machine)
{
    return &l->verdict[claim * l->n_machines + machine];
}
static inline rg_rows rg_rows_on(const rg_ledger *l, int machine) { return (rg_rows){&l->machine[machine], l->up_to}; }
// Verdicts of the paper's claims (NULL: of all papers), or of what this project added to them; how many.
int rg_count_outcomes(const rg_ledger *, int machine, const char *paper, bool additions, int count[RG_OUTCOMES]);
// Whether files of the machine decide anything of the paper (NULL: of any).
bool rg_has_verdicts(const rg_ledger *, int machine, const char *paper);
