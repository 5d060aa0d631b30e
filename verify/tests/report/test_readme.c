// SPDX-License-Identifier: MIT
// test_readme.c: README.md has the counts of verdicts and the findings of the shipped record that it names, with the figures
// that the report draws of it, and the commands of every README run as printed; readme.tsv beside this file lists those that do
// not run, with the reason.
#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/words/words.h"
#include "../test.h"
#include "../test_command.h"

#include <ctype.h>
#include <libgen.h>
#include <sys/wait.h>

extern const rg_command rg_cmd_report;
static const char machine[] = "h100-16xeon";
static const rg_outcome shown[] = {
    RG_REPRODUCED, RG_ORDER, RG_DIRECTION, RG_CONTRADICTED, RG_EXISTS, RG_NOT_CALLED, RG_NOT_TESTABLE};

// Asserts a row "| Lu 2009 | 23 | 2 | ... |" of the ledger.
static char *row_of(const rg_tsv *ledger, const char *paper) {
    int count[RG_OUTCOMES] = {0}, all = 0;
    for (int i = 0; i < ledger->n_rows; i++) {
        if (strcmp(rg_tsv_cell(ledger, i, "machine"), machine) || strcmp(rg_tsv_cell(ledger, i, "paper"), paper) ||
            strcmp(rg_tsv_cell(ledger, i, "addition"), "no"))
            continue;
        for (int o = 0; o < RG_OUTCOMES; o++)
            if (o < RG_INCONSISTENT && !strcmp(rg_tsv_cell(ledger, i, "verdict"), rg_outcome_name[o])) {
                count[o]++;
                all++;
            }
    }
    char *row = rg_print("| %s | %d |", paper, all);
    for (int k = 0; k < RG_COUNT(shown); k++) {
        char *more = rg_print("%s %d |", row, count[shown[k]]);
        free(row);
        row = more;
    }
    return row;
}

// Compares a figure with the shipped one. A figure names its gnuplot; one drawn by another version is not compared.
static void assert_figure(const char *folder, const char *name) {
    char *drawn_path = rg_print("%s/fig/%s-%s.svg", folder, name, machine), *program = rg_program_path("gnuplot");
    char *here = rg_print("data/machines/%s.%s.svg", machine, name), *shown_path = rg_share_path(here);
    char *held = file_text(shown_path), *drawn = program ? file_text(drawn_path) : NULL, *by = strstr(held, "<desc>");
    assert_non_null(by);
    if (!drawn || strncmp(by, strstr(drawn, "<desc>"), strcspn(by, "\n")))
        print_message("skipped: the figure was not drawn by the gnuplot of this machine\n");
    else if (strcmp(held, drawn))
        fail_msg("a figure of README.md, %s, is not %s: copy it", shown_path, drawn_path);
    char *const made[] = {drawn_path, program, here, shown_path, held, drawn};
    for (int i = 0; i < RG_COUNT(made); i++) free(made[i]);
}

// Joins the lines of a paragraph: each run of blanks and newlines becomes a blank.
static void join_lines(char *text) {
    char *to = text;
    for (const char *c = text; *c; c++)
        if (!isspace((unsigned char)*c))
            *to++ = *c;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = 0;
}

// Asserts that the README states what `report` finds in the record: each sentence with its numbers, claims and figure, and no
// other.
static void assert_findings(const char *readme, const char *page, const char *folder) {
    static const char head[] = "## What was found", figure[] = "[figure](./fig/";
    const char *from = strstr(readme, head), *of_page = strstr(page, head);
    assert_true(from && of_page);
    char *section = rg_print("%.*s", (int)(strstr(from, "\n|") - from), from), *said = rg_print("%s", of_page);
    int bullets = 0, sentences = 0;
    for (const char *at = section; (at = strstr(at, "\n* ")); at++) bullets++;
    join_lines(section);
    for (char *rest = strstr(said, "\n* ") + 1, *line; (line = strsep(&rest, "\n")) && *line == '*'; sentences++) {
        char *wanted = rg_print("%s", line), *at = strstr(line, figure);
        if (at) {
            free(wanted);
            RG_FREED char *name = rg_print("%.*s", (int)strcspn(at + strlen(figure), "-"), at + strlen(figure));
            wanted = rg_print("%.*s[figure](data/machines/%s.%s.svg))", (int)(at - line), line, machine, name);
            assert_figure(folder, name);
        }
        if (!strstr(section, wanted)) fail_msg("README.md: expected among what was found: \"%s\"", wanted);
        free(wanted);
    }
    assert_int_equal(bullets, sentences);
    free(section);
    free(said);
}

TEST(counts_of_the_readme_are_those_of_the_ledger) {
    char *folder = test_folder(), *output = rg_alloc(OUTPUT_MAX);
    char *record = rg_share_path("data/machines/h100-16xeon.tsv"), *machines = rg_share_path("data/machines");
    char *argv[] = {"report", record, "--machines", machines, "--quiet", "--out", folder, NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_GOOD);
    char *path = rg_print("%s/ledger.tsv", folder), *readme_path = rg_share_path("README.md");
    char *readme = file_text(readme_path), *page_path = rg_print("%s/REPORT.md", folder), *page = file_text(page_path);
    rg_tsv ledger, papers;
    assert_int_equal(rg_tsv_read(path, &ledger), RG_GOOD);
    char *papers_path = rg_share_path("reference/papers.tsv");
    assert_int_equal(rg_tsv_read(papers_path, &papers), RG_GOOD);
    for (int i = 0; i < papers.n_rows; i++) {
        RG_FREED char *row = row_of(&ledger, rg_tsv_cell(&papers, i, "paper"));
        if (!strstr(readme, row)) fail_msg("README.md: expected the row \"%s\"", row);
    }
    // The record is named once, as the page's machine, and nothing else is called "this machine".
    assert_string_equal(rg_tsv_cell(&ledger, 0, "machine"), machine);
    for (int i = 0, claims = 0; i < ledger.n_rows; i++) {
        assert_string_not_equal(rg_tsv_cell(&ledger, i, "machine"), "this");
        claims += !strcmp(rg_tsv_cell(&ledger, i, "machine"), machine) && !strcmp(rg_tsv_cell(&ledger, i, "id"), "L1");
        assert_true(claims < 2);
    }
    assert_null(strstr(page, "This machine"));
    // Contradicted claims are listed: in the README by id, on the page by verdict.
    const char *section = strstr(readme, "Contradicted today:"), *end = section ? strstr(section, "[report/]") : NULL;
    assert_non_null(end);
    for (int i = 0; i < ledger.n_rows; i++)
        if (!strcmp(rg_tsv_cell(&ledger, i, "machine"), machine) &&
            !strcmp(rg_tsv_cell(&ledger, i, "verdict"), rg_outcome_name[RG_CONTRADICTED])) {
            const char *at = strstr(section, rg_tsv_cell(&ledger, i, "id"));
            if (!at || at > end) fail_msg("README.md does not name %s as contradicted", rg_tsv_cell(&ledger, i, "id"));
        }
    assert_non_null(strstr(page, rg_outcome_name[RG_CONTRADICTED]));
    assert_findings(readme, page, folder);
    rg_tsv_free(&ledger);
    rg_tsv_free(&papers);
    assert_int_equal(test_folder_remove(folder), 0);
    char *const made[] = {papers_path, page, page_path, readme, readme_path, path, machines, record, output};
    for (int i = 0; i < RG_COUNT(made); i++) free(made[i]);
}

// ---- commands --------------------------------------------------------------------------------------------------------------

// Runs a line unchanged in the test's folder; a comparison may have any verdict.
static void run_line(const char *line) {
    const int status = system(fmt("{ %s\n} > out.txt 2>&1", line)), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code && !(strstr(line, "compare") && (code == 1 || code == 3)))
        fail_msg("exit %d of: %s\n%s", code, line, file_text("out.txt"));
}

// Tests that words, options and values are accepted, without running the command.
static void take_line(const char *line) {
    if (!strncmp(line, "regather ", 9) || !strncmp(line, "mpirun ", 7) || !strncmp(line, "srun ", 5))
        run_line(fmt("regather() { command regather \"$@\" --help; }; mpirun() { shift 2; \"$@\"; }; "
                     "srun() { while [ \"$1\" != regather ]; do shift; done; \"$@\"; }; %s",
            line));
}

// The row of the list with which a line begins; -1: none.
static int listed(const rg_tsv *list, const char *line) {
    int row = -1;
    for (int i = 0; i < list->n_rows && row < 0; i++)
        row = !strncmp(line, rg_tsv_cell(list, i, "line"), strlen(rg_tsv_cell(list, i, "line"))) ? i : -1;
    return row;
}

// Runs the commands of one file, and counts those that ran here and those that did not.
static void run_readme(const char *name, const rg_tsv *list, bool *used, int count[2]) {
    RG_FREED char *path = rg_share_path(name), *text = file_text(path);
    bool code = false;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (!strncmp(line, "```", 3))
            code = !strcmp(line, "```sh");
        else if (code && *line && *line != '#') {
            const int row = listed(list, line);
            const char *before = row < 0 ? "" : rg_tsv_cell(list, row, "before");
            const bool here = row < 0 || !*rg_tsv_cell(list, row, "why");
            if (*before) run_line(before);
            (here ? run_line : take_line)(line);
            count[!here]++;
            if (row >= 0) used[row] = true;
        }
    }
}

TEST(every_command_runs_as_printed_or_says_why_not) {
    static const char *const name[] = {"README.md", "impl/README.md", "impl/jobs/README.md", "verify/README.md",
        "bench/README.md", "report/README.md", "data/README.md", "CONTRIBUTING.md"};
    char program[4096] = "", *folder = test_folder(), *readme = rg_share_path("README.md"), *was = getcwd(NULL, 0);
    char *list_path = rg_share_path("verify/tests/report/readme.tsv");
    rg_tsv list;
    assert_int_equal(rg_tsv_read(list_path, &list), RG_GOOD);
    RG_FREED bool *used = rg_alloc((size_t)list.n_rows * sizeof *used);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    char *path = rg_print("%s/../../..:%s", dirname(program), getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("REGATHER", dirname(readme), 1);
    setenv("OMP_NUM_THREADS", "2", 0);
    assert_int_equal(chdir(folder), 0);
    int count[2] = {0};
    for (int i = 0; i < RG_COUNT(name); i++) run_readme(name[i], &list, used, count);
    assert_true(count[0] >= 35 && count[1] >= 10);
    for (int i = 0; i < list.n_rows; i++)
        if (!used[i]) fail_msg("readme.tsv: no line of a README begins \"%s\"", rg_tsv_cell(&list, i, "line"));
    assert_int_equal(access("page/index.html", R_OK), 0);
    assert_int_equal(access("results/rmax.tsv", R_OK), 0);
    assert_int_not_equal(system("regather autocorr --max-ofset 3 --help > out.txt 2>&1"), 0); // a wrong option is found
    assert_int_equal(chdir(was), 0);
    assert_int_equal(test_folder_remove(folder), 0);
    rg_tsv_free(&list);
    char *const made[] = {readme, was, list_path, path};
    for (int i = 0; i < RG_COUNT(made); i++) free(made[i]);
}
