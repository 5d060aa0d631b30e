// SPDX-License-Identifier: MIT
// Tests of report/: verdicts on made-up rows, the choice of rows, the published numbers, and both makes of page.
#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/page/content.h"
#include "../../../report/report.h"
#include "../test.h"
#include "../test_command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS_MOST = 16 };

// A machine with made-up rows; free_machine releases them.
typedef struct made {
    rg_bench_machine machine;
    rg_result result;
    rg_row row[ROWS_MOST];
} made;

static void make(made *m)
{
    memset(m, 0, sizeof *m);
    m->result = (rg_result){.path = rg_print("made.tsv"), .row = m->row};
    m->machine = (rg_bench_machine){.here = true, .n_files = 1, .file = &m->result};
}

static rg_row *add(made *m, const char *variant, const char *shape, const char *params, const char *status, double median_ns)
{
    rg_row *row = &m->row[m->result.n_rows++];
    for (int c = 0; c < RG_COLUMNS; c++) row->cell[c] = NULL;
    row->cell[RG_C_ALGO] = rg_print("autocorr");
    row->cell[RG_C_VARIANT] = rg_print("%s", variant);
    row->cell[RG_C_SHAPE] = rg_print("%s", shape);
    row->cell[RG_C_PARAMS] = rg_print("%s", params);
    row->cell[RG_C_SCOPE] = rg_print("device");
    row->cell[RG_C_MODE] = rg_print("hot");
    row->cell[RG_C_UNIT] = rg_print("ns");
    row->cell[RG_C_STATUS] = rg_print("%s", status);
    row->cell[RG_C_STOP] = rg_print("said so");
    if (median_ns > 0) {
        row->cell[RG_C_MEDIAN] = rg_print("%.17g", median_ns);
        row->cell[RG_C_Q1] = rg_print("%.17g", median_ns);
        row->cell[RG_C_Q3] = rg_print("%.17g", median_ns);
        row->cell[RG_C_SAMPLES] = rg_print("%.17g;%.17g;%.17g;%.17g;%.17g;%.17g;%.17g;%.17g", median_ns, 1.01 * median_ns,
            0.99 * median_ns, median_ns, 1.01 * median_ns, 0.99 * median_ns, median_ns, median_ns);
    }
    for (int c = 0; c < RG_COLUMNS; c++)
        if (!row->cell[c]) row->cell[c] = rg_print("%s", "");
    rg_row_set_time(row);
    return row;
}

static void free_machine(made *m)
{
    for (int i = 0; i < m->result.n_rows; i++) rg_row_free(&m->row[i]);
    free(m->result.path);
}

static const char claims_head[] =
    "id\titem\tpaper\tclaim\tkind\tnumerator\tdenominator\tsize\tscope\tpublished\tlow\thigh\tdirection\twhy\tnote\n";

// Reads claims and numbers written here, so that a test fails when the reader does and not when claims.tsv changes.
static void read_claim(const char *row, rg_claims *c)
{
    char *folder = test_folder(), *claims = rg_print("%s/claims.tsv", folder), *papers = rg_print("%s/papers.tsv", folder);
    put_text(claims, fmt("# a comment\n%s%s\n", claims_head, row));
    put_text(papers, "paper\ttitle\tpublished\nother\tOther\tp.tsv\np\tA paper\tp.tsv\n");
    put_text(fmt("%s/published/p.tsv", folder),
        "id\titem\ttable_or_figure\tcell\tvalue\tunit\tnote\nX.one\tX\tFig. 1\tfirst\t4\tx\t-\n");
    assert_int_equal(rg_claims_read(claims, papers, c), RG_GOOD);
    assert_int_equal(test_folder_remove(folder), 0);
    free(papers);
    free(claims);
}

static rg_judgement judge(const char *row, made *m, const rg_job_files *job)
{
    rg_claims c;
    read_claim(row, &c);
    rg_judgement j = rg_judge(&c, 0, &m->machine, job);
    rg_claims_free(&c);
    return j;
}

#define RATIO                                                                                                                  \
    "X\tX\tp\tc\tratio\tautocorr:naive threads=1\tautocorr:simd threads=1\tw750,h1500\t"                                       \
    "device\tX.one\t2.8\t5.7\t>1\tw\t-"

static rg_judgement judge_ratio_of(double naive_ns, double simd_ns)
{
    made m;
    make(&m);
    add(&m, "naive", "w750,h1500,r250,k0", "threads=1", "PASS", naive_ns);
    add(&m, "simd", "w750,h1500,r250,k0", "threads=1;isa=2", "PASS", simd_ns);
    rg_judgement j = judge(RATIO, &m, NULL);
    free_machine(&m);
    return j;
}

TEST(every_verdict_of_a_ratio)
{
    rg_judgement j = judge_ratio_of(4e6, 1e6);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(fabs(j.value - 4) < 1e-9);
    assert_true(j.low < 4 && j.high > 4 && j.low > 3.8 && j.high < 4.2);
    assert_string_equal(j.size, "w750,h1500,r250,k0");
    assert_string_equal(j.scope, "device");
    assert_int_equal(judge_ratio_of(40e6, 1e6).outcome, RG_DIRECTION);
    assert_int_equal(judge_ratio_of(1.5e6, 1e6).outcome, RG_DIRECTION);
    assert_int_equal(judge_ratio_of(0.5e6, 1e6).outcome, RG_CONTRADICTED); // the wrong direction
    assert_int_equal(judge_ratio_of(1.0e6, 1e6).outcome, RG_NOT_CALLED);   // an interval that holds 1 has no direction
}

// Both sides of a ratio are timed in one scope; a host, which copies nothing, has transfer where it has device.
TEST(both_sides_have_one_scope)
{
    static const char claim[] = "X\tX\tp\tc\tratio\tautocorr:naive threads=1\tautocorr:gather\t-\ttransfer,device\t"
                                "X.one\t2.8\t5.7\t>1\tw\t-";
    made m;
    make(&m);
    rg_row *host = add(&m, "naive", "w750,h1500,r250,k0", "threads=1", "PASS", 4e6);
    test_set(host, RG_C_SPACE, "host");
    rg_row *gpu = add(&m, "gather", "w750,h1500,r250,k0", "-", "PASS", 1e6);
    test_set(gpu, RG_C_SCOPE, "transfer");
    rg_judgement j = judge(claim, &m, NULL);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_string_equal(j.scope, "transfer");
    test_set(host, RG_C_SCOPE, "job");
    j = judge(claim, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    test_set(host, RG_C_SCOPE, "kernel");
    assert_int_equal(judge(claim, &m, NULL).outcome, RG_NOT_TESTABLE);
    test_set(host, RG_C_SCOPE, "device");
    test_set(host, RG_C_SPACE, "device"); // a GPU's time without copies is none with
    assert_int_equal(judge(claim, &m, NULL).outcome, RG_NOT_TESTABLE);
    free_machine(&m);
}

TEST(a_single_sample_is_not_called)
{
    made m;
    make(&m);
    test_set(add(&m, "naive", "w750,h1500,r250,k0", "threads=1", "PASS", 4e6), RG_C_SAMPLES, "4e6");
    add(&m, "simd", "w750,h1500,r250,k0", "threads=1", "PASS", 1e6);
    rg_judgement j = judge(RATIO, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    assert_true(fabs(j.value - 4) < 1e-9);
    assert_non_null(strstr(j.why, "without an interval"));
    // A smaller size at which both have one goes before it, and is named.
    add(&m, "naive", "w750,h1500,r50,k0", "threads=1", "PASS", 4e5);
    add(&m, "simd", "w750,h1500,r50,k0", "threads=1", "PASS", 1e5);
    j = judge(RATIO, &m, NULL);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_string_equal(j.size, "w750,h1500,r50,k0");
    free_machine(&m);
}

TEST(verdicts_on_numbers)
{
    assert_int_equal(rg_outcome_of(4, 3.9, 4.1, 2.8, 5.7, ">1"), RG_REPRODUCED);
    assert_int_equal(rg_outcome_of(4, 3.9, 4.1, 1.3, 13, ">1"), RG_ORDER);             // half a decade either way
    assert_int_equal(rg_outcome_of(0.6, 0.59, 0.61, 0.5, 2, ">0.9"), RG_CONTRADICTED); // between the bounds, on the wrong side
    assert_int_equal(rg_outcome_of(0.95, 0.85, 1.05, 0.5, 2, ">0.9"), RG_NOT_CALLED);
    assert_int_equal(rg_outcome_of(4, NAN, NAN, 2.8, 5.7, ">1"), RG_NOT_CALLED);
    assert_int_equal(rg_outcome_of(4, 0, INFINITY, 2.8, 5.7, ">1"), RG_NOT_CALLED);
    assert_int_equal(rg_outcome_of(0.02, 0.02, 0.02, NAN, 0.01, ""), RG_CONTRADICTED); // no side: the bounds decide
    assert_int_equal(rg_outcome_of(0.2, 0.05, 0.3, -0.1, 0.1, ""), RG_NOT_CALLED);
    assert_int_equal(rg_outcome_of(NAN, NAN, NAN, 1, 2, ">1"), RG_NOT_TESTABLE);
}

TEST(a_missing_or_failed_row_is_not_testable)
{
    made m;
    make(&m);
    add(&m, "naive", "w750,h1500,r250,k0", "threads=1", "PASS", 4e6);
    rg_judgement j = judge(RATIO, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "simd"));
    assert_true(isnan(j.value));
    add(&m, "simd", "w750,h1500,r250,k0", "threads=1", "SKIP", 0);
    j = judge(RATIO, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "SKIP said so"));
    add(&m, "simd", "w750,h1500,r250,k0", "threads=1", "FAIL", 1e6); // a time beside a FAIL is no time
    assert_int_equal(judge(RATIO, &m, NULL).outcome, RG_NOT_TESTABLE);
    add(&m, "simd", "w64,h64,r8,k0", "threads=1", "PASS", 1e6);
    j = judge(RATIO, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "no common size"));
    free_machine(&m);
}

TEST(the_asked_size_and_parameters_are_taken)
{
    made m;
    make(&m);
    add(&m, "naive", "w4096,h4096,r500,k0", "threads=1", "PASS", 1e9);
    add(&m, "simd", "w4096,h4096,r500,k0", "threads=1", "PASS", 1e9);
    add(&m, "naive", "w750,h1500,r100,k0", "threads=1", "PASS", 3e6);
    add(&m, "simd", "w750,h1500,r100,k0", "threads=1;isa=1", "PASS", 2e6);
    add(&m, "simd", "w750,h1500,r100,k0", "threads=1;isa=2", "PASS", 1e6);
    add(&m, "simd", "w750,h1500,r100,k0", "threads=8;isa=2", "PASS", 1e5);
    add(&m, "naive", "w750,h1500,r250,k2", "threads=1", "PASS", 9e6); // 16-bit pixels: not the papers' input
    add(&m, "simd", "w750,h1500,r250,k2", "threads=1", "PASS", 1e6);
    rg_judgement j = judge(RATIO, &m, NULL);
    assert_string_equal(j.size, "w750,h1500,r100,k0");
    assert_true(fabs(j.value - 3) < 1e-9);
    j = judge("X\tX\tp\tc\tscaling\tautocorr:simd threads=1 isa=2\tautocorr:simd threads=all\t-\t"
              "device\tX.one\t0.85\t-\t>0.25\tw\t-",
        &m, NULL);
    assert_true(fabs(j.value - 1.25) < 1e-9); // 10 x on 8 cores
    assert_int_equal(j.outcome, RG_REPRODUCED);
    free_machine(&m);
}

TEST(rates_need_their_own_size)
{
    static const char claim[] = "X\tX\tp\tc\trate\tautocorr:gather\t-\tw640,h480,r16\ttransfer,device\tX.one\t30\t-\t-\tw\t-";
    made m;
    make(&m);
    add(&m, "gather", "w750,h1500,r16,k0", "-", "PASS", 1e6);
    assert_int_equal(judge(claim, &m, NULL).outcome, RG_NOT_TESTABLE);
    test_set(add(&m, "gather", "w640,h480,r16,k0", "-", "PASS", 50.0), RG_C_UNIT, "ms");
    assert_int_equal(judge(claim, &m, NULL).outcome, RG_CONTRADICTED); // 20 images/s
    test_set(add(&m, "gather", "w640,h480,r16,k0", "-", "PASS", 25.0), RG_C_UNIT, "ms");
    rg_judgement j = judge(claim, &m, NULL);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(fabs(j.value - 40) < 1e-9);
    test_set(add(&m, "gather", "w640,h480,r16,k0", "-", "PASS", 100.0), RG_C_UNIT, "ms");
    test_set(&m.row[m.result.n_rows - 1], RG_C_SCOPE, "transfer"); // the first scope asked for decides, though slower
    assert_true(fabs(judge(claim, &m, NULL).value - 10) < 1e-9);
    free_machine(&m);
}

TEST(statuses_of_the_checker)
{
    static const char equal[] = "X\tX\tp\tc\tequal\tautocorr:naive,autocorr:gather\t-\t-\t-\tX.one\t-\t-\t-\tw\t-";
    static const char fault[] = "X\tX\tp\tc\tfault\tautocorr:as_printed\t-\t-\t-\tX.one\t-\t-\t-\tw\t-";
    made m;
    make(&m);
    add(&m, "naive", "w3,h3,r1,k0", "threads=1", "PASS", 0);
    rg_judgement j = judge(equal, &m, NULL);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "gather"));
    add(&m, "gather", "w3,h3,r1,k0", "-", "PASS", 0);
    assert_int_equal(judge(equal, &m, NULL).outcome, RG_REPRODUCED);
    add(&m, "gather", "w5,h3,r1,k0", "-", "CRASH", 0);
    assert_int_equal(judge(equal, &m, NULL).outcome, RG_CONTRADICTED);
    assert_int_equal(judge(fault, &m, NULL).outcome, RG_NOT_TESTABLE);
    test_set(add(&m, "as_printed", "w257,h131,r2,k0", "-", "FAIL", 0), RG_C_ERROR, "4294967296");
    j = judge(fault, &m, NULL);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(j.value == 4294967296.0);
    free_machine(&m);
}

TEST(quantities_of_the_job)
{
    made m;
    make(&m);
    char *folder = test_folder(), *path = rg_print("%s/rmax.tsv", folder);
    put_text(path,
        "# time: as given\nphoto\tR_max\ttime\tC1D\thalf_width\tk_peak_length\na\t10\t1\t0.5\t3\t10\n"
        "b\tnone\t2\tnone\t3\t30\n"
        "c\t30\t3\t0.5\t3\t20\nd\t41\t4\t0.5\t3\t50\n");
    rg_job_files job = {0};
    assert_int_equal(rg_job_files_add(&job, folder), RG_GOOD);
    static const char intercept[] = "X\tX\tp\tc\tjob\tintercept\t-\t-\t-\tX.one\t-0.1\t0.1\t-\tw\t-";
    static const char reciprocal[] = "X\tX\tp\tc\tjob\treciprocal\t-\t-\t-\tX.one\t2\t-\t>1.25\tw\t-";
    static const char difference[] = "X\tX\tp\tc\tjob\tdifference\t-\t-\t-\tX.one\t-\t0.01\t-\tw\t-";
    rg_judgement j = judge(intercept, &m, &job);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(fabs(j.value * 41 - -3.0 / 7) < 1e-9); // of the three points that have an R_max
    assert_int_equal(judge(reciprocal, &m, &job).outcome, RG_REPRODUCED);
    assert_int_equal(judge(difference, &m, &job).outcome, RG_NOT_TESTABLE); // one run has nothing to differ from
    assert_int_equal(rg_job_files_add(&job, folder), RG_GOOD);
    j = judge(difference, &m, &job);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(j.value == 0);
    assert_int_equal(judge(intercept, &m, NULL).outcome, RG_NOT_TESTABLE);
    rg_job_files_free(&job);
    assert_int_equal(test_folder_remove(folder), 0);
    free(path);
    free_machine(&m);
}

TEST(lines_through_points)
{
    const double x[] = {1, 2, 3, 4}, y[] = {5, 7, 9, 11}; // y = 3 + 2 x
    rg_line line = rg_line_fit(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-12 && fabs(line.intercept - 3) < 1e-12 && line.intercept_error < 1e-6);
    assert_true(fabs(line.slope_through_origin - 90.0 / 30) < 1e-12);
    assert_true(isnan(rg_line_fit(x, y, 2).intercept_error));
}

// The files of the project themselves: all items are there, every claim has a known kind and rests on a printed number.
TEST(claims_and_published_numbers_of_the_project)
{
    char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv");
    rg_claims c;
    assert_int_equal(rg_claims_read(claims, papers, &c), RG_GOOD);
    made m;
    make(&m);
    uint64_t items[4] = {0}; // Lu et al., Strelak et al., Garcia et al., Li et al.
    for (int i = 0; i < c.claim.n_rows; i++) {
        rg_judgement j = rg_judge(&c, i, &m.machine, NULL);
        bool paper = !strcmp(rg_tsv_cell(&c.claim, i, "kind"), "paper");
        assert_int_equal(j.outcome, paper ? RG_INCONSISTENT : RG_NOT_TESTABLE); // no row has been given
        assert_null(strstr(j.why, "unknown"));
        assert_true(*rg_tsv_cell(&c.claim, i, "why"));
        if (*rg_tsv_cell(&c.claim, i, "published")) assert_true(*rg_published(&c, i, "value"));
        items[rg_paper_of(&c, rg_tsv_cell(&c.claim, i, "paper"))] |= 1u << atoi(rg_tsv_cell(&c.claim, i, "item") + 1);
    }
    assert_string_equal(rg_published(&c, rg_claim_of(&c, "L6a"), "value"), "130");
    assert_string_equal(rg_published(&c, rg_claim_of(&c, "L9"), "value"), "88");
    assert_int_equal(items[0], (1u << 14) - 2); // L1 to L13
    assert_int_equal(items[1], (1u << 16) - 2); // S1 to S15
    assert_int_equal(items[2], (1u << 8) - 2);  // G1 to G7
    assert_int_equal(items[3], (1u << 15) - 2); // F1 to F14
    rg_claims_free(&c);
    free_machine(&m);
    free(claims);
    free(papers);
}

static char *page_of(const rg_page_make *make)
{
    char *text = NULL;
    size_t length;
    rg_page p = {.out = open_memstream(&text, &length), .make = make, .label = rg_outcome_name, .n_labels = RG_OUTCOMES};
    static const char *const column[] = {"a", "b"}, *const cell[] = {"x < y | z", "reproduced"};
    make->item(&p, "one `two`");
    make->table(&p, "caption", "lr", column, 2);
    make->row(&p, cell, 2);
    make->table_end(&p);
    fclose(p.out);
    return text;
}

TEST(pages_have_lists_and_tables)
{
    char *html = page_of(&rg_html), *markdown = page_of(&rg_markdown);
    assert_non_null(strstr(html, "x &#60; y | z</td>"));
    assert_non_null(strstr(html, "<code>two</code>"));
    assert_non_null(strstr(html, "<span class=\"v v0\">reproduced</span>"));
    assert_non_null(strstr(html, "</ul>"));
    assert_non_null(strstr(markdown, "| x &lt; y \\| z | reproduced |\n"));
    assert_non_null(strstr(markdown, "|:---|---:|\n"));
    free(html);
    free(markdown);
}

TEST(sentences_say_the_verdict)
{
    rg_judgement j = {.outcome = RG_REPRODUCED, .value = 4.8267, .low = 4.8, .high = 4.9};
    rg_bench_machine machine = {.here = true};
    rg_report r = {.n_machines = 1, .machine = &machine};
    char text[200], *path = rg_print("/tmp/rg_findings_%d.tsv", (int)getpid());
    read_claim(RATIO, &r.claims);
    put_text(path, "id\tlabel\tholds\tfails\topen\nX\t-\tholds {ours} ({paper})\tfails {ours}\t-\n");
    assert_int_equal(rg_tsv_read(path, &r.findings), RG_GOOD);
    r.judgement = &j;
    assert_true(rg_finding(&r, "X", 0, text, sizeof text));
    assert_string_equal(text, "holds 4.83 (4)");
    j.over_autovec = 1.25; // a ratio to scalar C has beside it what a compiler makes of the same loops
    assert_true(rg_finding(&r, "X", 0, text, sizeof text));
    assert_string_equal(text, "holds 4.83 (4; over a compiler's vectors: 1.25)");
    j.over_autovec = NAN;
    assert_true(rg_finding(&r, "X", 0, text, sizeof text));
    assert_string_equal(text, "holds 4.83 (4; over a compiler's vectors: not timed)");
    j.outcome = RG_CONTRADICTED;
    j.value = 34476.4;
    assert_true(rg_finding(&r, "X", 0, text, sizeof text));
    assert_string_equal(text, "fails 34500");
    j.outcome = RG_NOT_CALLED; // '-': nothing is said
    assert_false(rg_finding(&r, "X", 0, text, sizeof text));
    j.outcome = RG_REPRODUCED;
    j.value = NAN;
    assert_false(rg_finding(&r, "X", 0, text, sizeof text));
    assert_false(rg_finding(&r, "Y", 0, text, sizeof text));
    assert_int_equal(remove(path), 0);
    rg_tsv_free(&r.findings);
    rg_claims_free(&r.claims);
    free(path);
}

// A ratio of equal work says nothing of how many pieces that was: on a core a record times fewer particles than the paper.
TEST(sentences_of_ratios_of_jobs_name_no_number_of_particles)
{
    char *path = rg_share_path("reference/findings.tsv");
    rg_tsv t;
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    for (int i = 0; i < t.n_rows; i++)
        if (!strncmp(rg_tsv_cell(&t, i, "id"), "F10", 3)) assert_null(strstr(rg_tsv_cell(&t, i, "holds"), "24"));
    rg_tsv_free(&t);
    free(path);
}

// The tables of Li et al., with three rows and a table of this machine.
TEST(papers_tables_have_ours_beside)
{
    char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv"), *text = NULL;
    made m;
    make(&m);
    rg_report r = {.n_machines = 1, .machine = &m.machine};
    assert_int_equal(rg_claims_read(claims, papers, &r.claims), RG_GOOD);
    rg_row *row = add(&m, "batch", "s500,p16,k64,t4,b166,a1", "calls=8", "PASS", 64 * 55e3);
    test_set(row, RG_C_ALGO, "cc3m");
    row = add(&m, "simd", "s500,p1,k64,t1,b166,a1", "threads=1", "PASS", 12.5e6);
    test_set(row, RG_C_ALGO, "cc3m");
    row = add(&m, "default", "s100", "gpus=0;threads=1", "PASS", 2e9);
    test_set(row, RG_C_ALGO, "search");
    test_set(row, RG_C_SCOPE, "job");
    test_set(row, RG_C_WORK, "2"); // of the 24 of the paper
    char *shares = rg_print("/tmp/rg_shares_%d.tsv", (int)getpid());
    put_text(shares, "part\tcpu\tgpu\nsearch.ccp\t20.5\t-\n");
    struct rg_named_table named = {.name = "fr_shares"};
    assert_int_equal(rg_tsv_read(shares, &named.tsv), RG_GOOD);
    m.machine.table = &named;
    m.machine.n_tables = 1;
    size_t length;
    rg_page p = {.out = open_memstream(&text, &length), .make = &rg_markdown};
    rg_write_tables(&r, &p, "Li 2010");
    rg_write_tables(&r, &p, "Lu 2009");
    fclose(p.out);
    assert_non_null(strstr(
        text, "| cc3m 500 x 500 | 58428 +- 960 | 5527 +- 85 | not run | not run | 12500 | not run | not run | not run | 55 |"));
    assert_non_null(strstr(text, "| search: ccp | 21.3 | 34.0 | 20.5 | not run |"));
    assert_non_null(
        strstr(text, "| search 100 x 100 | 209 +- 4.04 | 165 +- 2.39 | 1.27 +- 0.01 | 24 \\* | not run | not run |"));
    assert_null(strstr(text, "Supp. Table 4")); // nothing of it was measured
    assert_int_equal(remove(shares), 0);
    rg_tsv_free(&named.tsv);
    rg_claims_free(&r.claims);
    free_machine(&m);
    free(shares);
    free(text);
    free(claims);
    free(papers);
}

// What a claim over Octave lacks may be a GPU, and where there is one, its row: the page does not ask for what the machine has.
TEST(what_is_needed_is_what_is_not_there)
{
    char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv"), text[300];
    made m;
    make(&m);
    rg_report r = {.n_machines = 1, .machine = &m.machine};
    assert_int_equal(rg_claims_read(claims, papers, &r.claims), RG_GOOD);
    const int claim = rg_claim_of(&r.claims, "L6c"); // gather over Octave
    r.judgement = rg_alloc((size_t)r.claims.claim.n_rows * sizeof *r.judgement);
    for (int i = 0; i < r.claims.claim.n_rows; i++) r.judgement[i].outcome = RG_REPRODUCED;
    r.judgement[claim] = rg_judge(&r.claims, claim, &m.machine, NULL);
    rg_untested(&r, 0, "Lu 2009", text, sizeof text);
    assert_non_null(strstr(text, "Needed: GNU Octave (1);"));
    add(&m, "octave", "w750,h1500,r10,k0", "-", "PASS", 5e9);
    r.judgement[claim] = rg_judge(&r.claims, claim, &m.machine, NULL);
    rg_untested(&r, 0, "Lu 2009", text, sizeof text);
    assert_non_null(strstr(text, "Needed: a GPU (1);"));
    test_set(add(&m, "scatter", "w750,h1500,r10,k0", "-", "PASS", 1e6), RG_C_SPACE, "device");
    rg_untested(&r, 0, "Lu 2009", text, sizeof text);
    assert_non_null(strstr(text, "Needed: a longer run (1);"));
    free(r.judgement);
    rg_claims_free(&r.claims);
    free_machine(&m);
    free(claims);
    free(papers);
}

// The report of a machine without rows.
static rg_report unmeasured(made *m)
{
    char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv");
    make(m);
    rg_report r = {.n_machines = 1, .machine = &m->machine};
    assert_int_equal(rg_claims_read(claims, papers, &r.claims), RG_GOOD);
    r.judgement = rg_alloc((size_t)r.claims.claim.n_rows * sizeof *r.judgement);
    for (int i = 0; i < r.claims.claim.n_rows; i++) r.judgement[i] = rg_judge(&r.claims, i, &m->machine, NULL);
    free(claims);
    free(papers);
    return r;
}

// The card of a paper of which nothing was measured does not say where it was measured.
TEST(a_card_of_nothing_names_no_machine)
{
    made m;
    rg_report r = unmeasured(&m);
    char *text = NULL;
    size_t length;
    rg_page p = {.out = open_memstream(&text, &length), .make = &rg_html};
    rg_write_cards(&r, &p);
    fclose(p.out);
    assert_non_null(strstr(text, "No claim of this paper was measured here."));
    assert_null(strstr(text, "Measured on"));
    free(r.judgement);
    rg_claims_free(&r.claims);
    free_machine(&m);
    free(text);
}

// Of a record with few rows: what it has comes first, and tables that have nothing of any machine are none.
TEST(papers_with_numbers_come_first)
{
    made m;
    rg_report r = unmeasured(&m);
    char *text = NULL;
    for (int i = 0; i < r.claims.paper.n_rows; i++) assert_int_equal(rg_paper_at(&r, i), i);
    const int strelak = rg_paper_of(&r.claims, "Strelak 2019");
    assert_true(strelak > 0);
    r.judgement[rg_claim_of(&r.claims, "S2")].outcome = RG_REPRODUCED;
    assert_int_equal(rg_paper_at(&r, 0), strelak);
    for (int i = 1; i < r.claims.paper.n_rows; i++) assert_int_equal(rg_paper_at(&r, i), i - (i <= strelak));
    size_t length;
    rg_page p = {.out = open_memstream(&text, &length), .make = &rg_markdown};
    rg_write_markdown(&r, &p);
    fclose(p.out);
    assert_true(strstr(text, "## Strelak") < strstr(text, "## Lu"));
    assert_null(strstr(text, "Portability"));
    assert_false(rg_write_portability(&r, NULL, "Strelak 2019") || rg_write_tables(&r, NULL, "Strelak 2019"));
    free(r.judgement);
    rg_claims_free(&r.claims);
    free_machine(&m);
    free(text);
}

// A whole job is no point of a curve over offsets.
TEST(jobs_are_in_no_figure_of_offsets)
{
    made m;
    char *folder = test_folder();
    make(&m);
    test_set(add(&m, "gather", "w750,h1500,r250,k0", "gpus=1", "PASS", 1e9), RG_C_SCOPE, "job");
    rg_report r = {.out = folder, .plots = "plots", .n_machines = 1, .machine = &m.machine};
    rg_draw(&r);
    assert_int_equal(r.n_figures, 0);
    free_machine(&m);
    assert_int_equal(test_folder_remove(folder), 0);
}

// Figs 6, 7 and 9 have Listing 1 beside the other codes: by equal work, at its own offset. Without Octave, NumPy is what Fig. 7 is over,
// and simple C where NumPy makes no curve.
TEST(listing_1_is_in_the_figures_of_offsets)
{
    made m;
    char *folder = test_folder(), *plots = rg_share_path("plots");
    assert_int_equal(mkdir(fmt("%s/fig", folder), 0777), 0);
    make(&m);
    test_set(add(&m, "gather", "w750,h1500,r25,k0", "-", "PASS", 1e5), RG_C_SPACE, "device");
    test_set(add(&m, "naive", "w750,h1500,r25,k0", "threads=1", "PASS", 8e8), RG_C_SPACE, "host");
    test_set(add(&m, "numpy", "w750,h1500,r25,k0", "threads=1", "PASS", 4e9), RG_C_SPACE, "host");
    test_set(add(&m, "gather", "w300,h300,r25,k0", "-", "PASS", 1e3), RG_C_SPACE, "device"); // of another image
    rg_row *copies = add(&m, "gather", "w750,h1500,r25,k0", "-", "PASS", 1e6); // which Listing 1 was not timed with
    test_set(copies, RG_C_SPACE, "device");
    test_set(copies, RG_C_SCOPE, "transfer");
    rg_row *row = add(&m, "as_printed", "w750,h1500,r25,g100", "-", "PASS", 3e5);
    test_set(row, RG_C_SPACE, "device");
    test_set(row, RG_C_ALGO, "autocorr_printed");
    for (int i = 0; i < m.result.n_rows; i++) test_set(&m.row[i], RG_C_WORK, &m.row[i] == row ? "3e9" : i == 3 ? "1e8" : "2e9");
    rg_report r = {.out = folder, .plots = plots, .n_machines = 1, .machine = &m.machine};
    rg_draw(&r);
    static const struct {
        const char *figure;
        double ratio;
    } wanted[] = {{"fig6", NAN}, {"fig7", 4e9 / 2e9 / (3e5 / 3e9)}, {"fig9", 1e5 / 2e9 / (3e5 / 3e9)}};
    for (int i = 0; i < RG_COUNT(wanted); i++) {
        rg_tsv t;
        assert_int_equal(rg_tsv_read(fmt("%s/fig/%s.tsv", folder, wanted[i].figure), &t), RG_GOOD);
        int found = 0;
        for (int k = 0; k < t.n_rows; k++) {
            const bool printed = !strcmp(rg_tsv_cell(&t, k, "series"), "as_printed");
            found += printed;
            if (printed && !isnan(wanted[i].ratio))
                assert_true(fabs(rg_tsv_number(&t, k, "ratio") / wanted[i].ratio - 1) < 1e-4);
            assert_false(i == 2 && !strcmp(rg_tsv_cell(&t, k, "series"), "gather")); // every variant of CPUs
        }
        assert_int_equal(found, 1);
        rg_tsv_free(&t);
    }
    // Simple C at two offsets makes a curve, which NumPy at one does not.
    rg_row *more = add(&m, "naive", "w750,h1500,r50,k0", "threads=1", "PASS", 3e9);
    test_set(more, RG_C_SPACE, "host");
    test_set(more, RG_C_WORK, "8e9");
    for (int i = 0; i < 2; i++) {
        rg_row *other = add(&m, i ? "simd" : "autovec", "w750,h1500,r25,k0", "threads=1", "PASS", 1e8);
        test_set(other, RG_C_SPACE, "host");
        test_set(other, RG_C_WORK, "2e9");
    }
    rg_report again = {.out = folder, .plots = plots, .n_machines = 1, .machine = &m.machine};
    rg_draw(&again);
    for (int i = 0; i < again.n_figures;
         i++) // without simple C of its sums Listing 1 has no speed-up: no figure is drawn of it without it
        assert_false(!strcmp(again.figure[i].name, "listing1") && again.figure[i].drawn);
    rg_tsv t;
    assert_int_equal(rg_tsv_read(fmt("%s/fig/fig7.tsv", folder), &t), RG_GOOD);
    for (int k = 0; k < t.n_rows; k++)
        if (!strcmp(rg_tsv_cell(&t, k, "series"), "as_printed"))
            assert_true(fabs(rg_tsv_number(&t, k, "ratio") / (8e8 / 2e9 / (3e5 / 3e9)) - 1) < 1e-4);
    rg_tsv_free(&t);
    free(r.figure);
    free(again.figure);
    free_machine(&m);
    assert_int_equal(test_folder_remove(folder), 0);
    free(plots);
}

// The rate of rotations depends on the angle: fastest is who is so on average, not who leads by a hair at one. A range of one number
// is that number.
TEST(titles_of_angles_speak_of_all_angles)
{
    made m;
    char *folder = test_folder(), *plots = rg_share_path("plots");
    assert_int_equal(mkdir(fmt("%s/fig", folder), 0777), 0);
    make(&m);
    static const struct {
        const char *variant, *turn, *rate;
    } timed[] = {{"simd", "181", "7.2e8"}, {"simd", "226", "6.9e8"}, {"simd", "271", "7e8"}, {"autovec", "181", "7.3e8"},
        {"autovec", "226", "4e8"}, {"autovec", "271", "2e8"}, {"at_16x16", "181", "1e8"}, {"at_16x16", "226", "1e8"},
        {"at_16x16", "271", "1e8"}, {"at_16x16", "11", "3e9"}, // more angles, where the others were not timed
        {"naive", "181", "9e8"}};                              // at one angle alone
    for (int i = 0; i < RG_COUNT(timed); i++) {
        rg_row *row = add(&m, timed[i].variant, fmt("w2048,h2048,m1,o0,t%s", timed[i].turn), "threads=1", "PASS", 6e6);
        test_set(row, RG_C_ALGO, "affine2d");
        test_set(row, RG_C_SPACE, "host");
        test_set(row, RG_C_RATE, timed[i].rate);
        test_set(row, RG_C_RATE_UNIT, "pixels/s");
    }
    static const char *const inserts[] = {"gather", "scatter", "scatter_v2", "scatter_v4"};
    for (int i = 0; i < RG_COUNT(inserts); i++) {
        rg_row *row = add(&m, inserts[i], "s257,i52,o1,b19,k0", "-", "PASS", i ? 3e6 : 1e6);
        test_set(row, RG_C_ALGO, "gridding");
        test_set(row, RG_C_SPACE, "device");
        test_set(row, RG_C_SCOPE, "kernel");
    }
    rg_report r = {.out = folder, .plots = plots, .n_machines = 1, .machine = &m.machine};
    rg_draw(&r);
    int found = 0;
    for (int i = 0; i < r.n_figures; i++)
        if (!strcmp(r.figure[i].name, "gridding_ratio")) {
            assert_string_equal(r.figure[i].title, "scatter takes 3 times as long as gather");
            found++;
        } else if (!strncmp(r.figure[i].name, "affine_rate", 11)) {
            assert_string_equal(
                r.figure[i].title, "simd turns the most pixels a second on average over the angles, up to 720 M pixels/s");
            found++;
        }
    assert_int_equal(found, 2);
    free(r.figure);
    free_machine(&m);
    assert_int_equal(test_folder_remove(folder), 0);
    free(plots);
}

TESTS(NULL, NULL)
