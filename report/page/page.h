// SPDX-License-Identifier: MIT
// page.h: the report laid out as data for the templates of plots/: index.html, report.md, machine.html.
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

// RG_GOOD, or one line and RG_USAGE, as all that return an int here.
int rg_write_pages(const rg_report *); // index.html, REPORT.md, ledger.tsv, machine-N.html

// The paper at that place of the page: first those of which a machine has a number or a figure, then the others, each in the order
// of papers.tsv: of a record with few rows what it has is not looked for behind what it has not.
int rg_paper_at(const rg_report *, int place);
// This machine, and whose files decide anything of the paper (NULL: of any).
bool rg_is_shown(const rg_report *, int machine, const char *paper);

int rg_lay_index(const rg_report *, rg_data *);
void rg_lay_machine(const rg_report *, int machine, rg_data *);
void rg_lay_card(const rg_report *, int paper, rg_data *);
void rg_lay_claims(const rg_report *, rg_data *); // the ledger
// The gallery of faults: its pictures go to fig/. And pages of jobs, which go beside the report.
int rg_lay_gallery(const rg_report *, rg_data *);
int rg_lay_job_pages(const rg_report *, rg_data *);
// The paper's tables with ours beside (reference/tables.tsv), one for each machine that has any of it.
int rg_lay_tables(const rg_report *, rg_data *, const char *paper);
