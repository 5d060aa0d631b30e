// SPDX-License-Identifier: MIT
// test_readme.c: the counts of verdicts in README.md are those of the ledger of the shipped record that it names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/report.h"
#include "../test_command.h"

extern const rg_command rg_cmd_report;
static const char machine[] = "h200-16xeon";
static const rg_outcome shown[] = {RG_REPRODUCED, RG_ORDER,      RG_DIRECTION,   RG_CONTRADICTED,
                                   RG_EXISTS,     RG_NOT_CALLED, RG_NOT_TESTABLE};

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = rg_alloc(OUTPUT_MAX);
    text[fread(text, 1, OUTPUT_MAX - 1, f)] = '\0';
    fclose(f);
    return text;
}

// "| Lu 2009 | 23 | 2 | ... |" of the ledger.
static char *row_of(const rg_tsv *ledger, const char *paper)
{
    int count[RG_OUTCOMES] = {0}, all = 0;
    for (int i = 0; i < ledger->n_rows; i++) {
        if (strcmp(rg_tsv_cell(ledger, i, "machine"), machine) || strcmp(rg_tsv_cell(ledger, i, "paper"), paper) ||
            strcmp(rg_tsv_cell(ledger, i, "addition"), "no"))
            continue;
        for (int o = 0; o < RG_OUTCOMES; o++)
            if (o != RG_INCONSISTENT && !strcmp(rg_tsv_cell(ledger, i, "verdict"), rg_outcome_name[o])) {
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

static void counts_of_the_readme_are_those_of_the_ledger(void **state)
{
    (void)state;
    char *folder = test_folder(), *output = rg_alloc(OUTPUT_MAX);
    char *record = rg_share_path("data/machines/h200-16xeon.tsv"), *machines = rg_share_path("data/machines");
    char *argv[] = {"report", record, "--machines", machines, "--no-figures", "--quiet", "--out", folder, NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_GOOD);
    char *path = rg_print("%s/ledger.tsv", folder), *readme_path = rg_share_path("README.md");
    char *readme = read_whole(readme_path), *page_path = rg_print("%s/REPORT.md", folder), *page = read_whole(page_path);
    rg_tsv ledger, papers;
    assert_int_equal(rg_tsv_read(path, &ledger), RG_GOOD);
    char *papers_path = rg_share_path("reference/papers.tsv");
    assert_int_equal(rg_tsv_read(papers_path, &papers), RG_GOOD);
    for (int i = 0; i < papers.n_rows; i++) {
        char *row = row_of(&ledger, rg_tsv_cell(&papers, i, "paper"));
        if (!strstr(readme, row))
            fail_msg("README.md: expected the row \"%s\"", row);
        free(row);
    }
    // What is contradicted is named, in the README by id, on the page by verdict.
    const char *section = strstr(readme, "Contradicted today:"), *end = section ? strstr(section, "Not called:") : NULL;
    assert_non_null(end);
    for (int i = 0; i < ledger.n_rows; i++)
        if (!strcmp(rg_tsv_cell(&ledger, i, "machine"), machine) &&
            !strcmp(rg_tsv_cell(&ledger, i, "verdict"), rg_outcome_name[RG_CONTRADICTED])) {
            const char *at = strstr(section, rg_tsv_cell(&ledger, i, "id"));
            if (!at || at > end)
                fail_msg("README.md does not name %s as contradicted", rg_tsv_cell(&ledger, i, "id"));
        }
    assert_non_null(strstr(page, rg_outcome_name[RG_CONTRADICTED]));
    rg_tsv_free(&ledger);
    rg_tsv_free(&papers);
    char *command = rg_print("rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    char *const made[] = {command, papers_path, page, page_path, readme, readme_path, path, machines, record, output, folder};
    for (int i = 0; i < RG_COUNT(made); i++)
        free(made[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_of_the_readme_are_those_of_the_ledger)};
    return cmocka_run_group_tests_name("readme", tests, NULL, NULL);
}
