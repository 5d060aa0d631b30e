// SPDX-License-Identifier: MIT
// report.h: what the parts of `regather report` share: machines, claims and their judgement, pages, figures.
//
// Every number of a report is read from a file: result files (data/result.h), the job's own tables, the published numbers and
// the list of claims. Nothing here measures, and no part of the report knows a variant or a number of a paper by itself.
#ifndef RG_REPORT_H
#define RG_REPORT_H

#include "../data/formats/result.h"
#include "../impl/base/page.h"

// A table of `regather verify --out` as rows of a result file: status, error, tol, and the reason in the cell stop.
int rg_verify_of(const rg_tsv *, rg_result *);

// ---- machines ------------------------------------------------------------------------------------------------------------

// One machine: this one (the files named on the command line), or a reference machine (the files of --machines whose names
// begin alike up to the first dot; the first of all when one of them is what was named). A verify file is one without times:
// its rows count for statuses only.
typedef struct rg_bench_machine {
    char label[96];
    bool here;
    int n_files;
    rg_result *file;
    int n_stale; // rows whose kernels have changed since they were timed
    int n_stale_tables;
    int n_unsourced; // rows that do not say of which source their kernel was
    int n_tables;    // small tables of jobs (stages, FSC, scaling), each under a name
    struct rg_named_table {
        char name[48];
        rg_tsv tsv;
        bool stale; // its job has changed since
    } * table;
    bool shows_stale; // tables
} rg_bench_machine;
// RG_EACH_ROW(row, machine) { ... }: every row of its files, one after the other, of walk.file. The outer loop is of one turn.
typedef struct rg_walk {
    const rg_bench_machine *of;
    const rg_result *file;
    int f, i; // of the next row
} rg_walk;
const rg_row *rg_next_row(rg_walk *); // NULL after the last
#define RG_EACH_ROW(row, machine)                                                                                              \
    for (rg_walk walk = {.of = (machine)}; walk.of; walk.of = NULL)                                                            \
        for (const rg_row *row; (row = rg_next_row(&walk));)
const char *rg_machine_name(const rg_bench_machine *, const char *here);    // its label, or `here` of this machine
const rg_tsv *rg_machine_table(const rg_bench_machine *, const char *name); // NULL when there is none
// The number that "TABLE key=value COLUMN" names; NaN with the reason in why .
double rg_table_cell(const rg_bench_machine *, const char *spec, char *why, size_t room);

// A measurement with the parts of its cells that claims and tables need.
typedef struct rg_measure {
    const rg_result *file;
    const rg_row *row;
    int64_t width, height, r; // -1 where the shape has no such part
    int threads;              // of the cell params; 1 when it says nothing
    double median_ns;
} rg_measure;

// The next piece of the list at *at, to its end or the mark, which is passed over; false at the end of the list.
bool rg_next_piece(const char **at, char mark, char *text, size_t room);
int64_t rg_part(const char *text, const char *separators, const char *name, int64_t standard); // "w750,r250", "w" -> 750
rg_measure rg_measure_of(const rg_result *, const rg_row *);
bool rg_timed(const rg_row *); // has passed and has a time
bool rg_plain(const rg_row *); // the papers' kind of input: 8 bits, one image (k0)

bool rg_shaped(const char *shape, const char *wanted,
    const char *separators); // "p1;i<53", ";": has every part, i below 53; "s!420": not 420
bool rg_has_interval(const rg_row *);
// What a claim asks of a row: "autocorr:simd threads=1@w750;k0", several separated by '|' (any of them). threads=all: more than
// one; after '@' parts of the shape.
bool rg_matches(const rg_row *, const char *spec);
// Fastest timed row of spec at exactly this shape, by the first scope of `scopes` ("pageable,device") that has one, hot before
// cold. false when there is none.
bool rg_pick(const rg_bench_machine *, const char *spec, const char *shape, const char *scopes, rg_measure *);
// The shape that rows of both specs have in common: one that begins with `size` and has the largest R, else the largest work.
// NULL when they have none.
const char *rg_common_shape(const rg_bench_machine *, const char *a, const char *b, const char *size, const char *scopes);
// Where the best of a kind is the very row that it is compared with, so many configurations of the kind have to be there, or
// that none is faster says nothing: of 20 drawn at random one is among the fastest 14 % with a probability of 95 %.
enum { RG_SEARCHED = 20 };
// Both at one shape and in one scope, the first of `scopes` in which there are both; a host, which copies nothing, has
// both scopes with copies where it has `device`. Not where one row alone is all that there is of both: it says nothing of itself.
bool rg_pick_pair(
    const rg_bench_machine *, const char *a, const char *b, const char *shape, const char *scopes, rg_measure *, rg_measure *);
// 95 % interval of the median of n samples; NaN of fewer than two.
void rg_median_interval(const rg_samples *, double *low, double *high);
// Ratio of medians a / b, a piece of work each, with its interval (NaN without samples).
double rg_time_ratio(const rg_measure *a, const rg_measure *b, double *low, double *high);
// Pieces of work of b for one of a: 1 at equal work, and where a file does not say.
double rg_more_work(const rg_measure *a, const rg_measure *b);
// ns that a job takes whatever its number of particles, the part p of its shape: where the line through this time and that of
// the fewest particles, by a row of spec whose shape is else the same, meets none. NaN where only one number was timed.
double rg_fixed_ns(const rg_bench_machine *, const char *spec, const rg_measure *);

// ---- the job -------------------------------------------------------------------------------------------------------------

enum { RG_JOB_FOLDERS_MOST = 4 };

// What `regather autocorr` left in its folders: the same series done by one or more variants. The first is judged.
typedef struct rg_job_files {
    int n;
    const char *folder[RG_JOB_FOLDERS_MOST];
    rg_tsv growth[RG_JOB_FOLDERS_MOST]; // rmax.tsv; no rows when absent
} rg_job_files;
int rg_job_files_add(rg_job_files *, const char *folder);
void rg_job_files_free(rg_job_files *);
// Column of the k-th growth table against its time, where both are numbers: the count, *x and *y malloc'ed.
int rg_job_growth(const rg_job_files *, int k, const char *column, double **x, double **y);

// Least squares through the origin, y = slope_through_origin x, and free, y = intercept + slope x; NaN where n is too small.
typedef struct rg_line {
    int n;
    double slope_through_origin, slope, intercept, intercept_error; // standard error of the intercept
    double residual;                                                // rms distance from the free line
} rg_line;
rg_line rg_line_fit(const double *x, const double *y, int n);

// ---- claims --------------------------------------------------------------------------------------------------------------

typedef enum {
    RG_REPRODUCED,   // between the bounds
    RG_ORDER,        // between bounds of half a decade either way
    RG_DIRECTION,    // outside, on the paper's side with the whole interval
    RG_CONTRADICTED, // on the other side with the whole interval, or a FAIL
    RG_EXISTS,       // shown to run or to be there; no number of the paper is met
    RG_NOT_CALLED,   // measured, without an interval or with one that holds both answers
    RG_NOT_TESTABLE, // not measured here: no such device, not run
    RG_INCONSISTENT, // the defect is in the paper itself
    RG_OUTCOMES
} rg_outcome;
extern const char *const rg_outcome_name[RG_OUTCOMES];

enum { RG_PAPERS_MOST = 16 };
typedef struct rg_claims {
    rg_tsv claim, paper;              // reference/claims.tsv, reference/papers.tsv
    rg_tsv published[RG_PAPERS_MOST]; // the numbers of each row of paper
} rg_claims;
int rg_claims_read(const char *claims_path, const char *papers_path, rg_claims *);
int rg_paper_of(const rg_claims *, const char *paper); // its row, -1 when unknown
void rg_claims_free(rg_claims *);
const char *rg_published_number(const rg_claims *, int paper, const char *id, const char *column); // ""; paper -1: none
const char *rg_published(const rg_claims *, int claim, const char *column); // of the number the claim rests on; ""

typedef struct rg_judgement {
    rg_outcome outcome;
    double value, low, high; // ours and its interval; NaN when there is none
    char ours[160];          // "27.1 x [26.8, 27.4]"
    char size[64], scope[96];
    char why[320];       // what decided
    double over_autovec; // of a ratio to scalar C: the same over autovec, NaN when that was not timed; 0 of any other
} rg_judgement;

// What a claim compares, by the columns of claims.tsv of these names.
typedef struct rg_comparison {
    const rg_bench_machine *machine;
    const rg_job_files *job;
    const char *a, *b, *size, *scopes, *direction;
    const char *unit; // of the published number
    double low, high;
} rg_comparison;
bool rg_is_addition(const rg_claims *, int claim); // of this project: no number of the paper stands behind it
rg_judgement rg_judge_as(const char *kind, const rg_comparison *);

// Judges claim i on one machine. The job belongs to this machine only (NULL elsewhere).
rg_judgement rg_judge(const rg_claims *, int i, const rg_bench_machine *, const rg_job_files *);
// A quantity of the job by its name in claims.tsv: value, ours, and the interval where there is one; else why it cannot be had.
void rg_job_quantity(const rg_job_files *, const char *name, rg_judgement *);
// The verdict on a number alone, with the interval [interval_low, interval_high]: on the side of the direction (">1", "<0.9";
// "": the bounds alone decide), then between low and high.
rg_outcome rg_outcome_of(
    double value, double interval_low, double interval_high, double low, double high, const char *direction);

// ---- figures -------------------------------------------------------------------------------------------------------------

typedef struct rg_figure {
    const char *paper; // whose section it stands in
    const char *name;  // plots/NAME.gp
    int machine;       // of which it shows something
    char title[400], subtitle[300], alt[600];
    char wide[200], narrow[200], data[200], script[200]; // files, relative to the report
    int width, height, narrow_height;                    // of a phone's
    bool picture, whole;                                 // as rg_page_figure has them
    bool drawn;
    char why_not[160]; // when not drawn
} rg_figure;

typedef struct rg_report {
    const char *out, *plots;
    const char *traces; // folder of `regather trace`, or NULL
    const char *pages;  // folder of jobs' pages, or NULL
    int n_machines;
    rg_bench_machine *machine; // [0] is this one
    int n_maps;
    const char *const *map; // "NAME=FILE.mrc", and its truth as "NAME.truth=FILE.mrc"
    rg_job_files job;
    rg_claims claims;
    rg_tsv findings;         // reference/findings.tsv
    rg_judgement *judgement; // of claim i on machine m: [i * n_machines + m]
    int n_figures;
    rg_figure *figure; // in the order of plots/figures.tsv
    bool stale;        // rows of kernels that changed since count, and are marked
} rg_report;

static inline const rg_judgement *rg_judged(const rg_report *r, int claim, int machine)
{
    return &r->judgement[claim * r->n_machines + machine];
}
static inline const char *rg_claim_cell(const rg_report *r, int claim, const char *column) // of claims.tsv
{
    return rg_tsv_cell(&r->claims.claim, claim, column);
}
bool rg_is_of(const rg_report *, int claim, const char *paper);

// RG_GOOD, or RG_USAGE with one line where --map names what no figure shows.
int rg_check_maps(const rg_report *);
// Draws all that the files allow, each by one gnuplot. Without gnuplot every figure says so.
int rg_draw(rg_report *);
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

// ---- what was found, and the pages ---------------------------------------------------------------------------------------

// After the claims. of_some: of a file of one's own, which need not have all that findings speak of.
int rg_findings_read(rg_report *, bool of_some);
int rg_claim_of(const rg_claims *, const char *id); // its row, -1 when unknown
// What claim id came to on the machine, as a sentence of findings.tsv. false: nothing was measured of it, or nothing is said.
bool rg_finding(const rg_report *, const char *id, int machine, char *text, size_t room);
// Whose results the paper's card tells: this machine's, unless a reference machine alone has more than a word to say.
int rg_speaks_of(const rg_report *, const char *paper);
void rg_digits(double value, char text[32]); // "4.83", "34476"
// `from` with its words, as "{paper}", replaced by the texts of those that are known.
typedef struct rg_known_word {
    const char *word, *text;
} rg_known_word;
void rg_fill_in(const char *from, const rg_known_word *, int n, char *to, size_t room);

int rg_write_index(const rg_report *, rg_page *);
int rg_write_machine_page(const rg_report *, int machine, rg_page *);
void rg_write_markdown(const rg_report *, rg_page *);
void rg_write_ledger(const rg_report *, FILE *); // every claim on every machine: TSV
void rg_print_claims(const rg_report *, FILE *);
void rg_amount(double value, const char *unit, char text[48]); // "12.3 G multiply-adds/s"

#endif
