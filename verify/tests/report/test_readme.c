// SPDX-License-Identifier: MIT
// test_readme.c: the counts of verdicts in README.md are those of the ledger of the shipped record that it names, the lines of
// its short paths run as they are printed, and those of all other commands are taken.
#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/report.h"
#include "../test.h"
#include "../test_command.h"

#include <libgen.h>
#include <sys/wait.h>

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

TEST(counts_of_the_readme_are_those_of_the_ledger)
{
    char *folder = test_folder(), *output = rg_alloc(OUTPUT_MAX);
    char *record = rg_share_path("data/machines/h200-16xeon.tsv"), *machines = rg_share_path("data/machines");
    char *argv[] = {"report", record, "--machines", machines, "--stale", "--no-figures", "--quiet", "--out", folder, NULL};
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

// ---- commands --------------------------------------------------------------------------------------------------------------

// Calls run for every line of the blocks ```sh of README, from the heading on (NULL: of all); how many there were.
static int each_line(const char *heading, void (*run)(const char *line))
{
    char *path = rg_share_path("README.md"), *text = read_whole(path);
    bool on = !heading, code = false;
    int n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strncmp(line, "## ", 3))
            on = !heading || !strcmp(line + 3, heading);
        if (!strncmp(line, "```", 3))
            code = !strcmp(line, "```sh");
        else if (on && code) {
            run(line);
            n++;
        }
    }
    free(path);
    free(text);
    return n;
}

// As it stands, in the folder of the test; a comparison may come out as it likes.
static void run_line(const char *line)
{
    const int status = system(fmt("{ %s\n} > out.txt 2>&1", line)), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code && !(strstr(line, "compare") && (code == 1 || code == 3)))
        fail_msg("README.md: exit %d of: %s", code, line);
}

TEST(short_paths_run_as_printed)
{
    char program[4096] = "", *folder = test_folder(), *source = rg_share_path("README.md"), *was = getcwd(NULL, 0);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    char *path = rg_print("%s/../../..:%s", dirname(program), getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("REGATHER", dirname(source), 1);
    setenv("OMP_NUM_THREADS", "2", 0);
    assert_int_equal(chdir(folder), 0);
    assert_true(each_line("Four short paths", run_line) >= 10);
    assert_int_equal(access("page/index.html", R_OK), 0);
    assert_int_equal(access("results/rmax.tsv", R_OK), 0);
    assert_int_equal(chdir(was), 0);
    assert_int_equal(system(fmt("rm -rf '%s'", folder)), 0);
    free(folder);
    free(source);
    free(path);
    free(was);
}

// Every other line of this program, as it is printed: it takes the words, options and values. What they do would take minutes.
static int taken;
static void take_line(const char *line)
{
    const char *at = strstr(line, "regather ");
    if (!at || (at != line && strncmp(line, "mpirun ", 7) && strncmp(line, "srun ", 5)))
        return;
    taken++;
    run_line(fmt("regather() { command regather \"$@\" --help; }; mpirun() { shift 2; \"$@\"; }; "
                 "srun() { while [ \"$1\" != regather ]; do shift; done; \"$@\"; }; %s", line));
}

TEST(every_line_is_taken)
{
    char program[4096] = "", *folder = test_folder(), *was = getcwd(NULL, 0);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    setenv("PATH", fmt("%s/../../..:%s", dirname(program), getenv("PATH")), 1);
    assert_int_equal(chdir(folder), 0);
    each_line(NULL, take_line);
    assert_true(taken >= 55);
    assert_int_not_equal(system("regather autocorr --max-ofset 3 --help > out.txt 2>&1"), 0); // what is not taken is seen
    assert_int_equal(chdir(was), 0);
    assert_int_equal(system(fmt("rm -rf '%s'", folder)), 0);
    free(folder);
    free(was);
}

TESTS(NULL, NULL)
