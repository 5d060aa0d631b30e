// SPDX-License-Identifier: MIT
// words.h: writes all sentences about results: verdicts, findings, counts, missing parts; for the terminal, the page, Markdown
// and the TSV of the ledger. To find a sentence of the page: a verdict's is in verdicts.c, a card's or a figure's title in
// reference/findings.tsv, all others in say.c. Texts are rich: two back quotes enclose `code`.
#pragma once

#include "../ledger/ledger.h"

enum { RG_SAY = 800 }; // size of a text

extern const char *const rg_outcome_name[RG_OUTCOMES], *const rg_outcome_means[RG_OUTCOMES];
extern const char rg_report_title[], rg_report_lead[];
extern const char *const rg_reading[]; // how to read the page, ended by NULL

// ---- numbers -------------------------------------------------------------------------------------------------------------

void rg_say_digits(double value, char text[32]);                   // three significant digits: "4.83", "34500"
void rg_say_amount(double value, const char *unit, char text[48]); // "12.3 G multiply-adds/s"
// Copies `from`, replacing the known words, written "{paper}", by their texts.
typedef struct rg_known_word {
    const char *word, *text;
} rg_known_word;
void rg_fill_in(const char *from, const rg_known_word *, int n, char *to, size_t room);

// ---- verdicts (verdicts.c) -----------------------------------------------------------------------------------------------

void rg_say_why(const rg_claims *, int claim, const rg_judgement *, char text[RG_SAY]); // the reason
void rg_say_ours(const rg_judgement *, char text[RG_SAY]);                              // "27.1 x [26.8, 27.4]"; "": nothing
void rg_say_bounds(const rg_claims *, int claim, char text[RG_SAY]);
void rg_say_published(const rg_claims *, int claim, char text[RG_SAY]); // "130 x"

// ---- findings (findings.c): sentences of reference/findings.tsv ------------------------------------------------------------

// The finding on claim `id` for the machine. The interval is added if it is wider than a factor of RG_WIDE. false: nothing was
// measured, or there is no sentence.
#define RG_WIDE 1.5
bool rg_finding(const rg_ledger *, const char *id, int machine, char *text, size_t room);
// Steps through the statements of reference/found.tsv: the text with numbers of one machine, the figure that shows them, the
// claims "S6a, L6h". *row starts at 0; false after the last.
typedef struct rg_statement {
    char text[RG_SAY], claims[80];
    const char *figure;
    int machine;
} rg_statement;
bool rg_next_statement(const rg_ledger *, int *row, rg_statement *);
// Writes the first sentences about the paper for the machine, at most `most`; false: there are none, and the text says so.
bool rg_sentences(const rg_ledger *, const char *paper, int machine, int most, char text[RG_SAY]);
// The machine whose results the paper's card shows: this one, unless only a reference machine has more than a word.
int rg_speaks_of(const rg_ledger *, const char *paper);

// ---- figures (captions.c) ------------------------------------------------------------------------------------------------

// The title of a figure of rows, with its best point: of the series `label` at x. `from`: the title in plots/figures.tsv.
void rg_say_best(const char *label, int64_t x, const rg_row *, const char *from, char *to, size_t room);
typedef struct rg_scopes { // "": none
    int64_t width, height; // of images, -1: no images
    const char *host, *device, *besides;
} rg_scopes;
void rg_say_scope(const rg_scopes *, char *to, size_t room);
void rg_say_map(const char *title, int64_t side, bool truth, double correlation, char *to, char *about, size_t room);
void rg_say_subtitle( // machine NULL: all machines
    const rg_bench_machine *, const char *subtitle, const char *about, char *to, size_t room);
// Why a figure is not drawn: the points that it has and needs, or a panel.
typedef enum { RG_FEW_POINTS, RG_EMPTY_PANEL, RG_NO_GNUPLOT, RG_GNUPLOT_FAILED } rg_undrawn;
void rg_say_undrawn(rg_undrawn, const rg_bench_machine *, const char *panel, const int points[2], char *to, size_t room);

// Describe a fault that `regather trace` shows: its idea, verdict, pairs, and what they share.
void rg_say_fault(const char *name, const char *const said[4], char text[RG_SAY]);
void rg_say_fault_alt(const char *name, char text[RG_SAY]);

// ---- all others (say.c) --------------------------------------------------------------------------------------------------

// "145 claims: 61 reproduced, ...; 12 additions of this project: ..."; omits verdicts that do not occur.
void rg_say_counts(const rg_ledger *, int machine, const char *paper, char text[RG_SAY]);
// "380 times on its GPU are 0.97 of those of ... in the median (half of them 0.9 to 1.01)"; "": it is the first, or too few rows.
void rg_say_beside(const rg_ledger *, int machine, char text[RG_SAY]);
// "Not testable on this machine: 12. Needed: GNU Octave (5), ..."; "": none.
void rg_say_untested(const rg_ledger *, int machine, const char *paper, char text[RG_SAY]);
// The command that measures the claim again, as it was run on the machine.
void rg_say_command(const rg_ledger *, int claim, int machine, char text[RG_SAY]);
// The number of samples on each side of a ratio, and the duration of a call; "": unknown.
void rg_say_samples(const rg_ledger *, int claim, int machine, char text[RG_SAY]);
void rg_say_machine_title(const rg_bench_machine *, char text[RG_SAY]);
// Rows and tables that are left out or unknown, as texts for the page; k counts from 0; false after the last.
bool rg_say_left_out(const rg_ledger *, int machine, int k, char text[RG_SAY]);
void rg_warn_left_out(const rg_ledger *); // on the terminal
// Prints the last screen of `report`: counts by paper, contradicted claims, missing parts, where to read more.
void rg_print_summary(const rg_ledger *, const char *folder, FILE *);
