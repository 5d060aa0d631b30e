// SPDX-License-Identifier: MIT
// test_history.c: the command `history` on folders of result files: the order of commits, a planted step on page and table, rows that
// no longer pass, what it refuses, and that it overwrites only what it made. How often steps are right: test_steps.c.
#include "../test.h"
#include "../test_command.h"
#include "../../../impl/suite.h"

#include <math.h>
#include <sys/stat.h>

extern const rg_command rg_cmd_history;
static char *folder, *words, text[OUTPUT_MAX];
static const char hostile[] = "<script>x</script>'\"`";

enum { RUNS = 24, STEP = 14 };

static char *in_folder(const char *name)
{
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

// The k-th commit, whose file is named and whose run is dated the other way round: simd is 5 % slower from STEP on, with noise of
// 1 % as everything.
static void write_run(int k, const char *revision, bool step, const char *status, const char *compiler)
{
    char value[6][64], *key[6] = {"suite", "revision", "revision_date", "date", "machine", "compiler"}, *values[6];
    snprintf(value[0], 64, "regather 0.1");
    if (revision)
        snprintf(value[1], 64, "%s", revision);
    else
        snprintf(value[1], 64, "c%04d", k);
    snprintf(value[2], 64, "2026-10-%02dT12:00:00Z", k + 1);
    snprintf(value[3], 64, "2026-11-%02dT12:00:00Z", RUNS - k);
    snprintf(value[4], 64, "%s", hostile);
    snprintf(value[5], 64, "%s", compiler);
    for (int i = 0; i < 6; i++) values[i] = value[i];
    rg_row row[2];
    for (int i = 0; i < 2; i++) {
        const double noise = (double)(rg_bits(7, (uint64_t)(2 * k + i)) >> 11) / 0x1p53 - 0.5;
        row[i] = test_row(i ? "naive" : "simd", "device", 11, 1e5 * (1 + 0.03 * noise) * (!i && step && k >= STEP ? 1.05 : 1));
        test_set(&row[i], RG_C_SOURCE, !i && step && k >= STEP ? "bbbb" : "aaaa");
        test_set(&row[i], RG_C_RATE, "");
    }
    if (strcmp(status, "PASS")) {
        test_set(&row[1], RG_C_STATUS, status);
        test_set(&row[1], RG_C_MEDIAN, "");
        test_set(&row[1], RG_C_STOP, "wrong sums");
    }
    char name[32];
    snprintf(name, sizeof name, "in/r%02d.tsv", RUNS - k);
    FILE *f = rg_result_open(in_folder(name), "w");
    rg_result_write_head(f, 6, key, values);
    for (int i = 0; i < 2; i++) {
        rg_result_write_row(f, &row[i]);
        rg_row_free(&row[i]);
    }
    fclose(f);
}

static void write_runs(bool step)
{
    for (int k = 0; k < RUNS; k++) write_run(k, NULL, step, "PASS", "gcc 12");
}

static int history(void) { return run_command(&rg_cmd_history, words, text); }

TEST(a_step_stands_between_its_commits)
{
    write_runs(true);
    assert_int_equal(history(), RG_WRONG);
    assert_non_null(strstr(text, "SLOWER    autocorr:simd w64,h64,r8,k0 threads=1;isa=2 device hot: 1.0"));
    assert_non_null(strstr(text, "between commits c0013 and c0014, 2026-10-15T12:00:00Z"));
    assert_non_null(strstr(text, "changed: its source\n"));
    assert_non_null(
        strstr(text, "24 files of 24 commits, in the order of the commits; 2 rows: 1 step, the newest to slower in 1 row"));
    rg_tsv t;
    assert_int_equal(rg_tsv_read(in_folder("H/steps.tsv"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(rg_tsv_cell(&t, 0, "variant"), "simd");
    assert_true(
        rg_tsv_number(&t, 0, "low") < 1.05 && rg_tsv_number(&t, 0, "high") > 1.05 && rg_tsv_number(&t, 0, "chance") <= 0.01);
    rg_tsv_free(&t);
    assert_int_equal(rg_tsv_read(in_folder("H/history.tsv"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 2 * RUNS);
    for (int i = 0; i < 2 * RUNS; i++) {
        assert_int_equal(rg_tsv_number(&t, i, "run"), i % RUNS + 1);
        assert_true(rg_tsv_number(&t, i, "low_ns") <= rg_tsv_number(&t, i, "median_ns"));
    }
    const int at = strcmp(rg_tsv_cell(&t, 0, "variant"), "simd") ? RUNS : 0;
    assert_true(rg_tsv_number(&t, at + STEP, "level_ns") / rg_tsv_number(&t, at + STEP - 1, "level_ns") > 1.03);
    rg_tsv_free(&t);
}

// Names are text on the page; the figure stands beside it where gnuplot is here.
TEST(the_page_is_data_alone)
{
    char *page = file_text(in_folder("H/index.html")), *body = strstr(page, "<body>"), *gnuplot = rg_program_path("gnuplot");
    assert_non_null(body);
    assert_non_null(strstr(body, "SLOWER"));
    assert_null(strstr(body, "<script>x"));
    if (gnuplot) {
        assert_non_null(strstr(body, "src=\"./fig/1.svg\""));
        char *figure = file_text(in_folder("H/fig/1.svg"));
        assert_non_null(strstr(figure, "c0014"));
        assert_null(strstr(figure, "<script>x"));
        free(figure);
    }
    assert_true(access(in_folder("H/fig/2.svg"), F_OK) != 0); // it has no step
    free(gnuplot);
    free(page);
}

// The same command, the same bytes, over what it made itself; and beside the tables that `record` puts beside its rows.
TEST(a_second_run_makes_the_same)
{
    char *tables = rg_print("%s/in/r.tables.tsv", folder);
    put_text(tables, "# table: one\na\tb\n1\t2\n\n# table: two\na\tb\tc\td\n1\t2\t3\t4\n");
    char *before = file_text(in_folder("H/history.tsv")), *page = file_text(in_folder("H/index.html"));
    assert_int_equal(history(), RG_WRONG);
    char *after = file_text(in_folder("H/history.tsv")), *again = file_text(in_folder("H/index.html"));
    assert_string_equal(before, after);
    assert_string_equal(page, again);
    unlink(tables);
    free(before), free(after), free(page), free(again), free(tables);
}

TEST(equal_commits_have_no_step)
{
    write_runs(false);
    assert_int_equal(history(), RG_GOOD);
    assert_non_null(strstr(text, "2 rows: 0 steps"));
}

TEST(rows_without_a_step_have_a_figure_when_asked)
{
    char *gnuplot = rg_program_path("gnuplot");
    for (int all = 0; all < 2; all++) {
        char *line = rg_print("history %s/in --out %s/all%d --quiet%s", folder, folder, all, all ? " --all-figures" : "");
        assert_int_equal(run_command(&rg_cmd_history, line, text), RG_GOOD);
        for (int i = 1; i <= 2; i++)
            assert_int_equal(access(fmt("%s/all%d/fig/%d.svg", folder, all, i), F_OK) == 0, gnuplot && all);
        free(line);
    }
    free(gnuplot);
}

// All runs of one commit: what changed was not the code.
TEST(a_step_within_a_commit_is_not_by_the_code)
{
    for (int k = 0; k < RUNS; k++) write_run(k, "same", true, "PASS", k < STEP ? "gcc 12" : "gcc 13");
    assert_int_equal(history(), RG_WRONG);
    assert_non_null(strstr(text, "within commit same: not by the code"));
    assert_non_null(strstr(text, "compiler"));
    assert_non_null(strstr(text, "24 files of 1 commit,"));
}

TEST(what_no_longer_passes_is_broken)
{
    write_runs(false);
    write_run(RUNS - 1, NULL, false, "FAIL", "gcc 12");
    assert_int_equal(history(), RG_WRONG);
    assert_non_null(strstr(text, "BROKEN    autocorr:naive"));
    assert_non_null(strstr(text, "FAIL: wrong sums"));
}

TEST(what_cannot_be_is_refused)
{
    write_runs(false);
    // A median that the samples do not give; nothing of the old page changes.
    rg_row row = test_row("simd", "device", 11, 1e5);
    test_set(&row, RG_C_MEDIAN, "50000");
    test_write(in_folder("in/forged.tsv"), "regather 0.1", "00ff", &row, 1);
    char *before = file_text(in_folder("H/history.tsv"));
    assert_int_equal(history(), RG_USAGE);
    char *after = file_text(in_folder("H/history.tsv"));
    assert_string_equal(before, after);
    free(before), free(after);
    put_text(in_folder("in/forged.tsv"), "shell\tfsc\n1\t0.5\n"); // another table
    assert_int_equal(history(), RG_USAGE);
    unlink(in_folder("in/forged.tsv"));
    assert_int_equal(history(), RG_GOOD);
    // A folder with files of others.
    put_text(in_folder("mine/index.html"), "mine");
    char *line = rg_print("history %s/in --out %s/mine --quiet", folder, folder);
    assert_int_equal(run_command(&rg_cmd_history, line, text), RG_USAGE);
    char *mine = file_text(in_folder("mine/index.html"));
    assert_string_equal(mine, "mine");
    free(mine), free(line);
    line = rg_print("history %s/mine --out %s/new --quiet", folder, folder); // without a result file
    assert_int_equal(run_command(&rg_cmd_history, line, text), RG_USAGE);
    assert_true(access(in_folder("new"), F_OK) != 0);
    free(line);
}

int main(void)
{
    folder = test_folder();
    mkdir(in_folder("in"), 0777);
    words = rg_print("history %s/in --out %s/H --quiet", folder, folder);
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
