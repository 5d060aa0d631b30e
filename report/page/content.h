// SPDX-License-Identifier: MIT
// content.h: the parts of the page.
#ifndef RG_CONTENT_H
#define RG_CONTENT_H

#include "../../impl/base/page.h"
#include "../figures/figures.h"

typedef struct rg_report {
    const char *out;
    const char *traces; // folder of `regather trace`, or NULL
    const char *pages;  // folder of jobs' pages, or NULL
    rg_ledger ledger;
    rg_figures figures;
} rg_report;

// The paper at that place of the page: first those of which a machine has a number or a figure, then the others, each in the order
// of papers.tsv: of a record with few rows what it has is not looked for behind what it has not.
int rg_paper_at(const rg_report *, int place);
// This machine, and whose files decide anything of the paper (NULL: of any).
bool rg_is_shown(const rg_report *, int machine, const char *paper);

// The gallery of faults: its pictures to fig/, its section. RG_GOOD, or one line and RG_USAGE.
int rg_copy_gallery(const rg_report *);
int rg_copy_pages(const rg_report *); // of jobs
void rg_write_pages(const rg_report *, FILE *html);
void rg_write_gallery(const rg_report *, rg_page *);
// Published configurations (rg_algo.presets of the paper's algorithms) as parts of the best found on each machine; nothing
// without them, or where no machine has run any. NULL for the page: only whether there is something.
bool rg_write_portability(const rg_report *, rg_page *, const char *paper);
// The paper's tables with ours beside (reference/tables.tsv), one for each machine that has any of it. NULL as above.
bool rg_write_tables(const rg_report *, rg_page *, const char *paper);
void rg_write_duels(const rg_report *, rg_page *); // of machines that have a table `duels`; nothing where none has
void rg_write_cards(const rg_report *, rg_page *);
void rg_write_ledger_table(const rg_report *, rg_page *);
void rg_write_machine(rg_rows, rg_page *); // measurements.c
int rg_write_index(const rg_report *, rg_page *);
int rg_write_machine_page(const rg_report *, int machine, rg_page *);
void rg_write_markdown(const rg_report *, rg_page *);
void rg_write_ledger(const rg_report *, FILE *); // every claim on every machine: TSV
void rg_print_claims(const rg_report *, FILE *);

#endif
