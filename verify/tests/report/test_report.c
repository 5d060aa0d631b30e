// SPDX-License-Identifier: MIT
// test_report.c: the project's claims and numbers, sentences, both formats of page, and figures, with made-up rows.
#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/page/page.h"
#include "../test.h"
#include "../test_command.h"
#include <sys/stat.h>

enum { ROWS_MOST = 16 };

// A report on one machine with made-up rows; free_made releases them.
typedef struct made {
    rg_report report;
    rg_bench_machine machine;
    rg_row_file file;
    rg_row row[ROWS_MOST];
} made;

static void make(made *m) {
    memset(m, 0, sizeof *m);
    m->file.result = (rg_result){.path = rg_print("made.tsv"), .row = m->row};
    m->machine = (rg_bench_machine){.here = true, .n_files = 1, .file = &m->file};
    m->report.ledger = (rg_ledger){.n_machines = 1, .machine = &m->machine, .up_to = RG_UNSOURCED};
    m->report.figures.ledger = &m->report.ledger;
}

// The same with the project's claims.
static void make_of_project(made *m) {
    RG_FREED char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv");
    make(m);
    assert_int_equal(rg_claims_read(claims, papers, &m->report.ledger.claims), RG_GOOD);
}

static rg_row *add(made *m, const char *variant, const char *shape, const char *params, const char *status, double median_ns) {
    rg_row *row = &m->row[m->file.result.n_rows++];
    for (int k = 0; k < RG_KNOWLEDGE; k++) m->file.up_to[k] = m->file.result.n_rows;
    for (int c = 0; c < RG_COLUMNS; c++) row->cell[c] = NULL;
    row->cell[RG_C_ALGO] = rg_print("autocorr");
    row->cell[RG_C_VARIANT] = rg_print("%s", variant);
    row->cell[RG_C_SHAPE] = rg_print("%s", shape);
    row->cell[RG_C_PARAMS] = rg_print("%s", params);
    row->cell[RG_C_SCOPE] = rg_print("device");
    row->cell[RG_C_MODE] = rg_print("hot");
    row->cell[RG_C_UNIT] = rg_print("ns");
    row->cell[RG_C_STATUS] = rg_print("%s", status);
    row->cell[RG_C_DETAIL] = rg_print("said so");
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

static void free_made(made *m) {
    for (int i = 0; i < m->file.result.n_rows; i++) rg_row_free(&m->row[i]);
    free(m->file.result.path);
    free(m->report.ledger.verdict);
    rg_claims_free(&m->report.ledger.claims);
    rg_figures_free(&m->report.figures);
}

// Draws the project's rows into a new folder, which the caller removes.
static char *drawn(made *m) {
    char *folder = test_folder();
    assert_int_equal(mkdir(fmt("%s/fig", folder), 0777), 0);
    rg_figures_free(&m->report.figures);
    m->report.figures = (rg_figures){.ledger = &m->report.ledger, .out = folder};
    assert_int_equal(rg_figures_read(&m->report.figures), RG_GOOD);
    assert_int_equal(rg_figures_draw(&m->report.figures), RG_GOOD);
    return folder;
}

TEST(lines_through_points) {
    const double x[] = {1, 2, 3, 4}, y[] = {5, 7, 9, 11}; // y = 3 + 2 x
    rg_line line = rg_line_fit(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-12 && fabs(line.intercept - 3) < 1e-12 && line.intercept_error < 1e-6);
    assert_true(fabs(line.slope_through_origin - 90.0 / 30) < 1e-12);
    assert_true(isnan(rg_line_fit(x, y, 2).intercept_error));
}

// The project's files: all items exist, every claim has a known kind and is based on a printed number.
TEST(claims_and_published_numbers_of_the_project) {
    made m;
    make_of_project(&m);
    const rg_claims c = m.report.ledger.claims;
    uint64_t items[4] = {0}; // Lu et al., Strelak et al., Garcia et al., Li et al.
    for (int i = 0; i < c.claim.n_rows; i++) {
        const rg_judgement v = rg_judge_claim(&c, i, rg_rows_on(&m.report.ledger, 0));
        const bool criticism = !strcmp(rg_claim_cell(&c, i, "kind"), "criticism");
        assert_int_equal(v.outcome,
            !rg_is_defect(&c, i) ? RG_NOT_TESTABLE
                : criticism      ? RG_CRITICISED
                                 : RG_INCONSISTENT); // no row
        assert_true(v.why.reason != RG_BY_UNKNOWN_KIND && v.why.reason != RG_BY_UNKNOWN_QUANTITY);
        assert_true(*rg_claim_cell(&c, i, "why"));
        if (*rg_claim_cell(&c, i, "published")) assert_true(*rg_published(&c, i, "value"));
        items[rg_paper_of(&c, rg_claim_cell(&c, i, "paper"))] |= 1u << atoi(rg_claim_cell(&c, i, "item") + 1);
    }
    assert_string_equal(rg_published(&c, rg_claim_of(&c, "L6a"), "value"), "130");
    assert_string_equal(rg_published(&c, rg_claim_of(&c, "L9"), "value"), "88");
    assert_int_equal(items[0], (1u << 14) - 2); // L1 to L13
    assert_int_equal(items[1], (1u << 16) - 2); // S1 to S15
    assert_int_equal(items[2], (1u << 8) - 2);  // G1 to G7
    assert_int_equal(items[3], (1u << 15) - 2); // F1 to F14
    free_made(&m);
}

// Fills the template; malloc'ed.
static char *filled(const char *template, rg_data *d) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(rg_fill(out, template, d), RG_GOOD);
    fclose(out);
    return text;
}

TEST(sentences_say_the_verdict) {
    static const char claims[] = "id\tpaper\tpublished\nX\tp\tX.one\n", papers[] = "paper\tpublished\np\tp.tsv\n",
                      published[] = "id\tvalue\nX.one\t4\n",
                      findings[] = "id\tlabel\tholds\tfails\topen\nX\t-\tholds {ours} ({paper})\tfails {ours}\t-\n";
    static const struct {
        rg_outcome outcome;
        double value, over_autovec;
        const char *text; // "": no sentence
        double high;      // of the interval; 0: a narrow one
    } said[] = {{RG_REPRODUCED, 4.8267, 0, "holds 4.83 (4)", 0},
        {RG_REPRODUCED, 4.8267, 0, "holds 4.83 (between 4.5 and 6.76) (4)", 6.76},
        {RG_REPRODUCED, 4.8267, 0, "holds 4.83 (4)", 6.74},
        {RG_REPRODUCED, 4.8267, 1.25, "holds 4.83 (4; over a compiler's vectors: 1.25)",
            0}, // a ratio to scalar C is never printed alone
        {RG_REPRODUCED, 4.8267, NAN, "holds 4.83 (4; over a compiler's vectors: not timed)", 0},
        {RG_CONTRADICTED, 34476.4, 0, "fails 34500", 0}, {RG_NOT_CALLED, 4.8267, 0, "", 0}, {RG_REPRODUCED, NAN, 0, "", 0}};
    made m;
    char text[200];
    make(&m);
    rg_ledger *l = &m.report.ledger;
    l->verdict = rg_alloc(sizeof *l->verdict);
    assert_int_equal(rg_tsv_parse("claims", claims, strlen(claims), &l->claims.claim), RG_GOOD);
    assert_int_equal(rg_tsv_parse("papers", papers, strlen(papers), &l->claims.paper), RG_GOOD);
    assert_int_equal(rg_tsv_parse("published", published, strlen(published), &l->claims.published[0]), RG_GOOD);
    assert_int_equal(rg_tsv_parse("findings", findings, strlen(findings), &l->findings), RG_GOOD);
    for (int i = 0; i < RG_COUNT(said); i++) {
        *l->verdict = (rg_judgement){.outcome = said[i].outcome,
            .value = said[i].value,
            .low = 4.5,
            .high = said[i].high > 0 ? said[i].high : 4.9,
            .over_autovec = said[i].over_autovec};
        assert_int_equal(rg_finding(l, "X", 0, text, sizeof text), *said[i].text != '\0');
        assert_string_equal(text, said[i].text);
    }
    assert_false(rg_finding(l, "Y", 0, text, sizeof text));
    rg_tsv_free(&l->findings);
    free_made(&m);
}

// A ratio of equal work does not name a number of particles: on one core, a record times fewer than the paper.
TEST(sentences_of_ratios_of_jobs_name_no_number_of_particles) {
    RG_FREED char *path = rg_share_path("reference/findings.tsv");
    RG_ENDS(rg_tsv_free) rg_tsv t;
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    for (int i = 0; i < t.n_rows; i++)
        if (!strncmp(rg_tsv_cell(&t, i, "id"), "F10", 3)) assert_null(strstr(rg_tsv_cell(&t, i, "holds"), "24"));
}

static void assert_said(const rg_ledger *l, const char *wanted) {
    rg_statement s;
    int row = 0;
    bool said = false;
    while (rg_next_statement(l, &row, &s)) said |= strstr(s.text, wanted) != NULL;
    if (!said) fail_msg("not said: %s", wanted);
}

// A sentence of findings takes its numbers from the ledger, follows the side of a verdict, and is left out if a number is
// missing.
TEST(what_was_found_follows_the_ledger) {
    made m;
    make_of_project(&m);
    rg_ledger *l = &m.report.ledger;
    RG_FREED char *path = rg_share_path("reference/found.tsv");
    assert_int_equal(rg_tsv_read(path, &l->found), RG_GOOD);
    rg_ledger_judge(l);
    rg_judgement *of[] = {&l->verdict[rg_claim_of(&l->claims, "L6h")], &l->verdict[rg_claim_of(&l->claims, "S6a")]};
    for (int i = 0; i < 2; i++) *of[i] = (rg_judgement){.outcome = RG_DIRECTION, .value = 7, .low = 6.9, .high = 7.1};
    assert_said(l, "wins now: in autocorrelation 21.7 times on a Tesla C1060, 7 times now");
    of[0]->high = 20;
    assert_said(l, "7 (between 6.9 and 20) times now");
    *of[1] = (rg_judgement){.outcome = RG_CONTRADICTED, .value = 0.5, .low = 0.49, .high = 0.51};
    assert_said(l, "not everywhere now: in autocorrelation");
    assert_said(l, "2.85 times on a P100, 0.5 times now");
    of[0]->outcome = RG_CONTRADICTED;
    rg_statement s;
    for (int row = 0; rg_next_statement(l, &row, &s);) assert_null(strstr(s.text, "autocorrelation"));
    for (int i = 0; i < l->found.n_rows; i++) { // names in the table exist
        char id[16];
        for (const char *at = rg_tsv_cell(&l->found, i, "claims"); rg_next_piece(&at, ' ', id, sizeof id);) {
            id[strcspn(id, "+-")] = 0;
            assert_true(rg_claim_of(&l->claims, id) >= 0);
        }
    }
    rg_tsv_free(&l->found);
    free_made(&m);
}

// The tables of Li et al., with three rows and a table of this machine.
TEST(papers_tables_have_ours_beside) {
    static const char shares[] = "part\tcpu\tgpu\nsearch.ccp\t20.5\t-\n";
    RG_FREED char *text = NULL;
    made m;
    make_of_project(&m);
    test_set(add(&m, "batch", "s500,p16,k64,t4,b166,a1", "calls=8", "PASS", 64 * 55e3), RG_C_ALGO, "cc3m");
    test_set(add(&m, "simd", "s500,p1,k64,t1,b166,a1", "threads=1", "PASS", 12.5e6), RG_C_ALGO, "cc3m");
    rg_row *row = add(&m, "default", "s100", "gpus=0;threads=1", "PASS", 2e9);
    test_set(row, RG_C_ALGO, "search");
    test_set(row, RG_C_SCOPE, "job");
    test_set(row, RG_C_WORK, "2"); // of the 24 of the paper
    rg_named_table named = {.name = "fr_shares"};
    assert_int_equal(rg_tsv_parse("fr_shares", shares, strlen(shares), &named.tsv), RG_GOOD);
    m.machine.table = &named;
    m.machine.n_tables = 1;
    rg_data *page = rg_data_new(), *paper = rg_add(page, "papers");
    assert_int_equal(rg_lay_tables(&m.report, paper, "Li 2010"), RG_GOOD);
    assert_int_equal(rg_lay_tables(&m.report, paper, "Lu 2009"), RG_GOOD);
    text = filled("report.md", page);
    rg_data_free(page);
    assert_non_null(strstr(
        text, "| cc3m 500 x 500 | 58428 +- 960 | 5527 +- 85 | not run | not run | 12500 | not run | not run | not run | 55 |"));
    assert_non_null(strstr(text, "| search: ccp | 21.3 | 34.0 | 20.5 | not run |"));
    assert_non_null(
        strstr(text, "| search 100 x 100 | 209 +- 4.04 | 165 +- 2.39 | 1.27 +- 0.01 | 24 \\* | not run | not run |"));
    assert_null(strstr(text, "Supp. Table 4")); // no row of it was measured
    rg_tsv_free(&named.tsv);
    free_made(&m);
}

// A claim about Octave may lack a GPU, or, if there is one, its row: the page does not ask for what the machine has.
TEST(what_is_needed_is_what_is_not_there) {
    static const struct {
        const char *variant, *space, *needed;
    } timed[] = {{NULL, "", "Needed: GNU Octave (1);"}, {"octave", "", "Needed: a GPU (1);"},
        {"scatter", "device", "Needed: a longer run (1);"}};
    made m;
    make_of_project(&m);
    rg_ledger *l = &m.report.ledger;
    const int claim = rg_claim_of(&l->claims, "L6c"); // gather over Octave
    rg_ledger_judge(l);
    for (int i = 0; i < l->claims.claim.n_rows; i++) l->verdict[i].outcome = i == claim ? RG_NOT_TESTABLE : RG_REPRODUCED;
    for (int i = 0; i < RG_COUNT(timed); i++) {
        char text[RG_SAY];
        if (timed[i].variant)
            test_set(add(&m, timed[i].variant, "w750,h1500,r10,k0", "-", "PASS", 5e9), RG_C_SPACE, timed[i].space);
        assert_int_equal(rg_judge_claim(&l->claims, claim, rg_rows_on(l, 0)).outcome, RG_NOT_TESTABLE);
        rg_say_untested(l, 0, "Lu 2009", text);
        assert_non_null(strstr(text, timed[i].needed));
    }
    free_made(&m);
}

// Every claim states its needs in known words, and the command that repeats it.
TEST(claims_say_what_they_need_and_how_to_repeat_them) {
    static const char known[] = " octave gpus energy series kernel wrong gpu ";
    made m;
    make_of_project(&m);
    rg_ledger_judge(&m.report.ledger);
    for (int i = 0; i < m.report.ledger.claims.claim.n_rows; i++) {
        char word[16], text[RG_SAY];
        for (const char *at = rg_claim_cell(&m.report.ledger.claims, i, "needs"); rg_next_piece(&at, ' ', word, sizeof word);)
            assert_non_null(strstr(known, fmt(" %s ", word)));
        rg_say_command(&m.report.ledger, i, 0, text);
        assert_true(!strncmp(text, "regather ", 9) || !strcmp(text, "make reproduce"));
        assert_null(strchr(text, '{'));
    }
    free_made(&m);
}

// The card of a paper without measurements does not name a machine.
TEST(a_card_of_nothing_names_no_machine) {
    made m;
    make_of_project(&m);
    rg_ledger_judge(&m.report.ledger);
    rg_data *card = rg_data_new();
    rg_lay_card(&m.report, 0, card);
    RG_FREED char *text = filled("card.html", card);
    rg_data_free(card);
    assert_null(strstr(text, "<svg"));
    assert_null(strstr(text, "Measured on"));
    free_made(&m);
}

// With few rows in a record, papers with numbers come first; tables without values of any machine are left out.
TEST(papers_with_numbers_come_first) {
    made m;
    make_of_project(&m);
    rg_ledger *l = &m.report.ledger;
    rg_ledger_judge(l);
    RG_FREED char *text = NULL;
    for (int i = 0; i < l->claims.paper.n_rows; i++) assert_int_equal(rg_paper_at(&m.report, i), i);
    const int strelak = rg_paper_of(&l->claims, "Strelak 2019");
    assert_true(strelak > 0);
    l->verdict[rg_claim_of(&l->claims, "S2")].outcome = RG_REPRODUCED;
    assert_int_equal(rg_paper_at(&m.report, 0), strelak);
    for (int i = 1; i < l->claims.paper.n_rows; i++) assert_int_equal(rg_paper_at(&m.report, i), i - (i <= strelak));
    rg_data *page = rg_data_new(), *none = rg_data_new();
    assert_int_equal(rg_lay_index(&m.report, page), RG_GOOD);
    text = filled("report.md", page);
    assert_true(strstr(text, "## Strelak") < strstr(text, "## Lu"));
    assert_null(strstr(text, "portability"));
    assert_int_equal(rg_lay_tables(&m.report, none, "Strelak 2019"), RG_GOOD);
    assert_false(rg_has(none, "tables"));
    rg_data_free(none);
    rg_data_free(page);
    free_made(&m);
}

// A whole job is not a point of a curve over offsets.
TEST(jobs_are_in_no_figure_of_offsets) {
    made m;
    make(&m);
    test_set(add(&m, "gather", "w750,h1500,r250,k0", "gpus=1", "PASS", 1e9), RG_C_SCOPE, "job");
    char *folder = drawn(&m);
    assert_int_equal(m.report.figures.n, 0);
    free_made(&m);
    assert_int_equal(test_folder_remove(folder), 0);
}

// Figs 6, 7 and 9 show Listing 1 beside the other codes: by equal work, at its own offset. Without Octave, Fig. 7 is relative
// to NumPy, and to simple C if NumPy has no curve.
TEST(listing_1_is_in_the_figures_of_offsets) {
    made m;
    make(&m);
    test_set(add(&m, "gather", "w750,h1500,r25,k0", "-", "PASS", 1e5), RG_C_SPACE, "device");
    test_set(add(&m, "naive", "w750,h1500,r25,k0", "threads=1", "PASS", 8e8), RG_C_SPACE, "host");
    test_set(add(&m, "numpy", "w750,h1500,r25,k0", "threads=1", "PASS", 4e9), RG_C_SPACE, "host");
    test_set(add(&m, "gather", "w300,h300,r25,k0", "-", "PASS", 1e3), RG_C_SPACE, "device"); // of another image
    rg_row *copies = add(&m, "gather", "w750,h1500,r25,k0", "-", "PASS", 1e6);               // Listing 1 was not timed with it
    test_set(copies, RG_C_SPACE, "device");
    test_set(copies, RG_C_SCOPE, "transfer");
    rg_row *row = add(&m, "as_printed", "w750,h1500,r25,g100", "-", "PASS", 3e5);
    test_set(row, RG_C_SPACE, "device");
    test_set(row, RG_C_ALGO, "autocorr_printed");
    for (int i = 0; i < m.file.result.n_rows; i++)
        test_set(&m.row[i], RG_C_WORK, &m.row[i] == row ? "3e9" : i == 3 ? "1e8" : "2e9");
    char *folder = drawn(&m);
    const rg_figures *r = &m.report.figures;
    static const struct {
        const char *figure;
        double ratio;
    } wanted[] = {{"fig6", NAN}, {"fig7", 4e9 / 2e9 / (3e5 / 3e9)}, {"fig9", 1e5 / 2e9 / (3e5 / 3e9)}};
    for (int i = 0; i < RG_COUNT(wanted); i++) {
        RG_ENDS(rg_tsv_free) rg_tsv t;
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
    assert_int_equal(test_folder_remove(folder), 0);
    folder = drawn(&m);
    for (int i = 0; i < r->n; i++) // without simple C of the same sums, Listing 1 has no speed-up: its figure is not drawn
        assert_false(!strcmp(r->figure[i].name, "listing1") && r->figure[i].drawn);
    rg_tsv t;
    assert_int_equal(rg_tsv_read(fmt("%s/fig/fig7.tsv", folder), &t), RG_GOOD);
    for (int k = 0; k < t.n_rows; k++)
        if (!strcmp(rg_tsv_cell(&t, k, "series"), "as_printed"))
            assert_true(fabs(rg_tsv_number(&t, k, "ratio") / (8e8 / 2e9 / (3e5 / 3e9)) - 1) < 1e-4);
    rg_tsv_free(&t);
    free_made(&m);
    assert_int_equal(test_folder_remove(folder), 0);
}

// A title names the best at the largest x, even if another leads before.
TEST(titles_name_the_best_at_the_end) {
    made m;
    make(&m);
    static const struct {
        const char *variant, *shape;
        double ns;
    } timed[] = {{"simd", "w64,h64,r8,k0", 1e6}, {"autovec", "w64,h64,r8,k0", 2e6}, {"simd", "w64,h64,r16,k0", 9e6},
        {"autovec", "w64,h64,r16,k0", 3e6}};
    for (int i = 0; i < RG_COUNT(timed); i++) {
        rg_row *row = add(&m, timed[i].variant, timed[i].shape, "threads=1", "PASS", timed[i].ns);
        test_set(row, RG_C_SPACE, "host");
        test_set(row, RG_C_RATE, fmt("%g", 1e15 / timed[i].ns));
    }
    char *folder = drawn(&m);
    const rg_figures *r = &m.report.figures;
    int found = 0;
    for (int i = 0; i < r->n; i++)
        if (!strcmp(r->figure[i].name, "fig6")) {
            assert_string_equal(r->figure[i].title, "autovec is the fastest at offsets to 16: 3 ms an image");
            found++;
        }
    assert_int_equal(found, 1);
    free_made(&m);
    assert_int_equal(test_folder_remove(folder), 0);
}
