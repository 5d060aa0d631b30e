// content.h: private to the parts of the page.
#ifndef RG_CONTENT_H
#define RG_CONTENT_H

#include "../report.h"

// Verdicts of the paper's claims (NULL: of all papers), or of what this project added to them; how many.
int rg_count_outcomes(const rg_report *, int machine, const char *paper, bool additions, int count[RG_OUTCOMES]);
bool rg_is_defect(const rg_report *, int claim); // of the paper itself: nothing was measured
// The paper at that place of the page: first those of which a machine has a number or a figure, then the others, each in the order
// of papers.tsv: of a record with few rows what it has is not looked for behind what it has not.
int rg_paper_at(const rg_report *, int place);
bool rg_is_shown(const rg_report *, int machine,
    const char *paper); // this one, and whose files decide anything of it (NULL: of any)
// The first sentences of findings.tsv that the machine has of the paper; false: that there are none.
bool rg_sentences(const rg_report *, const char *paper, int machine, int most, char *text, size_t room);
// "12 claims could not be tested here: 5 need GNU Octave, ... `make reproduce`"; "" when there are none.
void rg_untested(const rg_report *, int machine, const char *paper, char *text, size_t room);
// The command that measures claim again, as it was on the machine.
void rg_again(const rg_report *, int claim, int machine, char *text, size_t room);

void rg_write_cards(const rg_report *, rg_page *);
void rg_write_ledger_table(const rg_report *, rg_page *);
void rg_write_machine(const rg_bench_machine *, rg_page *); // measurements.c
#endif
