// SPDX-License-Identifier: MIT
// page.h: fills the templates of plots/ with the report's data: index.html, report.md, machine.html.
#pragma once

#include "../../impl/base/fill.h"
#include "../figures/figures.h"

typedef struct rg_report {
    const char *out;
    const char *traces; // folder of `regather trace`, or NULL
    const char *pages;  // folder of jobs' pages, or NULL
    rg_ledger ledger;
    rg_figures figures;
} rg_report;

// All functions that return an int, except rg_paper_at, return RG_GOOD, or one line and RG_USAGE.
int rg_write_pages(const rg_report *); // index.html, REPORT.md, ledger.tsv, machine-N.html

// The paper at this place of the page. Papers with a number or a figure from some machine come first, then the others, each in
// the order of papers.tsv, so that the few results of a small record are not buried.
int rg_paper_at(const rg_report *, int place);
// Returns whether the page shows the machine: this one, or one whose files decide a claim of the paper (NULL: of any).
bool rg_is_shown(const rg_report *, int machine, const char *paper);

int rg_lay_index(const rg_report *, rg_data *);
void rg_lay_machine(const rg_report *, int machine, rg_data *);
void rg_lay_card(const rg_report *, int paper, rg_data *);
void rg_lay_claims(const rg_report *, rg_data *); // the ledger's rows
// The gallery of faults, with pictures in fig/; the pages of jobs, which are copied beside the report.
int rg_lay_gallery(const rg_report *, rg_data *);
int rg_lay_job_pages(const rg_report *, rg_data *);
// The paper's tables beside ours (reference/tables.tsv), one for each machine that has values.
int rg_lay_tables(const rg_report *, rg_data *, const char *paper);
